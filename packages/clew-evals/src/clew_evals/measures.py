"""What is counted in the records of a trial, and what is read from its outcome."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from clew import Trajectory, Usage
from clew.core.codes import Code
from clew.evidence import Audit
from clew.interfaces import FINISH, Judged, Landing
from clew_evals.outcome import Counted, Kind, Outcome

Twins: TypeAlias = tuple[str, str, str, int, int]
"""What the outcomes of a pair have in common: pair, configuration, model, seed, repetition."""


def counted(records: Sequence[Trajectory], audit: Audit | None = None) -> Counted:
    """Count what the runs of a trial spent and how they went.

    For a vote, pass the records of its runs, and of its verifier if that is an agent, but not the
    vote's own record. Steps are thoughts, including that of a landing.
    """
    asked = [call for record in records for call in record.calls]
    failed = Counter(
        call.action.name
        for call in asked
        if call.action.name != FINISH  # an answer that was refused is no call that failed
        and (
            call.in_doubt
            or (call.observation and not call.observation.ok and call.observation.made)
        )
    )
    thoughts = [step.thought for record in records for step in record if step.thought is not None]
    events = [entry.event for record in records for entry in record.entries]
    mended = sum(isinstance(event, Judged) and _mends(event) for event in events)
    checked = [claim for claim in audit.claims if claim.state != "not checkable"] if audit else []
    calls = sum((record.total.calls for record in records), start=Counter[str]())
    return Counted(
        steps=sum(len(record.steps) for record in records),
        usage=sum((record.usage for record in records), start=Usage()),
        seconds=sum(record.total.seconds for record in records),
        faults=sum(bool(thought.fault) for thought in thoughts),
        repairs=sum(bool(thought.repairs) for thought in thoughts) + mended,
        landings=sum(isinstance(event, Landing) for event in events),
        calls=dict(calls),
        failed_calls=dict(failed),
        unknown=_refused(records, "unknown_tool"),
        bad_arguments=_refused(records, "invalid_arguments"),
        claims=len(checked),
        supported=sum(claim.state == "supported" for claim in checked),
    )


def _mends(event: Judged) -> bool:
    """Whether a tool has repaired its arguments; a guard's amendment is no repair."""
    return event.verdict.kind == "amend" and event.by.endswith(".repair")


def _refused(records: Sequence[Trajectory], code: Code) -> dict[str, int]:
    """Calls that were refused for this, by the name that was asked for."""
    return dict(
        Counter(
            call.action.name
            for record in records
            for call in record.calls
            if call.observation is not None and call.observation.code == code
        )
    )


def kind(outcome: Outcome) -> Kind | None:
    """Why the trial did not pass, the first that fits; None where it did."""
    if outcome.passed:
        return None
    if outcome.right:
        return "twin"
    counts = outcome.counted
    kinds: tuple[tuple[Kind, bool], ...] = (
        ("failed", not outcome.stopped),
        ("rejected", outcome.status == "failed"),
        ("bound", outcome.status == "bound"),
        ("held", outcome.status in {"held", "interrupted"}),
        ("refused", outcome.status == "refused"),
        ("declined", outcome.status == "declined"),
        ("fault", counts.faults > 0),
        ("no such tool", bool(counts.unknown)),
        ("bad arguments", bool(counts.bad_arguments)),
        ("unsupported claim", counts.supported < counts.claims),
    )
    for name, fits in kinds:
        if fits:
            return name
    return "wrong answer"


def paired(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes with `passed` and `kind` set: twins pass only together.

    Twins are the outcomes of one pair by the same configuration and model, with the same seed and
    repetition. In an unfinished evaluation, those that exist count.
    """
    right: dict[Twins, bool] = defaultdict(lambda: True)
    for each in outcomes:
        right[twins_of(each)] &= each.right
    done: list[Outcome] = []
    for each in outcomes:
        passed = right[twins_of(each)] if each.pair else each.right
        settled = msgspec.structs.replace(each, passed=passed)
        done.append(msgspec.structs.replace(settled, kind=kind(settled)))
    return done


@dataclass
class PassCount:
    """How many outcomes passed, counted one by one as `paired` counts them all."""

    passed: int = 0
    _right: dict[tuple[str, ...] | Twins, dict[str, bool]] = field(
        default_factory=lambda: defaultdict[tuple[str, ...] | Twins, dict[str, bool]](dict)
    )

    def add(self, outcome: Outcome) -> None:
        """Count an outcome, in the place of an earlier one of the same trial."""
        group = self._right[twins_of(outcome) if outcome.pair else (outcome.run_id,)]
        before = len(group) if all(group.values()) else 0
        group[outcome.run_id] = outcome.right
        self.passed += (len(group) if all(group.values()) else 0) - before


def twins_of(each: Outcome) -> Twins:
    """What it shares with its twins."""
    return each.pair, each.configuration, each.model, each.seed, each.repetition
