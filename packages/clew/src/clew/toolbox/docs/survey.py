"""What a file is made of, found in one pass over its bytes: a digest and how to decode it."""

import codecs
import hashlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from clew.support.text_encoding import TextDecoding, mark_of, reading

_BLOCK: Final = 1 << 20
_HEAD: Final = 8192
_CONTROLS: Final = bytes({*range(32)} - {*b"\t\n\f\r\x1b"})


@dataclass(frozen=True, slots=True)
class Survey:
    """`encoding` is empty for a file that is no text, else a codec that can decode it.

    `errors` is how to decode it, by its name for Python. `note` names the encoding of a text that
    is neither marked by a byte order mark nor valid UTF-8, and says so if it is not certain.
    """

    digest: bytes
    encoding: str
    note: str = ""
    errors: str = "strict"


def survey(path: Path) -> Survey:
    """Read the file once, in bounded memory; twice if it is not UTF-8. Raises `OSError`."""
    return _survey(lambda: path.open("rb"))


def survey_data(data: bytes) -> Survey:
    """The same of a file that was read already."""
    return _survey(lambda: io.BytesIO(data))


def _survey(opened: Callable[[], BinaryIO]) -> Survey:
    digest = hashlib.blake2b(digest_size=16)
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid, head, sample = True, b"", b""
    with opened() as file:
        while block := file.read(_BLOCK):
            head = head or block[:_HEAD]
            digest.update(block)
            if valid and not _decodes(decoder, block):
                valid, sample = False, block
    if valid and not _decodes(decoder, b"", final=True):
        valid, sample = False, head
    if mark := mark_of(head):
        return Survey(digest.digest(), mark)
    if not _is_text(head):
        return Survey(digest.digest(), "")
    if valid and b"\x1b$" not in head:
        return Survey(digest.digest(), "utf-8")
    decoding = reading(_complete_characters(sample or head))
    note = decoding.note
    if decoding.sure and not _decodes_all(opened, decoding):
        note = f"encoding not certain: read as {decoding.name}"
    return Survey(digest.digest(), decoding.name, note, decoding.errors)


def _decodes_all(opened: Callable[[], BinaryIO], decoding: TextDecoding) -> bool:
    errors = "strict" if decoding.errors == "replace" else decoding.errors
    decoder = codecs.getincrementaldecoder(decoding.name)(errors)
    with opened() as file:
        blocks = iter(lambda: file.read(_BLOCK), b"")
        return all(_decodes(decoder, block) for block in blocks) and _decodes(
            decoder, b"", final=True
        )


def _complete_characters(block: bytes) -> bytes:
    """Up to the last white space, which is part of no longer character in any encoding."""
    if len(block) < _BLOCK:
        return block
    end = max(block.rfind(b"\n"), block.rfind(b" "))
    return block[:end] if end > 0 else block


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


def _is_text(head: bytes) -> bool:
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return b"\0" not in head and controls * 10 <= len(head)
