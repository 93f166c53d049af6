"""Worked examples that ship: small invented trajectories with the tools that ship.

They are shown in the agent's own format, ahead of the question. What they find is invented, and is
no evidence: their doc_ids are such as no small collection has.
"""

from collections.abc import Collection
from typing import Final

import msgspec

from clew.errors import ConfigError
from clew.events import FINISH, Action, Json, Observation, Prints, Reply, Thought
from clew.protocols import Example
from clew.trajectory import Call, Step


class _Move(msgspec.Struct, frozen=True):
    """One step: what is thought, which calls are made, and what each of them gives."""

    thought: str
    calls: tuple[tuple[Action, Json], ...]


def _act(thought: str, *calls: tuple[Action, Json]) -> _Move:
    return _Move(thought, calls)


def _finish(thought: str, answer: str) -> _Move:
    return _Move(thought, ((Action(FINISH, {"answer": answer}), "the answer was accepted"),))


def _search(query: str, *found: dict[str, Json]) -> tuple[Action, Json]:
    return Action("docs", {"query": query}), {"results": list(found)}


def _nothing(query: str) -> tuple[Action, Json]:
    note = (
        "none of these words is in the 1240 passages of 31 files: try other words for the same "
        "thing"
    )
    return Action("docs", {"query": query}), {"results": [], "note": note}


def _piece(number: int, score: float, path: str, snippet: str) -> dict[str, Json]:
    title = path.removesuffix(".md").replace("-", " ").title()
    return {
        "doc_id": f"doc_{number}",
        "score": score,
        "title": title,
        "snippet": snippet,
        "path": path,
        "offset": 0,
        "url": f"file:{path}",
    }


def _work_out(expression: str, result: str) -> tuple[Action, Json]:
    return Action("calc", {"expression": expression}), {
        "expression": expression,
        "result": result,
        "exact": True,
    }


def _example(goal: str, *moves: _Move) -> Example:
    return Example(goal, tuple(_step(number, move) for number, move in enumerate(moves, start=1)))


def _step(number: int, move: _Move) -> Step:
    actions = tuple(action for action, _ in move.calls)
    thought = Thought(Reply(), Prints("", "", "", ""), move.thought, actions)
    calls = [
        Call(key, action, observation=Observation(key, content))
        for place, (action, content) in enumerate(move.calls, start=1)
        for key in [f"{number}.{place}"]
    ]
    return Step(number, thought, tuple(calls))


_LOOKUP: Final = _example(
    "When was the lighthouse of Skarvholm first lit?",
    _act(
        "The documents should say when. I search for the lighthouse and its lighting.",
        _search(
            "Skarvholm lighthouse first lit",
            _piece(
                90_411, 1.0, "skarvholm-light.md",
                "The lighthouse of Skarvholm was first lit on 3 October 1871, two years after "
                "the wreck that it had been asked for.",
            ),
            _piece(
                90_412, 0.5, "keepers-of-the-coast.md",
                "Of the keepers of Skarvholm the first, Ane Brekke, stayed for thirty years.",
            ),
        ),
    ),
    _finish("The first passage says so.", "It was first lit on 3 October 1871 [doc_90411]."),
)  # fmt: skip

_MULTI_HOP: Final = _example(
    "In which town was the architect of the Ormund theatre born?",
    _act(
        "First I need to know who the architect was.",
        _search(
            "architect Ormund theatre",
            _piece(
                91_007, 1.0, "ormund-theatre.md",
                "The Ormund theatre was built in 1904 to drawings by the architect Ilse Varga.",
            ),
        ),
    ),
    _act(
        "It was Ilse Varga. Now I need the place of her birth.",
        _search(
            "Ilse Varga born",
            _piece(
                91_130, 1.0, "ilse-varga.md",
                "Ilse Varga was born in Tarvos as the daughter of a bridge builder.",
            ),
        ),
    ),
    _finish(
        "Both links are found.",
        "The architect was Ilse Varga [doc_91007]; she was born in Tarvos [doc_91130].",
    ),
)  # fmt: skip

_CALCULATION: Final = _example(
    "What do 37 crates of 24 bottles cost, at 1.35 a bottle?",
    _act("I work that out instead of guessing.", _work_out("37 * 24 * 1.35", "1198.8")),
    _finish("That is the whole question.", "1198.80"),
)

_REPHRASED: Final = _example(
    "Who ran the ferry across the Lenne before the bridge was built?",
    _act(
        "I search for whoever ran the ferry.",
        _nothing("ferry operator Lennecrossing"),
    ),
    _act(
        "Nothing, so I ask with fewer and other words.",
        _search(
            "Lenne ferryman",
            _piece(
                92_655, 1.0, "the-lenne.md",
                "Until the bridge of 1889 the ferryman Josef Hahn took carts across the Lenne.",
            ),
        ),
    ),
    _finish("That is the man.", "Josef Hahn ran it until the bridge of 1889 [doc_92655]."),
)  # fmt: skip

_NOT_FOUND: Final = _example(
    "How many pupils did the school of Dunmere have in 1930?",
    _act(
        "I search for the school and its pupils.",
        _search(
            "Dunmere school pupils 1930",
            _piece(
                93_208, 0.5, "dunmere.md",
                "The school of Dunmere was opened in 1902 beside the church.",
            ),
        ),
    ),
    _act(
        "That gives the school but no number. I try the words of a register.",
        _nothing("attendance roll enrolment"),
    ),
    _finish(
        "Neither search gives a number, and I do not guess one.",
        "The documents do not say: they have the school of Dunmere, opened in 1902 [doc_93208], "
        "but no number of pupils.",
    ),
)  # fmt: skip

_COMPARED: Final = _example(
    "Which is longer, the Aldra tunnel or the Brisk tunnel, and by how much?",
    _act(
        "The two lengths do not need each other: I search for both.",
        _search(
            "Aldra tunnel length",
            _piece(
                94_019, 1.0, "aldra-tunnel.md", "The Aldra tunnel has a length of 2,318 metres."
            ),
        ),
        _search(
            "Brisk tunnel length",
            _piece(
                94_402, 1.0, "brisk-tunnel.md", "With its length of 1,975 metres the Brisk tunnel "
                "was the longest of its day.",
            ),
        ),
    ),
    _act("Now the difference.", _work_out("2318 - 1975", "343")),
    _finish(
        "Both lengths and their difference are known.",
        "The Aldra tunnel, with 2,318 m [doc_94019], is 343 m longer than the Brisk tunnel with "
        "1,975 m [doc_94402].",
    ),
)  # fmt: skip

DEMONSTRATIONS: Final = (
    _LOOKUP, _MULTI_HOP, _CALCULATION, _REPHRASED, _NOT_FOUND, _COMPARED
)  # fmt: skip


def demonstrations(count: int = 1, tools: Collection[str] | None = None) -> tuple[Example, ...]:
    """The first `count` of the six worked examples that ship, for `Agent(examples=…)`.

    They use the tools `docs` and `calc`. With `tools`, names of tools, only those examples count
    that use no others. Raises `ConfigError` where there are not as many.
    """
    found = [
        example for example in DEMONSTRATIONS if tools is None or _used(example) <= {*tools, FINISH}
    ]
    if not 0 <= count <= len(found):
        among = "" if tools is None else f" with no more tools than {', '.join(tools) or 'none'}"
        message = f"there are {len(found)} demonstrations{among}, not {count}"
        raise ConfigError(message)
    return tuple(found[:count])


def _used(example: Example) -> set[str]:
    return {call.action.name for step in example.steps for call in step.calls}
