"""Apply the hunks of a patch to a text, each at its only matching place."""

from typing import Final

from clew import ToolError
from clew_code.workspace.edit import not_found_error
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
    places: list[int] = []
    taken: list[tuple[int, int]] = []
    for number, hunk in enumerate(patch.hunks, 1):
        place = _place(text, lines, hunk, f"{patch.path}, hunk {number}")
        end = place + len(hunk.old)
        if any(place < other and first < end for first, other in taken):
            raise ToolError(f"{patch.path}: hunk {number} changes lines that an earlier one has")
        _check_end(text, lines, hunk, end, f"{patch.path}, hunk {number}")
        taken.append((place, end))
        places.append(place + 1)
        spans += _spans(text, starts, hunk, place)
    done = text.change(spans)
    for hunk in patch.hunks:
        done = _with_end(done, ends_open=hunk.ends_open)
    return done, places


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
    found = [0]
    for line in lines:
        found.append(found[-1] + len(line) + 1)
    return found


def _place(text: FileText, lines: list[str], hunk: Hunk, where: str) -> int:
    """The number of the first line of a hunk, from 0."""
    old = hunk.old
    if not old:
        if not lines or hunk.at_end:
            return len(lines)
        raise ToolError(f"{where} has no line that is there already: add some around it")
    found = [at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
    if hunk.at_end:
        found = [at for at in found if at + len(old) == len(lines)]
    if not found:
        raise ToolError(not_found_error(text, "\n".join(old), where))
    if hunk.anchors:
        found = _below(lines, hunk.anchors, found, where)
    if len(found) > 1:
        named = ", ".join(str(at + 1) for at in found[:_NAMED])
        raise ToolError(
            f"nothing was changed: {where} has {len(found)} matches, at lines {named}: add lines "
            "around it, or a line '@@ ' with the function or class that it is in"
        )
    return found[0]


def _below(lines: list[str], anchors: tuple[str, ...], found: list[int], where: str) -> list[int]:
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
        if only and not any(first < at < end for first, end in inside for at in found):
            around = max(end for first, end in blocks if first < named[0] < end)
            inside = [(named[0], around)]
        blocks = inside
    kept = [at for at in found if any(first < at < end for first, end in blocks)]
    if not kept:
        at = found[0] + 1
        said = f"its lines stand at line {at}, and not below {anchors[-1]!r}"
        raise ToolError(f"nothing was changed: {where}: {said}")
    return kept


def _block_end(lines: list[str], at: int) -> int:
    """The line after all lines indented deeper than this one."""
    deep = _indent(lines[at])
    for place in range(at + 1, len(lines)):
        if lines[place].strip() and _indent(lines[place]) <= deep:
            return place
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _spans(text: FileText, starts: list[int], hunk: Hunk, place: int) -> list[Span]:
    """The changes of the text; context lines are not touched."""
    spans: list[Span] = []
    removed, added = 0, list[str]()
    at = place
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
