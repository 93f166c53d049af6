"""Thinking that a server leaves in the text: `<think>…</think>` before what the model says.

Local servers of reasoning models (Qwen 3, DeepSeek R1 and their kin) put it there unless told
otherwise. It is no part of what was said: actions in it were never meant.
"""

from dataclasses import dataclass
from typing import Final, Literal

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


@dataclass(slots=True)
class Aloud:
    """Takes a reply's text in pieces, however it is cut, and gives back what was said aloud."""

    thought: str = ""
    """What stood between the tags."""
    _held: str = ""
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
        if self._state == "inside":
            thought, closed, said = self._held.partition(_CLOSE)
            if not closed:
                return ""
            self.thought, self._held, self._state = thought.strip(), said, "after"
        self._held = self._held.lstrip()
        return self.rest() if self._held else ""

    def rest(self) -> str:
        """What is still held back when nothing more comes; thinking cut off is not said."""
        held, self._held = self._held, ""
        if self._state == "inside":
            self.thought, held = held.strip(), ""
        self._state = "aloud"
        return held
