"""Texts of others for the benchmarks: read from the folder `public` of the recordings.

One JSON object a line, gzipped, with its source and licence. Rows that share a claim, a passage or
a beginning have one `group`, and the first byte of the SHA-256 of a group puts it in one of two
halves: what was tuned on tells nothing of the other half.
"""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from recordings.data import VARIABLE, folder

Row: TypeAlias = dict[str, Any]
Half: TypeAlias = Literal["seen", "unseen"]
HALVES: Final[tuple[Half, ...]] = ("seen", "unseen")


def file(name: str) -> Path:
    """Where a corpus lies, whether it is there or not."""
    return folder() / "public" / f"{name}.jsonl.gz"


def half(row: Row) -> Half:
    """Which half a row belongs to: an odd byte is unseen."""
    return "unseen" if hashlib.sha256(row["group"].encode()).digest()[0] % 2 else "seen"


def rows(name: str, wanted: Half) -> list[Row]:
    """The rows of one half of a corpus."""
    with gzip.open(file(name), "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if half(row) == wanted]


def missing(name: str) -> str:
    """Why there is nothing to measure; empty where the corpus is there."""
    path = file(name)
    return "" if path.exists() else f"no {path}: name the folder above `public` in {VARIABLE}"
