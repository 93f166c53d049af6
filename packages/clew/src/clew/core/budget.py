"""The one account of a run: what it may take, what it took, and whether the next call still fits.

The numbers that a person sets are compared with what a run took since a person
last spoke: a further word gives it the same again. Before each thought a call is reserved: its
prompt and the most it may answer must fit in what is left, beside a
reserve for a landing. All of it is read from the record, so a replay comes to the same. What a
provider takes beyond it is excess: then nothing more is begun.
"""

import math
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from clew.core.bounds import Left, Tripped
from clew.core.codes import EFFECTFUL, BoundCode
from clew.core.contents import Grant, Usage
from clew.core.events import Thought
from clew.core.tools import Tool
from clew.core.trajectory import Call, Totals, Trajectory

MIN_SECONDS: Final = 1.0
"""The least time in seconds that a call gets, however little is left."""

LANDING_SHARE: Final = 0.25
"""The part of a run's seconds that the reply of its landing may take beyond them."""

RESERVE: Final = 2
"""The thoughts that a parent keeps back from its grants: one more, and a landing."""

_USED_UP: Final = {
    "faults": "{} unreadable replies in a row",
    "steps": "{1} of {1} used",
    "tool_calls": "{} of {} used",
    "tokens": "{} of {} used",
    "seconds": "{:.1f} of {:g} worked",
    "cost": "${:.4f} of ${:.4f} spent",
}
"""The axes that have a bound, and what is said of one that is used up."""

_Axis: TypeAlias = Literal["steps", "tool_calls", "tokens", "seconds", "cost"]
AXES: Final[tuple[_Axis, ...]] = ("steps", "tool_calls", "tokens", "seconds", "cost")

_GRANTED: Final[dict[_Axis, BoundCode]] = {
    "steps": "grant_steps",
    "tool_calls": "grant_tool_calls",
    "tokens": "grant_tokens",
    "seconds": "grant_seconds",
    "cost": "grant_cost",
}

_NOTHING: Final = Usage()


class AtMost(msgspec.Struct, frozen=True):
    """A bound: at most so much of what `axis` names, since a person last spoke."""

    axis: _Axis | Literal["faults"]
    maximum: float

    def __call__(self, trajectory: Trajectory) -> Tripped | None:
        """What is said once it is used up."""
        used = (
            trajectory.faults_in_row
            if self.axis == "faults"
            else getattr(trajectory.spent, self.axis)
        )
        late = self.axis == "seconds" and trajectory.late  # clocks differ; what was cut was late
        if used < self.maximum and not late:
            return None
        return Tripped(self.axis, self.axis, _USED_UP[self.axis].format(used, self.maximum))

    def __repr__(self) -> str:
        """As records name it, such as "ToolCalls(most=30)"."""
        return f"{self.axis.title().replace('_', '')}(most={self.maximum!r})"


class Allowance(NamedTuple):
    """One quantity that model calls spend: its limit, and what was spent.

    `granted` says that the limit is that of a grant.
    """

    axis: Literal["tokens", "cost"]
    maximum: float
    used: float
    granted: bool

    @property
    def in_dollars(self) -> bool:
        """Whether it is money."""
        return self.axis == "cost"

    def of(self, usage: Usage) -> float:
        """The part of a usage that counts towards it."""
        return usage.known_cost if self.in_dollars else usage.tokens

    def text(self, amount: float) -> str:
        """An amount in its unit."""
        return f"${amount:.4f}" if self.in_dollars else f"{amount:,.0f}"

    def tripped(self, more: str) -> Tripped:
        """The bound, with how much was used, such as "9,100 of 10,000 used", and more."""
        word = "spent" if self.in_dollars else "used"
        state = f"{self.text(self.used)} of {self.text(self.maximum)} {word}{more}"
        if self.granted:
            return Tripped(_GRANTED[self.axis], "grant", f"{self.axis}: {state}")
        return Tripped(self.axis, self.axis, state)


