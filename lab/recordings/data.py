"""Where the recordings of real models lie, and how they are read.

They are not part of the project: a folder holds them, named by `CLEW_RECORDINGS`, by default
`../shared/data` beside the checkout. One JSON object a line, gzipped; the folder's README says
what each file is. What a record is, its own form tells (`forms.py`), and not the file's name.
"""

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from recordings.forms import Record, kind_of, like

ROOT: Final = Path(__file__).resolve().parents[2]
VARIABLE: Final = "CLEW_RECORDINGS"
KNOWN: Final = Path(__file__).with_name("own.txt")
"""The SHA-256 of each file of the project's own recordings: their quirks are known, one by one."""


def folder() -> Path:
    """The folder of the recordings, whether it is there or not."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else ROOT.parent / "shared" / "data"


def missing() -> str:
    """Why there is nothing to measure; empty where the recordings are there."""
    if files():
        return ""
    return f"no recordings in {folder()}: name their folder in {VARIABLE}"


def files() -> list[Path]:
    """All files of recordings."""
    return sorted(folder().glob("*.jsonl.gz"))


@dataclass(frozen=True, slots=True)
class Unread:
    """A line that holds no record, or the place at which a file ends too early."""

    location: str
    why: str

    def __str__(self) -> str:
        return f"{self.location}: {self.why}"


def lines(path: Path) -> Iterator[Record | Unread]:
    """Every record of a file; what cannot be read is told in its place."""
    number = 0
    try:
        with gzip.open(path, "rb") as results:
            for number, line in enumerate(results, start=1):
                text = f"{path.name}, line {number}"
                try:
                    record = json.loads(line)
                except ValueError as error:
                    yield Unread(text, f"no JSON: {error}")
                    continue
                yield record if isinstance(record, dict) else Unread(text, "no JSON object")
    except (OSError, EOFError, zlib.error) as error:
        yield Unread(f"{path.name}, after line {number}", f"the file cannot be read on: {error}")


@cache
def _kinds(path: Path, _changed: int) -> frozenset[str]:
    return frozenset(kind_of(one) for one in lines(path) if not isinstance(one, Unread))


def records(*kinds: str, sample: int = 1) -> Iterator[Record]:
    """The records of these kinds, whatever their files are called.

    With `sample` n every nth, from the first on.
    """
    number = 0
    for path in files():
        if _kinds(path, path.stat().st_mtime_ns).isdisjoint(kinds):
            continue
        for one in lines(path):
            if not isinstance(one, Unread) and kind_of(one) in kinds:
                if number % sample == 0:
                    yield one
                number += 1


def turns(*kinds: str) -> int:
    """How many turns there are in records of these kinds, also in those that cannot be taken.

    `UNKNOWN` stands for records with turns that are of no kind.
    """
    number = 0
    for path in files():
        for one in lines(path):
            if isinstance(one, Unread) or like(one) not in kinds:
                continue
            value = one.get("turns")
            number += len(value) if isinstance(value, list) else 0
    return number


def own(*kinds: str) -> bool:
    """Whether all records of these kinds are of the project's own recordings, byte for byte."""
    known = KNOWN.read_text("utf-8").split()
    return all(
        hashlib.sha256(path.read_bytes()).hexdigest() in known
        for path in files()
        if not _kinds(path, path.stat().st_mtime_ns).isdisjoint(kinds)
    )


@cache
def document(name: str) -> Any:
    """A whole JSON document beside the recordings, such as the prompts."""
    return json.loads((folder() / name).read_text(encoding="utf-8"))
