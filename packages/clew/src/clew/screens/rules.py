"""How the rules of the request filter are written, and how a language's words become rules.

A pattern is a regular expression over folded text (see `disguises`) in which a space stands for
whatever separates two words, and `~3 ` for up to three words of any kind. It is compiled twice: for
whole words, and for words that were spread or broken ("i g n o r e"). Every repetition in it has a
bound, so that looking for it is linear in the length of the text.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from clew.screens.deobfuscation import fold
from clew.support.short_text import one_line

_SEPARATOR: Final = r"[^\w\n]{0,3}[^\w]"
_BREAK: Final = r"[\x20._*/~-]?"
_GAP: Final = re.compile(r"~(\d) ")
_LETTERS_A_WORD: Final = 6
_INNER: Final = re.compile(r"\((?:\?[:!=<]+)?[^()]*\)[?*]?|\[[^\]]*\](?:[?*]|\{[^}]*\})?")
_MAYBE: Final = re.compile(r"\\?.(?:[?*]|\{0[^}]*\})|\\.(?:\+|\{[^}]*\})?|~\d ")
_LITERAL: Final = re.compile(r"\w+")
_UNIT: Final = re.compile(r"\{[^}]*\}|(\\.|\[[^\]]*\]|\w|\.)(\?|\{\d+,\d+\}|[*+])?")


def one_of(*words: str) -> str:
    """Any of these; words in them are separated as in a pattern."""
    return f"(?:{'|'.join(words)})"


def listed(words: str) -> str:
    """Any of the words of a list with commas."""
    return one_of(*re.split(r", ", re.sub(r"(?<=\|) ", "", one_line(words))))


def stems(words: str) -> tuple[str, ...]:
    """For each word of a list some letters that stand in all its forms; "" where there are none."""
    word_stems: list[str] = []
    for word in re.split(r", ", fold(one_line(words))):
        bare = _INNER.sub(" ", _INNER.sub(" ", _INNER.sub(" ", word)))
        runs = _LITERAL.findall(_MAYBE.sub(" ", bare))
        word_stems.append(max(runs, key=len, default=""))
    return tuple(dict.fromkeys(word_stems))


@dataclass(frozen=True)
class AttackPattern:
    """A known form of attack: the name of its kind, and a pattern.

    `words` says that the pattern begins and ends where words do; without, as in languages that do
    not separate them, or for marks. A rule that is not `breakable` holds for whole words only.
    Where none of `needs` stands in a text it cannot match, and is not looked for.
    """

    name: str
    pattern: str
    words: bool = True
    breakable: bool = True
    needs: tuple[str, ...] = ("",)

    @cached_property
    def plain(self) -> re.Pattern[str]:
        """For text with whole words."""
        pieces = _GAP.split(fold(self.pattern))
        return self._joined(pieces, lambda count: rf"(?:\w{{1,40}}{_SEPARATOR}){{0,{count}}}")

    @cached_property
    def broken(self) -> re.Pattern[str]:
        """For words that were spread or broken."""
        pieces = _GAP.split(fold(self.pattern))
        pieces[::2] = [_UNIT.sub(_breakable, piece) for piece in pieces[::2]]
        return self._joined(pieces, lambda count: rf"[^\n]{{0,{count * _LETTERS_A_WORD}}}?")

    def _joined(self, pieces: list[str], gap: Callable[[int], str]) -> re.Pattern[str]:
        pieces[1::2] = [gap(int(count)) for count in pieces[1::2]]
        pieces[::2] = [piece.replace(" ", _SEPARATOR) for piece in pieces[::2]]
        pattern = "".join(pieces)
        return re.compile(rf"\b(?:{pattern})\b" if self.words else pattern)


def _breakable(match: re.Match[str]) -> str:
    """A letter, or whatever stands for one, that a mark may follow."""
    unit, times = match[1], match[2] or ""
    return match[0] if unit in {None, r"\b"} else f"(?:{unit}{_BREAK}){times}"


@dataclass(frozen=True)
class LanguagePatterns:
    """The words of a language that attacks are made of, each a pattern of alternatives.

    `drop` the `orders` that are `earlier` or are `void`, `told` ("what you were told"), `obey` only
    me; `say` `your` `text`, or the orders you were `received`; `be` a `being` `without` `bounds`,
    or a `free` one; a `mode`; `your` `keys`, or those you `have`; `what` asks.
    """

    drop: str
    orders: str
    earlier: str
    void: str
    told: str
    obey: str
    say: str
    what: str
    your: str
    text: str
    received: str
    above: str
    be: str
    you: str
    being: str
    without: str
    bounds: str
    free: str
    mode: str
    keys: str
    have: str

    def stems(self) -> set[str]:
        """What its longer words cannot be without."""
        return {stem for words in vars(self).values() for stem in stems(words) if len(stem) > 4}

    def rules(self) -> Iterator[AttackPattern]:
        """The forms that attacks have in every language whose words are separated."""
        w = {name: listed(words) for name, words in vars(self).items()}
        for name, patterns in _FORMS.items():
            for pattern, needed in patterns:
                yield AttackPattern(
                    name, pattern.format(**w), needs=stems(getattr(self, needed, needed))
                )


_FORMS: Final = {  # each with the words that it cannot do without
    "override": (
        ("{drop} ~4 {earlier} ~3 {orders}", "orders"),
        ("{drop} ~4 {orders} ~3 {earlier}", "orders"),
        ("{drop} ~3 {told}", "told"),
        ("{orders} ~1 {earlier} ~4 {void}", "orders"),
        ("{earlier} ~2 {orders} ~4 {void}", "orders"),
        ("{told} ~4 {void}", "told"),
        ("{obey}", "obey"),
    ),
    "reveal": (
        ("{say} ~6 {text}", "text"),
        ("{what} ~4 {text}", "text"),
        ("{say} ~5 {orders} ~3 {received}", "orders"),
        ("{what} ~3 {orders} ~3 {received}", "orders"),
        ("{say} ~4 {above}", "above"),
    ),
    "persona": (
        ("{be} ~4 {being} ~5 {without} ~3 {bounds}", "bounds"),
        ("{you} ~4 {without} ~3 {bounds}", "bounds"),
        ("{be} ~4 {free} ~2 {being}", "free"),
        ("{be} ~3 {being} ~2 {free}", "free"),
        ("{you} ~3 {free}", "free"),
        ("{you} ~3 dan", "dan"),
        ("{mode} ~6 (?:{without} ~2 {bounds}|{drop} ~3 {bounds})", "mode"),
        ("{drop} ~3 {bounds} ~6 {mode}", "mode"),
    ),
    "exfiltration": (
        ("{say} ~5 {your} ~3 {keys}", "keys"),
        ("{say} ~4 {keys} ~3 {have}", "keys"),
        ("{what} ~2 {your} ~3 {keys}", "keys"),
        ("{what} ~3 {keys} ~3 {have}", "keys"),
    ),
}
