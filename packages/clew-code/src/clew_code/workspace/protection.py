"""What no tool of a workspace writes: what decides which programs run, and what the agent may do.

One rule for all tools. Those that change files ask `why_protected`. A command cannot change what is
there (`protected_paths`); what it makes anew is set aside when it has ended (`set_aside`).
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from clew_code.workspace.repositories import (
    is_plain,
    is_repository,
    makes_repository,
    named_by_settings,
    names_in,
)
from clew_code.workspace.safe_path import GIT_FOLDER, folded

_NAMES: Final = (
    (re.compile(r"\.env(?:[.\-_~].*)?|\.envrc", re.DOTALL),
     "it holds keys and settings of programs"),
    (re.compile(r".*\.mcp\.json", re.DOTALL),
     "it says which tools of MCP servers were approved"),
    (re.compile(r".*\.(?:heads|claims)", re.DOTALL), "it belongs to a store of runs"),
)  # fmt: skip
"""Names of files that decide what programs, clew among them, may do."""

_READ_UNASKED: Final = re.compile(r"\.env(?:rc)?|.*\.mcp\.json", re.DOTALL)
"""Those that a program reads without being told to."""

_ASIDE: Final = ".from-command"
_STEM: Final = 200
"""What stays of a name of so many bytes: one of 255 can be made no longer."""
_PASSED: Final = frozenset({"node_modules", ".venv", "venv", "__pycache__"})

Identity = tuple[int, int]


def why_protected(root: str, where: str, own: Iterable[str], named: Iterable[str]) -> str:
    """Why no tool writes a path (below the root, with its links resolved); "" if tools may.

    `own` are the files and folders that the agent's settings protect, `named` those of git's
    settings (`named_by_settings`).
    """
    path = os.path.join(root, where)
    folders, _, name = where.rpartition("/")
    if why := _why_of_name(name):
        return why
    if os.path.exists(f"{path.removesuffix('-wal').removesuffix('-shm')}.heads"):
        return "it is a store of runs"
    if _is_below(path, own) or _is_alias(path, own):
        return "it is protected from this agent"
    if _is_below(path, named):
        return "the settings of git name it as a program or as settings"
    steps = folders.split("/") if folders else []
    for number in range(len(steps) + 1):
        below = os.path.join(root, *steps[:number])
        if why := makes_repository(below, [*steps, name][number]):
            return why
    return ""


def _why_of_name(name: str) -> str:
    return next((why for known, why in _NAMES if known.fullmatch(folded(name))), "")


def _is_below(path: str, protected: Iterable[str]) -> bool:
    """Whether it is protected itself, or lies in a folder that is."""
    return any(path == each or path.startswith(each + os.sep) for each in protected)


def _is_alias(path: str, own: Iterable[str]) -> bool:
    """Whether a protected file has this name too (a hard link, another case of letters)."""
    for each in own:
        with contextlib.suppress(OSError, ValueError):
            if os.path.samestat(os.lstat(path), os.stat(each)):
                return True
    return False


def protected_paths(root: str, own: Iterable[str]) -> dict[str, Identity]:
    """What is there below the root and no tool writes, with what tells it from another file."""
    paths = [*_walked(root)]
    below = (each for each in (*own, *named_by_settings(root)) if each.startswith(root + os.sep))
    paths += [_first_link(root, each) for each in below]
    known = {path: _identity(path) for path in paths}
    return {path: identity for path, identity in known.items() if identity is not None}


def _walked(root: str) -> Iterator[str]:
    waiting = [root]  # no recursion: a command can nest folders as deep as it likes
    while waiting:
        folder = waiting.pop()
        names, folders = names_in(folder)
        if is_repository(names):
            if folder != root:
                yield folder
                continue
            yield from (os.path.join(folder, name) for name in names)
        for name in names:
            if folded(name) == GIT_FOLDER or _why_of_name(name):
                yield os.path.join(folder, name)
        waiting += [
            os.path.join(folder, one)
            for one in folders
            if one not in _PASSED and folded(one) != GIT_FOLDER
        ]


def _first_link(root: str, path: str) -> str:
    """The first link on the way from the root to a path; the path itself if there is none."""
    at = root
    for step in path[len(root) + 1 :].split(os.sep):
        at = os.path.join(at, step)
        if os.path.islink(at):
            return at
    return path


def _identity(path: str) -> Identity | None:
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino


def set_aside(root: str, own: Iterable[str], before: Mapping[str, Identity]) -> list[str]:
    """Rename what a command made that no tool may write; a remark on each.

    A new repository that names no program stays.
    """
    remarks: list[str] = []
    for path, identity in protected_paths(root, own).items():
        if before.get(path) == identity or not os.path.lexists(path):
            continue
        told, name = os.path.relpath(path, root), os.path.basename(path)
        if _is_git(path) and is_plain(path):
            if folded(name) == GIT_FOLDER:
                remarks.append(f"the command made {told}, a git repository without programs")
        elif _why_of_name(name) and not _READ_UNASKED.fullmatch(folded(name)):
            remarks.append(f"the command made {told}: look into it before a program reads it")
        else:
            remarks.append(f"the command made {told}, which no tool writes: {_rename(path)}")
    return remarks


def _is_git(path: str) -> bool:
    if folded(os.path.basename(path)) == GIT_FOLDER:
        return True
    return os.path.isdir(path) and is_repository(os.listdir(path))


def _rename(path: str) -> str:
    """Give it a name that no program looks for; nor is a folder any longer a repository."""
    folder, name = os.path.split(path)
    stem = os.path.join(folder, os.fsdecode(os.fsencode(name)[:_STEM]))
    number, moved = 1, stem + _ASIDE
    while os.path.lexists(moved):
        number += 1
        moved = f"{stem}{_ASIDE}-{number}"
    try:
        os.rename(path, moved)
        head = os.path.join(moved, "HEAD")
        if not os.path.islink(moved) and os.path.lexists(head):
            os.rename(head, head + _ASIDE)
    except OSError as error:
        return f"look into it before a program reads it ({error.strerror})"
    return f"it is called {os.path.basename(moved)} now"
