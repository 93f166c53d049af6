"""A passage, indexed once, and whether it bears a fact out."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Final, TypeAlias

from clew.evidence.common import ALSO, BEFORE, CONNECTING, COUNTRIES, DEMONYMS, PLACED, RELATIVES
from clew.evidence.dates import MONTHS, Date, Day, dates
from clew.evidence.facts import Fact, Quotation, WebAddress, link_key, links
from clew.evidence.names import Name
from clew.evidence.numbers import Number, agree, numbers
from clew.evidence.words import Word, flat, words

Stretch: TypeAlias = tuple[int, int]

NEAR: Final = 3
"""The words of a name may have so many others between them, less one."""


def _first(word: Word) -> str:
    """The first letter of a word with a capital; all of those of J.R.R."""
    if not word.capital or word.key in CONNECTING:
        return ""
    return word.key if "." in word.text else word.key[:1]


class IndexedText:
    """A text in which facts are looked up; the work of indexing it is done when first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, fact: Fact) -> Stretch | None:
        """Where the fact stands here (start and end); None where it does not."""
        match fact.value:
            case Number():
                return self._number(fact.value)
            case Date():
                return self._date(fact.value)
            case Name():
                return self._name(fact.value) or self._briefly(fact.value, fact.text)
            case Quotation():
                return self._quotation(fact.value)
            case _:
                return self._link(fact.value)

    # ------------------------------------------------------------ numbers and dates

    @cached_property
    def _dates(self) -> list[Date]:
        return dates(flat(self.text))

    @cached_property
    def figures(self) -> list[Number]:
        """All its numbers, those inside dates too."""
        return numbers(flat(self.text))

    @cached_property
    def numbers(self) -> list[Number]:
        """Its numbers, those inside dates left out."""
        taken = [(date.start, date.end) for date in self._dates]
        starts = [start for start, _ in taken]
        listed: list[Number] = []
        for number in self.figures:
            index = bisect_left(starts, number.start + 1) - 1
            if index < 0 or taken[index][1] <= number.start:
                listed.append(number)
        return listed

    @cached_property
    def _figures(self) -> dict[str, list[tuple[Fraction, int]]]:
        """By dimension, and all as `raw`: values in order, each with the place of its number."""
        figures: dict[str, list[tuple[Fraction, int]]] = defaultdict(list)
        for index, number in enumerate(self.numbers):
            for reading in number.readings:
                figures[reading.unit.dimension].append((reading.value, index))
                figures["raw"].append((reading.raw, index))
        for values in figures.values():
            values.sort()
        return figures

    @cached_property
    def years(self) -> dict[int, Stretch]:
        """The years that are named, with where each first is."""
        by_year: dict[int, Stretch] = {}
        for date in self._dates:
            for day in date.readings:
                if day.year:
                    by_year.setdefault(day.year, (date.start, date.end))
        for number in self.numbers:
            if number.bare and 100 <= (year := number.readings[0].raw) <= 2100:
                by_year.setdefault(int(year), (number.start, number.end))
        return by_year

    @cached_property
    def _days(self) -> dict[Day, Stretch]:
        """Every date and every part of one that it implies."""
        by_day: dict[Day, Stretch] = {}
        for date in self._dates:
            for day in date.readings:
                year, month, number = day
                for part in (
                    day,
                    Day(year, month),
                    Day(year),
                    Day(0, month, number),
                    Day(0, month),
                ):
                    by_day.setdefault(part, (date.start, date.end))
        return by_day

    def _number(self, number: Number) -> Stretch | None:
        if number.year and (span := self.years.get(number.year)):
            return span
        for reading in number.readings:
            dimension = reading.unit.dimension
            for table, value, width in (
                (dimension, reading.value, reading.width),
                ("" if dimension else "raw", reading.raw, reading.step),
            ):
                if (span := self._closest_number(number, table, value, width)) is not None:
                    return span
        return None

    def _closest_number(
        self, number: Number, table: str, value: Fraction, width: Fraction
    ) -> Stretch | None:
        """The number that agrees, among those about as large."""
        values = self._figures.get(table, [])
        wide = max(width, abs(value) / 100)
        for known, index in values[bisect_left(values, (value - wide, -1)) :]:
            if known > value + wide:
                return None
            closest = self.numbers[index]
            if agree(number, closest):
                return closest.start, closest.end
        return None

    def _date(self, date: Date) -> Stretch | None:
        if date.minutes:
            return self._clock(date)
        if not date.readings:
            return self._period(date)
        spans = [span for day in date.readings if (span := self._day(day))]
        ambiguous = len({day.year for day in date.readings}) == 1 and date.readings[0].day
        if not spans or (len(spans) < len(date.readings) and not ambiguous):
            return None
        return spans[0]

    def _day(self, day: Day) -> Stretch | None:
        """As it is written, or its day here and its year elsewhere in the passage."""
        if (span := self._days.get(day)) is not None:
            return span
        if not day.month:
            return self.years.get(day.year)
        for known in self._dates:
            for each in known.readings:
                same = each.month == day.month and (not day.day or each.day == day.day)
                if same and not each.year and (not day.year or day.year in self.years):
                    return known.start, known.end
        return self._month(day) if not day.year and not day.day else None

    def _month(self, day: Day) -> Stretch | None:
        """A month by its bare name."""
        for name, number in MONTHS.items():
            if number == day.month and (indexes := self._indexes.get(name)):
                word = self._words[indexes[0]]
                return word.start, word.end
        return None

    def _period(self, date: Date) -> Stretch | None:
        for known in self._dates:
            if not known.minutes and (known.first, known.last) == (date.first, date.last):
                return known.start, known.end
        return next(
            (span for year, span in self.years.items() if date.first <= year <= date.last), None
        )

    def _clock(self, date: Date) -> Stretch | None:
        for known in self._dates:
            if set(known.minutes) & set(date.minutes):
                return known.start, known.end
        return None

    # ------------------------------------------------------------ names, quotations, links

    @cached_property
    def _words(self) -> list[Word]:
        return words(self.text)

    @cached_property
    def _keys(self) -> list[str]:
        return [DEMONYMS.get(word.key, word.key) for word in self._words]

    @cached_property
    def _indexes(self) -> dict[str, list[int]]:
        """Where each word is."""
        by_key: dict[str, list[int]] = defaultdict(list)
        for index, name in enumerate(self._keys):
            by_key[name].append(index)
        for index, word in enumerate(self._words):
            if "." in word.text:  # J.R.R. is also three initials
                for letter in word.text.replace(".", "").lower():
                    by_key[letter].append(index)
        return by_key

    @cached_property
    def ordinary(self) -> set[str]:
        """Words that are also written without a capital."""
        return {word.key for word in self._words if word.text.islower()}

    @cached_property
    def _initials(self) -> dict[str, list[int]]:
        """Where words with a capital begin, by that letter."""
        by_initial: dict[str, list[int]] = defaultdict(list)
        for index, word in enumerate(self._words):
            if word.capital:
                by_initial[word.key[:1]].append(index)
        return by_initial

    def _name(self, name: Name) -> Stretch | None:
        keys = [DEMONYMS.get(each, each) for each in name.keys]
        apart = self.ordinary | COUNTRIES if len(keys) > 1 else self.ordinary
        full = [each for each in keys if len(each) > 1 and each not in apart]
        loose = [each for each in keys if len(each) > 1 and each in apart]
        if any(each not in self._indexes for each in loose):
            return None
        if not full:
            return self._at(self._indexes[loose[0]][0]) if loose else None
        for index in self._indexes.get(full[-1], ()):
            if self._chained(keys, full, index):
                return self._at(index)
        return self._shortened(keys)

    def _briefly(self, name: Name, text: str) -> Stretch | None:
        """Mondays for Monday, American for United States, Rice where nobody else is a Rice."""
        keys = tuple(DEMONYMS.get(each, each) for each in name.keys)
        for each in (*ALSO.get(keys, ()), *ALSO.get(keys[-1:], ())):
            if indexes := self._indexes.get(each):
                return self._at(indexes[0])
        if len(keys) < 2 or not text.istitle() or keys[-1] in self.ordinary:
            return None
        if keys[0] in PLACED or not COUNTRIES.isdisjoint(keys):
            return None
        indexes = self._indexes.get(keys[-1], [])
        if indexes and (span := self._of_the_family(keys)) is not None:
            return self._at(span)
        if not indexes or any(not self._alone(index, keys) for index in indexes):
            return None
        return self._at(indexes[0])

    def _of_the_family(self, keys: Sequence[str]) -> int | None:
        """Where "his son Antoine" is named without the surname, which a relative has here."""
        if len(keys) != 2:
            return None
        for index in self._indexes.get(keys[0], ()):
            beside = self._keys[max(0, index - 2) : index + 3]
            after = self._words[index + 1] if index + 1 < len(self._words) else None
            full = after is not None and after.capital and after.start == self._words[index].end + 1
            if self._words[index].capital and not full and not RELATIVES.isdisjoint(beside):
                return index
        return None

    def _alone(self, index: int, keys: Sequence[str]) -> bool:
        """Whether a surname stands without another given name or name beside it."""
        here = self._words[index]
        for beside in (index - 1, index + 1):
            if 0 <= beside < len(self._words):
                word = self._words[beside]
                between = self.text[min(here.end, word.end) : max(here.start, word.start)]
                opens = beside < index and word.key in self.ordinary
                if word.capital and between == " " and not opens and word.key not in BEFORE:
                    return False
        return here.capital and not {*keys[:-1]} & {*self._keys}

    def _chained(self, keys: Sequence[str], full: Sequence[str], last: int) -> bool:
        """Whether the other words and initials of the name stand close to its last word."""
        here = last
        for each in reversed(full[:-1]):
            near = [p for p in range(max(0, here - NEAR), here) if self._is(each, p)]
            behind = [p for p in range(last + 1, last + 1 + NEAR) if self._is(each, p)]
            if not near and not behind:
                return False
            here = near[-1] if near else here
        letters = [each for each in keys if len(each) == 1]
        if not letters:
            return True
        around = range(max(0, last - len(keys) - 1), last + NEAR)
        initials = {
            letter
            for index in around
            if index < len(self._words) and index != last
            for letter in _first(self._words[index])
        }
        return (
            len(keys) > len(full) + len(letters)
            or set(letters) <= initials
            or (len(full) > 1 and len(initials) < len(full))
        )

    def _is(self, name: str, index: int) -> bool:
        """Whether this is the word, or the initial that stands for it."""
        if index >= len(self._keys):
            return False
        word = self._words[index]
        if self._keys[index] == name:
            return True
        initial = len(word.key) == 1 and word.text.isupper() and word.key == name[:1]
        return initial and self.text[word.end : word.end + 1] == "."

    def _shortened(self, keys: Sequence[str]) -> Stretch | None:
        """UN for United Nations, and the other way round."""
        if len(keys) > 1:
            short = "".join(each[:1] for each in keys)
            for index in self._indexes.get(short, ()):
                if self._words[index].text.replace(".", "").isupper():
                    return self._at(index)
            return None
        name = keys[0]
        if not 2 <= len(name) <= 6:
            return None
        for index in self._initials.get(name[:1], ()):
            if self._spells(name, index):
                return self._at(index)
        return None

    def _spells(self, letters: str, index: int) -> bool:
        """Whether the words with a capital from here on begin with these letters."""
        for letter in letters:
            while index < len(self._words) and self._words[index].key in CONNECTING:
                index += 1
            if index >= len(self._words) or not self._words[index].capital:
                return False
            if self._words[index].key[:1] != letter or len(self._words[index].key) < 2:
                return False
            index += 1
        return True

    def _at(self, index: int) -> Stretch:
        word = self._words[index]
        return word.start, word.end

    @cached_property
    def _row(self) -> tuple[str, list[int]]:
        """All words in one string, and where in it each begins."""
        starts: list[int] = []
        length = 1
        for word in self._words:
            starts.append(length)
            length += len(word.key) + 1
        return " " + " ".join(word.key for word in self._words) + " ", starts

    def _quotation(self, quotation: Quotation) -> Stretch | None:
        row, starts = self._row
        at, first, last = 0, -1, -1
        for piece in quotation.pieces:
            start = row.find(f" {' '.join(piece)} ", at)
            if start < 0:
                return None
            begin = bisect_left(starts, start + 1)
            first = begin if first < 0 else first
            last = begin + len(piece) - 1
            at = start + sum(len(each) + 1 for each in piece)
        return self._words[first].start, self._words[last].end

    @cached_property
    def _links(self) -> dict[str, Stretch]:
        by_link: dict[str, Stretch] = {}
        for link in links(self.text):
            for name in (link.key, link.key.partition("/")[0]):
                by_link.setdefault(name, (link.start, link.end))
        return by_link

    def _link(self, link: WebAddress) -> Stretch | None:
        if (span := self._links.get(link.key)) is not None:
            return span
        text_key = link_key(self.text.strip())
        return (0, len(self.text)) if text_key and text_key == link.key else None
