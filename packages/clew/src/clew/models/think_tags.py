"""Thinking that a server leaves in the text: `<think>…</think>` before what the model says.

Local servers of reasoning models (Qwen 3, DeepSeek R1 and their kin) put it there unless told
otherwise. It is no part of what was said: actions in it were never meant.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


@dataclass(slots=True)
class ThinkTagFilter:
    """Takes a reply's text in pieces, however it is cut, and gives back what was said aloud."""

    thought: str = ""
    """What stood between the tags."""
    _held: str = ""
    _thinking: list[str] = field(default_factory=list[str])
    _edge: str = ""
    _state: Literal["before", "inside", "after", "aloud"] = "before"

    def take(self, piece: str) -> str:
        """The part of the text up to here that counts and was not given back yet."""
        if self._state == "aloud":
            return piece
        self._held += piece
        if self._state == "before":
            head = self._held.lstrip()
            if not head.startswith(_OPEN):
                return "" if _OPEN.startswith(head) else self.rest()
            self._state, self._held = "inside", head[len(_OPEN) :]
        if self._state == "inside" and not self._closed():
            return ""
        self._held = self._held.lstrip()
        return self.rest() if self._held else ""

    def _closed(self) -> bool:
        """Whether the thinking ends in what is held; only where it may end is looked at again."""
        self._edge += self._held
        self._thinking.append(self._held)
        self._held = ""
        if _CLOSE not in self._edge:
            self._edge = self._edge[1 - len(_CLOSE) :]
            return False
        thought, _, self._held = "".join(self._thinking).partition(_CLOSE)
        self.thought, self._state = thought.strip(), "after"
        return True

    def rest(self) -> str:
        """What is still held back when nothing more comes; thinking cut off is not said."""
        held, self._held = self._held, ""
        if self._state == "inside":
            self.thought = "".join(self._thinking).strip()
        self._state = "aloud"
        return held
