"""The guards that every agent has: caps on its calls, and nothing done twice in a fork unasked."""

from bisect import bisect_left, insort
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from clew.core.actions import Action
from clew.core.codes import ACTING, FINISH
from clew.core.contents import Observation
from clew.core.events import Attempt, Gathered, Suspended, Thought
from clew.core.received import is_certain, repetitions
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call, Totals, Trajectory
from clew.core.verdicts import Verdict


class Caps(msgspec.Struct, frozen=True):
    """A guard: refuses calls over a cap, so that one reply with many calls exceeds none."""

    total: int
    per_step: int
    per_tool: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Deny with code "cap"; calls of this step that were let through count as made."""
        name, position = call.action.name, call.position
        if name == FINISH:
            return None
        tally = tally_of(trajectory)
        at = bisect_left(tally.begun, position)
        if tally.begun[at : at + 1] == [position]:  # a person lets it be made again: it counts
            return None
        soon = trajectory.reserved.tool_calls + tally.waiting(position)
        if trajectory.spent.tool_calls + soon >= self.total:
            return _over(
                f"all {self.total} tool calls of this run are used: answer with what is known"
            )
        if (
            trajectory.grant is not None
            and trajectory.total.tool_calls + soon >= trajectory.grant.tool_calls
        ):
            return _over(
                f"all {trajectory.grant.tool_calls} tool calls granted are used: "
                "answer with what is known"
            )
        written = position <= len(
            trajectory.step.calls
        )  # those of a program see each other's results
        if written and tally.let_through(position) >= self.per_step:
            return _over(f"only {self.per_step} call(s) a step: make this one in the next step")
        cap = self.per_tool.get(name)
        if cap is not None and trajectory.spent.calls[name] + tally.waiting(position, name) >= cap:
            return _over(f"{name} may be called {cap} times in a run and was: use what it gave")
        return None


class WholeCaps(msgspec.Struct, frozen=True):
    """A guard: caps that hold over all runs of a strategy together, and its own calls.

    `caps` are of the whole run that it judges (`AgentTool.caps`); what it was granted holds too.
    Of `acting` tools the calls have an effect.
    """

    acting: frozenset[str]
    caps: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Deny with code "cap"; calls of this step that were let through count as made."""
        name = call.action.name
        left = self.left(trajectory, call.position)
        over = [each for each in (name, ACTING) if left.get(each, 1) <= 0]
        if not over or counted(trajectory, call):
            return None
        if name in over:
            return _over(f"{name} was called as often as the whole work may: use what it gave")
        if name in self.acting:
            return _over(
                "all tool calls with an effect that the whole work may make are made or granted to "
                "other runs: answer with what is known"
            )
        return None

    def left(self, trajectory: Trajectory, position: int) -> dict[str, int]:
        """What may still be called before the call at a place, by the names of the caps."""
        left = dict[str, int]()
        granted = {} if trajectory.grant is None else trajectory.grant.caps
        for caps, totals in ((granted, trajectory.total), (self.caps, trajectory.spent)):
            for name, cap in caps.items():
                used = self.made(totals, name) + trajectory.reserved.caps.get(name, 0)
                used += self._waiting(trajectory, position, name)
                left[name] = min(left.get(name, cap), max(0, cap - used))
        return left

    def made(self, totals: Totals, name: str) -> int:
        """The calls that were made, for a cap."""
        return totals.capped[name] + sum(totals.calls[each] for each in self._counted(name))

    def _waiting(self, trajectory: Trajectory, position: int, name: str) -> int:
        tally = tally_of(trajectory)
        return sum(tally.waiting(position, each) for each in self._counted(name))

    def _counted(self, name: str) -> Collection[str]:
        return self.acting if name == ACTING else (name,)


