"""Errors of stores, with the same messages in every store."""

import errno
import os
from typing import Final

from clew.core.stores import Append, Base
from clew.support.errors import (
    FencedError,
    RunExistsError,
    RunNotFoundError,
    StoreDamagedError,
    StoreError,
    StoreNewerError,
    StoreUnreachableError,
)
from clew.support.short_text import cut

__all__ = [
    "changed_since",
    "failed",
    "file_replaced",
    "known_run",
    "lost_base",
    "missing_blob",
    "newer",
    "no_base",
    "refusal",
    "still_shared",
    "unknown_run",
    "unreadable",
]

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_CLOSED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NO_FOLDER: Final = frozenset({errno.ENOTDIR, errno.EEXIST})

_SPENT: Final = frozenset({errno.EMFILE, errno.ENFILE})
_NEEDED: Final = 8
"""More files than SQLite has open for one database: the file, its log, its index, a folder."""

NO_ROOM: Final = "has no room left on its disk: make room and resume, nothing recorded is lost"
NO_DESCRIPTORS: Final = (
    "cannot be opened, for this process or the machine has too many files open: close some, or "
    "raise the limit (ulimit -n), and resume"
)
LOCKED: Final = "is kept locked by another process: end the one that hangs, then resume"


def unknown_run(run_id: str) -> RunNotFoundError:
    """There is no such run in this store."""
    return RunNotFoundError(
        f"there is no run {cut(repr(run_id), 300)} in this store: check the id, or name another "
        "store"
    )


def known_run(run_id: str) -> RunExistsError:
    """The id of a new run is taken."""
    return RunExistsError(f"there is a run {run_id!r} already: choose another id, or open that one")


def changed_since(run_id: str) -> StoreError:
    """A run is to be trusted as it was seen, and is another by now."""
    return StoreError(f"run {run_id!r} is another than the one you looked at: look again")


def being_worked_on(run_id: str) -> RunExistsError:
    """The id of a new run is that of one at work in this process."""
    return RunExistsError(
        f"run {run_id!r} is being worked on: choose another id, or resume that one, which waits"
    )


def no_base(base: Base, head: int) -> StoreError:
    """The base of a fork does not have that line."""
    return StoreError(
        f"run {base.run_id!r} has lines 1 to {head} and cannot be forked after line {base.seq}: "
        "fork it after one of them"
    )


def lost_base(run_id: str, base: Base) -> StoreDamagedError:
    """The run with which a fork shares its start is gone, or has lost lines."""
    return StoreDamagedError(
        f"run {run_id!r} shares lines 1 to {base.seq} with run {base.run_id!r}, which are not in "
        "this store: restore that run from a copy"
    )


def lost_entries(run_id: str, seq: int, heads: object) -> StoreDamagedError:
    """A run has lost its last entries: effects that they record would be repeated."""
    return StoreDamagedError(
        f"run {run_id!r} lost its last entries (entry {seq} was on the disk): put all files "
        f"of the store back from a copy; or find out what they did, and delete {heads} to go on "
        "without them"
    )


def doubtful_end(run_id: str, seq: int, heads: object) -> StoreDamagedError:
    """Nobody knows whether a run has lost entries: effects that they record would be repeated."""
    return StoreDamagedError(
        f"run {run_id!r} may have lost its last entries (behind entry {seq}): the store's log was "
        f"damaged, and {heads} could not show what had been written. Put all files of the store "
        f"back from a copy; or find out what the run did since, and delete {heads} to go on"
    )


def still_shared(run_id: str, fork: str) -> StoreError:
    """A run cannot be deleted because a fork shares its lines."""
    return StoreError(
        f"run {run_id!r} cannot be forgotten: its fork {fork!r} shares its lines, so forget that "
        "one first"
    )


def missing_blob(digest: str) -> StoreError:
    """A record names a blob that this store does not have."""
    return StoreError(f"blob {digest!r} is not in this store: restore it from a copy of the store")


def refusal(append: Append, epoch: int, head: int) -> StoreError | None:
    """Why a run at `epoch` whose last line is number `head` must refuse the append, or None."""
    if append.epoch != epoch:
        return FencedError(
            f"run {append.run_id!r} was taken up by another worker (epoch {epoch}, here "
            f"{append.epoch}): stop here, the run goes on there"
        )
    numbers = [line.seq for line in append.lines]
    if not numbers or numbers != list(range(head + 1, head + 1 + len(numbers))):
        return StoreError(
            f"run {append.run_id!r} ends with line {head} and cannot take lines {numbers}: "
            "read it again and append what follows"
        )
    return None


def failed(path: object, error: OSError) -> StoreError:
    """Say what to do if the operating system refuses to read or write at `path`."""
    if error.errno in _FULL:
        return StoreError(f"{path} {NO_ROOM}")
    if error.errno in _SPENT:
        return StoreError(f"{path} {NO_DESCRIPTORS}")
    if error.errno in _CLOSED:
        return StoreError(f"{path} may not be written: change its rights or name another store")
    if error.errno in _NO_FOLDER:
        return StoreError(f"{path} lies under a file, not a folder: name another store")
    reason = os.strerror(error.errno) if error.errno else str(error)
    return StoreError(f"{path} cannot be used as a store ({reason}): name another one")


def unreadable(path: object, error: OSError) -> StoreError:
    """Say what to do about a file of runs that the operating system refuses to read."""
    if error.errno in _SPENT:
        return StoreError(f"{path} {NO_DESCRIPTORS}")
    if error.errno in _CLOSED:
        return StoreError(f"{path} may not be read: change its rights or restore a copy")
    return StoreError(f"{path} cannot be read ({error.strerror}): restore a copy")


def descriptors_spent() -> bool:
    """Whether a database cannot open the few files it needs: libraries do not say why."""
    opened: list[int] = []
    try:
        while len(opened) < _NEEDED:
            opened.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in _SPENT
    finally:
        for one in opened:
            os.close(one)
    return False


def file_replaced(path: object) -> StoreUnreachableError:
    """The file was removed or replaced while it was in use."""
    error = StoreUnreachableError(
        f"{path} was removed or replaced while it was in use, and what is written now would be "
        "lost: put it back and resume, or ask anew"
    )
    error.gone = True
    return error


def older(path: object, version: int, known: int) -> StoreError:
    """An earlier clew wrote the store, and it cannot be brought to this one's format."""
    return StoreError(
        f"{path} is of an older format (store version {version}, this clew writes {known}) and may "
        "not be written: change its rights, or open a copy of it, which is brought up to date"
    )


def newer(path: object, version: int, known: int) -> StoreNewerError:
    """A version of clew that this one does not know wrote the store."""
    return StoreNewerError(
        f"{path} was written by another version of clew (store version {version}, this one knows "
        f"{known}): open it with that version, or name another store"
    )
