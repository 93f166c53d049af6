"""Parts of a trajectory: calls, the steps they belong to, and what work took."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final, Literal, TypeAlias, get_args

import msgspec
from msgspec.structs import replace

from clew.core.actions import Action
from clew.core.codes import EFFECTFUL, FINISH, OUTCOME, AnswerOutcome, Outcome
from clew.core.contents import Grant, Observation, Spending, Usage
from clew.core.events import (
    Attempt,
    Changed,
    Compacted,
    Forked,
    Judged,
    Landing,
    Note,
    Rewound,
    Ruling,
    Settled,
    Suspended,
    Thought,
)
from clew.core.values import Json, encode
from clew.support.html import html_table
from clew.support.json_values import text_or_json

Notice: TypeAlias = Note | Landing | Forked | Changed | Compacted | Rewound
"""A remark for the model between an observation and its next thought."""

_NO_USAGE: Final = Usage()
_OUTCOMES: Final[tuple[AnswerOutcome, ...]] = get_args(AnswerOutcome)

_sorted = msgspec.json.Encoder(order="sorted")


def args_hash(tool: str, args: dict[str, Json]) -> str:
    """Identify a call's request: the same tool and arguments give the same 16 digits."""
    return hashlib.blake2b(_sorted.encode([tool, args]), digest_size=8).hexdigest()


def _same(one: dict[str, Json], other: dict[str, Json]) -> bool:
    """Whether two calls' arguments are the same JSON (True is not 1)."""
    return _sorted.encode(one) == _sorted.encode(other)


