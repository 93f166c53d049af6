"""What bytes are, by how they begin, and how many may be attached."""

from typing import Final

from clew.support.errors import ConfigError

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
