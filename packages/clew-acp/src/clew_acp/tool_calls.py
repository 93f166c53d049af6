"""A call of a record as an editor shows it: title, kind, files, differences, result."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from acp import schema

from clew import Observation
from clew.interfaces import Action, Json
from clew_acp.safe_text import as_json, fenced, quoted

Content: TypeAlias = (
    schema.ContentToolCallContent | schema.FileEditToolCallContent | schema.TerminalToolCallContent
)

KINDS: Final[Mapping[str, schema.ToolKind]] = {
    "read_file": "read", "docs_read": "read", "list_files": "search", "grep": "search",
    "docs": "search", "memories": "search", "edit_file": "edit", "write_file": "edit",
    "apply_patch": "edit", "run_command": "execute", "run_code": "execute", "calc": "think",
    "planner": "think", "backtrack": "think", "web_search": "search", "wiki_search": "search",
    "search": "search", "lookup": "search", "fetch_page": "fetch", "git_status": "read",
    "git_diff": "read", "git_commit": "execute", "editor_read": "read", "editor_write": "edit",
    "editor_run": "execute",
}  # fmt: skip
"""What the tools that ship do, in the words of editors; all others are `other`."""

_LONGEST: Final = 200_000
"""The most characters of arguments, and of either side of a difference, that an editor is sent."""


@dataclass(frozen=True)
class CallView:
    """A call, by its id in the session, with the folder that its paths are relative to."""

    id: str
    action: Action
    folder: Path
    old_text: str | None = None
    """What a file had before that the call writes anew, if that is known."""

    @property
    def title(self) -> str:
        """Its tool, and the arguments as far as a line holds them."""
        args = self.action.args
        first = next((args[name] for name in ("path", "command", "query") if name in args), None)
        about = first if len(args) and isinstance(first, str) else as_json(args)
        return quoted(f"{self.action.name} {about}" if args else self.action.name)

    @property
    def kind(self) -> schema.ToolKind:
        """What it does, in the words of editors."""
        return KINDS.get(self.action.name, "other")

    def start(self) -> schema.ToolCallStart:
        """It was asked for."""
        return schema.ToolCallStart(
            session_update="tool_call", tool_call_id=self.id, title=self.title, kind=self.kind,
            status="pending", raw_input=self.arguments, locations=self._locations() or None,
            content=self.edit() or None,
        )  # fmt: skip

    @property
    def arguments(self) -> dict[str, Json] | str:
        """Its arguments; their beginning as text where they are long."""
        text = as_json(self.action.args)
        return self.action.args if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

    def edit(self) -> list[Content]:
        """The difference that it makes in a file, if its arguments say that."""
        args, path = self.action.args, self._path()
        new = args.get("new_text", args.get("content"))
        if self.kind != "edit" or path is None or not isinstance(new, str):
            return []
        old = args.get("old_text", self.old_text)
        known = old[:_LONGEST] if isinstance(old, str) else None
        return [
            schema.FileEditToolCallContent(
                type="diff", path=path, old_text=known, new_text=new[:_LONGEST]
            )
        ]

    @property
    def overwritten(self) -> Path | None:
        """The file whose text the call puts another in the place of."""
        path, args = self._path(), self.action.args
        writes = self.kind == "edit" and path is not None and "old_text" not in args
        return Path(path) if writes and path is not None and "content" in args else None

    def ended(self, result: Observation) -> schema.ToolCallProgress:
        """What came of it."""
        unknown = ["nobody knows whether it happened"] if result.outcome == "unknown" else []
        text = "\n".join((*unknown, result.words))
        return schema.ToolCallProgress(
            session_update="tool_call_update", tool_call_id=self.id,
            status="completed" if result.ok else "failed",
            content=[*(self.edit() if result.ok else []), text_content(fenced(text))],
        )  # fmt: skip

    def _path(self) -> str | None:
        """The file that it is about, absolute."""
        path = self.action.args.get("path")
        if not isinstance(path, str) or not path or "\0" in path:
            return None
        return str(self.folder / path)

    def _locations(self) -> list[schema.ToolCallLocation]:
        path = self._path()
        if path is None or self.kind == "other":
            return []
        line: Any = self.action.args.get("line")
        known = line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else None
        return [schema.ToolCallLocation(path=path, line=known)]


def text_content(text: str) -> schema.ContentToolCallContent:
    """A text as the content of a call."""
    block = schema.TextContentBlock(type="text", text=text)
    return schema.ContentToolCallContent(type="content", content=block)


def running(call_id: str) -> schema.ToolCallProgress:
    """An attempt of a call begins."""
    return schema.ToolCallProgress(
        session_update="tool_call_update", tool_call_id=call_id, status="in_progress"
    )


def news(call_id: str, text: str) -> schema.ToolCallProgress:
    """How far a call is, in the words of its tool."""
    return schema.ToolCallProgress(
        session_update="tool_call_update", tool_call_id=call_id, status="in_progress",
        content=[text_content(fenced(text))],
    )  # fmt: skip
