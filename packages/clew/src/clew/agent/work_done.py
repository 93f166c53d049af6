"""What a run did, read off its record: what was changed, what failed, whether anything was read.

It stands beside an answer, which may say otherwise. Nothing is inferred from anybody's words.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from clew.core.codes import EFFECTFUL, FINISH, OUTCOME, AnswerOutcome
from clew.core.settling import waits_for_result
from clew.core.tools import AnyTool
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json

CONTRADICTED: Final = "contradicted"
"""The key of a sub-run's result under which stands what its record has against its outcome."""


@dataclass(frozen=True, slots=True)
class WorkDone:
    """The calls of a run that were made, by the names of their tools.

    `changed` counts calls with an effect that succeeded, or of which somebody said so, `unknown`
    those that may have done something, and `delegated` the tasks of sub-runs, whose own records say
    what they did. `read` counts the calls without an effect that returned something, `failed` the
    calls that failed or were refused. `line` says what a reader of the answer should know; it may
    be empty.
    """

    changed: Mapping[str, int] = field(default_factory=dict[str, int])
    failed: Mapping[str, int] = field(default_factory=dict[str, int])
    unknown: Mapping[str, int] = field(default_factory=dict[str, int])
    delegated: Mapping[str, int] = field(default_factory=dict[str, int])
    read: int = 0
    line: str = ""

    def to_json(self) -> dict[str, Json]:
        """All of it as values that JSON has."""
        counts = ("changed", "failed", "unknown", "delegated")
        counted = {name: {**getattr(self, name)} for name in counts}
        return {**counted, "read": self.read, "line": self.line}


def work_done(trajectory: Trajectory, effectful: Collection[str], *, reads: bool) -> WorkDone:
    """What the run did; `effectful` are the tools with an effect, `reads` whether others read."""
    changed, failed, unknown = Counter[str](), Counter[str](), Counter[str]()
    delegated, read = Counter[str](), 0
    for call in trajectory.calls:
        name, seen = call.action.name, call.observation
        if name == FINISH:
            continue
        if call.child:
            delegated[name] += 1
        elif call.changed and call.outcome == "unknown":
            unknown[name] += not waits_for_result(call)
        elif seen is None:
            continue
        elif name not in effectful and seen.ok:
            read += 1
        elif call.outcome == "done" and (seen.ok or call.settled is not None):
            changed[name] += 1
        else:
            failed[name] += 1
    work = WorkDone(changed, failed, +unknown, delegated, read)
    return replace(work, line=_line(work, effectful, reads=reads))


def contradiction(tools: Sequence[AnyTool], trajectory: Trajectory, outcome: AnswerOutcome) -> str:
    """What the record has against what a model says came of its task, with advice; or "".

    `tools` are those of its agent.
    """
    if outcome == "done" and not (trajectory.done_elsewhere or _acted(trajectory)):
        acting = [it.name for it in tools if it.effect in EFFECTFUL]
        work = work_done(trajectory, acting, reads=False)
        undone = _failed(work, [name for name in work.failed if name in acting])
        why = f"nothing was changed: {undone}" if undone else "nothing was changed"
        return f"{why}. Do what was asked, or finish with the outcome not_done"
    reading = [it.name for it in tools if it.effect == "read" and not it.hidden]
    if outcome == "not_found" and reading and not _looked(trajectory):
        return f"nothing was looked at. Look first, with {' or '.join(reading)}"
    return ""


def contradicts(trajectory: Trajectory, outcome: str, *, reads: bool) -> bool:
    """Whether the record is against the outcome, where its tools are known only by their names."""
    if outcome == "done":
        return not (trajectory.done_elsewhere or _acted(trajectory))
    return outcome == "not_found" and reads and not _looked(trajectory)


def _acted(trajectory: Trajectory) -> bool:
    """Whether a call may have changed something, here or in a sub-run that does not deny it."""
    return any(not _denies(call) for call in trajectory.effects)


def _denies(call: Call) -> bool:
    """Whether a sub-run says itself that nothing was done, or its record does."""
    content = call.observation.content if call.child and call.observation else None
    told = cast("dict[str, Json]", content) if isinstance(content, dict) else {}
    return told.get(OUTCOME) == "not_done" or CONTRADICTED in told


def _looked(trajectory: Trajectory) -> bool:
    """Whether a call that only looks returned something."""
    seen = (it.observation for it in trajectory.calls if it.action.name != FINISH)
    return any(one.ok and one.effect == "read" for one in seen if one is not None)


def _line(work: WorkDone, effectful: Collection[str], *, reads: bool) -> str:
    """What a reader of the answer should know of an agent that acts, or that did not look."""
    acts = bool(effectful)
    if work == WorkDone():
        if reads:
            return "nothing was looked at or changed" if acts else "nothing was looked at"
        return "nothing was changed" if acts else ""
    parts: list[str] = []
    if work.changed:
        parts.append(f"changed: {_times(work.changed)}")
    if work.unknown:
        parts.append(f"unknown whether it happened: {_times(work.unknown)}")
    if work.delegated:
        parts.append(f"delegated: {_times(work.delegated)}")
    undone = _failed(work, [name for name in work.failed if name in effectful])
    if parts or not acts:
        parts += [undone] if undone else []
    else:
        parts = [f"nothing was changed: {undone}" if undone else "nothing was changed"]
    unread = _failed(work, [name for name in work.failed if name not in effectful])
    if unread and not work.read:
        parts.append(f"nothing was read: {unread}")
    return "; ".join(parts)


def _failed(work: WorkDone, names: Sequence[str]) -> str:
    """How often these failed of how often they were tried."""
    counts = (work.changed, work.failed, work.unknown)
    tried = {name: sum(each.get(name, 0) for each in counts) for name in names}
    return ", ".join(
        f"{name} failed {work.failed[name]} of {_count(tried[name])}" for name in names
    )


def _times(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {_count(count)}" for name, count in counts.items())


def _count(number: int) -> str:
    return "1 time" if number == 1 else f"{number} times"
