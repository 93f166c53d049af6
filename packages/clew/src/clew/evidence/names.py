"""Names in a text: capitalised words that belong together.

What is a name shows in its capitals alone: scripts without case have none here, and of German,
which capitalises every noun, only sequences of two words and more are taken.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from clew.evidence.common import CONNECTING, DEMONYMS, GERMAN, OPENING, STATES, STOP, TITLES, VERBS
from clew.evidence.dates import MONTHS
from clew.evidence.words import Word, words
from clew.support.lazy_regex import Lazy

_BETWEEN: Final = Lazy(r"\.? ?-? ?|\.?\n")
_ENDED: Final = Lazy(r"[.!?:…][\"'”’»)\]]*\s|[\n|•“«„]|[(\"‘–—]\s?|^\W*")
_PLURAL: Final = Lazy(r"[^aiosu']s$")
_VERB: Final = Lazy(r"(?:ed|[^aiosu']s)$")
_CASE: Final = Lazy(r"[A-Z]")
_SUFFIX: Final = Lazy(
    r"(?:tion|tions|ing|ings|ment|ments|ness|ity|ities|ors|ers|ists|ly|ism|ally|ages|ances|ences)$"
)
LONGEST: Final = 12
"""A name has at most so many words."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it stands in a text; `keys` are its words as they are compared, without titles.

    `initial` says that it is one word at the beginning of a sentence: then its capital says
    nothing, and it may be no name.
    """

    start: int
    end: int
    keys: tuple[str, ...]
    initial: bool = False


def names(text: str, masked: Sequence[tuple[int, int]] = ()) -> list[Name]:
    """All names of a text in order, none of them in a masked stretch; linear in its length."""
    listed: list[Name] = []
    run: list[Word] = []
    spoken = [word for word in words(text) if not _inside(word.start, masked)]
    german = _german(spoken)
    for index, word in enumerate(spoken):
        joined = bool(run) and _joined(text, run[-1], word)
        if run and (not joined or len(run) >= LONGEST):
            listed += _named(text, run, word, german=german)
            run = []
        if _capital(word) or (run and word.key in CONNECTING and _goes_on(text, spoken, index)):
            run.append(word)
        elif run:
            listed += _named(text, run, word, german=german)
            run = []
    return [*listed, *_named(text, run, None, german=german)] if run else listed


def _inside(start: int, masked: Sequence[tuple[int, int]]) -> bool:
    """Whether a place is in one of the stretches, which are in order."""
    before = bisect_right(masked, (start, 1 << 60)) - 1
    return before >= 0 and masked[before][0] <= start < masked[before][1]


def _capital(word: Word) -> bool:
    return word.capital and (not word.text.isdigit())


def _joined(text: str, before: Word, word: Word) -> bool:
    """Whether nothing but a space, a hyphen or the dot of an initial stands between."""
    between = text[before.end : word.start]
    if not _BETWEEN.fullmatch(between):
        return False
    return "." not in between or len(before.text) == 1 or before.key in TITLES


def _goes_on(text: str, spoken: Sequence[Word], index: int) -> bool:
    """Whether a capital follows a connecting word, or two of them ("of the")."""
    for ahead in (1, 2):
        if index + ahead >= len(spoken):
            return False
        if not _joined(text, spoken[index + ahead - 1], spoken[index + ahead]):
            return False
        if _capital(spoken[index + ahead]):
            return True
        if spoken[index + ahead].key not in CONNECTING:
            return False
    return False


def _german(spoken: Collection[Word]) -> bool:
    """Whether the words are German ones: it has articles that no other language has."""
    return sum(word.text in GERMAN for word in spoken) * 8 > len(spoken)


def _named(text: str, run: Sequence[Word], after: Word | None, *, german: bool) -> list[Name]:
    """The name in a run of capitalised words, if there is one; `after` is the word behind it."""
    opens = _opens(text, run[0].start)
    kept = list(run)
    while kept and (_stops(kept[0]) or _connects(kept[0])):
        kept.pop(0)
        opens = False
    if opens and len(kept) > 1 and kept[0].key in OPENING:
        kept.pop(0)
        opens = False
    while kept and (kept[0].key in TITLES):
        kept.pop(0)
    keys = tuple(each for word in kept if not _connects(word) for each in _split(word, len(kept)))
    keys = tuple(each for each in keys if each not in MONTHS)
    lone = len(keys) == 1
    if not keys or (lone and (len(keys[0]) < 2 or german)):
        return []
    initial = lone and opens and _CASE.sub("", kept[0].text[1:]) == kept[0].text[1:]
    if initial and (_before_digits(text, kept[0]) or not _subject(text, kept[0], after)):
        return []
    return [Name(kept[0].start, kept[-1].end, keys, initial)]


def _before_digits(text: str, word: Word) -> bool:
    """Whether a number follows a word that begins a sentence, as in "Quedan 3.150"."""
    return text[word.end : word.end + 2].strip().isdigit()


def _subject(text: str, word: Word, after: Word | None) -> bool:
    """Whether a lone word that begins a sentence looks like a name: it does something."""
    if word.key in OPENING or _PLURAL.search(word.key) or _SUFFIX.search(word.key):
        return False
    if after is None or text[word.end : after.start] != " ":
        return True
    return after.key in VERBS or _VERB.search(after.key) is not None


def _connects(word: Word) -> bool:
    return word.text.islower() and word.key in CONNECTING


def _stops(word: Word) -> bool:
    """Whether no name begins with it; US and WHO are no pronouns."""
    return word.key in STOP and not (word.text.isupper() and len(word.text) > 1)


def _split(word: Word, count: int) -> tuple[str, ...]:
    """J.R.R. before a surname are three initials; U.S. alone is one word."""
    if "." in word.text and count > 1 and word.key not in STATES:
        return tuple(letter.lower() for letter in word.text if letter != ".")
    return (DEMONYMS.get(word.key, word.key),)


def _opens(text: str, start: int) -> bool:
    """Whether a sentence begins here, so that a capital says nothing."""
    before = text[max(0, start - 6) : start]
    if not before.strip(" \t*_#>-"):
        return len(before) == start or "\n" in before or not before.strip()
    return any(match.end() == len(before) for match in _ENDED.finditer(before))
