"""The text of a reply as its format lets it pass: told once, also where an answer begins in it."""

from collections.abc import Callable

from clew.agent.streaming.items import LiveItem, Token


class RawText:
    """The text of one reply up to its answer, whose words are told by themselves.

    What may belong to the answer is kept until that is known.
    """

    def __init__(self, show: Callable[[LiveItem], None]) -> None:
        self._show = show
        self._length = 0
        self._answer: int | None = None
        self._kept: list[str] = []
        self.told = False

    def answer_at(self, offset: int) -> None:
        """The answer begins at an offset of the reply; it does not after all where that is -1."""
        self._answer = None if offset < 0 else offset
        if self._answer is None:
            self.release()

    def take(self, text: str) -> None:
        """More of the reply."""
        start = self._length
        self._length += len(text)
        if self._answer is not None:
            cut = max(self._answer - start, 0)
            self._kept.append(text[cut:])
            text = text[:cut]
        if text:
            self.told = True
            self._show(Token(text))

    def release(self) -> None:
        """What was kept is no answer."""
        text = "".join(self._kept)
        self._kept.clear()
        if text:
            self.told = True
            self._show(Token(text))
