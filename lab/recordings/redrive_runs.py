"""One recorded run through the ordinary `clew.run`, its replay, and what came out otherwise."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import clew
from clew.core.codes import FINISH
from clew.core.contents import Reply
from clew.core.stores import Store
from clew.core.tools import Tool
from clew.core.values import Json, encode
from clew.guards import Provenance
from clew.testing.models import ScriptedModel
from clew_evals.texts import normal
from recordings.forms import Record, functions
from recordings.redrive_sources import EFFECTS, Asked, Source, asked
from recordings.text_formats import ComparableTurn, Turn, comparable, plainly

VISIBLE: Final = 60
"""How much of a model's words is shown in a line, in characters."""


@dataclass(frozen=True, slots=True)
class Line:
    """A reply of the script, and the recorded turn it belongs to; `again` the turn's second."""

    text: str
    turn: Turn
    again: bool = False


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a step is not as recorded, and which `ends` of the run may differ because of it."""

    text: str
    ends: frozenset[str] = frozenset()


UNKNOWN: Final = Reason("UNEXPLAINED")
READ: Final = Reason(
    "clew reads the action; the original passed the reply on as it was, and it was refused"
)
READ_ANSWER: Final = Reason(READ.text, frozenset({"answer", "steps", "end"}))
FIRST_REPLY: Final = Reason(
    "clew reads the reply's action; the original could not, and took another from its second call",
    frozenset({"answer", "steps", "end"}),
)
ASKED_AGAIN: Final = Reason(
    "neither can read the reply: the original asked again within the step, clew says so to the "
    "model, and the second reply is a step of its own",
    frozenset({"answer", "steps", "end"}),
)
FIRST: Final = Reason(
    "several calls in the reply: clew makes the first; the original took all up to the last "
    "bracket for one argument"
)
FIRST_ANSWER: Final = Reason(FIRST.text, frozenset({"answer"}))
PLAIN: Final = Reason(
    "clew reads what the reply plainly says; something else was recorded of it",
    frozenset({"answer", "steps", "end"}),
)
NO_CALL: Final = Reason(
    "the reply plainly holds no call, or one that its words leave open, and yet one was recorded",
    frozenset({"answer", "steps", "end"}),
)
NO_TOOL: Final = Reason("no such tool: clew names those there are, the original told of an error")


@dataclass(frozen=True, slots=True)
class Difference:
    """A step that is not as recorded: its number, the reason, and what clew made of it."""

    step: int
    reason: Reason
    made: str


@dataclass(frozen=True)
class Redriven:
    """A recorded run as clew ran it."""

    record: Record
    run_id: str
    succeeded: bool
    """What the recording says of it."""
    ended: str
    answer: str | None
    differences: tuple[Difference, ...]
    otherwise: dict[str, str]
    """Of answer, steps and end those that are not as recorded, in words."""
    success: bool
    replay: str
    """Why its replay diverged; empty where it did not."""
    events: tuple[bytes, ...]
    """All that was recorded, but for times."""

    @property
    def flagged(self) -> bool:
        """Whether the recording says of one of its turns that something was odd."""
        return any(turn["flags"] for turn in self.record["turns"])

    @property
    def plainly_otherwise(self) -> bool:
        """Whether something was recorded that the reply does not say: then its end says nothing."""
        return any(one.reason in {PLAIN, NO_CALL} for one in self.differences)

    @property
    def odd(self) -> bool:
        """Whether the recording flags a turn, or took something that a reply does not say."""
        return self.flagged or self.plainly_otherwise

    @property
    def same(self) -> bool:
        """Whether every call and observation is as recorded, and the answer, steps and end."""
        return not self.differences and not self.otherwise

    @property
    def explained(self) -> bool:
        """Whether all that came out otherwise follows from steps with a known reason."""
        reasons = [one.reason for one in self.differences]
        may = frozenset[str]().union(*(reason.ends for reason in reasons))
        return UNKNOWN not in reasons and self.otherwise.keys() <= may

    def __str__(self) -> str:
        told: list[str] = []
        for reason, group in groupby(self.differences, key=lambda one: one.reason.text):
            listed = list(group)
            steps = ", ".join(str(one.step) for one in listed)
            word = "step" if len(listed) == 1 else "steps"
            told.append(f"{word} {steps}: {reason}: {listed[0].made}")
        told += self.otherwise.values()
        why = "" if self.explained else "UNEXPLAINED: "
        return f"{self.record['id']}: {why}{'; '.join(told)}"


async def redrive(source: Source, record: Record, store: Store, run_id: str = "run") -> Redriven:
    """Run it, and replay what was recorded of that."""
    lines, agent = prepared(source, record)
    succeeded = source.succeeded(record)
    try:
        result = await clew.run(agent, record["task"], store=store, run_id=run_id)
    except clew.ModelError as error:
        ended, answer = f"open: {error}", None
    else:
        ended = result.status if result.ok else result.reason.partition(":")[0]
        answer = result.raw_answer
    trajectory = await clew.read(run_id, store=store)
    return Redriven(
        record=record,
        run_id=run_id,
        succeeded=succeeded,
        ended=ended,
        answer=answer,
        differences=tuple(_differences(source, trajectory, lines)),
        otherwise=dict(_otherwise(source, record, ended, answer, len(trajectory.steps))),
        success=_success(source, record, answer, trajectory),
        replay=await _replayed(agent, run_id, store, record["id"]),
        events=tuple(encode(entry.event) for entry in trajectory.entries),
    )


async def _replayed(agent: clew.Agent, run_id: str, store: Store, name: str) -> str:
    """Why the run's replay diverged; empty where it did not."""
    try:
        replayed = await clew.replay(agent, run_id, store=store)
    except clew.ReplayError as error:
        return f"{name}: {error}"
    return "; ".join(replayed.passed_over)


