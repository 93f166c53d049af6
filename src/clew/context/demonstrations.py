"""Worked examples that ship: small invented trajectories with the tools that ship.

They are shown in the agent's own format, ahead of the question. What they find is invented, and is
no evidence: their doc_ids are such as no small collection has.
"""

from collections.abc import Collection
from typing import Final

import msgspec

from clew.codecs.interface import Example
from clew.core.errors import ConfigError
from clew.core.events import FINISH, Action, Fingerprints, Json, Observation, Reply, Thought
from clew.core.trajectory import Call, Step


class _Move(msgspec.Struct, frozen=True):
    """One step: what is thought, which calls are made, and what each of them gives."""

    thought: str
    calls: tuple[tuple[Action, Json], ...]


def acted(thought: str, *calls: tuple[Action, Json]) -> _Move:
    """A step: what is thought, and calls with what each of them gives."""
    return _Move(thought, calls)


def finished(thought: str, answer: str) -> _Move:
    """The last step, which gives the answer."""
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


def _entity(title: str, doc_id: str, paragraph: str) -> tuple[Action, Json]:
    """A `search` of the paper that finds the article."""
    found: list[Json] = [_article(doc_id, title, paragraph)]
    return Action("search", {"entity": title}), {"results": found}


def _no_entity(name: str, similar: str) -> tuple[Action, Json]:
    note = f"there is no article {name!r}: search one of the similar names"
    return Action("search", {"entity": name}), {"results": [], "similar": [similar], "note": note}


def _word(word: str, title: str, doc_id: str, sentence: str) -> tuple[Action, Json]:
    """A `lookup` of the paper in the article that was searched last."""
    found: list[Json] = [_article(doc_id, title, sentence)]
    return Action("lookup", {"word": word}), {"results": found, "number": 1, "of": 1}


def _no_word(word: str, title: str) -> tuple[Action, Json]:
    note = f"no sentence of {title!r} has {word!r}: look up another word, or search another entity"
    return Action("lookup", {"word": word}), {"results": [], "of": 0, "note": note}


def _article(doc_id: str, title: str, snippet: str) -> dict[str, Json]:
    return {"doc_id": doc_id, "score": 1.0, "title": title, "snippet": snippet, "url": ""}


def _work_out(expression: str, result: str) -> tuple[Action, Json]:
    return Action("calc", {"expression": expression}), {
        "expression": expression,
        "result": result,
        "exact": True,
    }


def example(goal: str, *moves: _Move) -> Example:
    """A worked example of these steps."""
    return Example(goal, tuple(_step(number, move) for number, move in enumerate(moves, start=1)))


