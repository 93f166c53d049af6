"""What a file is made of, found in one pass over its bytes: a digest and how to decode it."""

import codecs
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_BLOCK: Final = 1 << 20
_HEAD: Final = 8192
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS: Final = bytes({*range(32)} - {*b"\t\n\f\r\x1b"})
_NOT_CP1252: Final = frozenset(b"\x81\x8d\x8f\x90\x9d")


@dataclass(frozen=True, slots=True)
class Survey:
    """`encoding` is empty for a file that is no text, else a codec that can decode it.

    Text that is neither marked by a byte order mark nor valid UTF-8 is taken for cp1252, or for
    latin-1 where cp1252 has no character for one of its bytes; `note` then says so.
    """

    digest: bytes
    encoding: str
    note: str = ""


def survey(path: Path) -> Survey:
    """Read the file once, in bounded memory. Raises `OSError`."""
    digest = hashlib.blake2b(digest_size=16)
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid, rare, head = True, False, b""
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            head = head or block[:_HEAD]
            digest.update(block)
            valid = valid and _decodes(decoder, block)
            rare = rare or not _NOT_CP1252.isdisjoint(block)
    valid = valid and _decodes(decoder, b"", final=True)
    encoding = _marked(head) or _guessed(head, valid=valid, rare=rare)
    note = f"not UTF-8: read as {encoding}" if encoding in {"cp1252", "latin-1"} else ""
    return Survey(digest.digest(), encoding, note)


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


def _marked(head: bytes) -> str:
    return next((encoding for mark, encoding in _MARKS if head.startswith(mark)), "")


def _guessed(head: bytes, *, valid: bool, rare: bool) -> str:
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if b"\0" in head or controls * 10 > len(head):
        return ""
    if valid:
        return "utf-8"
    return "latin-1" if rare else "cp1252"
