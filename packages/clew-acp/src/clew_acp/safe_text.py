"""Text of models and tools as an editor may show it: as words, never as markup that acts.

Editors render Markdown and fetch its images, so text from outside is put into fences that it cannot
end, and what cannot be seen, or turns the direction of text, shows as its code.
"""

import re
from typing import Any, Final

from clew import Trajectory
from clew.guards import safe_links
from clew.interfaces import encode

LONGEST: Final = 20_000
"""The most characters of a tool's result that an editor is sent; the record has all of it."""

_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)
_TICKS: Final = re.compile("`+")
_TITLE: Final = 100


def visible(text: str) -> str:
    """The text with characters that act, or that nobody sees, as their codes."""
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text.replace("\r\n", "\n"))


def fenced(text: str) -> str:
    """The text as a block of code that nothing in it ends; its middle is left out if it is long."""
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = f"{text[:half]}\n… {len(text) - LONGEST:,} characters …\n{text[-half:]}"
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}\n{visible(text)}\n{fence}"


def quoted(text: str) -> str:
    """The text as code within a line, of at most 100 characters."""
    line = " ".join(visible(text).split())
    line = line if len(line) <= _TITLE else f"{line[: _TITLE - 1]}…"
    ticks = "`" * (1 + max(map(len, _TICKS.findall(line)), default=0))
    gap = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{gap}{line}{gap}{ticks}"


def of_model(text: str, record: Trajectory) -> str:
    """Words of the model, in which addresses that a stranger may have planted lead nowhere."""
    safe, _ = safe_links(record)(text)
    return visible(str(safe))


def as_json(value: Any) -> str:
    """A value as compact JSON."""
    return encode(value).decode()


class WordStream:
    """Words of the model as they come, let out up to the last space.

    An address has no space in it, so none is cut in two before it is looked at.
    """

    def __init__(self) -> None:
        self._told = self._withdrawn = ""
        """What was let out so far, as the model wrote it; and what turned out to be none."""
        self._rest = ""

    def feed(self, piece: str, record: Trajectory) -> str:
        """What may be told now."""
        self._rest += piece
        end = max(self._rest.rfind(" "), self._rest.rfind("\n")) + 1
        ready, self._rest = self._rest[:end], self._rest[end:]
        if not ready:
            return ""
        gap = "\n\n" if self._withdrawn else ""
        self._withdrawn = ""
        self._told += ready
        return gap + of_model(ready, record)

    def withdraw(self) -> None:
        """What was told is none of the text that comes next."""
        self._withdrawn = self._told or self._withdrawn
        self._told = self._rest = ""

    def is_beginning_of(self, text: str) -> bool:
        """Whether something of this text was told, and nothing else."""
        told = self._told or self._withdrawn
        return bool(told) and text.startswith(told)

    def finish(self, text: str, record: Trajectory) -> str:
        """The rest of the text that these words are the beginning of; all of another one."""
        told = self._told or self._withdrawn
        self._told = self._withdrawn = self._rest = ""
        if text.startswith(told):
            return of_model(text[len(told) :], record)
        return f"\n\n{of_model(text, record)}"
