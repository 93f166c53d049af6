"""The tools that change files: `edit_file`, `write_file`, `apply_patch`."""

from collections.abc import Callable
from typing import Final

from clew.core.errors import ToolError
from clew.core.events import Json, Observation
from clew.core.interfaces import Parameters, Tool
from clew.toolbox.workspace.changes import Change, Plan, apply_plan
from clew.toolbox.workspace.edit import replace_text
from clew.toolbox.workspace.hunks import apply_hunks
from clew.toolbox.workspace.patch import FilePatch, parse_patch
from clew.toolbox.workspace.repair_patch import repair_patch
from clew.toolbox.workspace.root import MOST_BYTES, Root
from clew.toolbox.workspace.schemas import PATH, arguments
from clew.toolbox.workspace.text import decode_text


def write_tools(root: Root) -> list[Tool]:
    """The three tools. After a crash, the files show whether a call was done."""

    def tool(
        name: str, about: str, schema: Parameters, plan: Callable[[Root, dict[str, Json]], Plan]
    ) -> Tool:
        async def call(args: dict[str, Json], key: str) -> Observation:
            return await apply_plan(root, lambda: plan(root, args))

        repair = repair_patch if plan is patch_plan else None
        return Tool(name, about, schema, call, effect="idempotent", repair=repair)

    return [
        tool("edit_file", _EDIT, _EDIT_ARGS, edit_plan),
        tool("write_file", _WRITE, _WRITE_ARGS, write_plan),
        tool("apply_patch", _PATCH, _PATCH_ARGS, patch_plan),
    ]


def edit_plan(root: Root, args: dict[str, Json]) -> Plan:
    """Replace a text. Raises `ToolError`."""
    file = root.read(args["path"])
    text, said = replace_text(
        decode_text(file.data, file.path),
        args["old_text"],
        args["new_text"],
        file.path,
        matches=args.get("matches") or 1,
    )
    return Plan([Change(file.path, file, _check_size(file.path, text.encode()))], said)


def write_plan(root: Root, args: dict[str, Json]) -> Plan:
    """Write a whole file. Raises `ToolError` if one exists and `overwrite` is not set."""
    path = root.where(args["path"])
    before = root.find(path)
    words: str = args["content"]
    if before is None:
        data, said = words.encode(), f"wrote {path}: {len(words.splitlines())} lines, a new file"
    elif not args.get("overwrite"):
        raise ToolError(
            f"{path} is there already: change it with edit_file, or say overwrite=true to put "
            "this in the place of all of it"
        )
    else:
        data = _in_style(before.data, words)
        said = f"wrote {path}: {len(words.splitlines())} lines in the place of the old ones"
        if data == before.data:
            raise ToolError(f"{path} has just this content: nothing was changed")
    return Plan([Change(path, before, _check_size(path, data))], said)


def _in_style(before: bytes, words: str) -> bytes:
    """New content with the encoding and line ends of the old one, if that was text."""
    try:
        text = decode_text(before, "the file")
    except ToolError:
        return words.encode()
    return text.change([(0, len(text.body), words)]).encode() if text.body else words.encode()


def _check_size(path: str, data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise ToolError(f"{path} would have {len(data):,} bytes, and {MOST_BYTES:,} are written")
    return data


def patch_plan(root: Root, args: dict[str, Json]) -> Plan:
    """Apply a patch to all its files, or none. Raises `ToolError`."""
    changes: list[Change] = []
    said: list[str] = []
    for each in parse_patch(args["patch"]):
        more, words = _file_plan(root, each)
        changes += more
        said.append(words)
    paths = [change.path for change in changes]
    if twice := next((path for path in paths if paths.count(path) > 1), ""):
        raise ToolError(f"{twice} is in the patch twice: put all its hunks below one header")
    return Plan(changes, "\n".join(said))


def _file_plan(root: Root, patch: FilePatch) -> tuple[list[Change], str]:
    path = root.where(patch.path)
    if patch.kind == "Add":
        if root.find(path) is not None:
            raise ToolError(f"{path} is there already: use '*** Update File: {path}'")
        lines = [line for hunk in patch.hunks for _, line in hunk.lines]
        open_end = any(hunk.ends_open for hunk in patch.hunks)
        words = "\n".join(lines) + ("\n" if lines and not open_end else "")
        return [Change(path, None, _check_size(path, words.encode()))], f"{path}: added"
    file = root.read(path)
    if patch.kind == "Delete":
        return [Change(path, file, None)], f"{path}: removed"
    text, places = apply_hunks(decode_text(file.data, path), patch)
    data = _check_size(path, text.encode())
    lines_said = ", ".join(map(str, places))
    said = f"{path}: changed at line {lines_said}" if places else f"{path}: unchanged"
    if not patch.move_to:
        return [Change(path, file, data)], said
    target = root.where(patch.move_to)
    if root.find(target) is not None:
        raise ToolError(f"{target} is there already: {path} cannot be moved to it")
    moved = [Change(target, None, data, like=file), Change(path, file, None)]
    return moved, f"{said}, and moved to {target}"


_EDIT: Final = (
    "Replace old_text by new_text in a file. old_text must be in the file exactly once, blanks and "
    "line ends included: copy it from read_file without the numbers."
)
_WRITE: Final = "Write a new file, or with overwrite a whole file anew. Folders are made."
_PATCH: Final = (
    "Change files by a patch, all or none: V4A ('*** Begin Patch', '*** Update File: PATH', lines "
    "beginning with ' ', '-' or '+', '@@ def name' where they are not unique, '*** End Patch'), or "
    "a unified diff. Lines that are kept or removed must be in the file as they are."
)
_TEXT: Final[Parameters] = {"type": "string", "maxLength": 1_000_000}
_EDIT_ARGS: Final = arguments(
    ["path", "old_text", "new_text"],
    path=PATH,
    old_text={**_TEXT, "minLength": 1},
    new_text=_TEXT,
    matches={
        "type": "integer",
        "minimum": 1,
        "description": "How often old_text is in the file, where not once: all are replaced",
    },
)
_WRITE_ARGS: Final = arguments(
    ["path", "content"], path=PATH, content=_TEXT, overwrite={"type": "boolean"}
)
_PATCH_ARGS: Final = arguments(["patch"], patch={**_TEXT, "minLength": 1})
