"""A bare text as it arrives, read as `JsonPrefix` reads JSON: it may end anywhere."""

from typing import Final

from clew.agent.streaming.json_prefix import Path

_HERE: Final[Path] = ()


class TextPrefix:
    """A text of which more and more arrives."""

    closed = False
    broken = False
    path = _HERE
    in_text = True

    def __init__(self) -> None:
        self.length = 0
        self._pieces: list[str] = []

    def feed(self, piece: str) -> list[tuple[Path, str]]:
        """Take the next piece, which is the text that came with it."""
        self._pieces.append(piece)
        self.length += len(piece)
        return [(_HERE, piece)]

    def value(self, *, open_text: bool = True) -> str | None:
        """What has come of it; None where an open text says nothing."""
        if not open_text:
            return None
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]
