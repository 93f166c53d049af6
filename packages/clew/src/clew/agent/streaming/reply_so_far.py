"""What was told of one reply, for whoever begins to follow in the middle of it."""

import threading
from collections.abc import Callable

from clew.agent.streaming.answer_words import is_of_answer
from clew.agent.streaming.items import LiveItem, Partial, PartialCall, Token, Withdrawn


class ReplySoFar:
    """It passes on what is told of a reply, and keeps what stands of that."""

    def __init__(self, show: Callable[[LiveItem], None]) -> None:
        self._show = show
        self._words: list[tuple[str, list[str]]] = []
        """Words that follow each other in one field."""
        self._values: dict[int, LiveItem] = {}
        """The newest of each value, by its number in the reply."""
        self._lock = threading.Lock()

    def show(self, item: LiveItem) -> None:
        """Tell all who follow."""
        with self._lock:
            self._keep(item)
            self._show(item)

    def end(self, *, answers: bool) -> None:
        """It came to its end: if it `answers`, that may be refused yet; all else is on record."""
        with self._lock:
            self._words = [each for each in self._words if answers and is_of_answer(each[0])]
            for index, value in list(self._values.items()):
                if not (answers and isinstance(value, Partial)):
                    del self._values[index]

    def tell(self, show: Callable[[LiveItem], None]) -> None:
        """Tell all of it to somebody who comes now, and may have seen some of it."""
        with self._lock:
            if self._words:
                show(Withdrawn())
            for field, texts in self._words:
                texts[:] = ["".join(texts)]
                show(Token(texts[0], field))
            for value in self._values.values():
                show(value)

    def _keep(self, item: LiveItem) -> None:
        if isinstance(item, Token):
            if not self._words or self._words[-1][0] != item.field:
                self._words.append((item.field, []))
            self._words[-1][1].append(item.text)
        elif isinstance(item, Withdrawn):
            self._words = [each for each in self._words if not is_of_answer(each[0])]
        elif isinstance(item, Partial | PartialCall):
            self._values[item.index] = item
