"""What strategies cost where the best that a model can do is known.

    python -m benchmarks.strategies


Five look-ups that do not need each other, and one answer from all of them. Models are scripted to
do exactly what the strategy wants, each reply takes `REPLY` seconds and each look-up up to
`SLOWEST`; so what is left is what the strategy itself makes of it: how many calls, how many prompt
tokens, how much at once. Tokens are the characters of prompts, tools included, by four.
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import anyio

from clew import Agent, Limits, open_store, run, tool
from clew.core.codes import FINISH
from clew.core.contents import RawCall, Reply, Usage
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.stores import Store
from clew.core.tools import Tool
from clew.core.values import Json, encode
from clew_strategies import (
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    Routing,
    Strategy,
    strategy_agent,
    vote,
)
from live.tables import table

REPLY: Final = 0.2
SLOWEST: Final = 0.5
NAMES: Final = ("Alder", "Birch", "Cedar", "Doune", "Elder")
HEIGHTS: Final = {name: 20 + 3 * number for number, name in enumerate(NAMES)}
TOTAL: Final = sum(HEIGHTS.values())
GOAL: Final = f"How tall are the towers {', '.join(NAMES)} together, in metres?"
ABOUT: Final = (
    " It was built of stone from the quarry to the north, by people whose names are on a plate at "
    "its door, and it was mended after each of the two storms that are told of in the chronicle."
)
CHARACTERS: Final = 4
MAX_TOKENS: Final = 0.25
MAX_TIME: Final = 1.2

Says: TypeAlias = Json | list[RawCall]


@tool(effect="read")
async def tower(name: str) -> str:
    """Look up what is known of a tower.

    Args:
        name: Its name.
    """
    await anyio.sleep(SLOWEST * (1 + NAMES.index(name)) / len(NAMES))
    return f"The tower {name} is {HEIGHTS[name]} metres tall.{ABOUT}"


def ledger(number: int) -> Tool:
    """A tool that is there, and that nobody needs here."""

    @tool(effect="read", name=f"ledger_{number}")
    def look(date: str, writer: str, limit: int) -> str:
        """Look up entries of a ledger by their date and who wrote them.

        Args:
            date: The date of the entries, as YYYY-MM-DD.
            writer: Who wrote them; empty for anybody.
            limit: How many entries to give at most.
        """
        return f"{date} {writer} {limit}"

    return look


LEDGERS: Final = tuple(map(ledger, range(1, 16)))


@dataclass
class Model:
    """Does what the strategy wants, and counts what that takes."""

    calls: int = 0
    prompts: int = 0
    at_once: bool = False
    info: ModelInfo = field(default_factory=lambda: ModelInfo("scripted:towers"))

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The reply of whoever is asked, after a while."""
        await anyio.sleep(REPLY)
        self.calls += 1
        text = sum(len(part.text) + len(encode(part.calls)) for part in prompt)
        tools = sum(
            len(one.name + one.description) + len(encode(one.parameters)) for one in prompt.tools
        )
        tokens = (text + tools) // CHARACTERS
        self.prompts += tokens
        texts = self._says(prompt)
        if isinstance(texts, list):
            calls: tuple[RawCall, ...] = tuple(one for one in texts if isinstance(one, RawCall))
        else:
            calls = (RawCall(name=FINISH, arguments=encode({"answer": texts}).decode()),)
        return Reply("I go on with what is missing.", calls, "calls", Usage(tokens, 30))

    def _says(self, prompt: Prompt) -> Says:
        system, asked = prompt.head[0].text, prompt.head[-1].text
        for words, reply in _ROLES.items():
            if words in system:
                return reply(asked)
        seen = sum(part.role == "tool" for part in prompt.parts)
        only = asked.rpartition("Only ")[2] if "Only " in asked else asked
        wanted = [name for name in NAMES if name in only]
        if not prompt.tools or seen >= len(wanted):
            return f"{TOTAL} metres" if len(wanted) == len(NAMES) else f"{wanted[0]} is known"
        return [_look(name) for name in (wanted if self.at_once else wanted[seen : seen + 1])]


def _look(name: str) -> RawCall:
    return RawCall(name="tower", arguments=encode({"name": name}).decode())


def _calls(_: str) -> Json:
    made: list[Json] = [
        {"id": f"E{number}", "tool": "tower", "args": {"name": name}}
        for number, name in enumerate(NAMES, 1)
    ]
    return {"calls": made}


_ROLES: Final[Mapping[str, Callable[[str], Json]]] = {
    "You plan all tool calls": _calls,
    "You plan the work": lambda _: {"steps": [f"Only {name}: how tall is it?" for name in NAMES]},
    "Divide a task": lambda _: {"parts": [{"task": f"Only {n}: how tall is it?"} for n in NAMES]},
    "Answer the task from": lambda _: f"{TOTAL} metres",
    "Decide who": lambda _: {"name": "towers", "why": "it is about towers"},
    "Say whether the answer is right": lambda _: {"passed": True, "why": "it adds up"},
}


