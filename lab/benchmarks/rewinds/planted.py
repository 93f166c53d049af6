"""Look-ups of invented facts in which the first source is wrong: its page is of another place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import clew
from benchmarks.rewinds.arms import Task, Total
from clew import Agent, Context, Limits, Tool, Trajectory
from clew.core.models import Model
from clew.guards import Provenance

PATHS: Final = (
    ("Ardle", "Fennick"), ("Brannock", "Tolvey"), ("Corrin", "Haddle"), ("Dunmarrow", "Pell"),
    ("Eskmouth", "Varrow"), ("Fairlie", "Ostrey"),
)  # fmt: skip
"""A place that is asked about, and the other that the guide book is about."""

PEOPLE: Final = (
    "Ada Finch", "Bram Tully", "Cora Lind", "Dov Marsh", "Edda Rook", "Finn Oake", "Gwen Ashby",
    "Hal Corrie", "Iris Pell", "Jon Varley", "Kit Lowe", "Lena Moss",
)  # fmt: skip
COLOURS: Final = (
    "green", "red", "yellow", "blue", "white", "black", "grey", "brown", "orange", "violet",
    "pink", "golden",
)  # fmt: skip
FACTS: Final = (
    ("In which year was the stone bridge of {} built?",
     "The stone bridge was built in {}, after the great flood, and has four arches.", "year"),
    ("Who keeps the lighthouse of {}?",
     "The lighthouse stands on the cliff. Its keeper is {}, who lives in the lower house.", "name"),
    ("What colour is the door of the town hall of {}?",
     "The town hall faces the market. Its door is {}, and was painted by the school.", "colour"),
    ("How many bells hang in the church of {}?",
     "The church stands by the river. In its tower hang {} bells, rung on feast days.", "number"),
    ("Who founded the library of {}?",
     "The library was founded by {}, who left it all of her books and a house.", "name"),
    ("In which year did the railway come to {}?",
     "The railway came in {}. The station is beside the mill, and has two platforms.", "year"),
    ("How many boats does the harbour of {} hold?",
     "The harbour is small: it holds {} boats, and most of them are for herring.", "number"),
    ("What colour is the flag of {}?",
     "The flag was chosen by a vote of all schools. It is {}, with a white heron.", "colour"),
)  # fmt: skip


@dataclass(frozen=True)
class Confirmed:
    """A check: the clerk of the place knows what is right, and does not tell it."""

    gold: str
    location: str

    def __call__(self, answer: object, trajectory: Trajectory) -> str | None:
        """What is wrong with the answer."""
        if right(self.gold, answer):
            return None
        return f"the clerk of {self.location} says that this is wrong for {self.location}"

    def __repr__(self) -> str:
        return f"Confirmed({self.location})"


def right(gold: str, answer: object) -> bool:
    """Whether the answer has what is right."""
    return gold.casefold() in str(answer).casefold()


def _value(kind: str, number: int) -> str:
    match kind:
        case "year":
            return str(1702 + 17 * number % 290)
        case "name":
            return PEOPLE[number % len(PEOPLE)]
        case "colour":
            return COLOURS[number % len(COLOURS)]
        case _:
            return str(12 + 7 * number % 83)


def planted(pairs: Sequence[tuple[str, str]] = PATHS) -> Iterator[Task]:
    """Forty-eight tasks: by turns of each kind, so that the first ones are of all kinds."""
    for at, (page, other) in enumerate(pairs):
        for kind, (question, text, value) in enumerate(FACTS):
            number = 5 * at + 3 * kind
            gold, wrong = _value(value, number), _value(value, number + 1)
            name = f"{page.lower()}-{kind}"
            limits = Limits(steps=100, seconds=100_000, landing=False)
            guide = f"{text.format(wrong)} (The towns of the coast, chapter on {other}.)"
            record = f"{text.format(gold)} (Records of the parish of {page}.)"
            yield _task(name, question.format(page), Confirmed(gold, page), guide, record, limits)


def _task(
    name: str, question: str, check: Confirmed, guide: str, record: str, limits: Limits
) -> Task:
    def agent(model: Model, steps: int, context: Context) -> Agent:
        return Agent(
            model,
            [_says("search", "Search the guide book of the coast with a few words.", guide),
             _says("records", "Search the records of a parish with a few words.", record)],
            checks=[check],
            tries=steps,
            bounds=[Total(steps)],
            limits=limits,
            context=context, guards=[Provenance("off")]
        )  # fmt: skip

    return Task(name, question, agent, lambda answer: right(check.gold, answer))


def _says(name: str, what: str, text: str) -> Tool:
    """A tool that says the same to whatever it is asked."""

    @clew.tool(name=name, effect="read")
    def says(query: str) -> str:
        """Search with a few words."""
        return text

    return replace(says, description=what)
