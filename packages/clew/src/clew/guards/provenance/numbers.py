"""Numbers that are known, and those that follow from them by one computation."""

import re
from collections.abc import Iterable
from typing import Final

from clew.guards.provenance.times import without_times
from clew.guards.provenance.values import has_digit, numbers_in

PERSON: Final = "a person's words"
COMPUTED: Final = "known numbers"

_TIMES: Final = re.compile(r"\b(?:times|each|every|per|twice|multipl\w+)\b|[*x×]\s*\d")
_SHARES: Final = re.compile(r"\b(?:shares?|half|split|halves|both of us|between us)\b")
_AMOUNT: Final = r"(?<![\d,.])[$€£]?\d[\d,.]*"
_BOUND: Final = re.compile(
    r"\b(?:under|below|above|over|at (?:the )?(?:most|least)|up to|within"
    r"|(?:less|more|fewer|higher|lower|cheaper|better) than"
    rf"|(?:maximum|minimum|limit|budget)(?: (?:of|is))?)\s+{_AMOUNT}"
    rf"|{_AMOUNT}(?:\s*[€%]|\s+\w+)?,?\s+(?:at (?:the )?(?:most|least)|or (?:less|more|fewer))\b"
    rf"|{_AMOUNT}\s+(?:maximum|minimum|max|tops)\b",
    re.IGNORECASE,
)
"""A number that only bounds an amount: "at most 80", "under 200"."""
_BOUND_WORDS: Final = (
    "under", "below", "above", "over", "most", "least", "up to", "within", "less", "more",
    "fewer", "than", "max", "min", "limit", "budget", "tops",
)  # fmt: skip
"""One of them stands in each text that `_BOUND` fits."""
_EXACT: Final = 0.005


class Numbers:
    """The numbers of a run that trusted sources gave."""

    def __init__(self) -> None:
        self._known: dict[float, str] = {}
        self._texts: list[str] = []
        self._spoken: list[float] = []
        self._words = ""
        self._unread: list[str] = []
        """A person's words that are still to be searched: most calls have no number."""

    def hear(self, text: str) -> None:
        """Learn the numbers of a person's words; those of a day or a time are no amounts, nor is
        what only bounds one.
        """
        self._unread.append(text)

    def _catch_up(self) -> None:
        for text in self._unread:
            self._read(text)
        self._unread = []

    def _read(self, text: str) -> None:
        if not has_digit(text):
            self._words += f" {text.casefold()}"
            return
        plain = without_times(text)
        folded = plain.casefold()
        if any(map(folded.__contains__, _BOUND_WORDS)):
            plain = _BOUND.sub(" … ", plain)
            folded = plain.casefold()
        self._words += f" {folded}"
        amounts = [*numbers_in(plain)]
        self._spoken += amounts
        self._known.update(dict.fromkeys(amounts, PERSON))
        self._texts.append(text)

    @property
    def may_be_spoken(self) -> bool:
        """Whether a person's words can have a number at all; they are not searched for it."""
        return bool(self._spoken) or any(map(has_digit, self._unread))

    def know(self, number: float, source: str) -> None:
        """Learn a number that a trusted source gave."""
        self._known.setdefault(number, source)

    def of(self, number: float) -> str | None:
        """Where a number comes from."""
        self._catch_up()
        return self._known.get(number) or (COMPUTED if self._is_computed(number) else None)

    def is_dated(self, number: float) -> bool:
        """Whether a person's words have the number, if only in a day or a time."""
        self._catch_up()
        return any(number in numbers_in(text) for text in self._texts)

    def is_spoken_once(self, number: float) -> bool:
        """Whether only one place of a person's words gave it, and nothing else."""
        self._catch_up()
        return self._known.get(number) == PERSON and self._spoken.count(number) == 1

    def _is_computed(self, number: float) -> bool:
        """Whether it is a sum, difference, product or share of known numbers, one of a person."""
        spoken = dict.fromkeys(self._spoken)
        multiplies = _TIMES.search(self._words) is not None
        shares = _SHARES.search(self._words) is not None
        for one in spoken:
            for other in self._known:
                if other == one:
                    continue
                plain = [one + other, one - other, other - one]
                if multiplies or other not in spoken:
                    plain.append(one * other)
                if shares:
                    plain.append(other - one / 2)
                if _is_near(number, plain):
                    return True
                part = other * one / 100
                if _is_near(number, [part, other + part, *(part + more for more in spoken)]):
                    return True
        return False


def _is_near(number: float, results: Iterable[float]) -> bool:
    return any(abs(number - result) < _EXACT for result in results)