def _step(number: int, move: _Move) -> Step:
    actions = tuple(action for action, _ in move.calls)
    thought = Thought(Reply(), Fingerprints("", "", "", ""), move.thought, actions)
    calls = [
        Call(key, action, observation=Observation(key, content))
        for place, (action, content) in enumerate(move.calls, start=1)
        for key in [f"{number}.{place}"]
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

_MULTI_HOP: Final = example(
    "In which town was the architect of the Ormund theatre born?",
    acted(
        "First I need to know who the architect was.",
        _search(
            "architect Ormund theatre",
            _piece(
                91_007, 1.0, "ormund-theatre.md",
                "The Ormund theatre was built in 1904 to drawings by the architect Ilse Varga.",
            ),
        ),
    ),
    acted(
        "It was Ilse Varga. Now I need the place of her birth.",
        _search(
            "Ilse Varga born",
            _piece(
                91_130, 1.0, "ilse-varga.md",
                "Ilse Varga was born in Tarvos as the daughter of a bridge builder.",
            ),
        ),
    ),
    finished(
        "Both links are found.",
        "The architect was Ilse Varga [doc_91007]; she was born in Tarvos [doc_91130].",
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

_NOT_FOUND: Final = example(
    "How many pupils did the school of Dunmere have in 1930?",
    acted(
        "I search for the school and its pupils.",
        _search(
            "Dunmere school pupils 1930",
            _piece(
                93_208, 0.5, "dunmere.md",
                "The school of Dunmere was opened in 1902 beside the church.",
            ),
        ),
    ),
    acted(
        "That gives the school but no number. I try the words of a register.",
        _nothing("attendance roll enrolment"),
    ),
    finished(
        "Neither search gives a number, and I do not guess one.",
        "The documents do not say: they have the school of Dunmere, opened in 1902 [doc_93208], "
        "but no number of pupils.",
    ),
)  # fmt: skip

_COMPARED: Final = example(
    "Which is longer, the Aldra tunnel or the Brisk tunnel, and by how much?",
    acted(
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
    acted("Now the difference.", _work_out("2318 - 1975", "343")),
    finished(
        "Both lengths and their difference are known.",
        "The Aldra tunnel, with 2,318 m [doc_94019], is 343 m longer than the Brisk tunnel with "
        "1,975 m [doc_94402].",
    ),
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

_ENTITIES: Final = example(
    "Where was the engineer born who designed the Hollin Viaduct?",
    acted(
        "First I need to know who designed it.",
        _entity(
            "Hollin Viaduct", "text_fyfkw_yf5qv",
            "The Hollin Viaduct is a railway bridge over the Sene, designed by the engineer Marta "
            "Quist and opened in 1911.",
        ),
    ),
    acted(
        "It was Marta Quist. Now I need the place of her birth.",
        _entity(
            "Marta Quist", "text_woczf_thl6r",
            "Marta Quist was an engineer. She was born in Ostrand and taught at its school of "
            "mines.",
        ),
    ),
    finished("Both links are found.", "Ostrand [text_fyfkw_yf5qv] [text_woczf_thl6r]"),
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

_SIMILAR: Final = example(
    "When did the first book of the poet Nils Aker come out?",
    acted("I search the poet.", _no_entity("Nils Aker", "Nils Aker (poet)")),
    acted(
        "The article is called otherwise: I search that name.",
        _entity(
            "Nils Aker (poet)", "text_52muf_iwghc",
            "Nils Aker was a poet and a ship's doctor. His first book came out in 1902.",
        ),
    ),
    finished("That is the year.", "1902 [text_52muf_iwghc]"),
)  # fmt: skip

_LARGER: Final = example(
    "Which is larger, Lake Tamar or Lake Issel?",
    acted(
        "I need both areas. First Lake Tamar.",
        _entity(
            "Lake Tamar", "text_n37ov_uumyl",
            "Lake Tamar is a mountain lake with an area of 14 square kilometres.",
        ),
    ),
    acted(
        "It has 14 square kilometres. Now Lake Issel.",
        _entity(
            "Lake Issel", "text_ag4t3_yrnbf",
            "Lake Issel is a reservoir with an area of 9 square kilometres.",
        ),
    ),
    finished("14 is more than 9.", "Lake Tamar [text_n37ov_uumyl] [text_ag4t3_yrnbf]"),
)  # fmt: skip

_NO_WORD: Final = example(
    "How many inhabitants does Brannoch have?",
    acted(
        "I search the place.",
        _entity(
            "Brannoch", "text_zqnne_e7vnu",
            "Brannoch is a fishing village. Its harbour was built in 1840.",
        ),
    ),
    acted(
        "That gives no number. I look the word up in the article.",
        _no_word("inhabitants", "Brannoch"),
    ),
    finished(
        "The article does not say, and I do not guess a number.",
        "The article on Brannoch, a fishing village [text_zqnne_e7vnu], does not say how many "
        "inhabitants it has.",
    ),
)  # fmt: skip

DEMONSTRATIONS: Final = (
    _LOOKUP, _NOT_FOUND, _MULTI_HOP, _REPHRASED, _COMPARED,
    _ENTITY, _NO_WORD, _ENTITIES, _WORD, _SIMILAR, _LARGER,
    _CALCULATION,
)  # fmt: skip
"""Five with `docs`, six with the tools of the paper, `search` and `lookup`, one with `calc` alone.

Of each kind the first finds the answer, and the second says that there is none.
"""


def demonstrations(
    count: int = 1, tools: Collection[str] = ("docs", "calc")
) -> tuple[Example, ...]:
    """The first `count` of the worked examples that ship and use no other tools than these.

    `Agent(examples=count)` takes the first that fit its own tools. Raises `ConfigError` where there
    are not as many.
    """
    found = [each for each in DEMONSTRATIONS if _used(each) <= {*tools, FINISH}]
    if not 0 <= count <= len(found):
        among = f"with no more tools than {', '.join(tools) or 'none'}"
        message = f"there are {len(found)} demonstrations {among}, not {count}"
        raise ConfigError(message)
    return tuple(found[:count])


def _used(shown: Example) -> set[str]:
    return {call.action.name for step in shown.steps for call in step.calls}
