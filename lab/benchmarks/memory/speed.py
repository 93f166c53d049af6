"""How long a search takes among many memories, and forgetting one."""

import hashlib
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from clew.memory import MemorySource, SqliteMemory

WORDS: Final = 30_000
QUERIES: Final = 500
DIMENSIONS: Final = 384


@dataclass(frozen=True)
class Speed:
    """Milliseconds of a core a search takes: the median, and what 95 of 100 stay under."""

    name: str
    median: float
    limit: float


@dataclass(frozen=True)
class Speeds:
    """All of it, for so many memories; `forget` in seconds."""

    memories: int
    megabytes: float
    searches: tuple[Speed, ...]
    forget: float


def embed(texts: Sequence[str]) -> Any:
    """Vectors without a model: of each text always the same, at random. What a model takes to make
    one of the query comes on top of what is measured.
    """
    seeds = [
        int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) for text in texts
    ]
    return np.stack([np.random.default_rng(seed).standard_normal(DIMENSIONS) for seed in seeds])


def speeds(memories: int) -> Speeds:
    """Fill a file with sentences of made-up words, as often as words are, and search it."""
    drawn = random.Random(7)
    words = [f"{drawn.choice('bdfgklmnprst')}{number:x}" for number in range(WORDS)]
    often = [1 / (rank + 10) for rank in range(WORDS)]

    def sentence(minimum: int, limit: int) -> str:
        return " ".join(drawn.choices(words, often, k=drawn.randint(minimum, limit)))

    quick = Path("/dev/shm")  # where it is, nothing waits for a disk
    with tempfile.TemporaryDirectory(dir=quick if quick.is_dir() else None) as folder:
        path = Path(folder) / "memory.sqlite"
        by_words = SqliteMemory(path)
        for number in range(memories):
            source = MemorySource(run=f"r{number // 10}", seq=number % 10)
            by_words.add(f"The user {sentence(6, 20)}.", source=source)
        queries = [f"Which {sentence(2, 6)} has the user?" for _ in range(QUERIES)]
        fused = SqliteMemory(path, embed=embed)
        fused.search("first")  # the vectors are made
        speeds_of = (
            _timed("by words", by_words, queries),
            _timed("by words and meaning", fused, queries),
        )
        size = path.stat().st_size / 1e6
        begun = time.process_time()
        by_words.forget(f"m{memories // 2}")
        return Speeds(memories, size, speeds_of, time.process_time() - begun)


def _timed(name: str, memories: SqliteMemory, queries: Sequence[str]) -> Speed:
    took: list[float] = []
    for query in queries:
        begun = time.process_time()  # others may be using the machine
        memories.search(query)
        took.append((time.process_time() - begun) * 1_000)
    return Speed(name, statistics.median(took), statistics.quantiles(took, n=20)[-1])
