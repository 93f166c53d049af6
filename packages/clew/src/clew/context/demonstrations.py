"""Worked examples that ship: small invented trajectories with the tools that ship.

They are shown in the agent's own format, ahead of the question. What they find is invented, and is
no evidence: their doc_ids are such as no small collection has.
"""

from collections.abc import Collection
from typing import Final

import msgspec

from clew.core.actions import Action
from clew.core.codec import Example
from clew.core.codes import FINISH
from clew.core.contents import Observation, Reply
from clew.core.events import Fingerprints, Thought
from clew.core.trajectory import Call, Step
from clew.core.values import Json
from clew.support.errors import ConfigError


class _ShownStep(msgspec.Struct, frozen=True):
    """One step: what is thought, which calls are made, and what each of them gives."""

    thought: str
    calls: tuple[tuple[Action, Json], ...]


def acted(thought: str, *calls: tuple[Action, Json]) -> _ShownStep:
    """A step: what is thought, and calls with what each of them gives."""
    return _ShownStep(thought, calls)


def finished(thought: str, answer: str) -> _ShownStep:
    """The last step, which gives the answer."""
    return _ShownStep(thought, ((Action(FINISH, {"answer": answer}), "the answer was accepted"),))


def _search(query: str, *results: dict[str, Json]) -> tuple[Action, Json]:
    return Action("docs", {"query": query}), {"results": list(results)}


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


def _entity(title: str, doc_id: str, paragraph: str) -> tuple[Action, Json]:
    """A `search` of the paper that finds the article."""
    passages: list[Json] = [_article(doc_id, title, paragraph)]
    return Action("search", {"entity": title}), {"results": passages}


def _no_entity(name: str, similar: str) -> tuple[Action, Json]:
    note = f"there is no article {name!r}: search one of the similar names"
    return Action("search", {"entity": name}), {"results": [], "similar": [similar], "note": note}


def _word(word: str, title: str, doc_id: str, sentence: str) -> tuple[Action, Json]:
    """A `lookup` of the paper in the article that was searched last."""
    passages: list[Json] = [_article(doc_id, title, sentence)]
    return Action("lookup", {"word": word}), {"results": passages, "number": 1, "of": 1}


def _article(doc_id: str, title: str, snippet: str) -> dict[str, Json]:
    return {"doc_id": doc_id, "score": 1.0, "title": title, "snippet": snippet, "url": ""}


def _work_out(expression: str, result: str) -> tuple[Action, Json]:
    return Action("calc", {"expression": expression}), {
        "expression": expression,
        "result": result,
        "exact": True,
    }


def example(goal: str, *moves: _ShownStep) -> Example:
    """A worked example of these steps."""
    return Example(goal, tuple(_step(number, move) for number, move in enumerate(moves, start=1)))


def _step(number: int, move: _ShownStep) -> Step:
    actions = tuple(action for action, _ in move.calls)
    thought = Thought(Reply(), Fingerprints("", "", "", ""), move.thought, actions)
    calls = [
        Call(key, action, observation=Observation(key, content))
        for call_number, (action, content) in enumerate(move.calls, start=1)
        for key in [f"{number}.{call_number}"]
    ]
    return Step(number, thought, tuple(calls))


