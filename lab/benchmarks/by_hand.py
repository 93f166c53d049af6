"""What libraries would do in the place of code of ours: figures of docs/decisions/0100-by-hand.md.

python -m benchmarks.by_hand

Needs `pathspec`, `gguf` and `dateparser`, which other packages of the environment bring.
"""

import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from clew.evidence.dates import dates
from clew_code.workspace.ignore import ignored, rules
from clew_local.gguf_header import read_header

TOKENS: Final = 150_000
HOSTILE: Final = "*a" * 6 + "*b"
"""A line of a `.gitignore`, as somebody may write it who wishes nobody well."""
TEXTS: Final = (
    ("5.1.2020", 1), ("5 de enero de 2020", 1), ("2020年1月5日", 1), ("in the 1920s", 1),
    ("It costs 12 euros and may last 5 hours.", 0), ("Room 7 is open on Mondays.", 0),
    ("The second man came alone.", 0),
)  # fmt: skip
"""Texts, and how many dates stand in each."""


def took(work: Callable[[], object]) -> str:
    """How long it takes, in words."""
    begun = time.perf_counter()
    work()
    return f"{time.perf_counter() - begun:.3f} s"


def import_time(module: str) -> str:
    """How long a fresh process takes for an import, less that of an empty one."""

    def seconds(code: str) -> float:
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - begun

    return f"{seconds(f'import {module}') - seconds('pass'):.2f} s"


def size(module: str) -> str:
    """What its files take on the disk."""
    folder = Path(str(import_module(module).__file__)).parent
    return f"{sum(path.stat().st_size for path in folder.rglob('*.*')) / 1e6:.1f} MB"


def cost(module: str) -> str:
    """What a library costs that is not used much."""
    return f"{module}: {size(module)}, import {import_time(module)}"


def text(words: str) -> bytes:
    """A string as GGUF writes it."""
    return struct.pack("<Q", len(words)) + words.encode()


def header(path: Path) -> None:
    """A GGUF file with a vocabulary and no weights."""
    tokens = b"".join(text(f"token {number}") for number in range(TOKENS))
    path.write_bytes(
        b"GGUF"
        + struct.pack("<IQQ", 3, 0, 2)
        + text("general.architecture") + struct.pack("<I", 8) + text("llama")
        + text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, TOKENS) + tokens
    )  # fmt: skip


def lines() -> Iterator[str]:
    """All figures, a line each."""
    spec: Any = import_module("pathspec").GitIgnoreSpec.from_lines([HOSTILE])
    own, name = [*rules(f"{HOSTILE}\n", "")], "a" * 60
    theirs, hand = (
        took(lambda: spec.match_file(name)),
        took(lambda: ignored(own, name, folder=False)),
    )
    yield f"{cost('pathspec')}; a hostile line: {theirs}, ours {hand}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.gguf"
        header(path)
        reader: Any = import_module("gguf").GGUFReader
        theirs, hand = took(lambda: reader(path)), took(lambda: read_header(path))
    yield f"{cost('gguf')}; a vocabulary of {TOKENS:,}: {theirs}, ours {hand}"
    search: Any = import_module("dateparser.search").search_dates
    theirs = took(lambda: [search(words) for words, _ in TEXTS])
    hand = took(lambda: [dates(words) for words, _ in TEXTS])
    wrong = sum(len(search(words) or ()) != count for words, count in TEXTS)
    ours = sum(len([*dates(words)]) != count for words, count in TEXTS)
    missed = f"{wrong} wrong in {theirs}, ours {ours} in {hand}"
    yield f"{cost('dateparser')}; {len(TEXTS)} texts: {missed}"


if __name__ == "__main__":
    for line in lines():
        print(line)
