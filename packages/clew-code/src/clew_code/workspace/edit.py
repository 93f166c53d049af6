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
    places = _places(text.body, old)
    if not places:
        raise ToolError(not_found_error(text, old, path))
    if any(later - one < len(old) for one, later in pairwise(places)):
        raise ToolError(_overlapping(text, places, path))
    if len(places) != matches:
        raise ToolError(_ambiguous(text, places, path, matches))
    for place in places:
        _check_ends(text, place, old, new)
    done = text.change([(place, place + len(old), new) for place in places])
    word = "line" if len(places) == 1 else "lines"
    return done, (
        f"{path}: replaced at {word} {_named(text, places)}; {_lines_in(old)} → "
        f"{_lines_in(new)} lines each, the file has {len(done.lines)} now"
    )


def _lines_in(part: str) -> int:
    """How many lines a text has; what ends in a line end has no further one."""
    return part.count("\n") + (part != "" and not part.endswith("\n"))


def not_found_error(text: FileText, old: str, path: str) -> str:
    """The error for a text that does not occur, with the nearest place in the file."""
    lines = text.lines
    place = nearest(old.strip("\n").split("\n"), lines)
    if place is None:
        return f"nothing was changed: {path} is empty"
    return (
        f"nothing was changed: that text is not in {path} (0 matches). Nearest: {place.lines} "
        f"({place.why}):\n{excerpt(place, lines)}\nCopy it from there, or read the file again."
    )


def _check_ends(text: FileText, place: int, old: str, new: str) -> None:
    """Raise `ToolError` if a slip at the ends of a text would shift or join lines."""
    body, end = text.body, place + len(old)
    start = body.rfind("\n", 0, place) + 1
    line = text.line_of(place)
    if (
        place > start
        and body[start:place].isspace()
        and (new[:1] in {" ", "\t"} or "\n" in new.rstrip("\n"))
    ):
        raise ToolError(
            f"nothing was changed: old_text begins behind the blanks of line {line}: begin both "
            "texts at the start of that line, so that all lines are indented alike"
        )
    for at, which in ((place, "begins"), (end, "ends")):
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


def _places(body: str, old: str) -> list[int]:
    """The indices of all matches, overlapping ones included."""
    found, at = list[int](), body.find(old)
    while at >= 0:
        found.append(at)
        at = body.find(old, at + 1)
    return found


def _named(text: FileText, places: list[int]) -> str:
    """The line numbers of matches, for a message."""
    lines = ", ".join(str(text.line_of(place)) for place in places[:_NAMED])
    return lines + (" …" if len(places) > _NAMED else "")


def _overlapping(text: FileText, places: list[int], path: str) -> str:
    return (
        f"nothing was changed: that text overlaps itself in {path} ({len(places)} matches, at "
        f"lines {_named(text, places)}): add lines around the one that is meant"
    )


def _ambiguous(text: FileText, places: list[int], path: str, matches: int) -> str:
    word = "match at line" if len(places) == 1 else "matches at lines"
    return (
        f"nothing was changed: {path} has {len(places)} {word} {_named(text, places)}, and not "
        f"{matches}: add lines around the one that is meant, or say matches={len(places)}"
    )
