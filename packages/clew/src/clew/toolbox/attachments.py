"""Files that go with a question, each as what it is."""

from pathlib import Path
from typing import Final, cast

from clew.core.events import Audio, File, Image
from clew.support.errors import ConfigError
from clew.support.media_types import MAX_BYTES, check_size, kinds_of
from clew.support.parts import short_repr
from clew.toolbox.docs.extract import Unreadable, extract, lacking
from clew.toolbox.docs.survey import survey

MAX_CHARS: Final = 100_000
"""So much of a file's text goes with a question; more is to be searched."""


def attach(path: str | Path, text: str = "") -> Image | Audio | File:
    """Read a file to go with a question: a picture, a recording, a PDF or a text.

    `text` says what a picture shows or what is spoken, for models that take neither. What a PDF or
    a text says is read from it. Raises `ConfigError` if the file cannot be read, is too large, or
    is of another kind.
    """
    where = cast("object", path)
    if not isinstance(where, str | Path) or "\0" in str(where):
        raise ConfigError(f"{short_repr(path)} names no file: attach one")
    file = Path(path)
    data = _bytes(file)
    kind = next(iter(kinds_of(data)), "")
    if kind.startswith("image/"):
        return Image(kind, data, text)
    if kind.startswith("audio/"):
        return Audio(kind, data, text)
    if kind:
        return File(kind, data, text or _pdf_text(file), name=file.name)
    return File("text/plain", text=text or _text(file, data), name=file.name)  # secrets in it count


def _bytes(file: Path) -> bytes:
    try:
        size = file.stat().st_size
        if not file.is_file():
            raise ConfigError(f"{file} is no file: attach one")
        check_size(str(file), size)
        with file.open("rb") as opened:
            data = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{file} cannot be attached: {error.strerror or error}") from error
    check_size(str(file), len(data))
    if not data:
        raise ConfigError(f"{file} is empty: attach another file")
    return data


def _pdf_text(file: Path) -> str:
    """The text of a PDF, as far as it has one and can be read here; a model may read it itself."""
    if file.suffix.lower() != ".pdf" or lacking(file):
        return ""
    try:
        lines = extract(file, survey(file)).lines
        return "".join(line for line, _ in lines)[:MAX_CHARS]
    except (OSError, Unreadable):
        return ""


def _text(file: Path, data: bytes) -> str:
    seen = survey(file)
    if not seen.encoding:
        message = f"{file} is none of these: PNG, JPEG, GIF, WebP, WAV, MP3, Ogg, FLAC, PDF, text"
        raise ConfigError(message)
    text = data.decode(seen.encoding, seen.errors)
    if len(text) > MAX_CHARS:
        size = f"{file} has {len(text):,} characters, and may have {MAX_CHARS:,}"
        raise ConfigError(f"{size}: have it searched (--docs, or the tool search)")
    return text
