"""How many changed answers the audit finds, and how many unchanged ones it doubts."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from benchmarks.audit.changes import change, swap
from benchmarks.audit.corpus import Answer, Entry
from clew.core.actions import Action
from clew.core.contents import Evidence, Observation, Reply, text_parts
from clew.core.entries import Entry as Line
from clew.core.events import AnyEvent, Fingerprints, Started, Thought
from clew.core.specs import AgentSpec
from clew.core.trajectory import Trajectory
from clew.evidence import Audit, audit

SEED: Final = 20
Half: TypeAlias = Literal["tuning", "held back", "last"]


@dataclass(frozen=True)
class Tried:
    """An answer that was audited: what was changed in it, and whether the audit objects."""

    what: str
    answer: str
    objects: bool
    audit: Audit


@dataclass
class Figures:
    """Counts by kind of change; `unchanged`, `swap: …` and the kinds of facts."""

    tried: dict[str, list[Tried]] = field(default_factory=lambda: defaultdict(list))

    def share(self, *kinds: str) -> float:
        """The share of these that the audit objects to."""
        done = [tried for kind in kinds for tried in self.tried[kind]]
        return sum(tried.objects for tried in done) / len(done) if done else 0.0

    @property
    def changed(self) -> list[str]:
        """The kinds of change that leave the passage."""
        return [kind for kind in self.tried if kind != "unchanged" and not kind.startswith("swap")]


def half(corpus: Sequence[Entry], which: Half) -> list[Entry]:
    """Every other passage: one half to tune on, the other for the figures that are published."""
    if which == "last":
        return list(corpus)
    return [entry for entry in corpus if (entry.number % 2 == 1) == (which == "held back")]


def record(entry: Entry, others: Sequence[Entry]) -> Trajectory:
    """A run that searched and found the passage, and others that came along."""
    pieces = tuple(
        Evidence(name(each), each.text, score, each.source)
        for each, score in zip((entry, *others), (0.92, 0.71, 0.64, 0.55), strict=False)
    )
    content = {
        "results": [
            {"doc_id": name(each), "title": each.title, "snippet": each.text}
            for each in (entry, *others)
        ]
    }
    events: list[AnyEvent] = [
        Started(
            text_parts(f"What do the notes say of {entry.title}?"),
            AgentSpec("", "scripted:audit", "", ""),
        ),
        Thought(
            Reply(), Fingerprints("", "", "", ""), actions=(Action("docs", {"query": entry.title}),)
        ),
        Observation("1.1", content, evidence=pieces),
    ]
    return Trajectory("audited", [Line(n, 0, 1, event) for n, event in enumerate(events, start=1)])


def name(entry: Entry) -> str:
    return f"doc_{entry.number + 1}"


def measure(corpus: Sequence[Entry], which: Half) -> Figures:
    """Audit every answer of this half as it is and with each of its facts changed."""
    rng, figures = random.Random(SEED), Figures()
    for entry in half(corpus, which):
        others = rng.sample([each for each in corpus if each is not entry], 3)
        trajectory = record(entry, others)
        for answer in entry.answers:
            for what, text in variants(answer, entry, others, corpus, rng):
                audited = audit(text, trajectory)
                figures.tried[what].append(Tried(what, text, not audited.ok, audited))
    return figures


def variants(
    answer: Answer,
    entry: Entry,
    others: Sequence[Entry],
    corpus: Sequence[Entry],
    rng: random.Random,
) -> Iterator[tuple[str, str]]:
    """The answer itself, then each change of it with its kind."""
    cited = f"[{name(entry)}]"
    yield "unchanged", answer.text.replace("[]", cited)
    for mark in answer.marks:
        if (text := change(mark, entry, corpus, rng)) is not None:
            yield mark.kind, answer.changed(mark, text).replace("[]", cited)
        if (text := swap(mark, entry, rng)) is not None:
            yield f"swap: {mark.kind}", answer.changed(mark, text).replace("[]", cited)
    yield "citation: no such id", answer.text.replace("[]", f"[doc_{rng.randrange(200, 900)}]")
    if answer.marks:
        yield "citation: another id", answer.text.replace("[]", f"[{name(rng.choice(others))}]")
