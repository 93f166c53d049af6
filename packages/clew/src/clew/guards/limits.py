"""Limits: the numbers that bound a run, and the bounds and the guard that they mean."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Final, Literal, TypeAlias, get_args

from clew.core.budget import AXES, AtMost
from clew.core.contents import Grant
from clew.core.judging import Guard
from clew.guards.caps import Caps
from clew.guards.no_progress import EARLY, NoProgress
from clew.support.errors import ConfigError

DEFAULT_COST = 1.0
"""US dollars a run may cost where prices are known and nothing else was said."""

_PARTED: Final = frozenset({"cost", "seconds", "part_seconds", "reply_seconds", "grace"})
"""Limits that need not be whole numbers."""

Repeats: TypeAlias = Literal["auto", "early", "late"]

_CHOICES: Final = {"unknown": ("tell", "hold"), "landing": (True, False)}
"""What is said by a word, and the words."""


@dataclass(frozen=True)
class Limits:
    """The limits of a run, and what happens when they are reached.

    Model calls are reserved before they are made, so `tokens` and `cost` are exceeded by at most
    the excess of one call. `depth` limits the nesting of sub-runs. `calls_per_step` counts what a
    model writes at once, not what a program of its calls. A call with more than `argument_bytes` of
    JSON arguments is refused; of an observation `observation_bytes` are kept.

    In seconds: `part_seconds` is the deadline of your own guard, check, screen, probe or retrieval;
    `reply_seconds` that of one thought of your own model (models that ship have their own
    deadlines); `grace` is the time for any of these, or a tool, to end after it was stopped.

    `cost` is in US dollars. None means `DEFAULT_COST` if the model's price is known, else no limit
    on cost (`tokens` still applies).

    `landing` says whether a tripped bound allows one last thought. `unknown` says what follows an
    unsafe call with an unknown outcome, be it that the tool raised, was late or says so itself, or
    that the process ended: "tell" the model, or "hold" the call for a person.

    `no_progress` limits fruitless repetition: "late" (`NoProgress()`), "early" (`EARLY`, for small
    models), one of your own, None (no limit), or "auto", which is what the model's variant says.
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
    no_progress: NoProgress | Repeats | None = field(default="auto", repr=False)
    unknown: Literal["tell", "hold"] = field(default="tell", repr=False)

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a limit that bounds nothing or forbids everything."""
        numbers = {f.name: getattr(self, f.name) for f in fields(self)}
        for name, known in _CHOICES.items():
            value = numbers.pop(name)
            if type(value) is not type(known[0]) or value not in known:
                words = ", ".join(map(str, known))
                raise ConfigError(f"limit {name} is {value!r}: choose one of {words}")
        guard = numbers.pop("no_progress")
        if not isinstance(guard, NoProgress | None) and guard not in get_args(Repeats):
            words = ", ".join(get_args(Repeats))
            message = f"limit no_progress is {guard!r}: give {words}, a NoProgress, or None"
            raise ConfigError(message)
        if not isinstance(by_tool := numbers.pop("calls_per_tool"), Mapping):
            message = f"limit calls_per_tool is {by_tool!r}: give numbers by the names of tools"
            raise ConfigError(message)
        numbers |= {f"calls_per_tool[{name}]": cap for name, cap in self.calls_per_tool.items()}
        for name, number in numbers.items():
            if name == "cost" and number is None:
                continue
            kind, what = (int | float, "number") if name in _PARTED else (int, "whole number")
            lowest = "from 0 on" if name == "depth" else "over 0"
            if isinstance(number, bool) or not isinstance(number, kind):
                message = f"limit {name} is {number!r}: give a {what} {lowest}"
                raise ConfigError(message)
            if name == "depth" and number == 0:  # no sub-runs at all
                continue
            if not 0 < number < float("inf"):
                message = f"limit {name} is {number}: give a finite number {lowest}"
                raise ConfigError(message)

    def among(self, tools: Collection[str]) -> "Limits":
        """These limits for an agent with these tools: without what names others."""
        kept = {name: cap for name, cap in self.calls_per_tool.items() if name in tools}
        guard = self.no_progress
        if isinstance(guard, NoProgress):
            guard = guard.among(tools)
        if guard is self.no_progress and len(kept) == len(self.calls_per_tool):
            return self
        return replace(self, calls_per_tool=kept, no_progress=guard)

    def repetition(self, varied: Literal["early", "late"] | None) -> NoProgress | None:
        """The guard against repetition, where a variant has a say."""
        option = self.no_progress
        if not isinstance(option, str):
            return option
        chosen = (varied or "late") if option == "auto" else option
        return EARLY if chosen == "early" else NoProgress()

    @property
    def max_cost(self) -> float:
        """The cost limit of a run, if its cost is known."""
        return DEFAULT_COST if self.cost is None else self.cost

    @property
    def allowance(self) -> Grant:
        """What a run may spend in all."""
        seconds = float(self.seconds)
        return Grant(
            self.steps, self.tool_calls, self.tokens, seconds, self.max_cost, self.depth
        )  # fmt: skip

    @property
    def guard(self) -> Guard:
        """The guard that enforces the caps on calls within a step."""
        return Caps(self.tool_calls, self.calls_per_step, self.calls_per_tool)


RESEARCH = Limits(steps=40, tool_calls=80, seconds=1800.0)
"""Limits for long searches."""


def with_waits(limits: Limits, wait: float) -> Limits:
    """The limits where each reply may wait so many seconds at its provider: that is no work."""
    return replace(limits, seconds=limits.seconds + wait * (limits.steps + 1))


def bounds_of(limits: Limits, *, priced: bool) -> list[AtMost]:
    """The bounds that the numbers of limits mean; where no price is known, cost has none."""
    numbers = [AtMost(axis, getattr(limits, axis)) for axis in AXES if axis != "cost"]
    cost = [AtMost("cost", limits.max_cost)] if priced else []
    return [AtMost("faults", limits.faults), *numbers, *cost]
