"""Where the record bears facts out: its evidence, its calculations, other tools, the question."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import msgspec

from clew.core.codes import FINISH
from clew.core.contents import Evidence, Observation
from clew.core.events import Note
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.evidence.amounts import Quantity
from clew.evidence.attribution import restated
from clew.evidence.derived import Derived, derived, speaks_of_a_result, within
from clew.evidence.facts import Fact
from clew.evidence.numbers import Number, NumberReading, agree
from clew.evidence.passages import IndexedText
from clew.evidence.units import Unit
from clew.support.json_values import text_or_json

Where: TypeAlias = Literal[
    "evidence", "title", "source", "observation", "calculation", "question", "derived"
]

CONSTANTS: Final = frozenset(
    {*map(Fraction, (0, 1, 2, 7, 12, 24, 60, 365, 366, 3600)), Fraction("365.25")}
    | {Fraction(10) ** power for power in range(1, 13)}
)
"""Numbers that a calculation may use without having them from anywhere."""


@dataclass(frozen=True, slots=True)
class FactSource:
    """Where a fact was found: in evidence, or elsewhere in the record.

    What is `derived` follows by arithmetic from numbers of the evidence; it names the first.
    `offset` and `length` (in characters) refer to the text of the evidence, its title or source,
    the observation of `call`, or the question. `in_source` is the position in the evidence's
    source, as far as it is known.
    """

    where: Where
    doc_id: str = ""
    call: str = ""
    offset: int = 0
    length: int = 0
    in_source: int = 0


class _SearchHit(msgspec.Struct):
    doc_id: str = ""
    title: str = ""
    url: str = ""


class _Results(msgspec.Struct):
    """What search tools return, as far as titles and addresses go."""

    results: list[_SearchHit]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text that stands for a `doc_id`: the passage itself, its title or its source."""

    where: Where
    call: str
    passage: IndexedText
    offset: int = 0


@dataclass(frozen=True, slots=True)
class _Calculation:
    call: str
    inputs: IndexedText
    result: IndexedText


