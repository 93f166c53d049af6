"""Texts of others for the benchmarks: read from the folder of the recordings, halved by a hash.

A row says its source and licence. Rows that share a claim, a passage or a beginning have one
`group`, and a group lies in one half: what was tuned on tells nothing of the other half.
"""

import hashlib
from typing import Any, Final, Literal, TypeAlias

from recordings.data import VARIABLE, files, folder, records

Row: TypeAlias = dict[str, Any]
Half: TypeAlias = Literal["seen", "unseen"]
HALVES: Final[tuple[Half, ...]] = ("seen", "unseen")


def half(row: Row) -> Half:
    """By the first byte of the SHA-256 of its group: odd is unseen."""
    return "unseen" if hashlib.sha256(row["group"].encode()).digest()[0] % 2 else "seen"


def rows(kind: str, wanted: Half) -> list[Row]:
    """The rows of one half of a corpus."""
    return [row for row in records(kind) if half(row) == wanted]


def missing(kind: str) -> str:
    """Why there is nothing to measure; empty where the corpus is there."""
    if files(kind):
        return ""
    return f"no {kind}.jsonl.gz in {folder()}: name its folder in {VARIABLE}"