_LOOKUP: Final = example(
    "When was the lighthouse of Skarvholm first lit?",
    acted(
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
    finished("The first passage says so.", "It was first lit on 3 October 1871 [doc_90411]."),
)  # fmt: skip

_DIFFERENCE: Final = example(
    "How much longer is the Aldra tunnel than the Brisk tunnel?",
    acted(
        "I search the Aldra tunnel first.",
        _search(
            "Aldra tunnel length",
            _piece(
                94_019, 1.0, "aldra-tunnel.md", "The Aldra tunnel has a length of 2,318 metres."
            ),
        ),
    ),
    acted(
        "Aldra tunnel: 'a length of 2,318 metres'. Missing: the Brisk tunnel. I search it.",
        _search(
            "Brisk tunnel length",
            _piece(
                94_402, 1.0, "brisk-tunnel.md", "The Brisk tunnel was dug from 1871 to 1880. With "
                "its length of 1,975 metres it was the longest of its day.",
            ),
        ),
    ),
    acted(
        "Brisk tunnel: 'its length of 1,975 metres'. Now I subtract.",
        _work_out("2318 - 1975", "343"),
    ),
    finished(
        "The difference is 343.",
        "The Aldra tunnel is 343 metres longer [doc_94019] [doc_94402].",
    ),
)  # fmt: skip

_MULTI_HOP: Final = example(
    "In which town was the architect of the Ormund theatre born? Reply with the name alone.",
    acted(
        "I search the theatre first.",
        _search(
            "Ormund theatre architect",
            _piece(
                91_007, 1.0, "ormund-theatre.md",
                "The Ormund theatre was built in 1904 to drawings by the architect Ilse Varga.",
            ),
        ),
    ),
    acted(
        "It says 'the architect Ilse Varga'. Missing: where Ilse Varga was born. I search her.",
        _search(
            "Ilse Varga born",
            _piece(
                91_130, 1.0, "ilse-varga.md",
                "Ilse Varga was born in Tarvos as the daughter of a bridge builder.",
            ),
        ),
    ),
    finished("It says 'Ilse Varga was born in Tarvos'.", "Tarvos"),
)  # fmt: skip

_NO_EVIDENCE: Final = example(
    "What does a ticket for the Brannoch ferry cost?",
    acted(
        "I search the ferry and its ticket.",
        _search(
            "Brannoch ferry ticket",
            _piece(
                93_208, 0.67, "brannoch-ferry.md",
                "The Brannoch ferry carries forty people. It stops in winter.",
            ),
            _piece(93_300, 0.67, "lenne-ferry.md", "A ticket for the Lenne ferry costs 4 euros."),
        ),
    ),
    acted(
        "'4 euros' is the price of the Lenne ferry, not of the Brannoch ferry. I search in other "
        "words.",
        _search(
            "Brannoch ferry price",
            _piece(
                93_208, 0.67, "brannoch-ferry.md",
                "The Brannoch ferry carries forty people. It stops in winter.",
            ),
        ),
    ),
    finished(
        "No passage says what a ticket for the Brannoch ferry costs.", "It was not found."
    ),
)  # fmt: skip

_CALCULATION: Final = example(
    "What do 37 crates of 24 bottles cost, at 1.35 a bottle?",
    acted("I work that out instead of guessing.", _work_out("37 * 24 * 1.35", "1198.8")),
    finished("That is the whole question.", "1198.80"),
)

_REPHRASED: Final = example(
    "Who ran the ferry across the Lenne before the bridge was built?",
    acted(
        "I search for whoever ran the ferry.",
        _nothing("ferry operator Lennecrossing"),
    ),
    acted(
        "Nothing, so I ask with fewer and other words.",
        _search(
            "Lenne ferryman",
            _piece(
                92_655, 1.0, "the-lenne.md",
                "Until the bridge of 1889 the ferryman Josef Hahn took carts across the Lenne.",
            ),
        ),
    ),
    finished("That is the man.", "Josef Hahn ran it until the bridge of 1889 [doc_92655]."),
)  # fmt: skip

_BOTH: Final = example(
    "Which is larger, Lake Tamar or Lake Issel? Reply with the name alone.",
    acted(
        "I search Lake Tamar first.",
        _entity(
            "Lake Tamar", "text_n37ov_uumyl",
            "Lake Tamar is a mountain lake with an area of 14 square kilometres.",
        ),
    ),
    acted(
        "Lake Tamar: 'an area of 14 square kilometres'. Missing: Lake Issel. I search it.",
        _entity(
            "Lake Issel", "text_ag4t3_yrnbf",
            "Lake Issel is a reservoir with an area of 9 square kilometres.",
        ),
    ),
    finished(
        "Lake Issel: 'an area of 9 square kilometres'. 14 is more than 9, so it is Lake Tamar.",
        "Lake Tamar",
    ),
)  # fmt: skip

_ENTITIES: Final = example(
    "Where was the engineer born who designed the Hollin Viaduct?",
    acted(
        "I search the viaduct first.",
        _entity(
            "Hollin Viaduct", "text_fyfkw_yf5qv",
            "The Hollin Viaduct is a railway bridge over the Sene, designed by the engineer Marta "
            "Quist and opened in 1911.",
        ),
    ),
    acted(
        "It says 'designed by the engineer Marta Quist'. Missing: where Marta Quist was born. I "
        "search her.",
        _entity(
            "Marta Quist", "text_woczf_thl6r",
            "Marta Quist was an engineer. She was born in Ostrand and taught at its school of "
            "mines.",
        ),
    ),
    finished("It says 'She was born in Ostrand'.", "Ostrand"),
)  # fmt: skip

_SIMILAR: Final = example(
    "In which year did the first book of the poet Aker come out?",
    acted("I search the poet.", _no_entity("poet Aker", "Nils Aker")),
    acted(
        "There is no such article. A similar name is Nils Aker: I search that.",
        _entity(
            "Nils Aker", "text_xhyjd_iwghc",
            "Nils Aker was a poet and a ship's doctor. His first book came out in 1902.",
        ),
    ),
    finished("It says 'His first book came out in 1902'.", "1902"),
)  # fmt: skip

_STATEMENT: Final = example(
    "The harbour of Brannoch was built in 1902. TRUE or FALSE? Reply with one word.",
    acted(
        "I search Brannoch.",
        _entity(
            "Brannoch", "text_zqnne_e7vnu",
            "Brannoch is a fishing village. Its harbour was built in 1840.",
        ),
    ),
    finished("It says 'Its harbour was built in 1840', and 1840 is not 1902.", "FALSE"),
)  # fmt: skip

_ENTITY: Final = example(
    "In which year was the Hollin Viaduct opened?",
    acted(
        "I search the viaduct.",
        _entity(
            "Hollin Viaduct", "text_fyfkw_yf5qv",
            "The Hollin Viaduct is a railway bridge over the Sene, designed by the engineer Marta "
            "Quist and opened in 1911.",
        ),
    ),
    finished("The first paragraph says so.", "1911 [text_fyfkw_yf5qv]"),
)  # fmt: skip

_WORD: Final = example(
    "Who was the last keeper of Varn Light?",
    acted(
        "I search the lighthouse.",
        _entity(
            "Varn Light", "text_j6v6e_lo2ii",
            "Varn Light is a lighthouse on the Isle of Orra, first lit on 12 May 1868.",
        ),
    ),
    acted(
        "The first paragraph names no keeper. I look the word up in the article.",
        _word(
            "keeper", "Varn Light", "text_j6v6e_uh4pv", "The last keeper, Edda Lowe, left in 1974."
        ),
    ),
    finished("That sentence names her.", "Edda Lowe [text_j6v6e_uh4pv]"),
)  # fmt: skip

DEMONSTRATIONS: Final = (
    _DIFFERENCE, _MULTI_HOP, _NO_EVIDENCE, _LOOKUP, _REPHRASED,
    _BOTH, _ENTITIES, _SIMILAR, _STATEMENT, _ENTITY, _WORD,
    _CALCULATION,
)  # fmt: skip
"""Five with `docs`, six with the tools of the paper, `search` and `lookup`, one with `calc` alone.

The first of each kind show what small models leave out: a second look-up, words of the observation
in the thought, and an answer in the form that was asked for.
"""


def demonstrations(
    count: int = 1, tools: Collection[str] = ("docs", "calc")
) -> tuple[Example, ...]:
    """The first `count` of the worked examples that ship and use no other tools than these.

    `Agent(examples=count)` takes the first that fit its own tools. Raises `ConfigError` where there
    are not as many.
    """
    usable = [each for each in DEMONSTRATIONS if _used(each) <= {*tools, FINISH}]
    if not 0 <= count <= len(usable):
        among = f"with no more tools than {', '.join(tools) or 'none'}"
        message = f"there are {len(usable)} demonstrations {among}, not {count}"
        raise ConfigError(message)
    return tuple(usable[:count])


def _used(demonstration: Example) -> set[str]:
    return {call.action.name for step in demonstration.steps for call in step.calls}
