"""Bringing the index up to date with one file.

A file is written in one transaction that begins before it is read: an interrupted run loses one
file's work, and a second process waits for the first and then finds the file done.
"""

import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Final

from clew.toolbox.docs.extract import Extracted, Unreadable, extract, lacking, too_large
from clew.toolbox.docs.index import writing
from clew.toolbox.docs.passages import split
from clew.toolbox.docs.survey import survey
from clew.tools.search_words import grams

_RACY: Final = 2_000_000_000
"""Nanoseconds. A file read so soon after its last change may change again at the same time stamp
(those of some file systems are that coarse), so its content is compared once more."""


def refresh(connection: sqlite3.Connection, folder: Path, path: str, stop: threading.Event) -> str:
    """Index the file if it changed. Gives the reason where it cannot be read now.

    What lies in the file itself (it is binary, broken, encrypted) is kept in the index instead.
    """
    try:
        now = (folder / path).stat()
        if _current(connection, path, now):
            return ""
        if reason := lacking(folder / path) or too_large(folder / path, now.st_size):
            forget(connection, [path], stop)
            return reason
        with writing(connection, stop):
            _file(connection, folder / path, path)
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


def _current(connection: sqlite3.Connection, path: str, now: os.stat_result) -> bool:
    row = connection.execute(
        "SELECT size, mtime, seen FROM files WHERE path = ?", (path,)
    ).fetchone()
    if row is None:
        return False
    size, mtime, seen = row
    return (size, mtime) == (now.st_size, now.st_mtime_ns) and seen - mtime > _RACY


def _file(connection: sqlite3.Connection, file: Path, path: str) -> None:
    now, seen = file.stat(), time.time_ns()
    if _current(connection, path, now):
        return
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
