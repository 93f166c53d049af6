"""List files, except ignored ones (`.gitignore`) and hidden ones.

The rules are those of gitignore(5), from the `.gitignore` files of the folders on the way.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from clew.core.errors import ToolError
from clew.toolbox.workspace.root import Entry, Root
from clew.toolbox.workspace.safe_path import GIT_FOLDER

NAME: Final = ".gitignore"
BUILT: Final = frozenset({"node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache"})
"""Folders that tools generate."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A line of a `.gitignore`; it applies below the folder `base`."""

    base: str
    pattern: re.Pattern[str]
    folders: bool
    kept: bool


def rules(text: str, base: str) -> Iterator[Rule]:
    """The rules of the `.gitignore` in the folder `base` ("" for the root)."""
    for line in text.splitlines():
        words = line.rstrip()
        if not words or words.startswith("#"):
            continue
        kept = words.startswith("!")
        words = words[kept:].removeprefix("\\")
        folders = words.endswith("/")
        words = words.rstrip("/")
        deep = "/" not in words
        pattern = glob("**/" + words if deep else words.lstrip("/"))
        yield Rule(base, pattern, folders, kept)


def ignored(rule_list: Iterable[Rule], path: str, *, folder: bool) -> bool:
    """Whether a path below the root is ignored: the last matching rule counts."""
    found = False
    for rule in rule_list:
        if rule.folders and not folder:
            continue
        inside = path[len(rule.base) + 1 :] if rule.base else path
        if rule.pattern.fullmatch(inside):
            found = not rule.kept
    return found


@functools.lru_cache(maxsize=256)
def glob(words: str) -> re.Pattern[str]:
    """Compile a glob: `*` and `?` within a name, `**` over folders, `[…]`, `{a,b}`."""
    found, at = "", 0
    while at < len(words):
        rest = words[at:]
        if rest.startswith("**/"):
            found, at = found + "(?:[^/]+/)*", at + 3
        elif rest.startswith("**"):
            found, at = found + ".*", at + 2
        elif rest[0] == "*":
            found, at = found + "[^/]*", at + 1
        elif rest[0] == "?":
            found, at = found + "[^/]", at + 1
        elif braces := re.match(r"\{([^{}]*)\}", rest):
            found += "(?:" + "|".join(glob(one).pattern for one in braces[1].split(",")) + ")"
            at += braces.end()
        elif (some := re.match(r"\[(!?)([^\]/]+)\]", rest)) and _legal(some[2]):
            found, at = found + f"[{'^' if some[1] else ''}{_set(some[2])}]", at + some.end()
        else:
            found, at = found + re.escape(rest[0]), at + 1
    return re.compile(found, re.DOTALL)


def _set(words: str) -> str:
    return words.replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")


def _legal(words: str) -> bool:
    try:
        re.compile(f"[{_set(words)}]")
    except re.error:
        return False
    return True


def walk(root: Root, path: str, *, hidden: bool, most: int) -> Iterator[tuple[str, Entry]]:
    """The entries below a folder that are not ignored, at most `most`, in order of paths.

    With `hidden`, names that begin with a dot are included. Links are listed, not followed.
    """
    yield from _walk(root, path, _above(root, path), [0], hidden=hidden, most=most)


def _above(root: Root, path: str) -> list[Rule]:
    """The rules of the folders above a path."""
    found: list[Rule] = []
    steps = [step for step in path.split("/") if step not in {"", "."}]
    for depth in range(len(steps)):
        found += _of_folder(root, "/".join(steps[:depth]))
    return found


def _of_folder(root: Root, folder: str) -> list[Rule]:
    try:
        file = root.find(f"{folder}/{NAME}" if folder else NAME)
    except ToolError:
        return []
    return list(rules(file.data.decode("utf-8", "replace"), folder)) if file else []


def _walk(
    root: Root, path: str, above: list[Rule], looked: list[int], *, hidden: bool, most: int
) -> Iterator[tuple[str, Entry]]:
    where, entries = root.entries(path)
    base = "" if where == "." else where
    here = [*above, *(_of_folder(root, base) if any(e.name == NAME for e in entries) else ())]
    for entry in entries:
        inside = f"{base}/{entry.name}" if base else entry.name
        folder = entry.kind == "folder"
        if entry.name.lower() == GIT_FOLDER or (entry.name.startswith(".") and not hidden):
            continue
        if ignored(here, inside, folder=folder) or (folder and entry.name in BUILT):
            continue
        looked[0] += 1
        if looked[0] > most:
            return
        yield inside, entry
        if folder:
            try:
                yield from _walk(root, inside, here, looked, hidden=hidden, most=most)
            except ToolError:
                continue  # it went away, or may not be read