@dataclass(frozen=True)
class Way:
    """A way to answer: by a strategy, by the agent alone, or by a vote of `votes`.

    `replies` and `lookups` stand one after the other on the longest way to the answer; `others` are
    tools that are not needed.
    """

    name: str
    what: str
    replies: int
    lookups: float
    strategy: Callable[[Agent], Strategy] | None = None
    votes: int = 1
    at_once: bool = False
    others: int = 0

    @property
    def min_seconds(self) -> float:
        """The seconds that the longest way takes if all else happens meanwhile."""
        return self.replies * REPLY + self.lookups * SLOWEST


ONE_BY_ONE: Final = sum(range(1, len(NAMES) + 1)) / len(NAMES)
"""All look-ups one after the other, in the time of the slowest."""

WAYS: Final = (
    Way("react", "one look-up a step", 6, ONE_BY_ONE),
    Way("react, calls at once", "all look-ups in one step", 2, 1, at_once=True),
    Way("rewoo", "five planned calls", 2, 1, ReWOO),
    Way("plan_and_solve", "five steps", 12, ONE_BY_ONE, PlanAndSolve),
    Way("orchestrator", "five workers", 4, 1, Orchestrator),
    Way("evaluator_optimizer", "passes at once", 7, ONE_BY_ONE, EvaluatorOptimizer),
    Way("reflexion", "passes at once", 7, ONE_BY_ONE, Reflexion),
    Way(
        "routing",
        "to one of two agents",
        7,
        ONE_BY_ONE,
        lambda a: Routing({"towers": a, "rivers": a}, {"towers": "towers", "rivers": "rivers"}),
    ),
    Way("vote of 3", "three runs at once", 6, ONE_BY_ONE, votes=3),
    Way("react", "beside 15 tools that it does not need", 6, ONE_BY_ONE, others=15),
    Way("rewoo", "beside 15 tools that it does not need", 2, 1, ReWOO, others=15),
)


@dataclass(frozen=True)
class Took:
    """What a way took."""

    way: Way
    calls: int
    prompts: int
    seconds: float

    def share(self, among: "Sequence[Took]") -> float:
        """Its prompt tokens as a share of those of the agent alone, with the same tools."""
        alone = (one for one in among if one.way.name == "react")
        return self.prompts / next(o.prompts for o in alone if o.way.others == self.way.others)

    @property
    def times(self) -> float:
        """Its seconds beside those of the longest way to the answer."""
        return self.seconds / self.way.min_seconds


async def took(way: Way, store: Store) -> Took:
    """Answer once. Raises `RuntimeError` where the answer is not right."""
    model = Model(at_once=way.at_once)
    tools = [tower, *LEDGERS[: way.others]]
    agent = Agent(model, tools, limits=Limits(steps=100, tool_calls=100))
    began = time.perf_counter()
    if way.votes > 1:
        answer = (await vote(agent, GOAL, way.votes, store=store)).answer
    else:
        measured_agent = (
            agent if way.strategy is None else strategy_agent(way.strategy(agent), agent)
        )
        answer = (await run(measured_agent, GOAL, store=store)).answer
    seconds = time.perf_counter() - began
    if answer != f"{TOTAL} metres":
        raise RuntimeError(f"{way.name} answers {answer!r}")
    return Took(way, model.calls, model.prompts, seconds)


async def measured() -> list[Took]:
    """All ways, each once, after one that is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "runs.sqlite")
        await took(WAYS[1], store)
        timings = [await took(way, store) for way in WAYS]
        await store.close()
    return timings


def rows(timings: Sequence[Took]) -> str:
    """The table."""
    heads = ["way", "what it does", "model calls", "prompt tokens", "of `react`'s", "seconds",
             "the longest way alone", "times that"]  # fmt: skip
    lines = [
        [
            f"`{one.way.name}`",
            one.way.what,
            str(one.calls),
            f"{one.prompts:,}",
            f"{one.share(timings):.2f}",
            f"{one.seconds:.2f}",
            f"{one.way.min_seconds:.2f}",
            f"{one.times:.2f}",
        ]
        for one in timings
    ]
    return table(heads, lines)


def missed(timings: Sequence[Took]) -> list[str]:
    """The aims that are not met, in a line each."""
    told: list[str] = []
    for one in (one for one in timings if one.way.name == "rewoo"):
        what = f"rewoo, {one.way.what},"
        if (share := one.share(timings)) > MAX_TOKENS:
            told.append(f"{what} takes {share:.2f} of react's prompt tokens (≤ {MAX_TOKENS})")
        if one.times > MAX_TIME:
            told.append(f"{what} takes {one.times:.2f} times its longest way (≤ {MAX_TIME})")
    return told


def main() -> int:
    """Print the table; fail where an aim is missed."""
    result = anyio.run(measured)
    print(rows(result))
    for line in (told := missed(result)):
        print(f"missed: {line}")
    return 1 if told else 0


if __name__ == "__main__":
    raise SystemExit(main())
