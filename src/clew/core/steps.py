"""What a fold is made of: calls, the steps they belong to, and what work took."""

import hashlib
from collections import Counter
from collections.abc import Collection
from typing import TypeAlias

import msgspec

from clew.core.events import (
    FINISH,
    Action,
    Attempt,
    Changed,
    Forked,
    Grant,
    Json,
    Judged,
    Landing,
    Note,
    Observation,
    Ruling,
    Spending,
    Thought,
    Usage,
    encode,
)

Aside: TypeAlias = Note | Landing | Forked | Changed
"""What the model is told between an observation and its next thought."""


_sorted = msgspec.json.Encoder(order="sorted")


def args_hash(tool: str, args: dict[str, Json]) -> str:
    """Identify a call by what it asks for: the same tool and arguments give the same 16 digits."""
    return hashlib.blake2b(_sorted.encode([tool, args]), digest_size=8).hexdigest()


def first_args_hash(tool: str, args: dict[str, Json]) -> str:
    """What `args_hash` was at first: dicts within the arguments had the order they came in."""
    return hashlib.blake2b(encode([tool, sorted(args.items())]), digest_size=8).hexdigest()


def _same(one: dict[str, Json], other: dict[str, Json]) -> bool:
    """Whether two calls' arguments are the same JSON (True is not 1)."""
    return _sorted.encode(one) == _sorted.encode(other)


class Call(msgspec.Struct, eq=False, gc=False):
    """One action of a step and everything that became of it. `key` is `step.index`, from 1."""

    key: str
    action: Action
    verdict: Judged | None = None
    hints: tuple[Judged, ...] = ()
    ruling: Ruling | None = None
    attempts: tuple[Attempt, ...] = ()
    observation: Observation | None = None
    deadline: int = 0
    """When the last attempt must have ended, in Unix milliseconds."""
    again: bool = False
    """Whether a person allowed it (once more) since the last attempt."""
    revised: dict[str, Json] | None = None
    """The arguments a verdict or a person last put in the place of the model's."""
    revision: str = ""
    """What the model is told of them."""
    blotted: bool = False
    """Whether those arguments held a secret, which the record does not keep."""
    _hash: str = ""

    @property
    def args(self) -> dict[str, Json]:
        """The arguments as last ruled or amended, else as the model wrote them."""
        return self.action.args if self.revised is None else self.revised

    @property
    def redacted(self) -> bool:
        """Whether the arguments are not those that it is to be made with: they held a secret."""
        return self.action.redacted if self.revised is None else self.blotted

    @property
    def hash(self) -> str:
        """The `args_hash` of the call as it will be, or was, made."""
        if not self._hash:
            self._hash = args_hash(self.action.name, self.args)
        return self._hash

    @property
    def question(self) -> str:
        """What a person's word on it holds for: its arguments, and how often it was begun.

        Whether a call is to be made again is another question than whether it is to be made.
        """
        return f"{self.hash}+{len(self.attempts)}" if self.in_doubt else self.hash

    @property
    def remarks(self) -> list[str]:
        """What the model is told beside the observation: hints, and arguments that are not its."""
        said = [hint.verdict.reason for hint in self.hints]
        if self.revised is not None and not _same(self.revised, self.action.args):
            said.append(self.revision)
        return said

    def revise(self, args: dict[str, Json] | None, why: str, *, redacted: bool = False) -> None:
        """Put other arguments, if these are others, in the place of those it has."""
        if args is not None and (redacted != self.redacted or not _same(args, self.args)):
            self.revised, self.blotted, self._hash = args, redacted, ""
            self.revision = f"the arguments were changed to {encode(args).decode()}{why}"

    @property
    def place(self) -> int:
        """Its place in its step, from 1; 0 for a person's words."""
        return int(self.key.partition(".")[2])

    @property
    def held(self) -> bool:
        """Whether it waits for a person's ruling."""
        return (
            self.verdict is not None
            and self.verdict.verdict.kind == "hold"
            and self.ruling is None
            and self.observation is None
        )

    @property
    def child(self) -> str:
        """The run of its own that it is made in, where it has one and was begun."""
        return self.attempts[-1].child if self.attempts else ""

    @property
    def grant(self) -> Grant | None:
        """What its sub-run may take while it goes on: it counts as spent until the rest is back."""
        return self.attempts[-1].grant if self.attempts and self.observation is None else None

    @property
    def in_doubt(self) -> bool:
        """Whether an effect was begun and nobody knows how it ended; a sub-run's record knows."""
        return bool(self.attempts) and self.observation is None and not self.child


