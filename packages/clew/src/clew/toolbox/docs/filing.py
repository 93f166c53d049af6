"""Bringing the index up to date with one file.

A file is written in one transaction that begins before it is read: an interrupted run loses one
file's work, and a second process waits for the first and then finds the file done.
"""

import sqlite3
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from clew.toolbox.docs.extract import Extracted, Unreadable, extract, lacking, too_large
from clew.toolbox.docs.index import writing
from clew.toolbox.docs.passages import split
from clew.toolbox.docs.survey import survey
from clew.tools.search_words import grams

_RACY: Final = 2_000_000_000
"""Nanoseconds. A file read so soon after its last change may change again at the same time stamp
(those of some file systems are that coarse), so its content is compared once more."""


STAMPS: Final = "SELECT path, size, mtime, seen FROM files"


def outdated(folder: Path, paths: Iterable[str], stamps: Iterable[tuple[Any, ...]]) -> set[str]:
    """Those of these files that are not as they were when the index read them, by its stamps."""
    known = {path: stamp for path, *stamp in stamps}
    changed: set[str] = set()
    for path in paths:
        size, mtime, seen = known.get(path, (None, 0, 0))
        try:
            now = (folder / path).stat()
        except OSError:  # whoever reads it says why
            changed.add(path)
            continue
        if (size, mtime) != (now.st_size, now.st_mtime_ns) or seen - mtime <= _RACY:
            changed.add(path)
    return changed


def refresh(connection: sqlite3.Connection, folder: Path, path: str, stop: threading.Event) -> str:
    """Index a file that changed. Gives the reason where it cannot be read now.

    What lies in the file itself (it is binary, broken, encrypted) is kept in the index instead.
    """
    try:
        size = (folder / path).stat().st_size
        if reason := lacking(folder / path) or too_large(folder / path, size):
            forget(connection, [path], stop)
            return reason
        with writing(connection, stop):
            _file(connection, folder, path)
    except OSError as error:
        forget(connection, [path], stop)
        return f"cannot be read: {error.strerror or error}"
    return ""


def forget(connection: sqlite3.Connection, paths: list[str], stop: threading.Event) -> None:
    """Take files out of the index."""
    if paths:
        with writing(connection, stop):
            for path in paths:
                _forget(connection, path)


def _file(connection: sqlite3.Connection, folder: Path, path: str) -> None:
    stamp_of_file = connection.execute(f"{STAMPS} WHERE path = ?", (path,))
    if not outdated(folder, [path], stamp_of_file):  # another process was faster
        return
    file = folder / path
    now, seen = file.stat(), time.time_ns()
    surveyed = survey(file)
    stamp = (now.st_size, now.st_mtime_ns, seen)
    changed = connection.execute(
        "UPDATE files SET size = ?, mtime = ?, seen = ? WHERE path = ? AND digest = ?",
        (*stamp, path, surveyed.digest),
    )
    if changed.rowcount:
        return
    _forget(connection, path)
    number = connection.execute(
        "INSERT INTO files (path, size, mtime, seen, digest, reason, note) "
        "VALUES (?, ?, ?, ?, ?, '', '')",
        (path, *stamp, surveyed.digest),
    ).lastrowid
    reason = note = ""
    try:
        extracted = extract(file, surveyed)
        note = extracted.note
        _add(connection, number, extracted)
    except Unreadable as error:
        connection.execute("DELETE FROM passages WHERE file = ?", (number,))
        reason, note = str(error), ""
    connection.execute("UPDATE files SET reason = ?, note = ? WHERE id = ?", (reason, note, number))


def _add(connection: sqlite3.Connection, number: int | None, extracted: Extracted) -> None:
    connection.executemany(
        "INSERT INTO passages (file, place, title, offset, text, grams) VALUES (?, ?, ?, ?, ?, ?)",
        (
            (
                number,
                passage_number,
                passage.title,
                passage.offset,
                passage.text,
                grams(passage.text),
            )
            for passage_number, passage in enumerate(split(extracted.lines, extracted.title))
        ),
    )


def _forget(connection: sqlite3.Connection, path: str) -> None:
    connection.execute(
        "DELETE FROM passages WHERE file = (SELECT id FROM files WHERE path = ?)", (path,)
    )
    connection.execute("DELETE FROM files WHERE path = ?", (path,))
