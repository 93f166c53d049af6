"""Tools over the record of the run that calls them: what the view left out is read on, or found.

Both are pure functions of the record, so that a replay comes to the same.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from clew.core.attachments import readable_text
from clew.core.call_context import CALL
from clew.core.codec import Codec, Describes
from clew.core.codes import FINISH, Trust
from clew.core.contents import Observation
from clew.core.tools import Tool, ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.support.errors import ToolError
from clew.support.text_folding import caseless
from clew.tools.search_words import grams, terms

READ_MORE: Final = "read_more"
RECALL: Final = "recall"

PAGE_CHARS: Final = 20_000
"""So much of a result is read at once, where so much of one is shown."""

REWOUND: Final = "of a branch that was taken back as wrong"
"""The mark of what was observed in steps that a rewind left out."""

_HEADING: Final = 200
_PIECE: Final = 600
"""Results are searched in pieces of some so many characters, cut at the end of a line or word."""

_MAX_PASSAGES: Final = 5
_END: Final = re.compile(r"\s(?=\S*$)")
_NAMED: Final = re.compile(r"\w[^\w\s]+\w|_|\d")
_AROUND: Final = "\"'`.,;:!?()[]{}<>"


class RecalledPiece(NamedTuple):
    """A part of what a call gave, from `offset` on."""

    handle: str
    offset: int
    text: str
    trust: Trust
    rewound: bool

    @property
    def line(self) -> str:
        """The piece, and how more of it is read."""
        mark = f" ({REWOUND})" if self.rewound else ""
        return f'read_more("{self.handle}", offset={self.offset}){mark}: {self.text}'


def fitting_recalls(
    tools: Sequence[ToolSpec], codec: Codec, visible_chars: int | None
) -> tuple[Tool, ...]:
    """Those of `recall_tools` that are of use beside these tools, in this format.

    None where all is shown, nothing can be observed, or the format cannot describe tools during a
    run; and none of a name that another tool has.
    """
    named = {tool.name for tool in tools}
    if visible_chars is None or not named or not (codec.native or isinstance(codec, Describes)):
        return ()
    return tuple(tool for tool in recall_tools(visible_chars) if tool.name not in named)


@cache
def recall_tools(visible_chars: int) -> tuple[Tool, Tool]:
    """`read_more` and `recall`, where a model is shown `visible_chars` characters of a result at
    most.
    """
    page = min(visible_chars, PAGE_CHARS) - _HEADING

    def more(args: dict[str, Json], key: str) -> Observation:
        _ = key
        mapping: Mapping[str, Any] = args
        offset, query = mapping.get("offset", 0), mapping.get("query", "")
        return read_more(_record(), mapping["handle"], offset, query, page)

    def passages(args: dict[str, Json], key: str) -> Observation:
        _ = key
        return recall(_record(), str(args["query"]))

    reads = Tool(
        READ_MORE,
        "Read on in an earlier result that was shown in part or left out.",
        {
            "type": "object",
            "properties": {
                "handle": {"type": "string", "description": 'The call, such as "3.1".'},
                "offset": {"type": "integer", "minimum": 0, "description": "Where to begin."},
                "query": {"type": "string", "description": "Or: words to look for in it."},
            },
            "required": ["handle"],
            "additionalProperties": False,
        },
        more,
        effect="pure",
    )
    finds = Tool(
        RECALL,
        "Find by words what earlier steps of this run gave, also those that are left out.",
        {
            "type": "object",
            "properties": {"query": {"type": "string", "minLength": 1}},
            "required": ["query"],
            "additionalProperties": False,
        },
        passages,
        effect="pure",
    )
    return reads, finds


def read_more(
    trajectory: Trajectory, handle: str, offset: int, query: str, page: int
) -> Observation:
    """A page of a result from `offset` on, or what has words of the query.

    Raises `ToolError` where there is no such result.
    """
    call = next((one for one in trajectory.calls if one.key == handle.strip().strip('"')), None)
    if call is None or (seen := call.observation) is None:
        known = [one.key for one in trajectory.calls if one.observation is not None]
        some = f"such as {known[-1]}" if known else "and there is none yet"
        raise ToolError(f"there is no result {handle!r}: a handle is a call's number, {some}")
    if query:
        best = _best(list(_pieces(trajectory, call)), query)
        text = "\n\n".join(piece.line for piece in best) or f"{call.key} has no words of {query!r}"
        return Observation(content=text, trust=seen.trust)
    text = readable_text(seen)
    if offset and offset >= len(text):
        raise ToolError(f"{call.key} has {len(text):,} characters: choose an offset below")
    end = min(offset + page, len(text))
    rest = f'; go on with read_more("{call.key}", offset={end})' if end < len(text) else ""
    mark = f", {REWOUND}" if _rewound(trajectory, call) else ""
    head = f"[{call.key}{mark}, characters {offset:,} to {end:,} of {len(text):,}{rest}]"
    return Observation(content=f"{head}\n{text[offset:end]}", trust=seen.trust)


def recall(trajectory: Trajectory, query: str) -> Observation:
    """The pieces of earlier results that have most of the query's words, the rarest count most."""
    pieces = [
        piece
        for call in trajectory.calls
        if call.action.name not in {FINISH, READ_MORE, RECALL}
        for piece in _pieces(trajectory, call)
    ]
    best = _best(pieces, query)
    if not best:
        return Observation(content=f"no earlier result has words of {query!r}", trust="trusted")
    trusted = all(piece.trust == "trusted" for piece in best)
    text = "\n\n".join(piece.line for piece in best)
    return Observation(content=text, trust="trusted" if trusted else "untrusted")


