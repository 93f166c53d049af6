"""Where the recordings of real models lie, and how they are read.

They are not part of the project: a folder holds them, named by `CLEW_RECORDINGS`, by default
`../shared/data` beside the checkout. One JSON object a line, gzipped; the folder's README says
what each file is.
"""

import gzip
import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

Record: TypeAlias = dict[str, Any]

ROOT: Final = Path(__file__).resolve().parent.parent
VARIABLE: Final = "CLEW_RECORDINGS"


def folder() -> Path:
    """The folder of the recordings, whether it is there or not."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else ROOT.parent / "shared" / "data"


def missing() -> str:
    """Why there is nothing to measure; empty where the recordings are there."""
    if any(folder().glob("*.jsonl.gz")):
        return ""
    return f"no recordings in {folder()}: name their folder in {VARIABLE}"


def files(kind: str) -> list[Path]:
    """All files of a kind: those whose name ends in `-KIND.jsonl.gz`, whatever stands before it."""
    return sorted(folder().glob(f"*{kind}*.jsonl.gz"))


def records(kind: str, sample: int = 1) -> Iterator[Record]:
    """The records of a kind; with `sample` n every nth, from the first on."""
    for path in files(kind):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                if number % sample == 0:
                    yield json.loads(line)


@cache
def document(name: str) -> Any:
    """A whole JSON document beside the recordings, such as the prompts."""
    return json.loads((folder() / name).read_text(encoding="utf-8"))
