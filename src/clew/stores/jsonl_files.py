"""Reading and writing the files of a JSONL store, whole and durably."""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from clew.private import make_file
from clew.stores.refusals import failed


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