def _success(
    source: Source, record: Record, answer: str | None, trajectory: clew.Trajectory
) -> bool:
    """By the source's own rule; where its environment judged, what it said of the same calls."""
    if source.right is not None:
        return source.right(record, answer or "")
    made = [call for call in trajectory.calls if call.observation and call.observation.made]
    mine = [_asked(call) for call in made if call.action.name != "think"]
    theirs = [source.called(turn) for turn in record["turns"] if turn["actions"]]
    return mine == theirs and source.succeeded(record)


# ---------------------------------------------------------------- the agent


def prepared(source: Source, record: Record) -> tuple[list[Line], clew.Agent]:
    """The script of a record, and an agent that follows it with the original's loop around it."""
    lines: list[Line] = []
    max_steps = source.limit(record)
    agent = clew.Agent(
        model=ScriptedModel([]),
        tools=_tools(record, lines),
        guards=[Provenance("off")],  # nobody is there to ask, and a record knows no plan
        codec=source.form.codec,
        limits=clew.Limits(
            steps=max_steps,
            tool_calls=max_steps,
            faults=max_steps + 1,
            landing=False,
            no_progress=None,
        ),
        bounds=source.bounds(record),
        fallback=source.fallback,
    )
    for turn in record["turns"]:
        first = source.form.reply(turn)
        lines.append(Line(first, turn))
        second = turn.get("repair_call_raw")
        if (
            second is not None
            and agent.engine.codec.parse(agent.engine.prompt_spec, Reply(first)).fault
        ):
            lines.append(Line(second, turn, again=True))
    return lines, agent.replace(model=ScriptedModel([line.text for line in lines]))


def _tools(record: Record, lines: Sequence[Line]) -> list[Tool]:
    """The tools of a record; a call is given what is recorded for its step."""

    async def call(args: dict[str, Json], key: str) -> str:
        """Whatever the arguments: where they are not the recorded ones, the comparison says so."""
        del args
        step = int(key.rpartition(":")[2].partition(".")[0])
        return observed(lines[step - 1].turn)

    return [
        Tool(
            name=tool["name"],
            description=f"{tool['name']} in the recorded world",
            parameters={
                "type": "object",
                "properties": {tool["arg"]: {"type": "string"}},
                "required": [tool["arg"]],
                "additionalProperties": False,
            },
            call=call,
            effect=EFFECTS.get(tool["name"], "read"),
        )
        for tool in functions(record["tools"])
        if tool["name"].lower() != FINISH
    ]


def observed(turn: Turn) -> str:
    """What is recorded of a turn's call; nothing where it is null."""
    seen = turn["observation"]
    return "" if seen is None else str(seen)


# ---------------------------------------------------------------- the comparison


def _asked(call: clew.Call) -> Asked:
    return asked(call.action.name, str(next(iter(call.action.args.values()), "")))


def _differences(
    source: Source, trajectory: clew.Trajectory, lines: Sequence[Line]
) -> Iterator[Difference]:
    """Each step whose call or observation is not as recorded."""
    for step, line in zip(trajectory.steps, lines, strict=False):
        call = step.calls[0] if step.calls else None
        mine = None if call is None else _asked(call)
        made = "nothing is called" if mine is None else _clip(str(mine))
        if mine != (theirs := source.called(line.turn)):
            fault = step.thought.fault if step.thought is not None else ""
            why = _why(source, line, mine, theirs, fault)
            yield Difference(step.number, why, made)
        elif call is not None and call.observation is not None and call.action.name != FINISH:
            seen = call.observation
            if seen.code == "unknown_tool":
                yield Difference(step.number, NO_TOOL, made)
            elif seen.text != observed(line.turn):
                yield Difference(step.number, UNKNOWN, f"{made} gives {_clip(seen.text)}")


def _why(
    source: Source, line: Line, mine: Asked | None, theirs: Asked | None, fault: str
) -> Reason:
    """Why a call is another than the original's."""
    ways = plainly(source.form, line.text)
    if mine is None:
        if "repair_call_raw" in line.turn:
            return ASKED_AGAIN
        why = fault.partition(". The right form is")[0]
        everything = frozenset({"answer", "steps", "end"})
        if line.turn["flags"]:
            return Reason(f"clew cannot read it: {why}", everything)
        return NO_CALL if not ways or ("", ()) in ways else UNKNOWN
    ending = mine.name == FINISH
    written = mine.argument.lower() in line.text.lower()
    if theirs is None and line.turn["flags"] and written:
        return READ_ANSWER if ending else READ
    if "repair_call_raw" in line.turn and written and not line.again:
        return FIRST_REPLY
    if theirs is not None and theirs.name == mine.name:
        behind = theirs.argument.removeprefix(mine.argument)
        if behind.startswith("]") and behind != theirs.argument:
            return FIRST_ANSWER if ending else FIRST
    plain = comparable(ComparableTurn("", mine.name, (mine.argument,))) in ways
    return PLAIN if plain and not line.again else UNKNOWN


def _otherwise(
    source: Source, record: Record, ended: str, answer: str | None, steps: int
) -> Iterator[tuple[str, str]]:
    """What came out otherwise: which of answer, steps and end, and how."""
    then = record["final_answer"]
    if (answer is None) != (then is None) or normal(answer or "") != normal(then or ""):
        yield "answer", f"answer “{_clip(answer or '')}” instead of “{_clip(then or '')}”"
    if steps != len(record["turns"]):
        yield "steps", f"{steps} steps instead of {len(record['turns'])}"
    if ended != source.ended(record):
        yield "end", f"ended by “{ended}” instead of “{source.ended(record)}”"


def _clip(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= VISIBLE else f"{line[: VISIBLE - 1]}…"
