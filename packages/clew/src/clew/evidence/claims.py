"""Split an answer into claims: its sentences, with their positions and citations."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from clew.citations import Citation, citations
from clew.support.lazy_regex import Lazy


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENDS: Final = Lazy(
    r"(?P<mark>[.!?…]+)(?P<close>[\"'”’»)\]*_]*)(?=\s|[\[【]|$)"
    r"|(?P<wide>[。！？।؟۔]+)[\"'”’»」』）)]*"
    r"|(?P<line>\n)|(?P<semi>;)(?=\s)"
)
_ITEM: Final = Lazy(
    r"[ \t]*(?:[-*•+–]|\d{1,3}[.)]|[a-z]\)|#{1,6}|\||>|\*\*(?=\w)|\[\w+[_-]?\d+\])(?=\s|[^\s\d*])"
)
_NO_WORDS: Final = " \t\n*_#>-0123456789abcdefgh)"
_LAST: Final = Lazy(r"(?:[^\W_]|[.'’&-])+$")
_ORDINAL_DOT: Final = Lazy(r"\d{1,2}")
_HEADING: Final = Lazy(r"[ \t]*#{1,6} ")
_ABBREVIATIONS: Final = _set(
    """
    dr mr mrs ms prof st sr sra jr no nos vs e.g i.e approx ca cf fig figs vol vols pp p ed eds al
    rev hon gen col capt lt sgt maj gov sen rep pres mt ft ave rd blvd inc ltd co corp bros dept
    est jan feb mar apr jun jul aug sep sept oct nov dec z.b d.h u.a bzw usw nr str hl geb gest
    u.s v.chr n.chr m.e mme mlle bd abb tel c art sec ch chap op viz resp a.m p.m u.s u.k u.n e.u
    d.c b.c a.d ph.d etc
    """
)
_MAY_END: Final = _set(
    """
    inc ltd co corp jr sr etc a.m p.m u.s u.k u.n e.u d.c b.c a.d ph.d al no str usw st
    """
)
_FRESH: Final = _set(
    """
    the this that these those it he she they we you i in on at after before its his her their
    there then when while but however although since as a an der die das er sie es im le la les il
    elle el los las ella
    """
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer and its position; `paragraph` numbers the block it is in.

    A `heading` is a line that announces what follows: after #, or before a colon at its end.
    """

    text: str
    start: int
    end: int
    cited: tuple[Citation, ...] = ()
    paragraph: int = 0
    heading: bool = False


def claims(answer: str, known: Collection[str] = ()) -> list[Claim]:
    """The claims of an answer in order. They cover all of it but for space between them.

    A citation behind the full stop belongs to the sentence before it. Abbreviations, initials,
    decimals and ordinals end no sentence. A list item, a row of a table and a heading end with
    their line; otherwise a single line break ends nothing. Linear in the length of the answer.
    """
    cited = citations(answer, known)
    done: list[Claim] = []
    paragraph = index = 0
    for start, end in _sentences(answer, cited):
        if re.search(r"\n[ \t]*\n", answer[done[-1].end : start] if done else ""):
            paragraph += 1
        inside: list[Citation] = []
        while index < len(cited) and cited[index].start < end:
            inside.append(cited[index])
            index += 1
        text = answer[start:end]
        if not any(letter.isalnum() for letter in text):
            continue
        heading = not inside and (
            _HEADING.match(text) is not None or text.rstrip("*_ ").endswith((":", "："))
        )
        done.append(Claim(text, start, end, tuple(inside), paragraph, heading))
    return done


def _sentences(text: str, cited: Sequence[Citation]) -> Iterator[tuple[int, int]]:
    """Where the sentences are, without the space around them."""
    begin, index = 0, 0
    inside = iter([*((c.start, c.end) for c in cited), (len(text) + 1, len(text) + 1)])
    stretch = next(inside)
    for match in _ENDS.finditer(text):
        while stretch[1] <= match.start():
            stretch = next(inside)
        if stretch[0] <= match.start() or match.start() < begin or not _closes(text, match, begin):
            continue
        end = match.end()
        if not match["line"] or not text[begin : match.start()].strip():
            while index < len(cited) and cited[index].start < end:
                index += 1
            while index < len(cited) and _blank(text, end, cited[index].start):
                end = max(end, cited[index].end)
                index += 1
        yield from _stripped(text, begin, end)
        begin = end
    yield from _stripped(text, begin, len(text))


def _blank(text: str, begin: int, end: int) -> bool:
    """Whether only space stands between, seen without reading far."""
    return end - begin < 80 and not text[begin:end].strip()


def _stripped(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    while begin < end and text[begin].isspace():
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    if begin < end:
        yield begin, end


def _closes(text: str, match: re.Match[str], begin: int) -> bool:
    """Whether the mark ends a sentence that began at `begin`."""
    if match["wide"]:
        return True
    if match["semi"]:
        return text[match.start() - 1 : match.start()] in {"]", "】"}
    if match["line"]:
        return _line_ends(text, match, begin)
    after = _next(text, match.end())
    if after and after[0].islower():
        return False
    if match["mark"] != "." or match["close"]:
        return True
    before = _LAST.search(text[max(begin, match.start() - 24) : match.start()])
    word = before[0].strip(".'’&-") if before else ""
    if match.start() - begin < 12 and not text[begin : match.start()].strip(_NO_WORDS):
        return not _ITEM.match(text, begin) and not word.isdigit()
    return _word_ends(word, after)


def _word_ends(word: str, after: str) -> bool:
    """Whether a full stop behind this word ends a sentence, and `after` begins the next one."""
    fresh = after.lower() in _FRESH or not after
    if len(word) == 1 and word.isalpha():
        return fresh and word.isupper()
    lower = word.lower()
    if lower in _ABBREVIATIONS:
        return lower in _MAY_END and fresh
    if _ORDINAL_DOT.fullmatch(word) and int(word) <= 31 and after and after[0].isalpha():
        return after.lower() in _FRESH or not _GERMAN_AFTER.match(after)
    return True


_GERMAN_AFTER: Final = Lazy(
    r"(?:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|jahrhundert|"
    r"januari|februari|mars|maj|augusti|desember|jh|januára)\w*$", re.IGNORECASE
)  # fmt: skip
_WORD_AFTER: Final = Lazy(r"\s*(?:\[[^\]]{1,80}\]\s*)*[\s\"'“„«‘(*_]*([^\W_]+)?")


def _next(text: str, end: int) -> str:
    """The word that follows, past citations and opening marks; empty where none does."""
    next_word = _WORD_AFTER.match(text, end, end + 400)
    return (next_word[1] or "") if next_word else ""


def _line_ends(text: str, match: re.Match[str], begin: int) -> bool:
    """Whether a line break ends what it breaks: an empty line, an item, a heading, a row."""
    started = text.rfind("\n", begin, match.start()) + 1 or begin
    line, rest = text[started : match.start()], text[match.end() : match.end() + 200]
    if not rest.partition("\n")[0].strip() or not line.strip():
        return True
    if _ITEM.match(rest) or line.rstrip(" *_").endswith((":", "：", "|")):
        return True
    return _HEADING.match(text, started) is not None
