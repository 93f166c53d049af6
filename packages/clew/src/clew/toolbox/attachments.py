"""Files that go with a question, each as what it is."""

import errno
import os
import stat
from pathlib import Path
from typing import Final, cast

from clew.core.contents import Audio, File, Image
from clew.support.errors import ConfigError
from clew.support.media_types import MAX_BYTES, check_size, kinds_of
from clew.support.parts import short_repr
from clew.toolbox.docs.extract import pdf_text
from clew.toolbox.docs.survey import survey_data

MAX_CHARS: Final = 100_000
"""So much of a file's text goes with a question; more is to be searched."""

_READ: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""It waits for no pipe that has just taken the place of a file."""

_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
"""It follows no link that has, which may lead out of the folder."""


def attach(
    path: str | Path, text: str = "", *, folder: str | Path | None = None
) -> Image | Audio | File:
    """Read a file to go with a question: a picture, a recording, a PDF or a text.

    `text` says what a picture shows or what is spoken, for models that take neither. What a PDF or
    a text says is read from it. A path is relative to `folder`, if there is one, and may not lead
    out of it. Raises `ConfigError` if the file cannot be read, is too large, or is of another kind.
    """
    where = cast("object", path)
    if not isinstance(where, str | Path) or "\0" in str(where):
        raise ConfigError(f"{short_repr(path)} names no file: attach one")
    file = Path(path)
    data = _bytes(file, file, 0) if folder is None else _bytes(file, _inside(Path(folder), file))
    kind = next(iter(kinds_of(data)), "")
    if kind.startswith("image/"):
        return Image(kind, data, text)
    if kind.startswith("audio/"):
        return Audio(kind, data, text)
    if kind:
        return File(kind, data, text or pdf_text(data, MAX_CHARS), name=file.name)
    return File("text/plain", text=text or _text(file, data), name=file.name)  # secrets in it count


def _inside(folder: Path, path: Path) -> Path:
    """The file of a folder, wherever links lead."""
    file = folder / path
    try:
        real = file.resolve()
        inside = real.is_relative_to(folder.resolve())
    except (OSError, RuntimeError) as error:  # a link to itself
        why = os.strerror(errno.ELOOP) if isinstance(error, RuntimeError) else error.strerror
        raise ConfigError(f"{file} cannot be attached: {why}") from error
    if not inside:
        raise ConfigError(f"{path} is not in the folder {folder}: put the file there")
    return real


def _bytes(name: Path, file: Path, flags: int = _NO_LINK) -> bytes:
    """What is in a file, which is opened once: it may be another a moment later."""
    try:
        _check_regular(name, file.stat())  # to open a device may do something
        with os.fdopen(os.open(file, _READ | flags), "rb") as opened:
            size = _check_regular(name, os.fstat(opened.fileno()))
            check_size(str(name), size)
            data = opened.read(MAX_BYTES + 1) or b""
    except OSError as error:
        raise ConfigError(f"{name} cannot be attached: {error.strerror or error}") from error
    check_size(str(name), len(data))
    if not data:
        raise ConfigError(f"{name} is empty: attach another file")
    return data


def _check_regular(name: Path, seen: os.stat_result) -> int:
    """How many bytes a file has. Raises `ConfigError` for a folder, a pipe, a device, a socket."""
    if not stat.S_ISREG(seen.st_mode):
        raise ConfigError(f"{name} is no file: attach one")
    return seen.st_size


def _text(file: Path, data: bytes) -> str:
    seen = survey_data(data)
    if not seen.encoding:
        message = f"{file} is none of these: PNG, JPEG, GIF, WebP, WAV, MP3, Ogg, FLAC, PDF, text"
        raise ConfigError(message)
    text = data.decode(seen.encoding, seen.errors)
    if len(text) > MAX_CHARS:
        size = f"{file} has {len(text):,} characters, and may have {MAX_CHARS:,}"
        raise ConfigError(f"{size}: have it searched (--docs, or the tool search)")
    return text
