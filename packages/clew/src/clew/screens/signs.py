"""Signs of an attack: words of a kind, wherever they stand, and kinds that stand close together.

Attacks have few aims and many wordings. A lexicon gives words to a kind ("drop", "bounds", "your");
a combination names kinds that make an attack when they stand near each other, in whatever order.
Both are looked for in one walk over the words, so that the time is linear.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from clew.screens.deobfuscation import fold

_TOKEN: Final = re.compile(
    r"(?P<dense>[\u3005-\u30ff\u3400-\u9fff])|(?P<end>[.!?。！？؟\n;])|[^\W_\u3005-\u30ff\u3400-\u9fff]+"
)
_LANGUAGE: Final = re.compile(r"^[a-z]{2}: ", re.MULTILINE)
_DENSE: Final = re.compile(r"[\u3005-\u30ff\u3400-\u9fff]")
_ARABIC: Final = ("وال", "بال", "فال", "لل", "ال", "و", "ف", "ب", "ل", "ك")
_PAUSE: Final = 2.0
"""The end of a sentence separates as much as so many words."""

_DENSE_WORD: Final = 0.5
"""A Chinese or Japanese letter counts as so much of a word."""

_GAP: Final = "..."
"""How `…` stands in a folded entry."""

_SKIPPED: Final = 3
_LONGEST_STEM: Final = 24


@dataclass(frozen=True, slots=True)
class Sign:
    """A kind that was met: between which words of the text, and between which letters."""

    kind: str
    first: float
    last: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Combination:
    """Kinds that make another kind, or an attack, when they stand within so many words.

    Where one of `unless` stands as near, it is nothing. `in_order`: as they are listed.
    """

    makes: str
    within: float
    kinds: tuple[str, ...]
    unless: tuple[str, ...] = ()
    in_order: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    """A word, with its place among the words and in the text."""

    text: str
    at: float
    start: int
    end: int


class Lexicon:
    """Words by kind, as the files of `phrases` list them."""

    def __init__(self, *tables: Mapping[str, str]) -> None:
        self._exact: defaultdict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        self._stems: defaultdict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
        self._dense: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for table in tables:
            for kind, lines in table.items():
                for entry in _LANGUAGE.sub("", lines.strip()).replace("\n", ", ").split(","):
                    self._add(kind, fold(entry).strip())

    def _add(self, kind: str, entry: str) -> None:
        if not entry:
            return
        if _DENSE.match(entry):
            self._dense[entry[0]].append((entry, kind))
            return
        first, *rest = re.findall(r"\w+\*?|\.\.\.", entry)
        table = self._stems if first.endswith("*") else self._exact
        table[first.removesuffix("*")].append((kind, tuple(rest)))

    def signs(self, text: str) -> list[Sign]:
        """Where each kind is met in a folded text."""
        signs: list[Sign] = []
        words = _words(text)
        for number, word in enumerate(words):
            if _DENSE.match(word.text):
                for entry, kind in self._dense.get(word.text, ()):
                    if text.startswith(entry, word.start):
                        last, end = (
                            word.at + _DENSE_WORD * (len(entry) - 1),
                            word.start + len(entry),
                        )
                        signs.append(Sign(kind, word.at, last, word.start, end))
                continue
            for kind, rest in self._entries(word.text):
                last_word = _followed(words, number, rest) if rest else word
                if last_word is not None:
                    signs.append(Sign(kind, word.at, last_word.at, word.start, last_word.end))
        return signs

    def _entries(self, word: str) -> list[tuple[str, tuple[str, ...]]]:
        entries: list[tuple[str, tuple[str, ...]]] = []
        for form in _forms(word):
            entries += self._exact.get(form, ())
            for length in range(1, min(len(form), _LONGEST_STEM) + 1):
                entries += self._stems.get(form[:length], ())
        return entries


@lru_cache(maxsize=1024)
def _forms(word: str) -> tuple[str, ...]:
    """A word, and an Arabic one without its article and particles."""
    if not "\u0600" < word[0] < "\u06ff":
        return (word,)
    shorter = (word.removeprefix(start) for start in _ARABIC if word.startswith(start))
    return tuple(dict.fromkeys((word, *(form for form in shorter if len(form) > 2))))


def _words(text: str) -> list[_Word]:
    """The words of a text, further apart where a sentence ends between them."""
    words: list[_Word] = []
    at, pause = 0.0, 0.0
    for match in _TOKEN.finditer(text):
        if match["end"]:
            pause = _PAUSE
            continue
        at += pause + (_DENSE_WORD if match["dense"] else 1)
        pause = 0.0
        words.append(_Word(match[0], at, match.start(), match.end()))
    return words


def _followed(words: Sequence[_Word], number: int, rest: tuple[str, ...]) -> _Word | None:
    """The last word of an entry whose further words are `rest`; None if they do not follow."""
    skip = 0
    for wanted in rest:
        if wanted == _GAP:
            skip = _SKIPPED
            continue
        for further in range(number + 1, min(number + 2 + skip, len(words))):
            word = words[further]
            same = word.text == wanted or (wanted[-1] == "*" and word.text.startswith(wanted[:-1]))
            if same and word.at - words[further - 1].at < _PAUSE:
                number, skip = further, 0
                break
        else:
            return None
    return words[number]


def outside(signs: Sequence[Sign], spans: Iterable[tuple[int, int]]) -> list[Sign]:
    """The signs that touch none of the places of a text."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    starts = [start for start, _ in merged]
    heard: list[Sign] = []
    for sign in signs:
        at = bisect_left(starts, sign.end)
        if not at or merged[at - 1][1] <= sign.start:
            heard.append(sign)
    return heard


def combined(signs: Iterable[Sign], combinations: Sequence[Combination]) -> Iterator[Sign]:
    """What the combinations make of the signs; each may use what those before it made."""
    known: defaultdict[str, list[Sign]] = defaultdict(list)
    for sign in signs:
        known[sign.kind].append(sign)
    for combination in combinations:
        if not all(kind in known for kind in combination.kinds):
            continue
        made = [sign for sign in _met(known, combination) if not _beside(known, combination, sign)]
        if made:
            known[combination.makes] = sorted(
                [*known[combination.makes], *made], key=lambda sign: sign.first
            )
            yield from made


def _met(known: Mapping[str, list[Sign]], combination: Combination) -> Iterator[Sign]:
    """Every place where the kinds of a combination stand close enough together."""
    ordered = sorted(
        (sign for kind in combination.kinds for sign in known[kind]), key=lambda sign: sign.first
    )
    latest: dict[str, Sign] = {}
    for candidate in ordered:
        latest[candidate.kind] = candidate
        if len(latest) < len(combination.kinds):
            continue
        first = min(sign.last for sign in latest.values())
        if candidate.first - first <= combination.within and (
            not combination.in_order or _rises([latest[kind].first for kind in combination.kinds])
        ):
            yield Sign(
                combination.makes,
                min(sign.first for sign in latest.values()),
                max(sign.last for sign in latest.values()),
                min(sign.start for sign in latest.values()),
                max(sign.end for sign in latest.values()),
            )


def _rises(positions: Sequence[float]) -> bool:
    return all(one <= other for one, other in pairwise(positions))


def _beside(known: Mapping[str, list[Sign]], combination: Combination, made: Sign) -> bool:
    """Whether something that speaks against it stands as near."""
    for kind in combination.unless:
        against = known.get(kind, [])
        at = bisect_left(against, made.first - combination.within, key=lambda sign: sign.first)
        if at < len(against) and against[at].first <= made.last + combination.within:
            return True
    return False
