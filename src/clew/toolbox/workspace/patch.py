"""Parse patches as models write them: V4A (`*** Begin Patch`) and unified diffs.

V4A is the format that OpenAI published with its prompting guide for GPT-4.1; unified diffs are
those of `diff -u` and git. Line numbers of a diff are ignored: lines are found by their text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from clew.core.errors import ToolError

Sign: TypeAlias = Literal[" ", "-", "+"]

BEGIN: Final = "*** Begin Patch"
END: Final = "*** End Patch"
END_OF_FILE: Final = "*** End of File"
NO_NEWLINE: Final = "\\ No newline at end of file"
HEADER: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)")
_SECTION: Final = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE: Final = re.compile(r"\*\*\* Move to: (.+)")
_NOWHERE: Final = "/dev/null"


@dataclass(slots=True)
class Hunk:
    """Lines to keep, remove and add, located by the `anchors` and by their text."""

    anchors: tuple[str, ...] = ()
    lines: list[tuple[Sign, str]] = field(default_factory=list[tuple[Sign, str]])
    at_end: bool = False
    ends_open: bool | None = None
    """Whether the file is to end without a newline; None leaves that unchanged."""

    @property
    def old(self) -> list[str]:
        """The lines that must be present."""
        return [line for sign, line in self.lines if sign != "+"]


@dataclass(slots=True)
class FilePatch:
    """The changes of one file; an added file has one hunk of added lines."""

    kind: Literal["Add", "Update", "Delete"]
    path: str
    move_to: str = ""
    hunks: list[Hunk] = field(default_factory=list[Hunk])


def parse_patch(patch: str) -> list[FilePatch]:
    """The files of a patch in either format. Raises `ToolError` that names the invalid line."""
    lines = patch.replace("\r\n", "\n").strip("\n").split("\n")
    found = list(_v4a(lines) if lines[0].rstrip() == BEGIN else _unified(lines))
    if not found:
        raise ToolError(
            f"there is no file in the patch: begin it with {BEGIN!r}, then "
            "'*** Update File: PATH', or with '--- a/PATH' and '+++ b/PATH'"
        )
    return found


def _v4a(lines: list[str]) -> Iterator[FilePatch]:
    if lines[-1].rstrip() != END:
        raise ToolError(f"the patch does not end with {END!r}")
    now: FilePatch | None = None
    for number, line in enumerate(lines[1:-1], 2):
        if section := _SECTION.fullmatch(line.rstrip()):
            if now is not None:
                yield _complete(now)
            kind: Literal["Add", "Update", "Delete"] = (
                "Add" if section[1] == "Add" else "Delete" if section[1] == "Delete" else "Update"
            )
            now = FilePatch(kind, section[2].strip())
        elif now is None:
            raise ToolError(f"line {number} of the patch is below no '*** Update File: PATH'")
        elif move := _MOVE.fullmatch(line.rstrip()):
            now.move_to = move[1].strip()
        else:
            _v4a_line(now, line, number)
    if now is not None:
        yield _complete(now)


def _v4a_line(now: FilePatch, line: str, number: int) -> None:
    if line.startswith("@@"):
        anchor = line[2:].strip()
        if now.hunks and not now.hunks[-1].lines and not now.hunks[-1].at_end:
            now.hunks[-1].anchors += (anchor,) if anchor else ()
        else:
            now.hunks.append(Hunk((anchor,) if anchor else ()))
        return
    if not now.hunks:
        now.hunks.append(Hunk())
    if line.rstrip() == END_OF_FILE:
        now.hunks[-1].at_end = True
        return
    now.hunks[-1].lines.append(_signed(line, f"line {number} of the patch"))


def _signed(line: str, where: str) -> tuple[Sign, str]:
    match line[:1]:
        case " ":
            return " ", line[1:]
        case "-":
            return "-", line[1:]
        case "+":
            return "+", line[1:]
        case _:
            begin = "begins with none of ' ', '-', '+'"
            raise ToolError(f"{where} {begin}: {line[:60]!r}")


def _complete(now: FilePatch) -> FilePatch:
    """The file's part of a patch, validated."""
    added = all(sign == "+" for hunk in now.hunks for sign, _ in hunk.lines)
    if now.kind == "Add" and not added:
        raise ToolError(f"{now.path}: all lines of a file that is added begin with '+'")
    if now.kind == "Delete" and now.hunks and not now.move_to:
        now.hunks = []
    if now.kind == "Update" and not now.move_to and not any(hunk.lines for hunk in now.hunks):
        raise ToolError(f"{now.path}: the patch has no lines for it")
    for hunk in now.hunks:
        if now.kind == "Update" and all(sign == " " for sign, _ in hunk.lines):
            raise ToolError(f"{now.path}: a hunk neither removes nor adds a line: leave it out")
    return now


def _unified(lines: list[str]) -> Iterator[FilePatch]:
    at = 0
    while at < len(lines):
        if not is_file_header(lines, at):
            at += 1
            continue
        old, new = (_name(lines[at + place]) for place in (0, 1))
        at += 2
        now = FilePatch("Update", new if old == _NOWHERE else old)
        if old == _NOWHERE:
            now.kind = "Add"
        elif new == _NOWHERE:
            now.kind = "Delete"
        elif new != old:
            now.move_to = new
        while at < len(lines) and lines[at].startswith("@@"):
            at, hunk = _unified_hunk(lines, at)
            now.hunks.append(hunk)
        yield _complete(now)


def is_file_header(lines: list[str], at: int) -> bool:
    """Whether the two header lines of a file are here."""
    pair = lines[at : at + 2]
    return len(pair) == 2 and pair[0].startswith("--- ") and pair[1].startswith("+++ ")


def _name(line: str) -> str:
    """The path in a line `--- a/PATH` or `+++ b/PATH`, without a timestamp."""
    path = line[4:].split("\t", maxsplit=1)[0].strip().strip('"')
    return path[2:] if path[:2] in {"a/", "b/"} else path


def _unified_hunk(lines: list[str], at: int) -> tuple[int, Hunk]:
    header = HEADER.match(lines[at])
    if header is None:
        raise ToolError(f"line {at + 1} of the patch is no header '@@ -1,2 +1,3 @@'")
    left = [int(header[group] or "1") for group in (2, 4)]
    hunk, start = Hunk(), at
    at += 1
    while at < len(lines) and (any(left) or lines[at].startswith("\\")):
        line = lines[at]
        at += 1
        if line.startswith("\\"):
            hunk.ends_open = _ends_open(hunk)
            continue
        sign, text = _signed(line, f"line {at} of the patch")
        hunk.lines.append((sign, text))
        left[0] -= sign != "+"
        left[1] -= sign != "-"
    if any(left) or (at < len(lines) and lines[at][:1] in {" ", "-", "+"} and not _next(lines, at)):
        raise ToolError(
            f"the header in line {start + 1} of the patch counts other lines than it has"
        )
    return at, hunk


def _ends_open(hunk: Hunk) -> bool | None:
    """What a remark on the last line says of the end of the new file."""
    sign = hunk.lines[-1][0] if hunk.lines else " "
    return hunk.ends_open if sign == "-" and hunk.ends_open is not None else sign != "-"


def _next(lines: list[str], at: int) -> bool:
    return is_file_header(lines, at) or not lines[at].strip()
