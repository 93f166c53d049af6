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
    file = Path(path) if folder is None else _inside(Path(folder), path)
    data = _bytes(file)
    kind = next(iter(kinds_of(data)), "")
    if kind.startswith("image/"):
        return Image(kind, data, text)
    if kind.startswith("audio/"):
        return Audio(kind, data, text)
    if kind:
        return File(kind, data, text or _pdf_text(file), name=file.name)
    return File("text/plain", text=text or _text(file, data), name=file.name)  # secrets in it count


def _inside(folder: Path, path: str | Path) -> Path:
    """The file of a folder, wherever links lead."""
    file = folder / path
    try:
        inside = file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError) as error:  # a link to itself
        raise ConfigError(f"{file} cannot be attached: {error}") from error
    if not inside:
        raise ConfigError(f"{path} is not in the folder {folder}: put the file there")
    return file


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
    try:
        seen = survey(file)
    except OSError as error:  # it is gone since its bytes were read
        raise ConfigError(f"{file} cannot be attached: {error.strerror or error}") from error
    if not seen.encoding:
        message = f"{file} is none of these: PNG, JPEG, GIF, WebP, WAV, MP3, Ogg, FLAC, PDF, text"
        raise ConfigError(message)
    text = data.decode(seen.encoding, seen.errors)
    if len(text) > MAX_CHARS:
        size = f"{file} has {len(text):,} characters, and may have {MAX_CHARS:,}"
        raise ConfigError(f"{size}: have it searched (--docs, or the tool search)")
    return text
