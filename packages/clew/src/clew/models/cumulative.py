"""Streams whose every piece is the whole text so far, as some servers send them.

Seen at DashScope without `incremental_output`, and at gateways (ollama #17101, litellm PR 36375).
"""

from dataclasses import dataclass, field
from typing import Final

SURE: Final = 12
"""Characters of a text that no further piece begins with by chance."""

ROUNDS: Final = 2
"""Pieces in a row, from the first on, that each begin with the one before and go on."""


@dataclass(slots=True)
class CumulativeText:
    """Tells pieces that go on from pieces that say all of it again.

    Models write a short text twice ("ha", "haha"): one such piece decides only behind a long text.
    """

    pieces: list[str] = field(default_factory=list[str])
    cumulative: bool = False
    _rounds: int = 0
    _length: int = 0

    def rest_of(self, piece: str) -> str:
        """What of the piece is new, as far as can be told by now."""
        if not piece:
            return ""
        last = self.pieces[-1] if self.pieces else ""
        grown = bool(last) and len(piece) > len(last) and piece.startswith(last)
        if grown and self._rounds == len(self.pieces) - 1:
            self._rounds += 1
            self.cumulative |= self._rounds >= ROUNDS or len(last) >= SURE
        elif (self.cumulative and piece == last) or self._says_all(piece):
            return ""
        else:
            self.cumulative = False
        self.pieces.append(piece)
        self._length += len(piece)
        return piece[len(last) :] if self.cumulative else piece

    def _says_all(self, piece: str) -> bool:
        """Whether it is the whole text once more, as some servers end a stream."""
        if len(piece) != self._length or len(piece) < SURE or len(self.pieces) < 2:
            return False
        return piece == "".join(self.pieces)

    @property
    def text(self) -> str:
        """All of it."""
        return self.pieces[-1] if self.cumulative else "".join(self.pieces)
