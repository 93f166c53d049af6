"""Text that others wrote, as HTML: the one function that every value of a page goes through.

What models and tools write is hostile. Here it is escaped, so that it is no markup; characters that
cannot be seen or turn the direction of text become elements, which text cannot forge; letters that
pass for Latin ones are marked; and it is cut where it is long.

The elements have no quotes in them, so that a value may stand in a quoted attribute too.
"""

import json
import re
import unicodedata
from typing import Any, Final
from urllib.parse import quote

import msgspec
from markupsafe import Markup, escape

from clew.screens import looks_latin

LONG: Final = 6_000
"""Characters of one text that a page shows; the rest is a link away."""

ENTIRE: Final = 1_000_000
"""Characters of one text in a file that has the run as a whole."""

SHORT: Final = 300
"""Characters of a name, a title or a reason that a page shows."""

_PILED: Final = 3
"""So many marks may stand on one letter: more of them cover what stands beside it."""

_SHAPELESS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and signs without a shape, which no category tells."""

_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_MARKS: Final = frozenset({"Mn", "Me"})
_JOINERS: Final = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""They join emoji, and letters of some scripts, and hide among Latin ones."""

_ODD: Final = re.compile(r"[^\n\t\x20-\x7e]+")
"""Everything but plain ASCII: what may hide, turn or pass for something else."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_LATIN: Final = re.compile(r"[A-Za-z]")


def html(value: Any, limit: int = LONG) -> Markup:
    """A value as HTML that is nothing but text, up to a limit; `Markup` stays as it is."""
    if isinstance(value, Markup):
        return value
    return cut(value if isinstance(value, str) else json_text(value), limit)


def cut(text: str, limit: int, more: int = 0) -> Markup:
    """A text as HTML up to a limit; then the number of characters that are left out, and `more`."""
    more += max(0, len(text) - limit)
    visible = _visible(text[:limit])
    if not more:
        return visible
    return visible + Markup("<span class=cut> \u2026 {:,} more characters</span>").format(more)


def short(value: Any) -> Markup:
    """A name, a title or a reason: one line of it, cut where it is long."""
    text = value if isinstance(value, str) else json_text(value)
    read = 4 * SHORT
    return cut(" ".join(text[:read].split()), SHORT, max(0, len(text) - read))


def json_text(value: Any) -> str:
    """A value that is no text, to read: JSON with indents."""
    if value is None:
        return ""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def path(run_id: str) -> str:
    """A run's id as a part of an address."""
    return quote(run_id, safe="")


def _visible(text: str) -> Markup:
    text = text.replace("\r\n", "\n")
    if not _ODD.search(text):  # as a rule, and quick
        return escape(text)
    imitations = {at for word in _WORD.finditer(text) for at in _imitations(word)}
    pieces: list[str] = []
    end = 0
    for odd in _ODD.finditer(text):
        pieces.append(escape(text[end : odd.start()]))
        end, piled = odd.end(), 0
        for at in range(odd.start(), end):
            piled = piled + 1 if unicodedata.category(text[at]) in _MARKS else 0
            hides = at in imitations or piled > _PILED or _is_hidden(text, at)
            pieces.append(_sign(text[at]) if hides else text[at])
    pieces.append(escape(text[end:]))
    return Markup("".join(pieces))  # noqa: S704 - each piece is escaped, no ASCII, or a sign


def _imitations(word: re.Match[str]) -> list[int]:
    """The letters of a word with Latin ones that only look Latin."""
    letters = word[0]
    if letters.isascii() or not _LATIN.search(letters):
        return []
    return [word.start() + at for at, letter in enumerate(letters) if looks_latin(letter)]


def _is_hidden(text: str, at: int) -> bool:
    """Whether nobody sees a character, or it turns the direction of those behind it."""
    letter = text[at]
    if letter in _JOINERS:
        return at == 0 or text[at - 1].isascii() or text[at - 1] in _JOINERS
    if "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef":
        return True  # a row of them spells a text that nobody sees
    return letter in _SHAPELESS or unicodedata.category(letter) in _CATEGORIES


def _sign(letter: str) -> str:
    return f"<i class=sign>U+{ord(letter):04X}</i>"


def editable(value: Any) -> str:
    """A value as JSON for a field where somebody changes it; "" where a page would cut it.

    What is no plain ASCII is escaped as JSON has it, so that what is sent back is what was there.
    """
    text = _ODD.sub(lambda odd: json.dumps(odd[0])[1:-1], json_text(value))
    return text if len(text) <= LONG else ""


def is_plain(text: str) -> bool:
    """Whether somebody who edits a text sees all of it, so that what is sent back is what it was.

    It is short, and printable ASCII.
    """
    return len(text) <= LONG and not _ODD.search(text) and not text.startswith("\n")
