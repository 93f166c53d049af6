"""SQLite's write-ahead log as it lies in its file: whether the end of it was lost.

SQLite passes over whatever stands behind the last whole commit, without a word.
"""

import struct
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

# The log is a header and frames, a page each; those with the header's salts are of this log, what
# is behind them of an older one. A commit is whole when its last frame says so
# (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
_HEADER: Final = struct.Struct(">II I I 8s 8x")  # magic, version, page size, number, salts
_FRAME: Final = struct.Struct(">I I 8s 8x")  # page, size after a commit, salts


class _Log(NamedTuple):
    """What a log's file has: frames of this log, and whether its end is torn."""

    frames: int
    torn: bool


def ends_torn(log: Path) -> bool:
    """Whether frames, or a part of one, stand behind the last commit of this log."""
    return _look(log).torn


def frames_of(log: Path) -> int:
    """How many whole frames of this log are in its file, whatever SQLite makes of them."""
    return _look(log).frames


def _look(log: Path) -> _Log:
    """Only the log is opened here: closing any other of a store's files would drop the locks that
    SQLite holds on it.
    """
    try:
        with log.open("rb") as file:
            return _seen(file, log.stat().st_size)
    except (OSError, struct.error):  # it was folded into the file just now, or may not be looked at
        return _Log(0, torn=False)


def _seen(file: BinaryIO, size: int) -> _Log:
    head = file.read(_HEADER.size)
    if len(head) < _HEADER.size:
        return _Log(0, torn=size > 0)
    page, salts = (fields := _HEADER.unpack(head))[2], fields[4]
    step = _FRAME.size + page
    whole, rest = divmod(size - _HEADER.size, step)

    def frame(number: int) -> tuple[int, bytes]:
        file.seek(_HEADER.size + number * step)
        _, commit, mine = _FRAME.unpack(file.read(_FRAME.size))
        return commit, mine

    low, high = 0, whole  # frames of this log come first: find how many there are
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if frame(middle)[1] == salts else (low, middle)
    if low and not frame(low - 1)[0]:
        return _Log(low, torn=True)
    cut = bool(rest) and low == whole and (rest < _FRAME.size or frame(whole)[1] == salts)
    return _Log(low, torn=cut)
