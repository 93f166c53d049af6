"""The tools that change files: `edit_file`, `write_file`, `apply_patch`."""

from collections.abc import Callable, Collection
from typing import Final

from clew import Observation, Tool, ToolError
from clew.guards import Labels
from clew.interfaces import Json, Parameters
from clew_code.workspace.changes import Change, ChangeSet, Paths, apply_plan
from clew_code.workspace.edit import replace_text
from clew_code.workspace.hunks import apply_hunks
from clew_code.workspace.patch import FilePatch, Hunk
from clew_code.workspace.repair_patch import repair_patch
from clew_code.workspace.root import MAX_BYTES, File, Root, version
from clew_code.workspace.schemas import PATH, arguments
from clew_code.workspace.text import FileText, decode_text
from clew_code.workspace.unified_diff import parse_patch


def write_tools(root: Root) -> list[Tool]:
    """The three tools. After a crash, the files show whether a call was done."""

    def tool(
        name: str,
        about: str,
        schema: Parameters,
        paths: Callable[[dict[str, Json]], Paths],
        plan: Callable[[Root, dict[str, Json], Collection[str]], ChangeSet],
        *content: str,
    ) -> Tool:
        async def call(args: dict[str, Json], key: str) -> Observation:
            return await apply_plan(
                root, key, lambda: paths(args), lambda done: plan(root, args, done)
            )

        repair = repair_patch if plan is patch_plan else None
        labels = Labels(content=content)
        return Tool(name, about, schema, call, effect="idempotent", repair=repair, labels=labels)

    return [
        tool("edit_file", _EDIT, _EDIT_ARGS, _edit_paths, edit_plan, "old_text", "new_text"),
        tool("write_file", _WRITE, _WRITE_ARGS, _write_paths, write_plan, "content"),
        tool("apply_patch", _PATCH, _PATCH_ARGS, _patch_paths, patch_plan),
    ]


def _edit_paths(args: dict[str, Json]) -> Paths:
    return [(args["path"], False)]


def _write_paths(args: dict[str, Json]) -> Paths:
    return [(args["path"], True)]


def _patch_paths(args: dict[str, Json]) -> Paths:
    named: list[tuple[str, bool]] = []
    for each in parse_patch(args["patch"]):
        named.append((each.path, each.kind == "Add"))
        if each.move_to:
            named.append((each.move_to, True))
    return named


def edit_plan(root: Root, args: dict[str, Json], _: Collection[str] = ()) -> ChangeSet:
    """Replace a text. Raises `ToolError`."""
    file = root.read(args["path"])
    _check_version(file, args.get("version"))
    text, message = replace_text(
        decode_text(file.data, file.path),
        args["old_text"],
        args["new_text"],
        file.path,
        matches=args.get("matches") or 1,
    )
    message += _of_links(file)
    return ChangeSet([Change(file.path, file, _check_size(file.path, text.encode()))], message)


def _check_version(file: File | None, wanted: str | None) -> None:
    """Refuse to change a file whose version is another than the one that a model has read."""
    now = version(None if file is None else file.data)
    if wanted and wanted != now:
        what = "there is no such file" if file is None else f"{file.path} has version {now} now"
        raise ToolError(f"nothing was changed: {what}, and not {wanted}: read it again")


def _of_links(file: File) -> str:
    """What is said if a file has other names (hard links): these keep the old content."""
    if file.links < 2:
        return ""
    return f"; {file.links - 1} other names of this file (hard links) keep the old content"


def write_plan(root: Root, args: dict[str, Json], _: Collection[str] = ()) -> ChangeSet:
    """Write a whole file. Raises `ToolError` if one exists and `overwrite` is not set."""
    path = root.where(args["path"])
    before = root.find(path)
    _check_version(before, args.get("version"))
    words: str = args["content"]
    if before is None:
        data, message = words.encode(), f"wrote {path}: {_lines(words)}, a new file"
    elif not args.get("overwrite"):
        raise ToolError(
            f"{path} is there already: change it with edit_file, or say overwrite=true to put "
            "this in the place of all of it"
        )
    else:
        data = _in_style(before.data, words)
        message = f"wrote {path}: {_lines(words)} in the place of the old ones"
        if data == before.data:
            raise ToolError(f"{path} has just this content: nothing was changed")
        message += _of_links(before)
    overwritten = frozenset([path])
    return ChangeSet([Change(path, before, _check_size(path, data))], message, overwritten)


def _in_style(before: bytes, words: str) -> bytes:
    """New content with the encoding and line ends of the old one, if that was text."""
    try:
        text = decode_text(before, "the file")
    except ToolError:
        return words.encode()
    if not text.body or not text.sure:  # nothing of the old content is left beside the new one
        return words.encode()
    return text.change([(0, len(text.body), words)]).encode()


def _lines(words: str) -> str:
    """How many lines a text has, in words."""
    return "1 line" if (lines := len(words.splitlines())) == 1 else f"{lines} lines"


