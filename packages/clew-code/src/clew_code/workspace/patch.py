"""Parse patches as models write them: V4A (`*** Begin Patch`) and unified diffs (`unified_diff`).

V4A is the format that OpenAI published with its prompting guide for GPT-4.1. Every line of a patch
is used, known to say nothing of the files, or refused by its number: what cannot be done is never
dropped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from clew import ToolError

Sign: TypeAlias = Literal[" ", "-", "+"]
Kind: TypeAlias = Literal["Add", "Update", "Delete"]

BEGIN: Final = "*** Begin Patch"
END: Final = "*** End Patch"
END_OF_FILE: Final = "*** End of File"
_SECTION: Final = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE: Final = re.compile(r"\*\*\* Move to: (.+)")
_KINDS: Final[dict[str, Kind]] = {"Add": "Add", "Update": "Update", "Delete": "Delete"}


@dataclass(slots=True)
class Hunk:
    """Lines to keep, remove and add, located by the `anchors` and by their text."""

    anchors: tuple[str, ...] = ()
    lines: list[tuple[Sign, str]] = field(default_factory=list[tuple[Sign, str]])
    at_end: bool = False
    was_open: bool | None = None
    """Whether the old file must end without a newline; None leaves that open."""
    ends_open: bool | None = None
    """Whether the file is to end without a newline; None leaves that unchanged."""
    returns: bool | None = None
    """Whether the lines end with CRLF; None in an empty hunk."""

    @property
    def old(self) -> list[str]:
        """The lines that must be present."""
        return [line for sign, line in self.lines if sign != "+"]

    @property
    def new(self) -> list[str]:
        """The lines that will be there."""
        return [line for sign, line in self.lines if sign != "-"]

    def add(self, line: str, where: str) -> Sign:
        """Add a line with its sign, which is returned. Raises `ToolError`."""
        sign: Sign
        match line[:1]:
            case " ":
                sign = " "
            case "-":
                sign = "-"
            case "+":
                sign = "+"
            case _:
                raise ToolError(f"{where} begins with none of ' ', '-', '+': {line[:60]!r}")
        text, returns = line[1:].removesuffix("\r"), line.endswith("\r")
        if self.returns not in {None, returns}:
            raise ToolError(
                f"{where} ends otherwise than the lines above (LF, CRLF): line ends are not "
                "changed by a patch, use edit_file or write_file"
            )
        self.returns = returns
        self.lines.append((sign, text))
        return sign


@dataclass(slots=True)
class FilePatch:
    """The changes of one file; an added file has one hunk of added lines.

    `move_to` is where the file will be; with `copy`, it stays where it is too. `exact` says that
    the hunks of a removed file are its whole content. `executable` says who may run it in the end.
    """

    kind: Kind
    path: str
    move_to: str = ""
    copy: bool = False
    exact: bool = False
    executable: bool | None = None
    hunks: list[Hunk] = field(default_factory=list[Hunk])


def split_lines(patch: str) -> list[str]:
    """The lines of a patch. The CR of a patch with CRLF after every line says nothing."""
    lines = patch.lstrip("\r\n").rstrip("\n").split("\n")
    if len(lines) > 1 and all(line.endswith("\r") for line in lines[:-1]):
        return [line.removesuffix("\r") for line in lines]
    return lines


def parse_v4a(lines: list[str]) -> Iterator[FilePatch]:
    """The files of a V4A patch. Raises `ToolError` that names the invalid line."""
    if lines[-1].rstrip() != END:
        raise ToolError(f"the patch does not end with {END!r}")
    now: FilePatch | None = None
    for number, line in enumerate(lines[1:-1], 2):
        where = f"line {number} of the patch"
        if section := _SECTION.fullmatch(line.rstrip()):
            if now is not None:
                yield complete(now)
            now = FilePatch(_KINDS[section[1]], section[2].strip())
        elif now is None:
            if line.strip():
                raise ToolError(f"{where} is below no '*** Update File: PATH'")
        elif move := _MOVE.fullmatch(line.rstrip()):
            if now.kind != "Update" or now.move_to or now.hunks:
                raise ToolError(f"{where}: a move stands once, below '*** Update File: PATH'")
            now.move_to = move[1].strip()
        else:
            _v4a_line(now, line, where)
    if now is not None:
        yield complete(now)


def _v4a_line(now: FilePatch, line: str, where: str) -> None:
    if line.startswith("@@"):
        anchor = line[2:].strip()
        if now.kind != "Update":
            raise ToolError(f"{where}: '@@' stands below '*** Update File: PATH' only")
        if now.hunks and not now.hunks[-1].lines and not now.hunks[-1].at_end:
            now.hunks[-1].anchors += (anchor,) if anchor else ()
        else:
            now.hunks.append(Hunk((anchor,) if anchor else ()))
        return
    if not now.hunks:
        now.hunks.append(Hunk())
    if line.rstrip() == END_OF_FILE:
        if now.kind != "Update" or now.hunks[-1].at_end or not now.hunks[-1].lines:
            raise ToolError(f"{where}: {END_OF_FILE!r} stands once, below the last lines of a file")
        now.hunks[-1].at_end = True
        return
    if now.hunks[-1].at_end:
        raise ToolError(f"{where} comes after {END_OF_FILE!r}")
    now.hunks[-1].add(line, where)


def complete(now: FilePatch) -> FilePatch:
    """The file's part of a patch, validated."""
    signs = {sign for hunk in now.hunks for sign, _ in hunk.lines}
    if now.kind == "Add" and signs - {"+"}:
        raise ToolError(f"{now.path}: all lines of a file that is added begin with '+'")
    if now.kind == "Delete" and signs - {"-"}:
        raise ToolError(f"{now.path}: all lines of a file that is removed begin with '-'")
    if now.kind == "Delete" and now.hunks:
        now.exact = True
    if now.kind != "Update":
        if len(now.hunks) > 1:
            raise ToolError(f"{now.path}: a file that is added or removed has one hunk")
        return now
    if not (now.move_to or now.executable is not None or signs):
        raise ToolError(f"{now.path}: the patch has no lines for it")
    for hunk in now.hunks:
        if all(sign == " " for sign, _ in hunk.lines) and not _changes_end(hunk):
            raise ToolError(f"{now.path}: a hunk neither removes nor adds a line: leave it out")
    return now


def _changes_end(hunk: Hunk) -> bool:
    return bool(hunk.lines) and hunk.was_open != hunk.ends_open
