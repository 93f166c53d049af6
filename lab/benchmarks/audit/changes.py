"""One fact of an answer, changed so that its passage no longer says it.

Nothing here uses the code under test: a change works on the written text alone.
"""

import random
import re
from collections.abc import Sequence
from typing import Final

from benchmarks.audit.corpus import Entry, Mark

_COUNTS: Final = (
    "two three four five six seven eight nine ten eleven twelve fourteen fifteen sixteen seventy",
    "deux trois quatre cinq sept huit neuf dix",
    "drie vier vijf zeven negen tien",
)
_MONTHS: Final = (
    "January|February|March|April|May|June|July|August|September|October|November|December",
    "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember",
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
    "Dec\\.|Feb\\.|Aug\\.",
)
_DIGITS: Final = dict(
    zip(
        _COUNTS[0].split(),
        ["2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "14", "15", "16", "70"],
        strict=True,
    )
)
_TRIES: Final = 200


def change(mark: Mark, entry: Entry, corpus: Sequence[Entry], rng: random.Random) -> str | None:
    """Another text for the fact, which the passage does not have; None where none was found."""
    for _ in range(_TRIES):
        match mark.kind:
            case "number":
                text = _number(mark, rng)
            case "date":
                text = _date(mark.text, rng)
            case "name":
                text = _name(mark.text, entry, corpus, rng)
            case "quotation":
                text = _quotation(mark.text, entry, corpus, rng)
            case _:
                text = _link(mark.text, rng)
        if text != mark.text and not _stands(text, mark, entry):
            return text
    return None


def swap(mark: Mark, entry: Entry, rng: random.Random) -> str | None:
    """Another fact of the same kind from the same passage."""
    others = [
        other.text
        for other in entry.marks
        if other.kind == mark.kind
        and _bare(other.text) != _bare(mark.text)
        and _bare(other.text) not in _bare(mark.text)
        and _bare(mark.text) not in _bare(other.text)
    ]
    return rng.choice(others) if others else None


def _bare(text: str) -> str:
    return re.sub(r"\W", "", text).casefold()


def _stands(text: str, mark: Mark, entry: Entry) -> bool:
    """Whether what was changed stands in the passage all the same, in any common writing."""
    passage = f"{entry.title} {entry.source} {entry.text}"
    if mark.kind == "number" and text.isalpha():
        digits = _DIGITS.get(text, text)
        return re.search(rf"\b({text}|{digits})\b", passage) is not None
    if mark.kind in {"number", "date"}:
        old = re.findall(r"\d+", re.sub(r"(?<=\d)[., ](?=\d{3}\b)", "", mark.text))
        new = re.findall(r"\d+", re.sub(r"(?<=\d)[., ](?=\d{3}\b)", "", text))
        plain = re.sub(r"(?<=\d)[., ](?=\d{3}\b)", "", passage)
        fresh = [each for each in new if each not in old]
        if mark.kind == "number" and fresh:
            return any(re.search(rf"(?<!\d){each}(?!\d)", plain) for each in fresh)
        return any(len(each) == 4 and each in plain for each in fresh)
    if mark.kind == "name":
        return all(re.search(rf"\b{re.escape(word)}\b", passage) for word in text.split())
    return _bare(text) in _bare(passage)


def _number(mark: Mark, rng: random.Random) -> str:
    """Another first digit, ten times as much, two digits swapped, or a little more."""
    text = mark.text
    for row in _COUNTS:
        if word := re.search(rf"\b({row.replace(' ', '|')})\b", text):
            return text.replace(word[0], rng.choice(row.split()), 1)
    digits = [index for index, letter in enumerate(text) if letter in "0123456789"]
    letters = list(text)
    how = rng.choice(["first", "swap", "next"] if mark.letter == "n" else ["first"])
    if how == "first" or len(digits) < 2:
        letters[digits[0]] = str(rng.choice([d for d in range(1, 10) if d != int(text[digits[0]])]))
    elif how == "swap":
        one, other = rng.sample(digits, 2)
        letters[one], letters[other] = letters[other], letters[one]
    else:
        last = int(text[digits[-1]])
        letters[digits[-1]] = str((last + rng.choice([1, 2, 3, 7, 8, 9])) % 10)
    return "".join(letters)


def _date(text: str, rng: random.Random) -> str:
    """Another day, month, year or time, in the same format."""
    pieces = list(re.finditer(r"\d+", text))
    names = [(row, matches) for row in _MONTHS if (matches := re.search(rf"\b(?:{row})", text))]
    choice = rng.randrange(len(pieces) + bool(names))
    if choice == len(pieces):
        row, matches = names[0]
        other = rng.choice(row.split("|")).replace("\\", "")
        return text[: matches.start()] + other + text[matches.end() :]
    piece = pieces[choice]
    number = int(piece[0])
    if number > 31:
        number += rng.choice([-30, -20, -11, -7, -3, -2, -1, 1, 2, 3, 9, 10, 25])
    else:
        number = rng.randrange(1, 13)
    return text[: piece.start()] + str(number).rjust(len(piece[0]), "0") + text[piece.end() :]


def _name(text: str, entry: Entry, corpus: Sequence[Entry], rng: random.Random) -> str:
    """Another name from elsewhere, or another word in this one."""
    marks = [mark for each in corpus if each is not entry for mark in each.marks]
    other = rng.choice([mark.text for mark in marks if mark.kind == "name"])
    if rng.random() < 0.5:
        return other
    words, others = text.split(), [word for word in other.split() if len(word) > 3]
    indexes = [index for index, word in enumerate(words) if len(word) > 3 and word[0].isupper()]
    if not indexes or not others or not others[0][0].isupper():
        return other
    words[rng.choice(indexes)] = rng.choice(others)
    return " ".join(words)


def _quotation(text: str, entry: Entry, corpus: Sequence[Entry], rng: random.Random) -> str:
    """Another word in it."""
    texts = " ".join(each.text for each in corpus if each is not entry)
    other = str(rng.choice(re.findall(r"[a-z]{4,}", texts)))
    match = rng.choice(list(re.finditer(r"\w{3,}", text)))
    return text[: match.start()] + other + text[match.end() :]


def _link(text: str, rng: random.Random) -> str:
    """Another word in its host or path."""
    match = rng.choice(list(re.finditer(r"(?<=[/.-])\w+|\d+", text)))
    word = str(match[0])
    if word == "example":
        return text
    return text[: match.start()] + word[::-1] + "x" + text[match.end() :]
