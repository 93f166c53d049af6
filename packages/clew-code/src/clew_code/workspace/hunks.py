"""Apply the hunks of a patch to a text, each at its only matching place."""

from typing import Final

from clew import ToolError
from clew_code.workspace.edit import text_not_in_file
from clew_code.workspace.nearest_match import excerpt, nearest
from clew_code.workspace.patch import FilePatch, Hunk
from clew_code.workspace.text import FileText

_NAMED: Final = 10

Span = tuple[int, int, str]


def apply_hunks(text: FileText, patch: FilePatch) -> tuple[FileText, list[int]]:
    """The text with all hunks applied, and the line number of each.

    Raises `ToolError` for a hunk that matches nowhere, or in more than one place.
    """
    lines = text.lines
    starts = _starts(lines)
    spans: list[Span] = []
    first_lines: list[int] = []
    taken: list[tuple[int, int]] = []
    for number, hunk in enumerate(patch.hunks, 1):
        start = _start(text, lines, hunk, f"{patch.path}, hunk {number}")
        end = start + len(hunk.old)
        if any(start < other and first < end for first, other in taken):
            raise ToolError(f"{patch.path}: hunk {number} changes lines that an earlier one has")
        _check_end(text, lines, hunk, end, f"{patch.path}, hunk {number}")
        taken.append((start, end))
        first_lines.append(start + 1)
        spans += _spans(text, starts, hunk, start)
    done = text.change(spans)
    for hunk in patch.hunks:
        done = _with_end(done, ends_open=hunk.ends_open)
    return done, first_lines


def _check_end(text: FileText, lines: list[str], hunk: Hunk, end: int, where: str) -> None:
    """Hold what a hunk says of the end of the file against it."""
    if hunk.was_open is None:
        return
    if end != len(lines):
        raise ToolError(f"nothing was changed: {where} is not at the end of the file, as it says")
    if hunk.old and hunk.was_open == text.body.endswith("\n"):
        how = "with" if hunk.was_open else "without"
        raise ToolError(f"nothing was changed: {where}: the file ends {how} a newline")


def _starts(lines: list[str]) -> list[int]:
    """The index at which each line begins, and the one after the last."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return starts


def _start(text: FileText, lines: list[str], hunk: Hunk, where: str) -> int:
    """The number of the first line of a hunk, from 0."""
    old = hunk.old
    if not old:
        if not lines or hunk.at_end:
            return len(lines)
        raise ToolError(f"{where} has no line that is there already: add some around it")
    starts = [at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
    if hunk.at_end:
        starts = [at for at in starts if at + len(old) == len(lines)]
    if not starts:
        raise ToolError(text_not_in_file(text, "\n".join(old), where))
    if hunk.anchors:
        starts = _below(lines, hunk.anchors, starts, where)
    if len(starts) > 1:
        named = ", ".join(str(at + 1) for at in starts[:_NAMED])
        raise ToolError(
            f"nothing was changed: {where} has {len(starts)} matches, at lines {named}: add lines "
            "around it, or a line '@@ ' with the function or class that it is in"
        )
    return starts[0]


def _below(lines: list[str], anchors: tuple[str, ...], starts: list[int], where: str) -> list[int]:
    """The matches inside the block that the anchors name, or after their only line."""
    blocks = [(-1, len(lines))]
    for anchor in anchors:
        named = [at for at, line in enumerate(lines) if line.strip().startswith(anchor.strip())]
        named = [at for at in named if any(first < at < end for first, end in blocks)]
        if not named:
            near = nearest([anchor], lines)
            hint = f" Nearest: {near.lines}:\n{excerpt(near, lines)}" if near else ""
            raise ToolError(f"nothing was changed: {where}: no line {anchor!r} is there.{hint}")
        only = len(named) == 1
        inside = [(at, _block_end(lines, at)) for at in named]
        if only and not any(first < at < end for first, end in inside for at in starts):
            around = max(end for first, end in blocks if first < named[0] < end)
            inside = [(named[0], around)]
        blocks = inside
    kept = [at for at in starts if any(first < at < end for first, end in blocks)]
    if not kept:
        at = starts[0] + 1
        message = f"its lines stand at line {at}, and not below {anchors[-1]!r}"
        raise ToolError(f"nothing was changed: {where}: {message}")
    return kept


def _block_end(lines: list[str], at: int) -> int:
    """The line after all lines indented deeper than this one."""
    deep = _indent(lines[at])
    for index in range(at + 1, len(lines)):
        if lines[index].strip() and _indent(lines[index]) <= deep:
            return index
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _spans(text: FileText, starts: list[int], hunk: Hunk, index: int) -> list[Span]:
    """The changes of the text; context lines are not touched."""
    spans: list[Span] = []
    removed, added = 0, list[str]()
    at = index
    for sign, line in [*hunk.lines, (" ", "")]:
        if sign == "-":
            removed += 1
        elif sign == "+":
            added.append(line)
        else:
            if removed or added:
                spans.append(_span(text.body, starts, at, removed, added))
                at += removed
                removed, added = 0, []
            at += 1
    return spans


def _span(body: str, starts: list[int], at: int, removed: int, added: list[str]) -> Span:
    """One run of removed and added lines as a change of the text."""
    new = "\n".join(added)
    start, end = starts[at], min(starts[at + removed], len(body))
    closed = body.endswith("\n") or not body
    last = at + removed == len(starts) - 1
    if removed and added:
        return start, starts[at + removed] - 1, new
    if removed:
        return (start, end, "") if closed or not last else (max(start - 1, 0), len(body), "")
    if last and not closed:
        return len(body), len(body), "\n" + new
    return start, start, new + "\n"


def _with_end(text: FileText, *, ends_open: bool | None) -> FileText:
    """The text with or without a final newline."""
    size = len(text.body)
    if ends_open is True and text.body.endswith("\n"):
        return text.change([(size - 1, size, "")])
    if ends_open is False and text.body and not text.body.endswith("\n"):
        return text.change([(size, size, "\n")])
    return text