@dataclass(frozen=True)
class AlreadyDone:
    """A guard: holds a call that repeats a side effect of another run.

    That is an effect after a fork point, in a branch that a person rewound, or in an earlier run
    for the same task. What a repeat is, by the `tools`, says `clew.core.received`.
    """

    tools: Mapping[str, ToolSpec] = field(
        default_factory=dict[str, ToolSpec], repr=False, compare=False
    )

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Hold the call for a person, who knows whether it is to happen twice."""
        name, others = call.action.name, trajectory.done_elsewhere
        earlier = [*repetitions(trajectory, call, self.tools.get(name), others)] if others else []
        if not earlier:
            return None
        done, by = earlier[0]
        what = "this" if by == name else f"what {by} would do in its place"
        certain = is_certain(trajectory, call, self.tools.get(name), done)
        was = "was done" if certain else "may have been done"
        keys = tuple(dict.fromkeys(each.key for each, _ in earlier))
        reason = f"{what} {was} already, by {', '.join(keys)}: allow it if it is to happen twice"
        return Verdict("hold", reason, repeats=keys)


def counted(trajectory: Trajectory, call: Call) -> bool:
    """Whether the call was begun before, and counts: a person lets it be made again."""
    return bool(trajectory.call(call.key).attempts)


def _over(reason: str) -> Verdict:
    return Verdict("deny", reason, code="cap")


class Tally:
    """The calls of a step by their places, from 1, in order: what came before a call is counted by
    a search in them, and not by walking the step for each of its calls.

    `closed` have an observation, `refused` are those of them that were not made, and `begun` have
    an observation or an attempt. Finish is in none of them: it is performed last of all.
    """

    def __init__(self, step: int, actions: Sequence[Action]) -> None:
        self.step = step
        self.seen = 0
        """So many entries of the record were looked at."""
        self.closed: list[int] = []
        self.refused: list[int] = []
        self.begun: list[int] = []
        self._positions: dict[str, list[int]] = {}
        """All of them by the name of their tool, finish too."""
        self._begun_by: dict[str, list[int]] = {}
        self._actions = 0
        self.ask(actions)

    def ask(self, actions: Sequence[Action]) -> None:
        """Calls of the step, in order: those of its thought, and those that its calls ask for."""
        for position, action in enumerate(actions, start=self._actions + 1):
            self._positions.setdefault(action.name, []).append(position)
        self._actions += len(actions)

    def add(self, call: Call, event: Attempt | Observation) -> None:
        """A call of the step was begun, or has its observation."""
        position, name = call.position, call.action.name
        at = bisect_left(self.begun, position)
        if self.begun[at : at + 1] != [position]:
            self.begun.insert(at, position)
            insort(self._begun_by.setdefault(name, []), position)
        if isinstance(event, Observation):
            insort(self.closed, position)
            if not event.made:
                insort(self.refused, position)

    def let_through(self, position: int) -> int:
        """How many calls before that place were not refused, or not yet."""
        finishing = bisect_left(self._positions.get(FINISH, ()), position)
        return position - 1 - finishing - bisect_left(self.refused, position)

    def waiting(self, position: int, name: str = "") -> int:
        """How many calls before that place, of a tool or of all, are neither begun nor refused."""
        if name:
            begun = bisect_left(self._begun_by.get(name, ()), position)
            return bisect_left(self._positions.get(name, ()), position) - begun
        finishing = bisect_left(self._positions.get(FINISH, ()), position)
        return position - 1 - finishing - bisect_left(self.begun, position)


def tally_of(trajectory: Trajectory) -> Tally:
    """The tally of the current step, kept with the trajectory: each entry is counted once."""
    entries, step = trajectory.entries, trajectory.step
    tally = trajectory.folds.get("tally")
    if not isinstance(tally, Tally) or tally.step != step.number:
        tally = trajectory.folds["tally"] = Tally(step.number, [call.action for call in step.calls])
        tally.seen = len(entries)
        while tally.seen and not isinstance(entries[tally.seen - 1].event, Thought):
            tally.seen -= 1
    for index in range(tally.seen, len(entries)):
        event = entries[index].event
        if isinstance(event, Attempt | Observation):
            tally.add(trajectory.call(event.call), event)
        elif isinstance(event, Suspended):
            tally.ask(event.actions)
        elif isinstance(event, Gathered):
            tally.ask([call.action for call in step.gathered])
    tally.seen = len(entries)
    return tally
