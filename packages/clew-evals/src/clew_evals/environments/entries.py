"""Entries of a dataset's own file, with the place of each, so that a bad one is named by it."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from clew import ConfigError
from clew_evals.case import Case

T = TypeVar("T")


class FileEntry(NamedTuple):
    """One entry as it stands in the file; `where` names it in messages."""

    where: str
    body: bytes


def entries(path: str | Path) -> Iterator[FileEntry]:
    """The entries of a JSON array, or the lines of a JSONL file. Raises `ConfigError`."""
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        message = f"{path}: cannot be read: {error.strerror or error}"
        raise ConfigError(message) from error
    if text.lstrip()[:1] == b"[":
        for number, raw in enumerate(_array(path, text), start=1):
            yield FileEntry(f"{path}: entry {number}", bytes(raw))
    else:
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                yield FileEntry(f"{path}:{number}", line)


def read(entry: FileEntry, kind: type[T]) -> T:
    """The entry as a value of this type. Raises `ConfigError` with place and reason."""
    try:
        return msgspec.json.decode(entry.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"{entry.where}: {error}"
        raise ConfigError(message) from error


def chosen(source: str, loaded: Iterable[tuple[str, Case]], take: int) -> Sequence[Case]:
    """The cases, the first `take` of them where it is not 0.

    Raises `ConfigError` where two have one id or there is none.
    """
    if take < 0:
        message = f"take is {take}: say how many of the first cases, or 0 for all"
        raise ConfigError(message)
    cases: dict[str, Case] = {}
    for where, case in loaded:
        if case.id in cases:
            message = f"{where}: the id {case.id!r} is there twice: give each its own"
            raise ConfigError(message)
        cases[case.id] = case
    if not cases:
        message = f"{source}: there is nothing in it"
        raise ConfigError(message)
    return list(cases.values())[: take or None]


def _array(path: str | Path, text: bytes) -> list[msgspec.Raw]:
    try:
        return msgspec.json.decode(text, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        offset = str(error).rpartition("(byte ")[2].rstrip(")")
        line = text[: int(offset)].count(b"\n") + 1 if offset.isdigit() else 1
        message = f"{path}:{line}: {error}"
        raise ConfigError(message) from error
