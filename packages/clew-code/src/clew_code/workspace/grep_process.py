"""The search of `grep`, in a separate process that can be ended if a pattern runs too long.

It needs only Python (`clew_code.sandbox.script`), reads its request from standard input, and
writes the result as JSON.
"""

import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from clew.support.errors import ToolError
from clew.support.text_folding import caseless, folded
from clew_code.workspace.display import is_minified, truncate_line
from clew_code.workspace.globs import glob
from clew_code.workspace.ignore import BINARY, LARGE, LINKS, UNREADABLE, Looked, walk
from clew_code.workspace.root import MAX_BYTES, Root
from clew_code.workspace.text import decode_text

_FOREIGN: Final = re.compile(r"[A-Za-z]?[^\x00-\x7f]+")
_SPECIAL: Final = re.compile(r"([][\\.^$*+?{}|()#&~-])")


class FoldedPattern:
    """A pattern, compiled as it stands and folded. Raises what `re.compile` raises."""

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        flags = re.IGNORECASE if ignore_case else 0
        self._fold = caseless if ignore_case else folded
        self._exact = re.compile(pattern, flags)
        other = _FOREIGN.sub(self._folded, pattern)
        self._changed = other != pattern
        self._folded_pattern = re.compile(other, flags) if self._changed else self._exact

    def start(self, line: str) -> int:
        """Where the pattern begins in a line, about where it was folded; -1 where it is not."""
        hit = self._exact.search(line)
        if hit is None and (self._changed or not line.isascii()):
            hit = self._folded_pattern.search(self._fold(line))
        return -1 if hit is None else hit.start()

    def _folded(self, match: re.Match[str]) -> str:
        """Characters beyond ASCII in a pattern; what folding makes of them stands for itself."""
        return _SPECIAL.sub(r"\\\1", self._fold(match[0]))


MAX_FILES: Final = 20_000
OF_FILE: Final = 30
"""The most matching lines shown of one file."""


@dataclass(slots=True)
class _Match:
    lines: list[str] = field(default_factory=list[str])
    matches: int = 0
    files: int = 0
    looked: Looked = field(default_factory=Looked)
    names: list[str] = field(default_factory=list[str])
    complete: bool = True


def main() -> None:
    """Answer the request on standard input."""
    wanted: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    try:
        answer: dict[str, Any] = {"text": search(wanted)}
    except ToolError as error:
        answer = {"error": str(error)}
    sys.stdout.buffer.write(json.dumps(answer).encode())


def search(wanted: dict[str, Any]) -> str:
    """The text of a search's result. Raises `ToolError` for an invalid pattern or path."""
    try:
        pattern = FoldedPattern(wanted["pattern"], ignore_case=wanted["ignore_case"])
    except (re.error, OverflowError, RecursionError) as error:
        raise ToolError(
            f"pattern is not a regular expression: {error}; put \\ before ( ) [ ] {{ }} . * + ? "
            "| ^ $"
        ) from error
    root, path = Root(wanted["root"]), wanted["path"]
    result, until = _Match(), time.monotonic() + wanted["seconds"]
    for inside in _files(root, path, wanted["glob"], result.looked):
        if time.monotonic() > until or len(result.lines) >= wanted["max_matches"]:
            result.complete = False
            break
        if pattern.start(inside) >= 0:
            result.names.append(inside)
        _search(root, inside, pattern, wanted["context"], result)
    return _text(result, wanted["max_matches"])


def _files(root: Root, path: str, names: str, looked: Looked) -> Iterator[str]:
    if not root.is_folder(path):
        yield root.read(path).path
        return
    wanted = glob(names if "/" in names else f"**/{names}") if names else None
    for inside, entry in walk(root, path, looked, hidden=False, max_files=MAX_FILES):
        if entry.kind == "folder" or (wanted is not None and not wanted.fullmatch(inside)):
            continue
        if entry.kind != "file":
            looked.left_out[LINKS] += 1
        elif entry.size > MAX_BYTES:
            looked.left_out[LARGE] += 1
        else:
            yield inside


def _search(root: Root, path: str, pattern: FoldedPattern, context: int, result: _Match) -> None:
    try:
        data = root.read(path).data
    except ToolError:
        result.looked.left_out[UNREADABLE] += 1  # or gone
        return
    try:
        lines = decode_text(data, path).lines
    except ToolError:
        result.looked.left_out[BINARY] += 1
        return
    result.looked.files += 1
    hits = [(at, hit) for at, line in enumerate(lines) if (hit := pattern.start(line)) >= 0]
    if not hits:
        return
    result.files += 1
    result.matches += len(hits)
    if is_minified(lines):
        at, hit = hits[0]
        truncated = truncate_line(lines[at], hit)
        result.lines.append(f"{path}:{at + 1}: (minified) {truncated}")
        return
    near = {at + off for at, _ in hits[:OF_FILE] for off in range(-context, context + 1)}
    starts = dict(hits)
    for at in sorted(one for one in near if 0 <= one < len(lines)):
        mark = ":" if at in starts else "-"
        result.lines.append(
            f"{path}{mark}{at + 1}{mark} {truncate_line(lines[at], starts.get(at, 0))}"
        )
    if len(hits) > OF_FILE:
        result.lines.append(f"{path}: [… {len(hits) - OF_FILE} more matching lines]")


def _of_files(number: int) -> str:
    """A number of files, in words."""
    return "1 file" if number == 1 else f"{number} files"


def _text(result: _Match, max_lines: int) -> str:
    if not result.matches:
        message = f"no line matches in {_of_files(result.looked.files)}"
        message += "" if result.complete else " (stopped before the end: name a folder, or a glob)"
        message += ", but the names of these files do:" if result.names else ""
        more = result.names[:20]
        return "\n".join([message, *more, *filter(None, [result.looked.remark()])])
    word = "line matches" if result.matches == 1 else "lines match"
    head = f"{result.matches} {word} in {result.files} of {_of_files(result.looked.files)}"
    lines = result.lines[:max_lines]
    if len(result.lines) > max_lines or not result.complete:
        head += f"; only the first {len(lines)} are here: name a folder, a glob or a longer pattern"
    return "\n".join([head, *lines, *filter(None, [result.looked.remark()])])
