"""What is to be said of an answer: five words, of which only one is bad for the reader's trust."""

import re
import unicodedata
from typing import Final, Literal, TypeAlias

from benchmarks.offline.cases import Case
from clew.agent.result import Result

Judged: TypeAlias = Literal["right", "shown", "declined", "denied", "wrong"]

JUDGED: Final[dict[Judged, str]] = {
    "right": "answered rightly, or declined where the notes hold no answer",
    "shown": "declined, and the passage that holds the answer is shown",
    "declined": "declined, and that passage is not shown",
    "denied": "said that nothing was found, though the notes hold it",
    "wrong": "stated without a hedge what is not so",
}

_DENIES: Final = re.compile(r"\bfound (?:nothing|no )|(?:no|none) of your documents", re.IGNORECASE)
_RESTS: Final = re.compile(r"\[doc_\d+\]| = ")
_LEAD: Final = re.compile(r"(.{1,80}?) – ")


def judge(case: Case, result: Result) -> Judged:
    """The first of them that fits."""
    text = _plain(str(result.answer))
    if case.kind == "talk":
        return "right" if _held(case.answer, text) else "wrong"
    if result.ok:
        several = len(_RESTS.findall(text)) > 1  # then a value leads: it is the statement
        lead = _LEAD.match(text) if several else None
        right = _held(case.answer, lead[1] if lead else text)
        return "right" if right else "wrong"
    if not case.there:
        return "declined" if case.answer else "right"
    lines = [_plain(piece) for piece in str(result.answer).split("\n")]
    if any(all(_plain(word) in piece for word in row) for row in case.passage for piece in lines):
        return "shown"
    return "denied" if _DENIES.search(text) else "declined"


def _held(patterns: tuple[str, ...], text: str) -> bool:
    return any(re.search(one, text, re.IGNORECASE) for one in patterns)


def _plain(text: str) -> str:
    """One spelling for letters, marks and spaces, in lower case and without Markdown."""
    text = unicodedata.normalize("NFC", text).replace("’", "'").replace("**", "")
    return " ".join(text.split()).lower()
