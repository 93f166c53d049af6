"""List files, except ignored ones (`.gitignore`) and hidden ones.

The rules are those of gitignore(5), from the `.gitignore` files of the folders on the way.
"""

import itertools
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from clew.support.errors import ToolError
from clew_code.workspace.globs import git_glob
from clew_code.workspace.root import FolderEntry, Root
from clew_code.workspace.safe_path import GIT_FOLDER

NAME: Final = ".gitignore"
BUILT: Final = frozenset({"node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})
"""Folders that tools generate."""


@dataclass(slots=True)
class Looked:
    """What a search looked at, and what it left out: how many, by the reason."""

    files: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])

    def remark(self) -> str:
        """The line that says so; "" if nothing was left out."""
        if not self.left_out:
            return ""
        reasons = ", ".join(f"{count:,} {why}" for why, count in sorted(self.left_out.items()))
        return (
            f"[looked at {self.files:,} file{'' if self.files == 1 else 's'}; left out {reasons}]"
        )


IGNORED: Final = "ignored by .gitignore"
HIDDEN: Final = "hidden"
MADE_BY_TOOLS: Final = "folders that tools make"
LINKS: Final = "links, devices and pipes"
BINARY: Final = "binary"
UNREADABLE: Final = "unreadable"
LARGE: Final = "too large"
DEEP: Final = "folders too deep"
REST: Final = "or more after that: the search ended there"

_TRAILING: Final = re.compile(r"(?<!\\)\s+$")
"""The spaces that end a line, but for one behind a backslash."""
_DEEPEST: Final = 100
"""The most folders in each other that are looked into."""
_SECONDS: Final = 20.0
"""The most time that is spent on a folder: rules that others wrote may be many."""
_MAX_RULES: Final = 2_000
"""The most rules of one `.gitignore`."""


@dataclass(slots=True)
class _Bounds:
    """How many entries may follow, and until when."""

    left: int
    until: float

    def reached(self) -> bool:
        """Whether it was one entry too many, or is too late."""
        return self.left < 0 or time.monotonic() > self.until


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """A line of a `.gitignore`; it applies below the folder `base`."""

    base: str
    pattern: re.Pattern[str]
    folders: bool
    kept: bool


def rules(text: str, base: str) -> Iterator[IgnoreRule]:
    """The rules of the `.gitignore` in the folder `base` ("" for the root)."""
    for line in text.splitlines():
        words = _TRAILING.sub("", line)
        if not words or words.startswith("#"):
            continue
        kept = words.startswith("!")
        words = words[kept:]
        folders = words.endswith("/")
        words = words.rstrip("/")
        deep = "/" not in words
        pattern = git_glob("**/" + words if deep else words.lstrip("/"))
        yield IgnoreRule(base, pattern, folders, kept)


def ignored(rule_list: Iterable[IgnoreRule], path: str, *, folder: bool) -> bool:
    """Whether a path below the root is ignored: the last matching rule counts."""
    matched = False
    for rule in rule_list:
        if rule.folders and not folder:
            continue
        inside = path[len(rule.base) + 1 :] if rule.base else path
        if rule.pattern.fullmatch(inside):
            matched = not rule.kept
    return matched


def walk(
    root: Root, path: str, looked: Looked, *, hidden: bool, max_files: int
) -> Iterator[tuple[str, FolderEntry]]:
    """The entries below a folder that are not ignored, at most `max_files`, in order of paths.

    With `hidden`, names that begin with a dot are included. Links are listed, not followed. What is
    left out is counted in `looked`.
    """
    bounds = _Bounds(max_files, time.monotonic() + _SECONDS)
    yield from _walk(root, path, _above(root, path), looked, bounds, hidden=hidden)


def _above(root: Root, path: str) -> list[IgnoreRule]:
    """The rules of the folders above a path."""
    rules: list[IgnoreRule] = []
    steps = [step for step in path.split("/") if step not in {"", "."}]
    for depth in range(len(steps)):
        rules += _of_folder(root, "/".join(steps[:depth]))
    return rules


def _of_folder(root: Root, folder: str) -> list[IgnoreRule]:
    try:
        file = root.find(f"{folder}/{NAME}" if folder else NAME)
    except ToolError:
        return []
    text = file.data.decode("utf-8", "replace") if file else ""
    return list(itertools.islice(rules(text, folder), _MAX_RULES))


def _walk(
    root: Root,
    path: str,
    above: list[IgnoreRule],
    looked: Looked,
    bounds: _Bounds,
    *,
    hidden: bool,
) -> Iterator[tuple[str, FolderEntry]]:
    where, entries = root.entries(path)
    base = "" if where == "." else where
    here = [*above, *(_of_folder(root, base) if any(e.name == NAME for e in entries) else ())]
    for entry in entries:
        inside = f"{base}/{entry.name}" if base else entry.name
        folder = entry.kind == "folder"
        if entry.name.lower() == GIT_FOLDER:
            continue  # which no tool reads
        why = HIDDEN if entry.name.startswith(".") and not hidden else ""
        why = why or (MADE_BY_TOOLS if folder and entry.name in BUILT else "")
        why = why or (IGNORED if ignored(here, inside, folder=folder) else "")
        bounds.left -= not why
        if bounds.reached():
            looked.left_out[REST] = 1
            return
        if why:
            looked.left_out[why] += 1
            continue
        yield inside, entry
        if folder and inside.count("/") >= _DEEPEST:
            looked.left_out[DEEP] += 1
        elif folder:
            try:
                yield from _walk(root, inside, here, looked, bounds, hidden=hidden)
            except ToolError:
                looked.left_out[UNREADABLE] += 1  # or it went away
