"""The audit: which claims of an answer its evidence supports, without any model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from clew.citations import Citation, Reference
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.evidence.amounts import Quantity
from clew.evidence.attribution import displaced
from clew.evidence.claims import Claim, claims
from clew.evidence.common import DECLINING
from clew.evidence.contradiction import contrast, overlap, without_answer
from clew.evidence.facts import Fact, Kind, facts, normal
from clew.evidence.names import Name
from clew.evidence.numbers import Number
from clew.evidence.strength import overstated
from clew.evidence.structured import as_text
from clew.evidence.subjects import reassigned
from clew.evidence.support import FactSource, Record
from clew.support.short_text import one_line

State: TypeAlias = Literal["supported", "unsupported", "uncited", "not checkable"]
Citing: TypeAlias = Literal["searched", "always", "never"]
Scope: TypeAlias = Literal["sentence", "paragraph"]

THRESHOLD: Final = 0.5
"""The score that evidence must reach to count."""


@dataclass(frozen=True, slots=True)
class CheckedFact:
    """A fact of a claim: `text` at `start` in the answer, its normal form, and where it was found.

    `source` is None if nothing that counts supports it; then `why` says more.
    """

    kind: Kind
    text: str
    start: int
    end: int
    normal: str
    source: FactSource | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Audited:
    """A claim and the result of its audit; `why` says what is wrong with it as a whole."""

    text: str
    start: int
    end: int
    state: State
    cited: tuple[str, ...] = ()
    facts: tuple[CheckedFact, ...] = ()
    why: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with it."""
        return self.state in {"supported", "not checkable"}

    @property
    def missing(self) -> tuple[CheckedFact, ...]:
        """The facts without support."""
        return tuple(fact for fact in self.facts if fact.source is None)

    @property
    def problem(self) -> str:
        """What is wrong with it, in one line for a model or a person; empty if nothing is."""
        if self.ok:
            return ""
        wrong = [*self.why, *(f"{fact.text!r} {fact.why}" for fact in self.missing if fact.why)]
        return f"“{one_line(self.text, 160)}”: {'; '.join(wrong)}"


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of an answer against the evidence of a record.

    `text` is the audited answer, to which all offsets refer. `searched` says whether the run looked
    for evidence, `weak` lists cited ids whose score is below the `threshold`, and `why` says what
    is wrong with the answer as a whole.
    """

    text: str
    claims: tuple[Audited, ...] = ()
    references: tuple[Reference, ...] = ()
    searched: bool = False
    threshold: float = THRESHOLD
    weak: tuple[str, ...] = ()
    why: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no claim is unsupported or lacks a citation that it needs."""
        return not self.why and all(claim.ok for claim in self.claims)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, one line each."""
        return (*self.why, *(claim.problem for claim in self.claims if not claim.ok))

    def count(self, state: State) -> int:
        """The number of claims in this state."""
        return sum(claim.state == state for claim in self.claims)


def audit(
    answer: Json,
    trajectory: Trajectory,
    threshold: float = THRESHOLD,
    *,
    citations: Citing = "searched",
    scope: Scope = "sentence",
    min_overlap: float = 0.0,
) -> Audit:
    """Hold an answer against the evidence of its record, claim by claim.

    A cited id must be of this record, with a score (its best) of `threshold` at least, and the
    numbers, dates, names, quotations and links of a claim must stand in what it cites, or come from
    a recorded calculation. `citations` says when a claim with such facts must cite: if the run
    searched, always or never. With `scope` "paragraph" a citation also counts for the claims of its
    paragraph that have none. An answer that is no text is audited as the text of its parts.

    A claim whose pieces are all found is laid beside the sentence of what it cites that speaks of
    it: a negation, an opposite, exchanged roles or a number that belongs to something else there
    make it unsupported. With `min_overlap` so great a share of a claim's words must stand in what
    it cites. That the passage really means what the claim says is beyond this all the same.
    """
    record = Record(trajectory)
    text, listed = as_text(answer, record.scores)
    parts = claims(text, record.scores)
    cited_ids = tuple(dict.fromkeys([*(c.doc_id for part in parts for c in part.cited), *listed]))
    required = citations == "always" or (citations == "searched" and record.searched)
    judge = _Judge(record, threshold, cited_ids, required=required, min_overlap=min_overlap)
    done = tuple(
        judge.claim(part, _reach(parts, index, scope, cited_ids, listed))
        for index, part in enumerate(parts)
    )
    weak = tuple(name for name in cited_ids if record.scores.get(name, threshold) < threshold)
    return Audit(
        text=text,
        claims=done,
        references=tuple(_references(record, cited_ids, [c for part in parts for c in part.cited])),
        searched=record.searched,
        threshold=threshold,
        weak=weak,
        why=_bare(done, cited_ids, required=required),
    )


def _reach(
    parts: Sequence[Claim],
    index: int,
    scope: Scope,
    cited_ids: tuple[str, ...],
    listed: Sequence[str],
) -> tuple[str, ...]:
    """The ids that speak for a claim: its own, else its paragraph's, or all for a heading."""
    part = parts[index]
    if own := tuple(dict.fromkeys(c.doc_id for c in part.cited)):
        return own
    if part.heading or listed:
        return cited_ids
    if scope == "paragraph":
        for other in (*parts[index + 1 :], *reversed(parts[:index])):
            if other.paragraph == part.paragraph and other.cited:
                return tuple(dict.fromkeys(c.doc_id for c in other.cited))
    return ()