class Account(NamedTuple):
    """What may be taken, what was taken of it, and what is reserved for open sub-runs.

    `granted` says that it is of a grant. Where no price is known (`priced`), cost bounds nothing.
    """

    grant: Grant
    took: Totals
    reserved: Grant
    granted: bool = False
    priced: bool = True

    def left(self) -> Grant:
        """What may still be spent, at least 0; cost is None if it is not limited."""
        grant, took, reserved = self.grant, self.took, self.reserved
        cost = None
        if grant.cost is not None:
            cost = max(0.0, grant.cost - took.cost - (reserved.cost or 0.0))
        steps = max(0, grant.steps - took.steps - reserved.steps)
        tool_calls = max(0, grant.tool_calls - took.tool_calls - reserved.tool_calls)
        tokens = max(0, grant.tokens - took.tokens - reserved.tokens)
        seconds = max(0.0, grant.seconds - took.seconds)
        return Grant(steps, tool_calls, tokens, seconds, cost, grant.depth)

    def tripped(self, *calls: Usage) -> Allowance | None:
        """What would be exceeded if these calls were made; without them, what is."""
        grant, took = self.grant, self.took
        tokens = took.tokens
        for call in calls:
            tokens += call.tokens
        if tokens > grant.tokens:
            return Allowance("tokens", grant.tokens, took.tokens, self.granted)
        if not self.priced or grant.cost is None:
            return None
        cost = 0.0
        for call in calls:
            cost += call.known_cost
        if took.cost + cost <= grant.cost:
            return None
        return Allowance("cost", grant.cost, took.cost, self.granted)

    def used_up(self) -> Tripped | None:
        """What is used up of a grant."""
        left, grant = self.left(), self.grant
        if grant.cost is not None and left.cost == 0:
            return Tripped("grant_cost", "grant", f"${grant.cost:.4f} granted, and spent")
        for axis in AXES[:-1]:
            if getattr(left, axis) <= 0:
                detail = f"{axis}: {getattr(grant, axis):g} granted, and used"
                return Tripped(_GRANTED[axis], "grant", detail)
        return None


class EstimatesCalls(Protocol):
    """What is known beforehand of an agent's model calls.

    `answer` are the tokens that a reply may take by the model's parameters, if they say so.
    """

    @property
    def answer(self) -> int | None: ...

    def next_call(
        self, trajectory: Trajectory, answer: int | None = None, *, later: bool = False
    ) -> Usage:
        """What the next call is expected to take, or the one after it (`later`)."""
        ...


class Budget(msgspec.Struct, frozen=True):
    """What an agent's runs may take.

    `grant` are its limits; without a known price (`priced`) their cost bounds nothing. `landing`
    says whether a reserve is kept for one, and `estimate` what a model call is expected to take.
    A run that `hands_out` ends where too little is left to hand on to another run.
    """

    grant: Grant
    estimate: EstimatesCalls
    priced: bool = True
    landing: bool = True
    hands_out: bool = False

    def standing(self, trajectory: Trajectory) -> "Standing":
        """How a run stands: its grant over the whole run, its limits since a person last spoke."""
        own = Account(self.grant, trajectory.spent, trajectory.reserved, priced=self.priced)
        if trajectory.grant is None:
            return Standing(self, trajectory, (own,))
        granted = Account(trajectory.grant, trajectory.total, trajectory.reserved, granted=True)
        return Standing(self, trajectory, (granted, own))


