"""The words of an answer as they are told, and that they are withdrawn where they were none.

A native reply is told as the answer while it comes: that it calls a tool shows only behind its
text. A reply may break off, and an answer may be refused.
"""

from collections.abc import Callable

from clew.agent.streaming.items import LiveItem, Token, Withdrawn
from clew.core.events import Json


class AnswerWords:
    """What was told of the answer in one reply, and was not withdrawn."""

    def __init__(self, show: Callable[[LiveItem], None]) -> None:
        self._show = show
        self._words: list[str] = []
        self.told = False

    def say(self, text: str, path: tuple[str, ...] = ()) -> None:
        """Tell words, by their place in the answer."""
        if not path:
            self._words.append(text)
        self.told = True
        self._show(Token(text, ".".join(("answer", *path))))

    def withdraw(self) -> None:
        """What was told is no answer."""
        if self.told:
            self._words.clear()
            self.told = False
            self._show(Withdrawn())

    def end(self, answer: Json) -> None:
        """The answer as it was read: the rest of a text is told; without one nothing stands."""
        if answer is None:
            self.withdraw()
        elif isinstance(answer, str) and (told := "".join(self._words)).strip() != answer.strip():
            if not answer.startswith(told):
                self.withdraw()
                told = ""
            self.say(answer[len(told) :])
