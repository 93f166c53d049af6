"""What bytes are, by how they begin, and how many may be attached."""

import re
from typing import Final

from clew.support.errors import ConfigError
from clew.support.text_encoding import declared, mark_of

MAX_BYTES: Final = 20_000_000
"""An attachment of more is refused: no provider takes it."""

_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)
_IN_RIFF: Final = {b"WEBP": ("image/webp",), b"WAVE": ("audio/wav", "audio/x-wav")}
"""Kinds of RIFF files, which say it after the first eight bytes."""

_AS_MP3: Final = ("audio/mpeg", "audio/mp3")

KINDS: Final = frozenset(
    {
        *(kind for _, kind in _BEGINNINGS),
        *_AS_MP3,
        *(kind for of in _IN_RIFF.values() for kind in of),
    }
)
"""The media types that `kinds_of` tells by the bytes."""

_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_OLE: Final = (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",)
_FILES: Final = {
    "application/zip": _ZIP,
    "application/epub+zip": _ZIP,
    "application/gzip": (b"\x1f\x8b",),
    "application/x-7z-compressed": (b"7z\xbc\xaf\x27\x1c",),
    "application/rtf": (b"{\\rtf",),
    "application/msword": (*_OLE, *_ZIP, b"{\\rtf"),
    "application/vnd.ms-excel": (*_OLE, *_ZIP),
    "application/vnd.ms-powerpoint": (*_OLE, *_ZIP),
}
"""How files of other kinds begin; what Office writes now is a zip, also under the old names."""
_ZIPPED: Final = (
    "application/vnd.openxmlformats-officedocument.",
    "application/vnd.oasis.opendocument.",
)

_TEXTS: Final = frozenset({
    "application/json", "application/xml", "application/yaml", "application/x-yaml",
    "application/toml", "application/javascript", "application/sql",
})  # fmt: skip
_NAME: Final = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)
_CHARSET: Final = re.compile(r"charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)


def kinds_of(data: bytes) -> tuple[str, ...]:
    """The media types that may name such bytes, the usual one first; none where they are others.

    They are the kinds that providers take: PNG, JPEG, GIF, WebP, PDF, WAV, MP3, Ogg and FLAC.
    """
    if data[:4] == b"RIFF":
        return _IN_RIFF.get(data[8:12], ())
    if data[:1] == b"\xff" and data[1:2] in {b"\xfb", b"\xf3", b"\xf2"}:
        return _AS_MP3
    kind = next((name for beginning, name in _BEGINNINGS if data.startswith(beginning)), None)
    if kind == "audio/mpeg":
        return _AS_MP3
    return () if kind is None else (kind,)


def check_size(what: str, size: int) -> None:
    """Raise `ConfigError` for an attachment of more than `MAX_BYTES`."""
    if size > MAX_BYTES:
        message = f"{what} has {size:,} bytes, and may have {MAX_BYTES:,}: make it smaller"
        raise ConfigError(message)


def plain_type(media_type: str) -> str:
    """A media type without parameters, in small letters."""
    return media_type.partition(";")[0].strip().lower()


def is_media_type(text: str) -> bool:
    """Whether a text names a kind of file: `type/subtype`, perhaps with parameters behind it."""
    return text.isprintable() and _NAME.fullmatch(plain_type(text)) is not None


def is_text_type(media_type: str) -> bool:
    """Whether a media type is that of a text (https://www.rfc-editor.org/rfc/rfc6839)."""
    name = plain_type(media_type)
    return name.startswith("text/") or name in _TEXTS or name.endswith(("+json", "+xml", "+yaml"))


def charset_of(media_type: str) -> str:
    """The charset that a media type names, as it names it; "" if it names none."""
    match = _CHARSET.search(media_type)
    return match[1] if match else ""


def contradiction(media_type: str, data: bytes) -> str:
    """What a file's bytes are, in words, if they cannot be of the type that they are said to be.

    "" where nothing speaks against it: of most types nobody can tell.
    """
    name, kinds = plain_type(media_type), kinds_of(data)
    if is_text_type(name):
        return f"is {kinds[0]}" if kinds else _no_text(media_type, data)
    if name in KINDS:
        other = f"is {kinds[0]}" if kinds else "its bytes are of no kind that clew knows"
        return "" if name in kinds else other
    begins = _ZIP if name.startswith(_ZIPPED) else _FILES.get(name, ())
    if not begins or data.startswith(begins):
        return ""
    return f"is {kinds[0]}" if kinds else "does not begin as one"


def _no_text(media_type: str, data: bytes) -> str:
    """Why bytes are no text in the charset that is named, or in one that they show themselves."""
    named = charset_of(media_type)
    codec = mark_of(data) or (declared(named) if named else "")
    if named and not codec:
        return f"no charset is called {named}"
    try:
        text = data.decode(codec) if codec else ""
    except ValueError:
        return f"is no text in {named or codec}"
    if "\0" in text or (not codec and b"\0" in data):
        return "has a NUL, which no text has: if it is one, name its charset"
    return ""
