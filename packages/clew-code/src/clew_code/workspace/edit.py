"""Replace a text that occurs exactly as often as stated."""

from itertools import pairwise
from typing import Final

from clew import ToolError
from clew_code.workspace.nearest_match import excerpt, nearest
from clew_code.workspace.text import FileText

_NAMED: Final = 10


def replace_text(
    text: FileText, old: str, new: str, path: str, *, matches: int = 1
) -> tuple[FileText, str]:
    """The text with `old` replaced by `new`, and a one-line summary.

    Raises `ToolError` unless `old` occurs exactly `matches` times; nothing is guessed.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if old == new:
        raise ToolError("old_text and new_text are the same: that changes nothing")
    starts = _starts(text.body, old)
    if not starts:
        raise ToolError(text_not_in_file(text, old, path))
    if any(later - one < len(old) for one, later in pairwise(starts)):
        raise ToolError(_overlapping(text, starts, path))
    if len(starts) != matches:
        raise ToolError(_ambiguous(text, starts, path, matches))
    for start in starts:
        _check_ends(text, start, old, new)
    done = text.change([(start, start + len(old), new) for start in starts])
    word = "line" if len(starts) == 1 else "lines"
    return done, (
        f"{path}: replaced at {word} {_named(text, starts)}; {_lines_in(old)} → "
        f"{_lines_in(new)} lines each, the file has {len(done.lines)} now"
    )


def _lines_in(part: str) -> int:
    """How many lines a text has; what ends in a line end has no further one."""
    return part.count("\n") + (part != "" and not part.endswith("\n"))


def text_not_in_file(text: FileText, old: str, path: str) -> str:
    """The error for a text that does not occur, with the nearest place in the file."""
    lines = text.lines
    nearest_lines = nearest(old.strip("\n").split("\n"), lines)
    if nearest_lines is None:
        return f"nothing was changed: {path} is empty"
    return (
        f"nothing was changed: that text is not in {path} (0 matches). Nearest: "
        f"{nearest_lines.lines} ({nearest_lines.why}):\n{excerpt(nearest_lines, lines)}\nCopy it "
        "from there, or read the file again."
    )


def _check_ends(text: FileText, offset: int, old: str, new: str) -> None:
    """Raise `ToolError` if a slip at the ends of a text would shift or join lines."""
    body, end = text.body, offset + len(old)
    start = body.rfind("\n", 0, offset) + 1
    line = text.line_of(offset)
    if (
        offset > start
        and body[start:offset].isspace()
        and (new[:1] in {" ", "\t"} or "\n" in new.rstrip("\n"))
    ):
        raise ToolError(
            f"nothing was changed: old_text begins behind the blanks of line {line}: begin both "
            "texts at the start of that line, so that all lines are indented alike"
        )
    for at, which in ((offset, "begins"), (end, "ends")):
        if 0 < at < len(body) and _in_word(body[at - 1 : at + 1]):
            raise ToolError(
                f"nothing was changed: old_text {which} inside of a word in line "
                f"{text.line_of(at)}: take the whole line"
            )
    at_end = end == len(body) or body[end] == "\n"
    if new.endswith("\n") and not old.endswith("\n") and at_end:
        raise ToolError(
            f"nothing was changed: new_text ends with a line end and old_text does not, so that an "
            f"empty line would come after line {text.line_of(end)}: end both alike"
        )
    if old.endswith("\n") and new and not new.endswith("\n") and end < len(body):
        raise ToolError(
            f"nothing was changed: old_text ends with a line end and new_text does not, so that "
            f"line {text.line_of(end)} would be joined to it: end both alike"
        )


def _in_word(pair: str) -> bool:
    return all(one.isalnum() or one == "_" for one in pair)


def _starts(body: str, old: str) -> list[int]:
    """The indices of all matches, overlapping ones included."""
    starts, at = list[int](), body.find(old)
    while at >= 0:
        starts.append(at)
        at = body.find(old, at + 1)
    return starts


def _named(text: FileText, starts: list[int]) -> str:
    """The line numbers of matches, for a message."""
    lines = ", ".join(str(text.line_of(start)) for start in starts[:_NAMED])
    return lines + (" …" if len(starts) > _NAMED else "")


def _overlapping(text: FileText, starts: list[int], path: str) -> str:
    return (
        f"nothing was changed: that text overlaps itself in {path} ({len(starts)} matches, at "
        f"lines {_named(text, starts)}): add lines around the one that is meant"
    )


def _ambiguous(text: FileText, starts: list[int], path: str, matches: int) -> str:
    word = "match at line" if len(starts) == 1 else "matches at lines"
    return (
        f"nothing was changed: {path} has {len(starts)} {word} {_named(text, starts)}, and not "
        f"{matches}: add lines around the one that is meant, or say matches={len(starts)}"
    )
