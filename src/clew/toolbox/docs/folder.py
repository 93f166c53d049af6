"""Which files of a folder are to be read."""

import os
from pathlib import Path
from typing import Final

PASSED_OVER: Final = frozenset({"node_modules", "__pycache__", "venv"})
"""Folders that hold no documents, besides all files and folders whose name begins with a dot."""

Skipped = dict[str, str]
"""Path relative to the folder → why it is not searched."""


def walk(folder: Path) -> tuple[list[str], Skipped]:
    """All files under the folder as sorted relative paths (with `/`), and what was skipped.

    Symbolic links are not followed: they could lead round in a circle or out of the folder.
    """
    files: list[str] = []
    skipped: Skipped = {}
    waiting = [""]
    while waiting:
        inner = waiting.pop()
        try:
            with os.scandir(folder / inner) as listing:
                entries = [(entry, inner + entry.name) for entry in listing]
        except OSError as error:
            skipped[_printable(inner)] = f"cannot be listed: {error.strerror}"
            continue
        for entry, path in entries:
            if entry.name.startswith(".") or (entry.name in PASSED_OVER and entry.is_dir()):
                continue
            if reason := _unfit(entry):
                skipped[_printable(path)] = reason
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/")
            else:
                files.append(path)
    return sorted(files), skipped


def _unfit(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "a symbolic link, not followed"
    if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
        return "not a regular file"
    if _printable(entry.name) != entry.name:
        return "its name is not UTF-8: rename it"
    return ""


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")