class Totals(msgspec.Struct):
    """What work took: thoughts, calls really made by tool name, model usage, active milliseconds.

    Refused calls do not count, finish neither, nor the thought of a landing. What sub-runs took is
    in `steps`, `below` (their calls) and `usage`. `lost` is an estimate of model calls whose
    replies nobody saw; `tokens` and `cost` count it too.
    """

    steps: int = 0
    calls: Counter[str] = msgspec.field(default_factory=Counter[str])
    usage: Usage = msgspec.field(default_factory=Usage)
    active_ms: int = 0
    below: int = 0
    lost: Usage = msgspec.field(default_factory=Usage)

    @property
    def tool_calls(self) -> int:
        """All calls that were made, those of sub-runs with them."""
        return self.calls.total() + self.below

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies."""
        return self.usage.tokens + self.lost.tokens

    @property
    def cost(self) -> float:
        """US dollars, as far as they are known."""
        return self.usage.known_cost + self.lost.known_cost

    @property
    def seconds(self) -> float:
        """Seconds of work."""
        return self.active_ms / 1000

    @property
    def spending(self) -> Spending:
        """What the run that a sub-run serves counts of it."""
        return Spending(self.steps, self.tool_calls, self.usage + self.lost)

    def add(self, took: Spending) -> None:
        """Count what a sub-run took."""
        self.steps += took.steps
        self.below += took.tool_calls
        self.usage += took.usage


class Step(msgspec.Struct, gc=False):
    """A thought and everything until the next. Step 0 is what comes before the first thought."""

    number: int
    thought: Thought | None = None
    calls: tuple[Call, ...] = ()
    asides: tuple[Aside, ...] = ()
    concluded: bool = False
    """Whether a stop has taken, or given up, its answer."""

    @property
    def pending(self) -> list[Call]:
        """Calls without an observation, except finish."""
        return [
            call for call in self.calls if call.observation is None and call.action.name != FINISH
        ]

    @property
    def alone(self) -> bool:
        """Whether nothing goes on side by side in it: of several calls, all but one are done."""
        return len(self.calls) <= 1 or len(self.pending) <= 1

    @property
    def finish(self) -> Call | None:
        """The first call of finish that is not refused, until a stop has taken its answer."""
        if self.concluded:
            return None
        for call in self.calls:
            if call.action.name == FINISH and (not call.observation or call.observation.ok):
                return call
        return None

    @property
    def person_spoke(self) -> bool:
        """Whether a person has spoken since the thought."""
        if not self.asides:  # as a rule, and asked of several steps at every step
            return False
        return any(isinstance(a, Note) and a.source == "person" for a in self.asides)

    @property
    def answered(self) -> bool:
        """Whether the thought answers in plain text and nobody has objected since."""
        return (
            self.thought is not None
            and self.thought.answer is not None
            and not self.concluded
            and not any(isinstance(a, Note) and a.source != "late" for a in self.asides)
        )

    @property
    def declined(self) -> bool:
        """Whether the thought says that the model cannot answer."""
        return self.thought is not None and self.thought.reply.finish == "declined"

    @property
    def answer(self) -> Call | str | None:
        """What waits to be concluded: an open call of finish, a text, or nothing."""
        if (call := self.finish) is not None:
            return call
        return self.thought.answer if self.thought is not None and self.answered else None


def sum_of(grants: Collection[Grant]) -> Grant:
    """What several grants come to; seconds pass for all of them at once."""
    return Grant(
        steps=sum(grant.steps for grant in grants),
        tool_calls=sum(grant.tool_calls for grant in grants),
        tokens=sum(grant.tokens for grant in grants),
        seconds=0.0,
        cost=sum(grant.cost or 0.0 for grant in grants),
    )