class Call(msgspec.Struct, eq=False, gc=False):
    """One action of a step and everything that happened to it. `key` is `step.index`, from 1."""

    key: str
    action: Action
    verdict: Judged | None = None
    hints: tuple[Judged, ...] = ()
    ruling: Ruling | None = None
    attempts: tuple[Attempt, ...] = ()
    begun: tuple[Attempt, ...] = ()
    """Those of them that may have done something: not where the tool refused a ruling's arguments,
    and called nothing."""
    observation: Observation | None = None
    deadline: int = 0
    """The deadline of the last attempt, in Unix milliseconds."""
    again: bool = False
    """Whether a person has allowed the call (again) since the last attempt."""
    revised: dict[str, Json] | None = None
    """The arguments by which a verdict or a person last replaced the model's."""
    revision: str = ""
    """What the model is told about the replaced arguments."""
    revision_redacted: bool = False
    """Whether those arguments contained a secret, which the record does not keep."""
    suspended: Suspended | None = None
    """What it last asked for, and left to go on with."""
    asked: tuple["Call", ...] = ()
    """All calls that it asked for, in order."""
    id: str = ""
    """The provider's id of it, "" if it has none."""
    doubts: tuple[tuple[dict[str, Json], Attempt], ...] = ()
    """Attempts that a person was asked about, for nobody saw how they ended, with their arguments.
    They may have happened, whatever came of later ones."""
    settled: Settled | None = None
    """What came of it, as somebody says who looked or performed it."""
    settled_below: frozenset[str] = frozenset()
    """The ids of calls of its sub-run, and of those below that, of which somebody said it."""
    woken: bool = False
    """Whether the time has passed for which it waited for its result; as a guard gets the call, the
    time until which a guard or its tool put it off (`clew.tools.later`)."""
    _hash: str = ""

    @property
    def args(self) -> dict[str, Json]:
        """The arguments as last ruled or amended, else as the model wrote them."""
        return self.action.args if self.revised is None else self.revised

    @property
    def redacted(self) -> bool:
        """Whether the record lacks the real arguments, because they contained a secret."""
        return self.action.redacted if self.revised is None else self.revision_redacted

    @property
    def hash(self) -> str:
        """The `args_hash` of the call as it was, or will be, made."""
        if not self._hash:
            self._hash = args_hash(self.action.name, self.args)
        return self._hash

    @property
    def question(self) -> str:
        """Identifies what a ruling covers: the arguments, what a hold shows beside them, and the
        number of attempts so far.

        Whether to repeat a call is a different question from whether to make it.
        """
        tried = bool(self.attempts) and not self.child
        asked = f"{self.hash}+{len(self.attempts)}" if tried else self.hash
        shows = self.verdict.verdict.shows if self.verdict is not None else ""
        return f"{asked}@{shows}" if shows else asked

    @property
    def held_by_tool(self) -> bool:
        """Whether a guard holds the call, which was never made, to show something of its tool."""
        verdict = self.verdict
        return verdict is not None and bool(verdict.verdict.shows) and not self.attempts

    @property
    def remarks(self) -> list[str]:
        """What the model is told besides the observation: hints, and replaced arguments."""
        if not self.hints and not self.doubts and self.revised is None:  # as a rule
            return []
        remarks = [hint.verdict.reason for hint in self.hints]
        remarks += [
            f"{self.action.name}({encode(args).decode()}) was begun before, and may have happened"
            for args, _ in self.doubts
            if not _same(args, self.args)
        ]
        if self.revised is not None and not _same(self.revised, self.action.args):
            remarks.append(self.revision)
        return remarks

    def settle(self, word: Settled) -> None:
        """Take what came of it; that ends the doubt about the last attempt."""
        self.settled = word
        last = self.attempts[-1].number if self.attempts else 0
        self.doubts = tuple(doubt for doubt in self.doubts if doubt[1].number != last)

    def revise(
        self, args: dict[str, Json] | None, why: str | None = None, *, redacted: bool = False
    ) -> None:
        """Replace the arguments, if these differ; a guard says why, a person need not (None)."""
        if args is not None and (redacted != self.redacted or not _same(args, self.args)):
            self.revised, self.revision_redacted, self._hash = args, redacted, ""
            by = " by a person" if why is None else f": {why}"
            self.revision = f"the arguments were changed to {encode(args).decode()}{by}"

    @property
    def step(self) -> int:
        """The number of the step that it belongs to."""
        return int(self.key.split(".")[0])

    @property
    def position(self) -> int:
        """Its position in its step, from 1; 0 for a person's message."""
        return int(self.key.split(".")[1])

    @property
    def held(self) -> bool:
        """Whether it waits for a person's ruling."""
        return (
            self.verdict is not None
            and self.verdict.verdict.kind == "hold"
            and self.ruling is None
            and self.settled is None
            and not self.woken
            and self.observation is None
        )

    @property
    def outcome(self) -> Outcome:
        """What is known about its effect."""
        if self.settled is not None:
            return "done" if self.settled.done else "not_done"
        return "unknown" if self.observation is None else self.observation.outcome

    @property
    def waiting(self) -> bool:
        """Whether a call that it asked for has no observation yet."""
        new = 0 if self.suspended is None else len(self.suspended.actions)
        return any(call.observation is None for call in self.asked[-new:])

    @property
    def child(self) -> str:
        """The id of its sub-run, if it has one that has begun."""
        return self.attempts[-1].child if self.attempts else ""

    @property
    def grant(self) -> Grant | None:
        """What its sub-run may spend; counts as spent until the observation returns the rest."""
        return self.attempts[-1].grant if self.attempts and self.observation is None else None

    @property
    def in_doubt(self) -> bool:
        """Whether an effect was begun and its outcome is unknown. Never for a sub-run."""
        return bool(self.begun) and self.observation is None and not self.child

    @property
    def own_name(self) -> str:
        """The name under which its tool holds it."""
        return f"{self.action.name}.call"

    @property
    def row(self) -> tuple[str, str]:
        """Its key, and what was called and came of it, as a table has it."""
        args = ", ".join(f"{name}={value!r}" for name, value in self.args.items())
        seen = self.observation
        came = "…" if seen is None else text_or_json(seen.content)
        return self.key, f"{self.action.name}({args}) → {came}"

    @property
    def changed(self) -> bool:
        """Whether it changed the world, or may have."""
        if (seen := self.observation) is None:
            return self.in_doubt or bool(self.child)
        return bool(self.doubts) or (seen.effect in EFFECTFUL and self.outcome != "not_done")