class Standing(msgspec.Struct, frozen=True):
    """What a run may still take, as its record stands: asked once for each move."""

    budget: Budget
    trajectory: Trajectory
    accounts: tuple[Account, ...]

    @property
    def left(self) -> Left:
        """What may still be spent; for a sub-run, also of its grant."""
        *grants, own = self.accounts
        left = own.left()
        for grant in grants:
            left = smaller_grant(left, grant.left())
        return Left(
            left.steps, left.tool_calls, left.tokens, left.seconds, left.cost or 0.0, left.depth
        )

    @property
    def exceeded(self) -> Tripped | None:
        """What was exceeded, if anything; after that nothing more starts."""
        if (passed := self._tripped()) is None:
            return None
        lost = self.trajectory.spent.lost.tokens
        more = f", {lost:,} tokens of it an estimate of calls nobody saw the end of"
        excess = passed.text(passed.used - passed.maximum)
        return passed.tripped(f", {excess} over{more if lost else ''}")

    @property
    def end(self) -> str:
        """The reason of a run with an answer: the bound it landed for, and what was exceeded."""
        bound = "seconds" if self.trajectory.late else ""
        bound = bound if self.trajectory.landing is None else self.trajectory.landing.bound
        if (over := self.exceeded) is None:
            return bound
        return ": ".join(filter(None, (bound, over.detail if over.name == bound else over.reason)))

    @property
    def unaffordable(self) -> Tripped | None:
        """Why nothing more can be paid: a grant is used up, or the next thought does not fit."""
        if self.trajectory.grant is not None and (used := self.accounts[0].used_up()) is not None:
            return used
        if self.budget.hands_out and (handed := self._handed_out()) is not None:
            return handed
        return self._shortfall()

    @property
    def lands(self) -> bool:
        """Whether a landing is wanted, and what is left suffices for it."""
        return self.budget.landing and self._tripped(self._next_call) is None

    @property
    def expected(self) -> Usage:
        """What the next call is expected to take."""
        call = self._next_call
        return call if self.budget.priced else msgspec.structs.replace(call, cost=None)

    @property
    def thinking(self) -> float:
        """Seconds that the next reply may take, from the last entry on.

        That of a landing gets a share of its own, also where no time is left.
        """
        if self.trajectory.landing is None:
            return max(0.0, self._seconds)
        seconds = min(each.grant.seconds for each in self.accounts)
        return max(self._seconds, MIN_SECONDS, seconds * LANDING_SHARE)

    def deadline(self, tool: Tool) -> float:
        """Seconds that a call may take, where the run's time may end before.

        An effect keeps the whole of its tool's timeout: cut short it would be in doubt, which is
        worse than a run that takes a little longer. Any other call is cut where the run's time
        ends, but gets a second: what is found at once can still be told in a landing.
        """
        if tool.effect in EFFECTFUL:
            return float(tool.attempts.timeout)
        return min(float(tool.attempts.timeout), max(MIN_SECONDS, round(self._seconds, 2)))

    def share(self, among: float) -> Grant:
        """One of so many parts of what the run may still take, for a sub-run.

        It keeps what it needs itself to make something of the results: another step and a landing,
        and the calls of this step that are not made yet. Time passes for all sub-runs at once, so
        it is not divided.
        """
        left, thought, trajectory = self.left, self.expected, self.trajectory
        waiting = sum(not call.attempts for call in trajectory.step.pending)
        granted = trajectory.grant is not None and trajectory.grant.cost is not None
        spare = (left.cost - RESERVE * thought.known_cost) / among
        return Grant(
            int((left.steps - 1) // among),
            int((left.tool_calls - waiting) // among),
            int((left.tokens - RESERVE * thought.tokens) // among),
            round(left.seconds - RESERVE * _thinking(trajectory), 3),
            spare if self.budget.priced or granted else None,
            left.depth - 1,
        )

    @property
    def _seconds(self) -> float:
        left = math.inf
        for each in self.accounts:
            left = min(left, each.grant.seconds - each.took.seconds)
        return left

    @property
    def _next_call(self) -> Usage:
        return self.budget.estimate.next_call(self.trajectory)

    def _handed_out(self) -> Tripped | None:
        """Why a strategy's last runs failed, if too little is left to hand on to another one.

        A model would be told, and answer with what it knows. A strategy only makes of it that it
        has no answer: what it has so far is its landing, as where a bound is reached.
        """
        if not (failed := [call for call in self.trajectory.step.calls if _failed(call)]):
            return None
        refused = sum(_granted_nothing(call) for call in failed)
        share = self.share(max(1, refused))
        depth, calls = max(0, share.depth), share.tool_calls - refused
        axis = _lacking(msgspec.structs.replace(share, depth=depth, tool_calls=calls))
        return None if axis is None else Tripped(axis, axis, "too little is left to hand on")

    def _shortfall(self) -> Tripped | None:
        """Why the next thought does not fit into what is left, or None."""
        estimate, trajectory = self.budget.estimate, self.trajectory
        call = estimate.next_call(trajectory, estimate.answer)
        reserve = estimate.next_call(trajectory, later=True) if self.budget.landing else _NOTHING
        if (lacking := self._tripped(call, reserve)) is None:
            return None
        need, more = lacking.of(call), lacking.of(reserve)
        why = f" and the next call needs about {lacking.text(need)}"
        if need <= lacking.maximum - lacking.used:
            why += f", beside {lacking.text(more)} for a landing"
        return lacking.tripped(why)

    def _tripped(self, *calls: Usage) -> Allowance | None:
        """What would be passed if these calls were made, the grant first."""
        for account in self.accounts:
            if (passed := account.tripped(*calls)) is not None:
                return passed
        return None


def smaller_grant(one: Grant, other: Grant) -> Grant:
    """The smaller of two grants on every axis."""
    return Grant(
        min(one.steps, other.steps),
        min(one.tool_calls, other.tool_calls),
        min(one.tokens, other.tokens),
        min(one.seconds, other.seconds),
        min((cost for cost in (one.cost, other.cost) if cost is not None), default=None),
        min(one.depth, other.depth),
        one.caps or other.caps,
    )


def too_little(grant: Grant) -> str | None:
    """Why a sub-run with this grant could not begin, in a line for the model."""
    if grant.depth < 0:
        return "runs are nested as deep as they may be: do it yourself, with your other tools"
    if (axis := _lacking(grant)) is None:
        return None
    words = axis.replace("_", " ")
    return f"too little is left of this run's {words} to hand on: answer with what is known"


def _lacking(grant: Grant) -> _Axis | None:
    """The first axis of which nothing is granted."""
    for axis in AXES:
        value = getattr(grant, axis)
        if value is not None and value <= 0:
            return axis
    return None


def _failed(call: Call) -> bool:
    """Whether a call has an observation that is no result."""
    return call.observation is not None and not call.observation.ok


def _granted_nothing(call: Call) -> bool:
    """Whether a call was refused because too little was left for it, and not by a guard."""
    seen = call.observation
    return seen is not None and seen.code == "cap" and not call.attempts and call.verdict is None


def _thinking(trajectory: Trajectory) -> float:
    """Seconds from what came before the last thought to it, where one worker saw both."""
    pairs = zip(trajectory.entries[-2::-1], trajectory.entries[::-1], strict=False)
    worked = (
        entry.at - before.at if entry.epoch == before.epoch else 0
        for before, entry in pairs
        if isinstance(entry.event, Thought)
    )
    return max(0, next(worked, 0)) / 1000
