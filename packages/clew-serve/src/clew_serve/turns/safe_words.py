"""Words of an answer as they come, in which no planted address leads anywhere.

Clients show them as Markdown, and fetch its pictures. They are let out up to the last space: an
address has none in it, so none is cut in two before it is looked at.
"""

from typing import Any

from clew import Trajectory
from clew.guards import safe_links
from clew.interfaces import encode


class SafeWords:
    """What was told of an answer, and what may be told now."""

    def __init__(self) -> None:
        self._told = self._rest = ""
        self._gap = ""

    def feed(self, piece: str, record: Trajectory) -> str:
        """What may be told with a further piece."""
        self._rest += piece
        end = max(self._rest.rfind(" "), self._rest.rfind("\n")) + 1
        ready, self._rest = self._rest[:end], self._rest[end:]
        if not ready:
            return ""
        self._told += ready
        return self._after_gap(safe_text(ready, record))

    def withdraw(self) -> None:
        """What was told is none of the answer, which begins anew behind an empty line."""
        self._gap = "\n\n" if self._told or self._gap else ""
        self._told = self._rest = ""

    def is_beginning_of(self, text: str) -> bool:
        """Whether what was told is the beginning of this text."""
        return text.startswith(self._told)

    def finish(self, answer: Any, record: Trajectory) -> str:
        """The rest of the answer; all of it if other words were told before."""
        text = answer if isinstance(answer, str) else encode(answer).decode()
        if not text.startswith(self._told):
            self.withdraw()
        rest, self._told, self._rest = text[len(self._told) :], "", ""
        return self._after_gap(safe_text(rest, record))

    def _after_gap(self, text: str) -> str:
        if not text:
            return ""
        gap, self._gap = self._gap, ""
        return gap + text


def safe_text(text: str, record: Trajectory) -> str:
    """A text of the model as it may be shown."""
    return str(safe_links(record)(text)[0])


def answer_text(answer: Any, record: Trajectory) -> str:
    """An answer as it may be shown: text, or the JSON of a typed one."""
    safe, _ = safe_links(record)(answer)
    return safe if isinstance(safe, str) else encode(safe).decode()