def _record() -> Trajectory:
    if (made := CALL.get()) is None:
        raise ToolError("this tool reads the record of the run that calls it, and there is none")
    return made.record


def _rewound(trajectory: Trajectory, call: Call) -> bool:
    return int(call.key.partition(".")[0]) in trajectory.omitted.hidden


def _pieces(trajectory: Trajectory, call: Call) -> Iterator[RecalledPiece]:
    seen, rewound = call.observation or Observation(), _rewound(trajectory, call)
    text, at = readable_text(seen), 0
    while at < len(text):
        end = at + _PIECE
        if end < len(text) and (cut := _END.search(text, at + _PIECE // 2, end)) is not None:
            end = cut.end()
        yield RecalledPiece(call.key, at, text[at:end].strip(), seen.trust, rewound)
        at = end


def _best(pieces: list[RecalledPiece], query: str) -> list[RecalledPiece]:
    """The pieces that fit the query best: those with its names as they are spelled, then BM25's."""
    ranked = {index: rank for rank, index in enumerate(_ranked(pieces, query))}
    names = _names(query)
    scored: list[tuple[int, int, int]] = []
    for index, piece in enumerate(pieces):
        text = caseless(piece.text) if names else ""
        exact = sum((name in piece.text) + (caseless(name) in text) for name in names)
        if exact or index in ranked:
            scored.append((-exact, ranked.get(index, len(pieces)), -index))
    return [pieces[-index] for _, _, index in sorted(scored)[:_MAX_PASSAGES]]


def _names(query: str) -> list[str]:
    """The words of a query to be found as they stand: identifiers, paths, numbers, or its only one.

    An index of words takes `get_name` for two, and "values" for "value".
    """
    words = [word.strip(_AROUND) for word in query.split()]
    return [word for word in words if word and (len(words) == 1 or _NAMED.search(word))]


def _ranked(pieces: list[RecalledPiece], query: str) -> list[int]:
    """The places of the pieces that have words of the query, the best first (BM25)."""
    if not (asked := terms(query)):
        return []
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(
            "CREATE VIRTUAL TABLE pieces USING fts5(text, tokenize='porter unicode61')"
        )
        rows = ((index, f"{one.text} {grams(one.text)}") for index, one in enumerate(pieces))
        connection.executemany("INSERT INTO pieces (rowid, text) VALUES (?, ?)", rows)
        matched = connection.execute(
            "SELECT rowid FROM pieces WHERE pieces MATCH ? ORDER BY bm25(pieces), rowid DESC",
            (" OR ".join(asked),),
        )
        return [index for (index,) in matched]
    finally:
        connection.close()