class Totals(msgspec.Struct):
    """What work took: thoughts, calls really made by tool name, model usage, active milliseconds.

    Refused calls do not count, finish neither, nor the thought of a landing. What sub-runs took is
    in `steps`, `below` (their calls; `capped` by the names of their caps) and `usage`. `lost` is
    what critics took, and an estimate of calls whose replies nobody saw; `tokens` and `cost` count
    it too. `cost` are the US dollars that are known.
    """

    steps: int = 0
    calls: Counter[str] = msgspec.field(default_factory=Counter[str])
    usage: Usage = _NO_USAGE
    active_ms: int = 0
    below: int = 0
    capped: Counter[str] = msgspec.field(default_factory=Counter[str])
    lost: Usage = _NO_USAGE
    tokens: int = 0
    cost: float = 0.0

    @property
    def tool_calls(self) -> int:
        """All calls that were made, including those of sub-runs."""
        return self.calls.total() + self.below

    @property
    def seconds(self) -> float:
        """Seconds of work."""
        return self.active_ms / 1000

    @property
    def spending(self) -> Spending:
        """The part that counts towards a sub-run's parent."""
        return Spending(self.steps, self.tool_calls, self.usage + self.lost)

    def add(self, took: Spending) -> None:
        """Add a sub-run's spending."""
        self.steps += took.steps
        self.below += took.tool_calls
        self.capped.update(took.made)
        charge(took.usage, self)


def charge(usage: Usage, *accounts: Totals, lost: bool = False) -> None:
    """Add what model calls took; it is `lost` where no reply of theirs is on record."""
    tokens, cost = usage.tokens, usage.known_cost
    before: Usage | None = None
    after = usage
    for totals in accounts:
        totals.tokens += tokens
        totals.cost += cost
        so_far = totals.lost if lost else totals.usage
        if so_far is not before:  # what accounts have in common is added once
            before, after = so_far, so_far + usage
        if lost:
            totals.lost = after
        else:
            totals.usage = after


