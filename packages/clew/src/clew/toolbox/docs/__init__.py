"""The tools `docs` and `docs_read`: full-text search over a folder of your documents."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from anyio import to_thread

from clew.core.contents import Evidence, Observation
from clew.core.tools import Attempts, Tool
from clew.core.values import Json
from clew.support.errors import ConfigError, ToolError
from clew.support.short_text import counted
from clew.toolbox.docs.library import IndexReport, Library, OnProgress
from clew.toolbox.docs.search import FoundPassage, TextSpan

__all__ = ["FoundPassage", "IndexReport", "Library", "OnProgress", "TextSpan", "docs_tools"]

T = TypeVar("T")

MAX_QUERY_CHARS: Final = 1_000
_TIMEOUT: Final = 120.0
_SEARCH: Final = (
    "Search the person's own documents for passages. Use the few words that must be there, names "
    "first. Each result has a doc_id to cite as [doc_id], and a score: the share of the query "
    "found in it; below 0.5 less than half is there."
)
_READ: Final = (
    "Read on in a document: the passage with this doc_id and the two that follow it, whole. "
    "`before` and `after` are the doc_ids to go on with."
)


def docs_tools(
    folder: str | Path | Library,
    *,
    index: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> tuple[Tool, Tool]:
    """The tools `docs` and `docs_read` over a folder, or over a `Library`.

    The folder is indexed at the first call, in a worker thread; call `Library.load` beforehand to
    watch it. Cancelling a call stops indexing after the current file, and the next call continues.
    A doc_id (`doc_12`) names its passage as long as the file is unchanged and the index is kept.
    Raises `ConfigError` if there is no such folder.
    """
    library = (
        folder
        if isinstance(folder, Library)
        else Library(folder, index=index, on_progress=on_progress)
    )

    async def search(args: dict[str, Json], key: str) -> Any:
        query, limit = args["query"], args.get("limit", 5)
        _refuse_unsearchable(query)
        passages = await _in_thread(lambda stop: library.search(query, limit, stop))
        report = await _in_thread(library.report)
        content: dict[str, Json] = {"results": [_as_json(piece) for piece in passages]}
        if not passages:
            content["note"] = _nothing(report)
        if looked := report.looked():
            content["looked"] = looked
        return _observation(content, passages)

    async def read(args: dict[str, Json], key: str) -> Any:
        doc_id = args["doc_id"]
        part = await _in_thread(lambda stop: library.read_on(doc_id, stop))
        if not part.passages:
            raise ToolError(
                f"there is no passage {doc_id[:40]!r} (any more): take a doc_id from a new search"
            )
        around = {"before": part.before, "after": part.after}
        passages = [_as_json(piece) for piece in part.passages]
        return _observation({"results": passages, **around}, part.passages)

    return (
        _tool("docs", _SEARCH, _QUERY, search, {"query": "harbour master appointed"}),
        _tool("docs_read", _READ, _DOC_ID, read, {"doc_id": "doc_12"}),
    )


_QUERY: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "Words to find; punctuation and operators mean nothing",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 20,
            "default": 5,
            "description": "How many passages at most",
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}
_DOC_ID: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "doc_id": {"type": "string", "description": "As in a result of docs, e.g. doc_12"},
    },
    "required": ["doc_id"],
    "additionalProperties": False,
}


def _tool(
    name: str,
    description: str,
    parameters: dict[str, Json],
    call: Callable[[dict[str, Json], str], Any],
    example: dict[str, Json],
) -> Tool:
    return Tool(
        name=name,
        description=description,
        parameters=parameters,
        call=call,
        effect="read",
        attempts=Attempts(timeout=_TIMEOUT),
        trust="untrusted",
        examples=(example,),
    )


async def _in_thread(work: Callable[[threading.Event], T]) -> T:
    """Run it beside the event loop; when cancelled, let it go and tell it to end soon."""
    stop = threading.Event()
    try:
        return await to_thread.run_sync(work, stop, abandon_on_cancel=True)
    except ConfigError as error:
        raise ToolError(str(error)) from error
    finally:
        stop.set()


def _refuse_unsearchable(query: str) -> None:
    if len(query) > MAX_QUERY_CHARS:
        raise ToolError(
            f"the query has {len(query):,} characters, at most {MAX_QUERY_CHARS:,} are read: "
            "give the few words that must be there"
        )
    if not any(character.isalnum() for character in query):
        raise ToolError("the query holds no word: give the words that must be there")


def _as_json(piece: FoundPassage) -> dict[str, Json]:
    return {
        "doc_id": piece.doc_id,
        "score": piece.score,
        "title": piece.title,
        "snippet": piece.text,
        "path": piece.path,
        "offset": piece.offset,
        "url": f"file:{quote(piece.path)}",
    }


def _nothing(report: IndexReport) -> str:
    note = (
        f"none of these words is in the {counted(report.passages, 'passage')} of "
        f"{counted(report.files, 'file')}: try other words for the same thing"
        if report.files
        else "no document was searched: there is none here that can be read"
    )
    if report.skipped:
        path, reason = report.skipped[0]
        note += f". Not searched: {len(report.skipped)} (such as {path}: {reason})"
    return note


def _observation(content: dict[str, Json], pieces: Sequence[FoundPassage]) -> Observation:
    return Observation(
        content=content,
        effect="read",
        trust="untrusted",
        evidence=tuple(
            Evidence(
                doc_id=piece.doc_id,
                text=piece.text,
                score=piece.score,
                source=piece.path,
                offset=piece.offset,
            )
            for piece in pieces
        ),
    )
