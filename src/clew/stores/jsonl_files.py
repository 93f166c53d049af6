"""Reading and writing the files of a JSONL store, whole and durably."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Final

from clew.private import make_file
from clew.stores.refusals import failed

_BEHIND: Final = 1000.0


@contextmanager
def told(path: Path) -> Generator[None, None, None]:
    """The operating system's errors come out as `StoreError`."""
    try:
        yield
    except OSError as error:
        raise failed(path, error) from error


def write(path: Path, end: int, data: bytes, *, sync: bool) -> None:
    """Write `data` at byte `end`, over whatever torn remains stand there: all of it or nothing."""
    with FileIO(path, "r+") as file:
        file.truncate(end)
        file.seek(end)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
            if sync:
                os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def place(path: Path, body: bytes) -> None:
    """Write a blob durably: under another name first, so never in part."""
    draft = path.with_name(f"draft-{os.getpid()}-{os.urandom(4).hex()}")
    make_file(draft)
    try:
        write(draft, 0, body, sync=True)
        draft.replace(path)
    except OSError:
        draft.unlink()
        raise
    sync_folder(path.parent)


def freshest(folder: Path) -> list[tuple[float, Path]]:
    """The files of runs, the last changed first, each with a time (ms) after its last entry's.

    The clock of a file system may be some milliseconds behind.
    """
    found: list[tuple[float, Path]] = []
    for path in folder.glob("*.jsonl"):
        with suppress(FileNotFoundError):  # forgotten just now
            found.append((path.stat().st_mtime * 1000 + _BEHIND, path))
    return sorted(found, reverse=True)


def sync(file: Path) -> None:
    """Make what was written to a file durable."""
    with FileIO(file, "r+") as opened:
        os.fsync(opened.fileno())


def sync_folder(folder: Path) -> None:
    """Make names in a folder durable, where the system lets a folder be opened (not on Windows)."""
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
