"""Thinking that a server leaves in the text: `<think>…</think>` before what the model says.

Local servers of reasoning models (Qwen 3, DeepSeek R1 and their kin) put it there unless told
otherwise. It is no part of what was said: actions in it were never meant.
"""

from dataclasses import dataclass, field
from typing import Final

_OPEN: Final = "<think>"
_CLOSE: Final = "</think>"


@dataclass(slots=True)
class Aloud:
    """Takes a reply's text in pieces, however it is cut, and gives back what was said aloud."""

    thought: str = ""
    """What stood between the tags."""
    _held: str = ""
    _inside: bool = False
    _begun: bool = field(default=False)

    def take(self, piece: str) -> str:
        """The part of the text up to here that counts and was not given back yet."""
        if self._begun:
            return piece
        self._held += piece
        if not self._inside:
            head = self._held.lstrip()
            if not head.startswith(_OPEN):
                return "" if _OPEN.startswith(head) else self.rest()
            self._inside, self._held = True, head[len(_OPEN) :]
        thought, closed, said = self._held.partition(_CLOSE)
        if not closed:
            return ""
        self.thought, self._held, self._inside = thought.strip(), said.lstrip(), False
        return self.rest()

    def rest(self) -> str:
        """What is still held back when nothing more comes; thinking cut off is not said."""
        held, self._held, self._begun = self._held, "", True
        if self._inside:
            self.thought, held = held.strip(), ""
        return held
