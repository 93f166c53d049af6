"""The form of an archive: runs in one file of JSON lines.

    {"line":"archive","version":1,"at":…}
    {"line":"run","run_id":…,"base":…,"shared":…,"lost":[…]}
    {"line":"blob","digest":…,"data":…}               each blob that the run names, in Base64
    {"line":"message","event":…}                      what waits in its inbox, oldest first
    {"line":"entry","seq":…,"at":…,"epoch":…,"hash":…,"event":…}
    {"line":"whole","run_id":…,"sha256":…}            of the lines of this run before this one
    …
    {"line":"end","runs":…,"unreadable":[…]}

An event stands there byte for byte as it was stored, so the chain of hashes holds. A fork has only
its own entries and stands behind its base, a root behind its sub-runs. Each run has all of its
blobs with it, but for those that are lost: whoever reads an archive needs memory for one run, and
each can be read without the others.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import msgspec

from clew.core.stores import Base, Line
from clew.support.errors import StoreError
from clew.support.run_ids import wrong_id

VERSION: Final = 1
"""Version of the form, in the first line."""


class _ArchiveLine(
    msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="line",
    tag=str.lower,
):  # fmt: skip
    """A line of an archive; `line` in it says which kind of line it is."""


class Archive(_ArchiveLine, frozen=True):
    """The first line."""

    version: int
    at: int


class Run(_ArchiveLine, frozen=True):
    """A run begins; `base` is the run that a fork shares the lines up to `shared` with.

    `lost` are digests of blobs that it names, and that a damaged store does not have any more.
    """

    run_id: str
    base: str = ""
    shared: int = 0
    lost: tuple[str, ...] = ()


class Blob(_ArchiveLine, frozen=True):
    """A blob that the run names."""

    digest: str
    data: bytes


class InboxLine(_ArchiveLine, frozen=True, tag="message"):
    """What waits in the run's inbox."""

    event: msgspec.Raw


class RecordLine(_ArchiveLine, frozen=True, tag="entry"):
    """A line of the run's record."""

    seq: int
    at: int
    epoch: int
    hash: str
    event: msgspec.Raw


class RunEnd(_ArchiveLine, frozen=True, tag="whole"):
    """The run ends; `sha256` is that of its lines as they stand here."""

    run_id: str
    sha256: str


class Missing(msgspec.Struct, frozen=True):
    """A run that could not be read when the archive was written."""

    run_id: str
    why: str


class LastLine(_ArchiveLine, frozen=True, tag="end"):
    """The last line."""

    runs: int
    unreadable: tuple[Missing, ...] = ()


_Any: TypeAlias = Archive | Run | Blob | InboxLine | RecordLine | RunEnd | LastLine

_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[_Any] = msgspec.json.Decoder(_Any)


@dataclass(slots=True)
class Section:
    """A run in an archive; `wrong` says why it is not what was written there."""

    run_id: str = ""
    base: Base | None = None
    lines: list[Line] = field(default_factory=list[Line])
    blobs: dict[str, bytes] = field(default_factory=dict[str, bytes])
    inbox: list[bytes] = field(default_factory=list[bytes])
    lost: set[str] = field(default_factory=set[str])
    wrong: str = ""


def encoded(line: _Any) -> bytes:
    """A line as it is written."""
    return _encoder.encode(line) + b"\n"


def written(section: Section) -> bytes:
    """A run as it stands in an archive. Raises `StoreError` where an event is no compact JSON."""
    base = section.base
    shared = (base.run_id, base.seq) if base else ("", 0)
    lines = [encoded(Run(section.run_id, *shared, tuple(sorted(section.lost))))]
    lines += [encoded(Blob(*blob)) for blob in section.blobs.items()]
    lines += [encoded(InboxLine(_raw(section, body))) for body in section.inbox]
    lines += [
        encoded(
            RecordLine(line.seq, line.at, line.epoch, line.hash.hex(), _raw(section, line.body))
        )
        for line in section.lines
    ]
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    return b"".join((*lines, encoded(RunEnd(section.run_id, digest))))


def one_line(body: bytes) -> bool:
    """Whether an event comes back as it is when the line that it stands in is read."""
    try:
        msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return False
    return b"\n" not in body and body.strip() == body


def _raw(section: Section, body: bytes) -> msgspec.Raw:
    if not one_line(body):
        message = f"an event or message of run {section.run_id!r} is no compact JSON on one line"
        raise StoreError(message)
    return msgspec.Raw(body)


def read_archive(lines: Iterable[bytes], source: object) -> Iterator[Section | LastLine]:
    """Each run of an archive, then its end if it is there. Raises `StoreError` where it is none.

    A run whose lines are damaged, or not all there, has only its id, and says what is `wrong`.
    """
    numbered = enumerate(lines, start=1)
    _check_first(next(numbered, (1, b""))[1], source)
    section, digest, begun = Section(), hashlib.sha256(), False
    for number, text in numbered:
        line = _decoded(text)
        if isinstance(line, Run) or (isinstance(line, LastLine) and begun):
            if begun:
                yield _broken(section, f"{source}: it is not whole before line {number}")
            section, digest, begun = Section(), hashlib.sha256(), isinstance(line, Run)
        if isinstance(line, LastLine):
            yield line
            if behind := next(numbered, None):
                message = (
                    f"{source}: line {behind[0]} stands behind its end: import each archive alone"
                )
                raise StoreError(message)
            return
        wrong = _take(section, line, digest.hexdigest()) if begun else ""
        if line is None or wrong or not begun:
            section.wrong = section.wrong or wrong or f"{source}: line {number} is damaged"
            begun = True
        digest.update(text)
        if isinstance(line, RunEnd):
            yield _broken(section, section.wrong) if section.wrong else section
            section, digest, begun = Section(), hashlib.sha256(), False
    if begun:
        yield _broken(section, f"{source}: it ends in the midst of this run")


def _check_first(text: bytes, source: object) -> None:
    first = _decoded(text)
    if not isinstance(first, Archive):
        message = (
            f"{source} is no archive of clew: name one that `clew records export --archive` wrote"
        )
        raise StoreError(message)
    if first.version > VERSION:
        message = (
            f"{source} was written by a newer clew (archive version {first.version}, this one "
            f"knows {VERSION}): upgrade clew"
        )
        raise StoreError(message)


def _decoded(text: bytes) -> _Any | None:
    try:
        return _decoder.decode(text)
    except (ValueError, RecursionError):
        return None


def _broken(section: Section, why: str) -> Section:
    return Section(section.run_id, wrong=section.wrong or why)


def _take(section: Section, line: _Any | None, digest: str) -> str:
    """Add a line to the section; what is wrong with it, or ""."""
    match line:
        case Run(run_id, base, shared, lost):
            section.run_id, section.lost = run_id, {*lost}
            if wrong := wrong_id(run_id):
                return f"its id {wrong}"
            section.base = Base(base, shared) if shared else None
        case Blob(name, data):
            section.blobs[name] = data
        case InboxLine(event):
            section.inbox.append(bytes(event))
        case RecordLine(seq, at, epoch, hash_, event):
            try:
                section.lines.append(Line(seq, at, epoch, bytes(event), bytes.fromhex(hash_)))
            except ValueError:
                return f"entry {seq}: its hash is none"
        case RunEnd(run_id, sha256):
            section.run_id = section.run_id or run_id
            if (run_id, sha256) != (section.run_id, digest):
                return "its lines were changed after they were written"
        case _:
            pass
    return ""
