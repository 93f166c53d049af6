"""Which blobs no file of a JSONL store names any more, and which runs are forks of one.

What another process is about to name is there before it is named. So no blob goes that was written,
or found again, within the last `DAY`.
"""

import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from clew.stores.jsonl_rows import Record, appends, base_of

DAY: Final = 86_400.0  # seconds

# The digest of a blob as an event names it. What only looks like one keeps a blob that could go.
_DIGEST: Final = re.compile(rb'"([0-9a-f]{64})"')


def age(path: Path) -> float | None:
    """Seconds since the file was written or freshened; None where there is none."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return None


def old(blobs: Path) -> list[Path]:
    """The files among the blobs that nobody can be just about to name."""
    return [path for path in blobs.iterdir() if (age(path) or 0) > DAY]


def forks(files: Iterable[Path], run_id: str) -> Iterator[Path]:
    """The files of runs that share lines of this one: their first row says so."""
    for path in files:
        with path.open("rb") as file:
            first = file.readline()
        for rows, _ in appends(first, 0, path):
            base = base_of(rows[0])
            if base is not None and base.run_id == run_id:
                yield path


def named(path: Path, record: Record) -> set[str]:
    """The digests that stand in the file of a run; only what is new in it is read."""
    with path.open("rb") as file:
        file.seek(record.searched)
        data = file.read()
    record.named.update(found.decode() for found in _DIGEST.findall(data))
    record.searched += data.rfind(b"\n") + 1
    return record.named
