"""The words of an answer as they are told, and that they are withdrawn where they were none.

A native reply is told as the answer while it comes: that it calls a tool shows only behind its
text. A reply may break off, and an answer may be refused.
"""

import itertools
import threading
from collections.abc import Callable

from clew.agent.streaming.items import LiveItem, Token, Withdrawn
from clew.core.events import Json


class AnswerWords:
    """What was told of the answer in one reply, and was not withdrawn."""

    def __init__(self, show: Callable[[LiveItem], None]) -> None:
        self._show = show
        self._told: list[tuple[str, str]] = []
        self._lock = threading.Lock()

    @property
    def told(self) -> bool:
        """Whether any words stand."""
        return bool(self._told)

    def say(self, text: str, path: tuple[str, ...] = ()) -> None:
        """Tell words, by their place in the answer."""
        field = ".".join(("answer", *path))
        with self._lock:
            self._told.append((field, text))
            self._show(Token(text, field))

    def withdraw(self) -> None:
        """What was told is no answer."""
        with self._lock:
            if self._told:
                self._told.clear()
                self._show(Withdrawn())

    def end(self, answer: Json) -> None:
        """The answer as it was read: the rest of a text is told; without one nothing stands."""
        told = "".join(text for field, text in self._told if field == "answer")
        if answer is None:
            self.withdraw()
        elif isinstance(answer, str) and told.strip() != answer.strip():
            if not answer.startswith(told):
                self.withdraw()
                told = ""
            self.say(answer[len(told) :])

    def tell(self, show: Callable[[LiveItem], None]) -> None:
        """Tell the words that stand to somebody who comes now, and may have seen some of them."""
        with self._lock:
            if self._told:
                show(Withdrawn())
            for field, pieces in itertools.groupby(self._told, lambda each: each[0]):
                show(Token("".join(text for _, text in pieces), field))
