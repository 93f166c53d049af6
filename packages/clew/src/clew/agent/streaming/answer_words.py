"""The words of an answer as they are told, and that they are withdrawn where they were none.

A native reply is told as the answer while it comes: that it calls a tool shows only behind its
text. A reply may break off, and an answer may be refused.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, cast

from clew.agent.streaming.items import LiveItem, Token, Withdrawn
from clew.core.values import Json

_ANSWER: Final = "answer"


def is_of_answer(field: str) -> bool:
    """Whether words of this field are the answer, or a text in it."""
    return field.partition(".")[0] == _ANSWER


class AnswerWords:
    """What was told of the answer in one reply, and was not withdrawn."""

    def __init__(self, show: Callable[[LiveItem], None]) -> None:
        self._show = show
        self._told: list[tuple[str, str]] = []

    @property
    def told(self) -> bool:
        """Whether any words stand."""
        return bool(self._told)

    def say(self, text: str, path: tuple[str, ...] = ()) -> None:
        """Tell words, by their place in the answer."""
        field = ".".join((_ANSWER, *path))
        self._told.append((field, text))
        self._show(Token(text, field))

    def withdraw(self) -> None:
        """What was told is no answer."""
        if self._told:
            self._told.clear()
            self._show(Withdrawn())

    def end(self, answer: Json) -> None:
        """The answer as it was read: the rest of its texts is told; without one nothing stands."""
        if answer is None:
            self.withdraw()
            return
        read, told = dict(_texts(answer, _ANSWER)), dict[str, str]()
        for field, text in self._told:
            told[field] = told.get(field, "") + text
        if not all(_begins(text, read.get(field, "")) for field, text in told.items()):
            self.withdraw()  # of several answers in a reply one is taken
            told = {}
        for field, text in read.items():
            before = told.get(field, "")
            if before.strip() != text.strip():
                self.say(text[len(before) :], tuple(field.split(".")[1:]))


def _begins(told: str, text: str) -> bool:
    return text.startswith(told) or text.strip() == told.strip()


def _texts(value: Json, field: str) -> Iterator[tuple[str, str]]:
    """The texts in a value, by their places."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Json]", value).items():
            yield from _texts(inner, f"{field}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(cast("Sequence[Json]", value)):
            yield from _texts(inner, f"{field}.{index}")
