"""A folder of documents that can be searched and read."""

import os
import sqlite3
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from clew.support.errors import ConfigError
from clew.toolbox.docs.filing import STAMPS, forget, outdated, refresh
from clew.toolbox.docs.index import default_index_path, open_index
from clew.toolbox.docs.search import FoundPassage, TextSpan, read_on, search

T = TypeVar("T")
OnProgress: TypeAlias = Callable[[int, int, str], None]
"""Gets (files done, all files, path of the next one to read), in the thread that indexes; at the
end the path is empty."""

PASSED_OVER: Final = frozenset({"node_modules", "__pycache__", "venv"})
"""Folders that hold no documents, besides all files and folders whose name begins with a dot."""

HIDDEN: Final = "hidden"
MADE: Final = "folders that tools make"
_NAMED: Final = 3

Skipped: TypeAlias = dict[str, str]
"""Path relative to the folder → why it is not searched."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What in a folder can be searched.

    `skipped` are pairs of path and reason, `notes` pairs of path and what was guessed to read it;
    `note` says where the index is if it could not be in its usual place. `complete` is False if
    indexing was stopped before the last file.
    """

    files: int
    passages: int
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...] = ()
    note: str = ""
    complete: bool = True
    passed_over: tuple[tuple[str, int], ...] = ()
    """Why files and folders were not looked at at all, and how many."""

    def looked(self) -> str:
        """A line on what was looked at, what was left out and why; "" if it was all.

        What was guessed, or is missing in a file that was read, is in it too.
        """
        parts = [f"{count:,} {why}" for why, count in self.passed_over]
        parts += _first_of(self.skipped)
        parts = [f"left out {', '.join(parts)}"] if parts else []
        if self.notes:
            parts.append(f"of what was read: {', '.join(_first_of(self.notes))}")
        return (
            "; ".join([f"looked at {self.files:,} file{'' if self.files == 1 else 's'}", *parts])
            if parts
            else ""
        )


def _first_of(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    named = [f"{path} ({why})" for path, why in pairs[:_NAMED]]
    more = len(pairs) - _NAMED
    return [*named, f"{more:,} more"] if more > 0 else named


class Library:
    """The documents under a folder: text, Markdown, HTML and PDF, at any depth.

    The index is the file `index`, by default in the user's cache folder, and contains the text. A
    file is read again if its size, time or content changed. Hidden files and folders, symbolic
    links, `node_modules`, `venv` and `__pycache__` are skipped. It is thread-safe; calls wait for
    each other. Raises `ConfigError` if there is no such folder.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        index: str | Path | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.folder = Path(folder).resolve()
        if self.folder.is_file():
            raise ConfigError(f"{folder} is a file: give the folder that it lies in")
        if not self.folder.is_dir():
            raise ConfigError(f"there is no folder {folder}: give one that holds documents")
        self._index_path = default_index_path(self.folder) if index is None else Path(index)
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._note = ""
        self._report: IndexReport | None = None

    def load(self, stop: threading.Event | None = None) -> IndexReport:
        """Update the index. What is done when `stop` is set is kept for the next time.

        Raises `ConfigError` if the index can no longer be written.
        """
        with self._lock:
            return self._load(stop or threading.Event())

    def report(self, stop: threading.Event | None = None) -> IndexReport:
        """What the last `load` found; loads at the first use."""
        with self._lock:
            return self._report or self._load(stop or threading.Event())

    def search(
        self, query: str, limit: int = 5, stop: threading.Event | None = None
    ) -> list[FoundPassage]:
        """The best passages for a query (`search.search` says how); loads at the first use."""
        return self._ask(lambda connection: search(connection, query, limit), stop)

    def read_on(self, doc_id: str, stop: threading.Event | None = None) -> TextSpan:
        """A passage and the two that follow it in its file; loads at the first use."""
        return self._ask(lambda connection: read_on(connection, doc_id, 2), stop)

    def _ask(self, question: Callable[[sqlite3.Connection], T], stop: threading.Event | None) -> T:
        with self._lock:
            if self._report is None:
                self._load(stop or threading.Event())
            with self._index(stop or threading.Event()) as connection:
                # One look at the index: another process may be bringing it up to date.
                connection.execute("BEGIN")
                try:
                    return question(connection)
                finally:
                    connection.rollback()

    def _load(self, stop: threading.Event) -> IndexReport:
        if not self.folder.is_dir():
            raise ConfigError(f"the folder {self.folder} is gone: put it back or give another")
        files, skipped, passed = _walk(self.folder)
        with self._index(stop) as connection:
            stamps = connection.execute(STAMPS).fetchall()
            forget(connection, sorted({path for path, *_ in stamps} - set(files)), stop)
            changed = outdated(self.folder, files, stamps)
            for done, path in enumerate(files):
                if stop.is_set():
                    return self._make_report(connection, skipped, passed, complete=False)
                if path in changed:
                    self._progress(done, len(files), path)
                    if reason := refresh(connection, self.folder, path, stop):
                        skipped[path] = reason
            self._progress(len(files), len(files), "")
            self._report = self._make_report(connection, skipped, passed, complete=True)
            return self._report

    @contextmanager
    def _index(self, stop: threading.Event) -> Generator[sqlite3.Connection]:
        """The open index; what goes wrong with it is told in a line."""
        try:
            if self._connection is None:
                self._connection, self._note = open_index(self._index_path, self.folder, stop)
                weakref.finalize(self, self._connection.close)
            yield self._connection
        except sqlite3.Error as error:
            raise ConfigError(
                f"the index {self._index_path} failed ({error}): make room, or delete it to "
                "begin anew"
            ) from error

    def _progress(self, done: int, total: int, path: str) -> None:
        if self._on_progress is not None:
            self._on_progress(done, total, path)

    def _make_report(
        self,
        connection: sqlite3.Connection,
        skipped: Skipped,
        passed: Counter[str],
        *,
        complete: bool,
    ) -> IndexReport:
        (passages,) = connection.execute("SELECT count(*) FROM passages").fetchone()
        rows = connection.execute("SELECT path, reason, note FROM files ORDER BY path").fetchall()
        unfit = {**skipped, **{path: reason for path, reason, _ in rows if reason}}
        return IndexReport(
            files=sum(not reason for _, reason, _ in rows),
            passages=passages,
            skipped=tuple(sorted(unfit.items())),
            notes=tuple((path, note) for path, _, note in rows if note),
            note=self._note,
            complete=complete,
            passed_over=tuple(sorted(passed.items())),
        )


def _walk(folder: Path) -> tuple[list[str], Skipped, Counter[str]]:
    """All files under the folder as sorted relative paths (with `/`), and what was skipped.

    Hidden files and what tools make are only counted, by the reason.

    Symbolic links are not followed: they could lead round in a circle or out of the folder.
    """
    files: list[str] = []
    skipped: Skipped = {}
    passed = Counter[str]()
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
            if entry.name.startswith("."):
                passed[HIDDEN] += 1
            elif entry.name in PASSED_OVER and entry.is_dir():
                passed[MADE] += 1
            elif reason := _unfit(entry):
                skipped[_printable(path)] = reason
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(f"{path}/")
            else:
                files.append(path)
    return sorted(files), skipped, passed


def _unfit(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "a symbolic link, not followed"
    if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
        return "not a regular file"
    try:
        entry.name.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8: rename it"
    return ""


def _printable(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")