def _bare(done: Sequence[Audited], cited_ids: Sequence[str], *, required: bool) -> tuple[str, ...]:
    """An answer that cites nothing must at least say that it has none, or rest on a calculation."""
    if not required or cited_ids or any(claim.state in {"uncited", "supported"} for claim in done):
        return ()
    if not done or any(_declines(claim.text) for claim in done):
        return ()
    return ("the answer cites nothing",)


def _declines(text: str) -> bool:
    lower = f" {text.lower()} ".replace("’", "'")
    return any(phrase in lower for phrase in DECLINING)


def _references(
    record: Record, cited_ids: Sequence[str], cited: Sequence[Citation]
) -> Iterator[Reference]:
    spans_of: dict[str, list[tuple[int, int]]] = {}
    for citation in cited:
        spans_of.setdefault(citation.doc_id, []).append((citation.start, citation.end))
    for name in cited_ids:
        if (score := record.scores.get(name)) is not None:
            source, title = record.named(name)
            yield Reference(name, source, score, title, tuple(spans_of.get(name, ())))


class _Judge:
    """Judges the claims of one answer."""

    def __init__(
        self,
        record: Record,
        threshold: float,
        cited_ids: Sequence[str],
        *,
        required: bool,
        min_overlap: float,
    ) -> None:
        self._record = record
        self._required = required
        self._min_overlap = min_overlap
        self._threshold = threshold
        self._strong = [n for n, score in record.scores.items() if score >= threshold]
        self._cited = [name for name in cited_ids if record.scores.get(name, -1.0) >= threshold]

    def claim(self, part: Claim, cited: tuple[str, ...]) -> Audited:
        """The claim with its facts, each looked up where it may be."""
        masked = [(c.start - part.start, c.end - part.start) for c in part.cited]
        known = [name for name in cited if name in self._record.scores]
        strong = [name for name in known if self._record.scores[name] >= self._threshold]
        wrong = [f"[{name}] is not in this record" for name in cited if name not in known]
        stated = [
            fact for fact in facts(part.text, sorted(set(masked))) if not self._ordinary(fact)
        ]
        looked_up = [
            self._checked(fact, part.start, cited, strong, heading=part.heading) for fact in stated
        ]
        checked = self._computed(part.text, stated, looked_up, strong)
        if known and not strong and not wrong and all(_elsewhere(fact) for fact in checked):
            wrong += [self._weakness(name) for name in known]
        if not wrong and strong and all(fact.source is not None for fact in checked):
            wrong += self._otherwise(_masked(part.text, masked), strong)
        state: State
        if wrong or (cited and any(fact.source is None for fact in checked)):
            state = "unsupported"
        elif cited:
            state = "supported" if checked else "not checkable"
        else:
            state = self._uncited(checked)
            if state == "uncited":
                wrong = ["it cites nothing"]
        return Audited(part.text, part.start, part.end, state, cited, checked, tuple(wrong))

    def _computed(
        self,
        claim: str,
        stated: Sequence[Fact],
        checked: Sequence[CheckedFact],
        strong: Sequence[str],
    ) -> tuple[CheckedFact, ...]:
        """The facts, with what follows by arithmetic from what is cited and what was asked."""
        sourced = list(checked)
        used: list[Quantity] = []
        missing = [index for index, fact in enumerate(checked) if fact.source is None]
        for index in missing:
            if (known := self._record.computed(claim, stated[index], strong)) is not None:
                sourced[index] = replace(sourced[index], source=known[0], why="")
                used += known[1]
        for index in missing:
            if sourced[index].source is None and _is_one_of(stated[index], used):
                asked = self._record.in_question(stated[index])
                sourced[index] = replace(sourced[index], source=asked, why="")
        return tuple(sourced)

    def _otherwise(self, claim: str, strong: Sequence[str]) -> list[str]:
        """What the cited passages say otherwise, though all the pieces of the claim are in them."""
        passages = self._record.passages(strong)
        claim = without_answer(claim)
        for differs in (contrast, displaced, overstated, reassigned):
            if difference := differs(claim, passages):
                return [f"it {difference}"]
        share = (
            overlap(claim, [*passages, *self._record.headings(strong)])
            if self._min_overlap
            else 1.0
        )
        if share < self._min_overlap:
            return [f"only {share:.0%} of its words stand in what it cites"]
        return []

    def _weakness(self, name: str) -> str:
        score = self._record.scores[name]
        return f"[{name}] is weak evidence (score {score:.2f}, under {self._threshold:.2f})"

    def _uncited(self, checked: Sequence[CheckedFact]) -> State:
        if not checked or all(
            f.source is not None and f.source.where == "question" for f in checked
        ):
            return "not checkable"
        if all(fact.source is not None for fact in checked):
            return "supported"
        return "uncited" if self._required else "not checkable"

    def _ordinary(self, fact: Fact) -> bool:
        """Whether a capital only began a sentence: the word is written small elsewhere."""
        value = fact.value
        return isinstance(value, Name) and value.initial and self._record.ordinary(value.keys[0])

    def _checked(
        self, fact: Fact, offset: int, cited: Sequence[str], strong: Sequence[str], *, heading: bool
    ) -> CheckedFact:
        source, why = self._look_up(fact, cited, strong, heading=heading)
        return CheckedFact(
            fact.kind, fact.text, fact.start + offset, fact.end + offset, normal(fact), source, why
        )

    def _look_up(
        self, fact: Fact, cited: Sequence[str], strong: Sequence[str], *, heading: bool
    ) -> tuple[FactSource | None, str]:
        record = self._record
        if source := record.in_evidence(fact, strong):
            return source, ""
        source, doubt = record.in_calculations(fact, self._cited)
        if source or (source := record.in_observations(fact)):
            return source, ""
        asked = record.in_question(fact)
        if asked and (not cited or heading or record.in_evidence(fact, self._strong)):
            return asked, ""
        return None, doubt or self._missing(fact, cited, strong)

    def _missing(self, fact: Fact, cited: Sequence[str], strong: Sequence[str]) -> str:
        """Why a fact counts as missing, and where it could be had."""
        weak = [name for name in cited if name in self._record.scores and name not in strong]
        if source := self._record.in_evidence(fact, weak):
            score = self._record.scores[source.doc_id]
            return f"stands only in [{source.doc_id}], which is weak evidence (score {score:.2f})"
        other = self._record.in_evidence(fact, self._strong)
        hint = f"it stands in [{other.doc_id}]: cite that" if other else "in no evidence at all"
        if not cited:
            return f"needs a citation ({hint})" if other else "stands in no evidence"
        ids = ", ".join(f"[{name}]" for name in cited)
        return f"does not stand in {ids}" + (f" ({hint})" if other else "")


def _masked(text: str, stretches: Sequence[tuple[int, int]]) -> str:
    """The claim without its citations, the rest where it was."""
    for start, end in stretches:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _is_one_of(fact: Fact, used: Sequence[Quantity]) -> bool:
    """Whether a number is one that was asked about and that another one was computed with."""
    return isinstance(fact.value, Number) and any(
        reading.value == each.value for reading in fact.value.readings for each in used
    )


def _elsewhere(fact: CheckedFact) -> bool:
    """Whether a fact rests on nothing that is cited."""
    return fact.source is None or fact.source.where == "question"