class Record:
    """A record as the audit sees it. What failed counts for nothing."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.scores: dict[str, float] = {}
        """The best score of each `doc_id`."""
        self.searched = False
        self._pieces: dict[str, list[_Piece]] = {}
        self._sources: dict[str, tuple[str, str]] = {}
        self._calculations: list[_Calculation] = []
        self._observations: list[tuple[str, IndexedText]] = []
        self._known_doubts: dict[tuple[str, ...], dict[str, list[str]]] = {}
        for call in trajectory.calls:
            self._take(call)
        texts = [trajectory.goal]
        texts += [
            notice.text
            for step in (trajectory.before, *trajectory.steps)
            for notice in step.notices
            if isinstance(notice, Note) and notice.source == "person"
        ]
        self._question = [IndexedText(text) for text in texts]

    def _take(self, call: Call) -> None:
        seen = call.observation
        if seen is None or not seen.ok or call.action.name == FINISH:
            return
        results = _results(seen.content)
        if seen.evidence or results is not None:
            self.searched = True
            for piece in seen.evidence:
                self._add(piece, call.key, results or [])
        elif seen.effect == "pure":
            result = _result(seen.content)
            inputs = [part for _, part in _texts(call.args)]
            self._calculations.append(
                _Calculation(call.key, IndexedText(" ; ".join(inputs)), IndexedText(result))
            )
        elif not _says_itself(seen):
            self._observations.append((call.key, IndexedText(seen.text)))

    def _add(self, piece: Evidence, call: str, results: Iterable[_SearchHit]) -> None:
        known = self._pieces.setdefault(piece.doc_id, [])
        self.scores[piece.doc_id] = max(piece.score, self.scores.get(piece.doc_id, piece.score))
        texts = {each.passage.text for each in known}
        named = next((each for each in results if each.doc_id == piece.doc_id), _SearchHit())
        for where, text, offset in (
            ("evidence", piece.text, piece.offset),
            ("title", named.title, 0),
            ("source", piece.source, 0),
            ("source", named.url, 0),
        ):
            if text and text not in texts:
                texts.add(text)
                known.append(_Piece(_WHERE[where], call, IndexedText(text), offset))
        if not self._sources.get(piece.doc_id, ("", ""))[1]:
            self._sources[piece.doc_id] = (piece.source, named.title)

    def named(self, doc_id: str) -> tuple[str, str]:
        """The source and the title of a piece."""
        return self._sources[doc_id]

    def passages(self, doc_ids: Iterable[str]) -> list[str]:
        """The texts of these pieces."""
        return [
            piece.passage.text
            for name in doc_ids
            for piece in self._pieces[name]
            if piece.where == "evidence"
        ]

    def headings(self, doc_ids: Iterable[str]) -> list[str]:
        """The titles and sources of these pieces."""
        return [
            piece.passage.text
            for name in doc_ids
            for piece in self._pieces[name]
            if piece.where != "evidence"
        ]

    def in_evidence(self, fact: Fact, doc_ids: Sequence[str]) -> FactSource | None:
        """The first of these pieces that says it."""
        for name in doc_ids:
            for piece in self._pieces[name]:
                if (span := piece.passage.find(fact)) is not None:
                    start, end = span
                    inside = piece.offset + start if piece.where == "evidence" else 0
                    return FactSource(piece.where, name, piece.call, start, end - start, inside)
        return None

    def computed(
        self, claim: str, fact: Fact, doc_ids: Sequence[str]
    ) -> tuple[FactSource, Sequence[Quantity]] | None:
        """What a value follows from by arithmetic, and the numbers of the question it took."""
        question = " ; ".join(passage.text for passage in self._question)
        reckoned = speaks_of_a_result(f"{claim} {question}")
        for name in doc_ids:
            for piece in self._pieces[name]:
                if piece.where != "evidence":
                    continue
                text = piece.passage.text
                span = within(claim, fact, text)
                how = Derived(span) if span else derived(claim, fact, text, question)
                if how is None or not (
                    span or reckoned or how.counted or not restated(claim, fact, text)
                ):
                    continue
                start, end = how.span
                source = FactSource(
                    "derived", name, piece.call, start, end - start, piece.offset + start
                )
                return source, how.asked
        return None

    def in_observations(self, fact: Fact) -> FactSource | None:
        """A result of a tool that gives no evidence to cite."""
        for call, passage in self._observations:
            if (span := passage.find(fact)) is not None:
                return FactSource("observation", "", call, span[0], span[1] - span[0])
        return None

    def in_question(self, fact: Fact) -> FactSource | None:
        """What the person said."""
        for passage in self._question:
            if (span := passage.find(fact)) is not None:
                return FactSource("question", "", "", span[0], span[1] - span[0])
        return None

    def ordinary(self, word: str) -> bool:
        """Whether any text of the record writes the word without a capital."""
        return word in self._ordinary

    @cached_property
    def _ordinary(self) -> set[str]:
        pieces = [piece.passage for each in self._pieces.values() for piece in each]
        others = [passage for _, passage in self._observations]
        return {word for each in (*pieces, *others, *self._question) for word in each.ordinary}

    # ------------------------------------------------------------ calculations

    def in_calculations(self, fact: Fact, cited: Sequence[str]) -> tuple[FactSource | None, str]:
        """A calculation that gives the number, or used it, if its inputs come from somewhere.

        Where one gives it and its inputs do not, the text says which.
        """
        if not isinstance(fact.value, Number):
            return None, ""
        doubt = ""
        doubts = self._doubts(tuple(cited))
        for calculation in self._calculations:
            span = _matching_result(fact.value, calculation.result)
            if span is None and calculation.inputs.find(fact) is None:
                continue
            start, end = span or (0, 0)
            if not doubts[calculation.call]:
                return FactSource("calculation", "", calculation.call, start, end - start), ""
            if span is not None:
                doubt = (
                    f"comes from the calculation {calculation.call}, whose "
                    f"{', '.join(doubts[calculation.call])} stands in nothing that is cited"
                )
        return None, doubt

    def _doubts(self, cited: tuple[str, ...]) -> dict[str, list[str]]:
        """The inputs of each calculation that come from nowhere.

        What is cited, asked or observed is somewhere, and so is the result of a calculation all of
        whose inputs are.
        """
        if (known := self._known_doubts.get(cited)) is not None:
            return known
        pieces = [piece.passage for name in cited for piece in self._pieces[name]]
        others = [passage for _, passage in self._observations]
        sources = [*pieces, *others, *self._question]
        doubts = {
            each.call: [
                n for n in each.inputs.figures if not _constant(n) and not _held(n, sources)
            ]
            for each in self._calculations
        }
        settled = False
        while not settled:
            results = [each.result for each in self._calculations if not doubts[each.call]]
            left = {
                call: [
                    n
                    for n in numbers
                    if all(_matching_result(n, result) is None for result in results)
                ]
                for call, numbers in doubts.items()
            }
            settled, doubts = left == doubts, left
        inputs = {each.call: each.inputs.text for each in self._calculations}
        told = {
            call: [inputs[call][n.start : n.end] for n in numbers]
            for call, numbers in doubts.items()
        }
        self._known_doubts[cited] = told
        return told


_WHERE: Final[dict[str, Where]] = {"evidence": "evidence", "title": "title", "source": "source"}


def _constant(number: Number) -> bool:
    return abs(number.readings[0].raw) in CONSTANTS


def _held(number: Number, sources: Iterable[IndexedText]) -> bool:
    return any(_holds(passage, number) for passage in sources)


def _holds(passage: IndexedText, number: Number) -> bool:
    """Whether a passage has the number, with or without its scale and unit, or as a year."""
    if number.year in passage.years:
        return True
    raw = abs(number.readings[0].raw)
    for known in passage.numbers:
        for reading in known.readings:
            if raw in {abs(reading.raw), abs(reading.value)} or _mantissa(reading.raw) == raw:
                return True
    return False


def _mantissa(value: Fraction) -> Fraction:
    """5 for 5 million."""
    while value and value.denominator == 1 and value % 1000 == 0:
        value /= 1000
    return value


def _matching_result(number: Number, result: IndexedText) -> tuple[int, int] | None:
    """Where a result is this number, rounded as it is written; or the percentage it is."""
    for known in result.numbers:
        if agree(number, known):
            return known.start, known.end
        percent = [reading for reading in number.readings if reading.unit.dimension == "%"]
        for each in percent:
            share = NumberReading(each.raw / 100, each.step / 100, Unit(""))
            if agree(Number(0, 0, (share,)), known):
                return known.start, known.end
    return None


def _says_itself(seen: Observation) -> bool:
    """Whether it is the word of a run that called no tool: what a model says by itself.

    The answer of a strategy is that of such a run, which else would bear itself out.
    """
    return seen.spent is not None and not seen.spent.tool_calls


def _results(content: Json) -> list[_SearchHit] | None:
    try:
        return msgspec.convert(content, _Results).results
    except msgspec.ValidationError:
        return None


def _result(content: Json) -> str:
    """What a calculation came to: its `result`, or all of it."""
    if isinstance(content, dict):
        fields = msgspec.convert(content, dict[str, Any])
        content = fields.get("result", "")
    return text_or_json(content)


def _texts(value: Json) -> Iterator[tuple[str, str]]:
    """The arguments of a call as texts."""
    for name, each in msgspec.convert(value, dict[str, Any]).items():
        yield name, text_or_json(each)
