"""The file of a test's cassette: another one for each test."""

import hashlib
import re
from pathlib import Path
from typing import Final

import pytest

_MAX_BYTES: Final = 200
"""Of a name: file systems take 255, and a hash and an ending come after it."""

_WRITERS: Final = pytest.StashKey[dict[Path, str]]()
"""Which test of this session wrote a file."""


def cassette_of(test: pytest.Item) -> Path:
    """The file by the names of the test's module, its classes and itself.

    A name that cannot be a file's is changed, and ends with a hash of what it was.
    """
    classes = [each.name for each in test.listchain() if isinstance(each, pytest.Class)]
    wanted = ".".join((test.path.stem, *classes, test.name))
    name = re.sub(r"[^\w.\[\]-]", "_", wanted).encode()[:_MAX_BYTES].decode(errors="ignore")
    if name != wanted:
        name = f"{name}-{hashlib.sha256(wanted.encode()).hexdigest()[:8]}"
    return test.path.parent / "cassettes" / f"{name}.json"


def refuse_a_second_writer(test: pytest.Item, file: Path) -> None:
    """Fail the test where another one of this session has recorded into this file."""
    writers = test.config.stash.setdefault(_WRITERS, {})
    first = writers.setdefault(file, test.nodeid)
    if first != test.nodeid:
        pytest.fail(f"{first} wrote {file} before: rename one of the two tests", pytrace=False)
