"""Bounds: functions from the record to a reason why the run may not think again.

All of them look at what was spent since a person last spoke: a further word gives a run the same
again. `Limits` holds the numbers of every axis; each bound is a frozen value, so that its `repr`
can stand in the record. A reason reads "name: detail".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final

import msgspec

from clew.errors import ConfigError
from clew.events import FINISH, Grant, Verdict
from clew.protocols import Bound, Guard, Left
from clew.trajectory import Call, Trajectory

DEFAULT_COST = 1.0
"""US dollars a run may cost where prices are known and nothing else was said."""

_PARTED: Final = frozenset({"cost", "seconds", "part_seconds", "reply_seconds", "grace"})
"""Limits that need not be whole numbers."""


class Steps(msgspec.Struct, frozen=True):
    """At most so many thoughts, the landing not counted."""

    most: int

    def __call__(self, so_far: Trajectory) -> str | None:
        """A reason once they are used up."""
        if so_far.spent.steps < self.most:
            return None
        return f"steps: {self.most} of {self.most} used"


class ToolCalls(msgspec.Struct, frozen=True):
    """At most so many calls of tools in a run."""

    most: int

    def __call__(self, so_far: Trajectory) -> str | None:
        """A reason once they are used up."""
        made = so_far.spent.tool_calls
        return None if made < self.most else f"tool_calls: {made} of {self.most} used"


class Tokens(msgspec.Struct, frozen=True):
    """At most so many model tokens in a run, prompts and replies together."""

    most: int

    def __call__(self, so_far: Trajectory) -> str | None:
        """A reason once they are used up."""
        used = so_far.spent.usage.tokens + so_far.spent.lost.tokens
        return None if used < self.most else f"tokens: {used} of {self.most} used"


class Cost(msgspec.Struct, frozen=True):
    """At most so many US dollars in a run."""

    most: float

    def __call__(self, so_far: Trajectory) -> str | None:
        """A reason once they are spent."""
        spent = so_far.spent.usage.known_cost + so_far.spent.lost.known_cost
        return None if spent < self.most else f"cost: ${spent:.4f} of ${self.most:.4f} spent"


class Seconds(msgspec.Struct, frozen=True):
    """At most so many seconds of work; waiting for a person does not count."""

    most: float

    def __call__(self, so_far: Trajectory) -> str | None:
        """A reason once they have passed."""
        worked = so_far.spent.active_ms / 1000
        return None if worked < self.most else f"seconds: {worked:.1f} of {self.most:g} worked"


class Granted(msgspec.Struct, frozen=True):
    """What a sub-run was granted, over its whole record: a further word to it gives no more.

    Every agent has it; it binds only where there is a grant.
    """

    def __call__(self, so_far: Trajectory) -> str | None:
        """A reason once any of it is used up."""
        if (grant := so_far.grant) is None:
            return None
        left = rest(grant, so_far)
        if grant.cost is not None and left.cost <= 0:
            return f"grant: ${grant.cost:.4f} granted, and spent"
        for name in ("steps", "tool_calls", "tokens", "seconds"):
            if getattr(left, name) <= 0:
                return f"grant: {name}: {getattr(grant, name):g} granted, and used"
        return None


def rest(grant: Grant, so_far: Trajectory) -> Left:
    """What is left of a grant."""
    spent, lent = so_far.total, so_far.lent
    used = spent.usage + spent.lost
    return Left(
        steps=max(0, grant.steps - spent.steps - lent.steps),
        tool_calls=max(0, grant.tool_calls - spent.tool_calls - lent.tool_calls),
        tokens=max(0, grant.tokens - used.tokens - lent.tokens),
        seconds=max(0.0, grant.seconds - spent.active_ms / 1000),
        cost=max(0.0, (grant.cost or 0.0) - used.known_cost - (lent.cost or 0.0)),
        depth=grant.depth,
    )


class Faults(msgspec.Struct, frozen=True):
    """At most so many unreadable replies in a row."""

    most: int

    def __call__(self, so_far: Trajectory) -> str | None:
        """A reason once there were as many."""
        count = so_far.faults_in_row
        return None if count < self.most else f"faults: {count} unreadable replies in a row"


class Caps(msgspec.Struct, frozen=True):
    """A guard: refuses calls over a cap, so that one reply with many calls exceeds none."""

    total: int
    per_step: int
    per_tool: Mapping[str, int] = msgspec.field(default_factory=dict[str, int])

    async def __call__(self, call: Call, so_far: Trajectory) -> Verdict | None:
        """Deny with code "cap"; calls of this step that were let through count as made."""
        name = call.action.name
        if name == FINISH:
            return None
        tally, place = so_far.tally, call.place
        soon = so_far.lent.tool_calls + tally.waiting(place)
        if so_far.spent.tool_calls + soon >= self.total:
            return _over(
                f"all {self.total} tool calls of this run are used: answer with what is known"
            )
        if so_far.grant is not None and so_far.total.tool_calls + soon >= so_far.grant.tool_calls:
            return _over(
                f"all {so_far.grant.tool_calls} tool calls granted are used: "
                "answer with what is known"
            )
        if tally.let_through(place) >= self.per_step:
            return _over(f"only {self.per_step} call(s) a step: make this one in the next step")
        most = self.per_tool.get(name)
        if most is not None and so_far.spent.calls[name] + tally.waiting(place, name) >= most:
            return _over(f"{name} may be called {most} times in a run and was: use what it gave")
        return None


def _over(reason: str) -> Verdict:
    return Verdict("deny", reason, code="cap")


@dataclass(frozen=True)
class Limits:
    """The numbers that bound a run, one for each axis; all are finite.

    A model call is reserved before it is made (`clew.budget`), so `tokens` and `cost` are passed by
    one call's excess at most. `depth` is how deep sub-runs may nest. A call whose arguments have
    more bytes of JSON than `argument_bytes` is refused; of an observation `observation_bytes` stay.

    In seconds: `part_seconds` is the deadline of a guard, check, screen, probe or retrieval of your
    own, `reply_seconds` that of one thought of a model of your own (those that ship keep deadlines
    themselves), and `grace` what any of these, or a tool, has to end once it was stopped.

    `cost` in US dollars: None means `DEFAULT_COST` where the model's price is known, and no bound
    on cost where it is not (tokens still bound the run).
    """

    steps: int = 15
    tool_calls: int = 30
    calls_per_step: int = 16
    calls_per_tool: Mapping[str, int] = field(default_factory=dict[str, int])
    tokens: int = 1_000_000
    cost: float | None = None
    seconds: float = 600.0
    faults: int = 3
    depth: int = field(default=3, repr=False)  # the record names these where they are others
    argument_bytes: int = field(default=1_000_000, repr=False)
    observation_bytes: int = field(default=10_000_000, repr=False)
    part_seconds: float = field(default=30.0, repr=False)  # these change nothing on record
    reply_seconds: float = field(default=3600.0, repr=False)
    grace: float = field(default=2.0, repr=False)

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a limit that bounds nothing or forbids everything."""
        numbers = {f.name: getattr(self, f.name) for f in fields(self)}
        if not isinstance(by_tool := numbers.pop("calls_per_tool"), Mapping):
            message = f"limit calls_per_tool is {by_tool!r}: give numbers by the names of tools"
            raise ConfigError(message)
        numbers |= {f"calls_per_tool[{name}]": most for name, most in self.calls_per_tool.items()}
        for name, number in numbers.items():
            if name == "cost" and number is None:
                continue
            kind, what = (int | float, "number") if name in _PARTED else (int, "whole number")
            if isinstance(number, bool) or not isinstance(number, kind):
                message = f"limit {name} is {number!r}: give a {what} over 0"
                raise ConfigError(message)
            if name == "depth" and number == 0:  # no sub-runs at all
                continue
            if not 0 < number < float("inf"):
                message = f"limit {name} is {number}: give a finite number over 0"
                raise ConfigError(message)

    def bounds(self, *, priced: bool) -> tuple[Bound, ...]:
        """The bounds these numbers mean. Raises `ConfigError` for a cost without a price."""
        if self.cost is not None and not priced:
            message = (
                "a cost limit needs a model with a known price: say what it costs (prices=, or "
                "[prices] in an agent file), or limit tokens"
            )
            raise ConfigError(message)
        usual: tuple[Bound, ...] = (
            Faults(self.faults),
            Steps(self.steps),
            ToolCalls(self.tool_calls),
            Tokens(self.tokens),
            Seconds(self.seconds),
        )
        cost = self.most_cost(priced=priced)
        return usual if cost is None else (*usual, Cost(cost))

    def most_cost(self, *, priced: bool) -> float | None:
        """What a run may cost; None where nobody knows what it does cost."""
        if not priced:
            return None
        return DEFAULT_COST if self.cost is None else self.cost

    @property
    def guard(self) -> Guard:
        """The guard that holds the caps on calls inside a step."""
        return Caps(self.tool_calls, self.calls_per_step, self.calls_per_tool)

    def left(self, so_far: Trajectory) -> Left:
        """What may still be taken; of a sub-run also of its grant."""
        spent, lent = so_far.spent, so_far.lent
        used, lost = spent.usage, spent.lost
        most = DEFAULT_COST if self.cost is None else self.cost
        own = Left(
            steps=max(0, self.steps - spent.steps - lent.steps),
            tool_calls=max(0, self.tool_calls - spent.tool_calls - lent.tool_calls),
            tokens=max(0, self.tokens - used.tokens - lost.tokens - lent.tokens),
            seconds=max(0.0, self.seconds - spent.active_ms / 1000),
            cost=max(0.0, most - used.known_cost - lost.known_cost - (lent.cost or 0.0)),
            depth=self.depth,
        )
        if so_far.grant is None:
            return own
        granted = rest(so_far.grant, so_far)
        least = {
            name: min(getattr(own, name), getattr(granted, name)) for name in Left.__struct_fields__
        }
        if so_far.grant.cost is None:
            least["cost"] = own.cost
        return Left(**least)


def told(left: Left, near: int) -> list[str]:
    """What is left of steps and calls, in lines for the model: where it is at most `near`."""
    said: list[str] = []
    if left.steps <= near:
        last = "This is the last step: finish now."
        said.append(last if left.last else f"{left.steps} steps are left.")
    if left.tool_calls <= near:
        said.append(f"{left.tool_calls} tool calls are left.")
    return said


RESEARCH = Limits(steps=40, tool_calls=80, seconds=1800.0)
"""The profile for long searches."""