class Step(msgspec.Struct, gc=False):
    """A thought and everything until the next. Step 0 is what precedes the first thought."""

    number: int
    thought: Thought | None = None
    calls: tuple[Call, ...] = ()
    notices: tuple[Notice, ...] = ()
    concluded: bool = False
    """Whether a stop has accepted or abandoned its answer."""
    asked: tuple[Call, ...] = ()
    """Calls that its calls asked for, and those that were `gathered`; `calls` are those that the
    model wrote."""
    gathered: tuple[Call, ...] = ()
    """Calls of earlier steps that were put off until now."""

    def _repr_html_(self) -> str:
        """What was thought and called, for a notebook."""
        return html_table(self.rows)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What was thought, and a row for each call, as a table has them."""
        thought = self.thought
        text = "" if thought is None else thought.fault or thought.text
        return [*([(f"step {self.number}", text)] if text else []), *(it.row for it in self.calls)]

    @property
    def all_calls(self) -> tuple[Call, ...]:
        """Its calls, by their numbers."""
        return self.calls + self.asked

    @property
    def pending(self) -> list[Call]:
        """Calls without an observation, except finish and those that wait for others."""
        if len(self.calls) == 1 and not self.asked:  # as a rule, and asked often
            (one,) = self.calls
            return [one] if one.observation is None and one.action.name != FINISH else []
        return [
            call for call in (*self.calls, *self.asked)
            if call.observation is None and call.action.name != FINISH
            and not (call.asked and call.waiting)
        ]  # fmt: skip

    def suspend(self, call: Call, event: Suspended) -> tuple[Call, ...]:
        """Add the calls that a call of the step asks for, numbered as they come."""
        numbered = enumerate(event.actions, len(self.all_calls) + 1)
        new = tuple(Call(f"{self.number}.{n}", action) for n, action in numbered)
        call.suspended, call.asked, self.asked = event, call.asked + new, self.asked + new
        return new

    def gather(self, put_off: Iterable[Call]) -> tuple[Call, ...]:
        """Add calls of earlier steps: held as they were, others to be judged again."""
        self.gathered = tuple(
            replace(call, key=f"{self.number}.{number}", observation=None)
            if call.verdict is not None and call.verdict.verdict.kind == "hold"
            else Call(f"{self.number}.{number}", call.action, id=call.id)
            for number, call in enumerate(put_off, len(self.all_calls) + 1)
        )
        self.asked += self.gathered
        return self.gathered

    @property
    def alone(self) -> bool:
        """Whether nothing in it runs in parallel: of several calls, all but one are done."""
        return len(self.calls) + len(self.asked) <= 1 or len(self.pending) <= 1

    @property
    def finish(self) -> Call | None:
        """The first call of finish that is not refused, until a stop accepts its answer."""
        if self.concluded:
            return None
        for call in self.calls:
            if call.action.name == FINISH and (not call.observation or call.observation.ok):
                return call
        return None

    @property
    def person_spoke(self) -> bool:
        """Whether a person has sent a message since the thought."""
        if not self.notices:  # as a rule, and asked of several steps at every step
            return False
        return any(isinstance(a, Note) and a.source == "person" for a in self.notices)

    @property
    def answered(self) -> bool:
        """Whether the thought is an answer in plain text, without an objection so far."""
        return (
            self.thought is not None
            and self.thought.answer is not None
            and not self.concluded
            and not self.gathered
            and not self.person_spoke
            and not any(isinstance(a, Note) and a.source == "check" for a in self.notices)
        )

    @property
    def outcome(self) -> AnswerOutcome | Literal[""]:
        """What the offered answer says came of the task, where it says so."""
        stated = None if (call := self.finish) is None else call.args.get(OUTCOME)
        return stated if stated in _OUTCOMES else ""

    @property
    def declined(self) -> bool:
        """Whether the thought says that the model cannot answer, or found nothing."""
        declined = self.thought is not None and self.thought.reply.finish == "declined"
        return declined or self.outcome == "not_found"

    @property
    def answer(self) -> Call | str | None:
        """The answer still to be judged: an open call of finish, a text, or None."""
        if (call := self.finish) is not None:
            return call
        return self.thought.answer if self.thought is not None and self.answered else None


class Omitted(msgspec.Struct):
    """What no model sees of a run: steps up to `upto`, and `hidden` ones, which were rewound.

    `cuts` are what is shown in the place of observations, by call.
    """

    compactions: list[Compacted] = []
    rewinds: list[Rewound] = []
    cuts: dict[str, str] = {}
    hidden: set[int] = set()

    def rewind(self, event: Rewound, steps: int) -> None:
        """Leave out a wrong branch, the end of so many `steps`.

        What a compaction had left out of the steps before it is seen again, where that compaction
        reached into the branch: its account tells of the branch.
        """
        self.rewinds.append(event)
        if self.upto > event.to:
            self.compactions = [one for one in self.compactions if one.upto <= event.to]
            self.cuts = {key: cut for one in self.compactions for key, cut in one.cuts.items()}
        self.hidden.update(range(max(0, event.to) + 1, steps + 1))

    @property
    def upto(self) -> int:
        """The last step that a compaction left out, or 0."""
        return self.compactions[-1].upto if self.compactions else 0

    def __contains__(self, step: int) -> bool:
        return step <= self.upto or step in self.hidden


def sum_of(grants: Collection[Grant]) -> Grant:
    """The sum of several grants; seconds are not added, since they pass for all at once."""
    caps = Counter[str]()
    for grant in grants:
        caps.update(grant.caps)
    return Grant(
        steps=sum(grant.steps for grant in grants),
        tool_calls=sum(grant.tool_calls for grant in grants),
        tokens=sum(grant.tokens for grant in grants),
        seconds=0.0,
        cost=sum(grant.cost or 0.0 for grant in grants),
        caps=dict(caps),
    )