def _check_size(path: str, data: bytes) -> bytes:
    if len(data) > MAX_BYTES:
        raise ToolError(f"{path} would have {len(data):,} bytes, and {MAX_BYTES:,} are written")
    return data


def patch_plan(root: Root, args: dict[str, Json], done: Collection[str] = ()) -> ChangeSet:
    """Apply a patch to all its files, or none; not to those that are `done`. Raises `ToolError`."""
    changes: list[Change] = []
    messages: list[str] = []
    removed: list[str] = []
    for each in parse_patch(args["patch"]):
        more, words = _file_plan(root, each, done)
        changes += [change for change in more if change.path not in done]
        messages.append(words)
        removed += [change.path for change in more if change.after is None]
    paths = [change.path for change in changes]
    if twice := next((path for path in paths if paths.count(path) > 1), ""):
        raise ToolError(f"{twice} is in the patch twice: put all its hunks below one header")
    return ChangeSet(changes, "\n".join(messages), frozenset(removed))


def _file_plan(root: Root, patch: FilePatch, done: Collection[str]) -> tuple[list[Change], str]:
    path = root.where(patch.path)
    if patch.kind == "Add":
        return ([] if path in done else [_addition(root, path, patch)]), f"{path}: added"
    if patch.kind == "Delete":
        return ([] if path in done else [_removal(root, path, patch)]), f"{path}: removed"
    target = root.where(patch.move_to) if patch.move_to else ""
    if path in done and (not target or target in done):
        return [], f"{path}: changed"
    file = root.read(path)
    if target in done and target:
        return ([] if patch.copy else [Change(path, file, None)]), f"{path}: moved to {target}"
    data, message = _patched(file, path, patch)
    if not target:
        return [Change(path, file, data, executable=patch.executable)], message + _of_links(file)
    if root.find(target) is not None:
        verb = "copied" if patch.copy else "moved"
        raise ToolError(f"{target} is there already: {path} cannot be {verb} to it")
    moved = [Change(target, None, data, like=file, executable=patch.executable)]
    if patch.copy:
        return moved, f"{message}, as a copy at {target}"
    return [*moved, Change(path, file, None)], f"{message}, and moved to {target}"


def _addition(root: Root, path: str, patch: FilePatch) -> Change:
    if root.find(path) is not None:
        raise ToolError(f"{path} is there already: use '*** Update File: {path}'")
    lines = [line for hunk in patch.hunks for line in hunk.new]
    end = "\r\n" if any(hunk.returns for hunk in patch.hunks) else "\n"
    open_end = any(hunk.ends_open for hunk in patch.hunks)
    words = end.join(lines) + (end if lines and not open_end else "")
    data = _check_size(path, words.encode())
    return Change(path, None, data, executable=patch.executable)


def _removal(root: Root, path: str, patch: FilePatch) -> Change:
    """The removal of a file; if the patch says what is in it, that must be all of it."""
    file = root.read(path)
    if patch.exact and (file.data or patch.hunks):
        text = decode_text(file.data, path)
        hunk = patch.hunks[0] if patch.hunks else Hunk()
        if text.lines != hunk.old:
            raise ToolError(f"{path} is not removed: {_first_difference(text, hunk.old)}")
        ends_open = bool(text.body) and not text.body.endswith("\n")
        if bool(hunk.was_open) != ends_open:
            raise ToolError(
                f"{path} is not removed: the patch says otherwise whether it ends with a newline"
            )
    return Change(path, file, None)


def _first_difference(text: FileText, old: list[str]) -> str:
    """How the content of a file differs from what a patch says of it."""
    pairs = zip(text.lines, old, strict=False)
    at = next((number for number, (one, other) in enumerate(pairs, 1) if one != other), 0)
    if at:
        return f"line {at} of it is not as the patch says; read it again"
    return f"it has {len(text.lines)} lines, and the patch removes {len(old)}; read it again"


def _patched(file: File, path: str, patch: FilePatch) -> tuple[bytes, str]:
    """The content of a changed file, and what is said of it."""
    if not patch.hunks:
        what = {True: "may be run now", False: "may not be run any more", None: "unchanged"}
        if patch.executable is not None and patch.executable == bool(file.mode & 0o100):
            raise ToolError(f"{path} has that mode already: nothing was changed")
        return file.data, f"{path}: {what[patch.executable]}"
    text, starts = apply_hunks(decode_text(file.data, path), patch)
    data = _check_size(path, text.encode())
    if data == file.data:
        raise ToolError(f"nothing was changed: the patch leaves {path} as it is")
    return data, f"{path}: changed at line {', '.join(map(str, starts))}"


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
_VERSION: Final[Parameters] = {
    "type": "string",
    "maxLength": 64,
    "description": "The version that read_file showed: refused if the file has another one now",
}
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
    version=_VERSION,
)
_WRITE_ARGS: Final = arguments(
    ["path", "content"],
    path=PATH,
    content=_TEXT,
    overwrite={"type": "boolean"},
    version=_VERSION,
)
_PATCH_ARGS: Final = arguments(["patch"], patch={**_TEXT, "minLength": 1})
