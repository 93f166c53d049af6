"""What an answer cites: in its text, as a list, and numbered."""

import contextlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from clew.core.contents import Evidence
from clew.core.trajectory import Trajectory
from clew.support.lazy_regex import Lazy

__all__ = ["Citation", "Reference", "citations", "numbered", "references", "titles"]

HEADING: Final = "References:"

_ID: Final = r"[^\[\]【】\s,;]{1,80}"
_IDS: Final = rf"{_ID}(?: ?[,;] ?{_ID}){{0,20}}"
_CITED: Final = Lazy(rf"\[(?P<ids>{_IDS})\](?!\()|【(?P<wide>{_IDS})】")
_LOOKS: Final = Lazy(r"(?=\D*\d)(?!1\d{3}$|20\d\d$)[\w.:#/-]+|\w+_\w+")


@dataclass(frozen=True, slots=True)
class Citation:
    """A `doc_id` that an answer cites, and its position in the answer."""

    doc_id: str
    start: int
    end: int


def citations(text: str, known: Collection[str] = ()) -> list[Citation]:
    """All citations of a text: known ids in brackets, and what looks like one ([wiki_3], [7]).

    [sic], [1818] and the text of a link do not count.
    """
    listed: list[Citation] = []
    for match in _CITED.finditer(text):
        inner = match["ids"] or match["wide"]
        ids = [name.strip() for name in re.split(r"[,;]", inner)]
        if all(name in known or _LOOKS.fullmatch(name) for name in ids):
            listed += [Citation(name, match.start(), match.end()) for name in ids]
    return listed


@dataclass(frozen=True, slots=True)
class Reference:
    """Evidence that the answer cites, and where (start and end in the answer)."""

    doc_id: str
    source: str
    score: float
    title: str = ""
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def named(self) -> str:
        """Its source, title and score."""
        named = " · ".join(filter(None, (self.source, self.title)))
        return f"{named} (score {self.score:.2f})"

    def __str__(self) -> str:
        """A line of a list of references."""
        return f"[{self.doc_id}] {self.named}"


class _SearchResult(msgspec.Struct):
    doc_id: str = ""
    title: str = ""


class _SearchResults(msgspec.Struct):
    """What search tools return, as far as a list of sources needs it."""

    results: list[_SearchResult] = []


def titles(record: Trajectory) -> dict[str, str]:
    """The titles in search results, by doc_id."""
    by_id: dict[str, str] = {}
    for call in record.calls:
        with contextlib.suppress(msgspec.ValidationError):  # the result of another kind of tool
            content = call.observation.content if call.observation is not None else None
            for piece in msgspec.convert(content, _SearchResults).results:
                by_id.setdefault(piece.doc_id, piece.title)
    return by_id


def references(pieces: Iterable[Evidence], record: Trajectory) -> list[Reference]:
    """The evidence as lines of a list, with the titles that the record knows."""
    named = titles(record)
    return [
        Reference(piece.doc_id, piece.source, piece.score, named.get(piece.doc_id, ""))
        for piece in pieces
    ]


def numbered(answer: str, cited: Sequence[Reference]) -> str:
    """The answer with numbers for its citations, and their list at the end.

    `[doc_7]` becomes `[1]` if it is the first of `cited`. A number that looks like one of the list
    and is not is marked as unknown.
    """
    numbers = {one.doc_id: str(number) for number, one in enumerate(cited, start=1)}
    groups: dict[tuple[int, int], list[Citation]] = {}
    for citation in citations(answer, numbers):
        groups.setdefault((citation.start, citation.end), []).append(citation)
    text, end = "", 0
    for (start, stop), group in groups.items():
        text += f"{answer[end:start]}[{', '.join(_number(one.doc_id, numbers) for one in group)}]"
        end = stop
    lines = [f"[{number}] {one.named}" for number, one in enumerate(cited, start=1)]
    return "\n".join([f"{text}{answer[end:]}\n", HEADING, *lines])


def _number(doc_id: str, numbers: dict[str, str]) -> str:
    if doc_id in numbers:
        return numbers[doc_id]
    return f"{doc_id} (unknown)" if doc_id.isdigit() else doc_id
