"""Bounds: functions from the record to a reason why the run may not think again.

All of them look at what was spent since a person last spoke: a further word gives a run the same
again. `Limits` holds the numbers of every axis; each bound is a frozen value, so that its `repr`
can stand in the record. A reason reads "name: detail". What is left of them, and whether the next
call fits, is reckoned in `budget.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Final, Literal

import msgspec

from clew.core.errors import ConfigError
from clew.core.events import FINISH, Grant, Verdict
from clew.core.interfaces import Bound, Guard
from clew.core.trajectory import Call, Trajectory
from clew.guards import NoProgress, Stuck

DEFAULT_COST = 1.0
"""US dollars a run may cost where prices are known and nothing else was said."""

_PARTED: Final = frozenset({"cost", "seconds", "part_seconds", "reply_seconds", "grace"})
"""Limits that need not be whole numbers."""

_CHOICES: Final = {"unknown": ("tell", "hold"), "landing": (True, False)}
"""What is said by a word, and the words."""


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
        used = so_far.spent.tokens
        return None if used < self.most else f"tokens: {used} of {self.most} used"


class Cost(msgspec.Struct, frozen=True):
    """At most so many US dollars in a run."""

    most: float

    def __call__(self, so_far: Trajectory) -> str | None:
        """A reason once they are spent."""
        spent = so_far.spent.cost
        return None if spent < self.most else f"cost: ${spent:.4f} of ${self.most:.4f} spent"


class Seconds(msgspec.Struct, frozen=True):
    """At most so many seconds of work; waiting for a person does not count."""

    most: float

    def __call__(self, so_far: Trajectory) -> str | None:
        """A reason once they have passed."""
        worked = so_far.spent.seconds
        return None if worked < self.most else f"seconds: {worked:.1f} of {self.most:g} worked"


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
        soon = so_far.reserved.tool_calls + tally.waiting(place)
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
    """What stops a run: a finite number for each axis, and what happens there.

    A model call is reserved before it is made (`budget.py`), so `tokens` and `cost` are passed by
    one call's excess at most. `depth` is how deep sub-runs may nest. A call whose arguments have
    more bytes of JSON than `argument_bytes` is refused; of an observation `observation_bytes` stay.

    In seconds: `part_seconds` is the deadline of a guard, check, screen, probe or retrieval of your
    own, `reply_seconds` that of one thought of a model of your own (those that ship keep deadlines
    themselves), and `grace` what any of these, or a tool, has to end once it was stopped.

    `cost` in US dollars: None means `DEFAULT_COST` where the model's price is known, and no bound
    on cost where it is not (tokens still bound the run).

    `landing` says whether a tripped bound still asks for one last thought, `no_progress` how often
    a run may repeat itself to no avail (None: as often as it likes), and `unknown` what follows an
    unsafe call nobody saw the end of: "tell" the model, or "hold" for a person.
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
    landing: bool = field(default=True, repr=False)  # the record names these apart
    no_progress: NoProgress | None = field(default_factory=NoProgress, repr=False)
    unknown: Literal["tell", "hold"] = field(default="tell", repr=False)

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a limit that bounds nothing or forbids everything."""
        numbers = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, known in _CHOICES.items():
            if (said := numbers.pop(name)) not in known:
                words = ", ".join(map(str, known))
                raise ConfigError(f"limit {name} is {said!r}: choose one of {words}")
        if not isinstance(guard := numbers.pop("no_progress"), NoProgress | None):
            raise ConfigError(f"limit no_progress is {guard!r}: give a NoProgress, or None")
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
        paid = (Cost(self.most_cost),) if priced else ()
        return (*usual, *paid, *(() if self.no_progress is None else (Stuck(),)))

    @property
    def most_cost(self) -> float:
        """What a run may cost, where it is known what it does cost."""
        return DEFAULT_COST if self.cost is None else self.cost

    @property
    def allowance(self) -> Grant:
        """What a run may take in all, by the numbers."""
        return Grant(
            self.steps,
            self.tool_calls,
            self.tokens,
            float(self.seconds),
            self.most_cost,
            self.depth,
        )

    @property
    def guard(self) -> Guard:
        """The guard that holds the caps on calls inside a step."""
        return Caps(self.tool_calls, self.calls_per_step, self.calls_per_tool)


RESEARCH = Limits(steps=40, tool_calls=80, seconds=1800.0)
"""The profile for long searches."""
