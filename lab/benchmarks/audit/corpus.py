"""The corpus: passages written for this purpose, and answers that they bear out.

`corpus.txt` has `== title | source`, a passage, and answers that begin with "- ". What an answer
takes from its passage is marked by hand, so that no change depends on what the audit recognises:
{n:…} a number, {a:…} one that is rounded, {d:…} a date, {p:…} a name, {q:…} a quotation, {l:…} a
link; [] is the citation.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).parent / "corpus.txt"
LAST: Final = Path(__file__).parent / "corpus_last.txt"
"""Written when all tuning was done; measured once."""
KINDS: Final = {
    "n": "number", "a": "number", "d": "date", "p": "name", "q": "quotation", "l": "link",
}  # fmt: skip
_MARKED: Final = re.compile(r"\{([nadpql]):([^}]*)\}")


@dataclass(frozen=True)
class Mark:
    """A fact of an answer: its letter, its text and where that begins."""

    letter: str
    text: str
    start: int

    @property
    def kind(self) -> str:
        return KINDS[self.letter]


@dataclass(frozen=True)
class Answer:
    """An answer without its marks; `[]` is still to be filled with an id."""

    text: str
    marks: tuple[Mark, ...]

    def changed(self, mark: Mark, text: str) -> str:
        """The answer with another text in the place of a fact."""
        return self.text[: mark.start] + text + self.text[mark.start + len(mark.text) :]


@dataclass(frozen=True)
class Entry:
    """A passage with its answers."""

    number: int
    title: str
    source: str
    text: str
    answers: tuple[Answer, ...]

    @property
    def marks(self) -> list[Mark]:
        return [mark for answer in self.answers for mark in answer.marks]


def read(path: Path = FILE) -> list[Entry]:
    """All of the corpus, in its order."""
    entries: list[Entry] = []
    for block in path.read_text("utf-8").split("\n== "):
        head, *lines = block.removeprefix("== ").strip().splitlines()
        title, _, source = head.partition(" | ")
        text = "\n".join(line for line in lines if not line.startswith("- "))
        answers = tuple(_answer(line[2:]) for line in lines if line.startswith("- "))
        entries.append(Entry(len(entries), title, source, text, answers))
    return entries


def _answer(line: str) -> Answer:
    text, marks, end = "", [], 0
    for match in _MARKED.finditer(line):
        text += line[end : match.start()]
        marks.append(Mark(match[1], match[2], len(text)))
        text += match[2]
        end = match.end()
    return Answer(text + line[end:], tuple(marks))
