"""Where two runs part, and how they differ as a whole: read off their records."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from clew.agent.agent import A_co, Agent
from clew.core.events import Forked, Landing, Note, Rewound, Thought
from clew.core.redaction import redact
from clew.core.spec_changes import changes, changes_to_accept
from clew.core.specs import AgentSpec
from clew.core.tools import Finder
from clew.core.trajectory import Step, Trajectory
from clew.core.values import Json
from clew.guards import Provenance
from clew.support.arguments import check_argument
from clew.support.structural import Structural

Fact: TypeAlias = tuple[int, str, Json]
"""Something that happened: the number of its step, what it is, its value."""


class Parting(msgspec.Struct, frozen=True):
    """The first thing that differs: in step `step`, `what` was one thing here and another there.

    None stands for what did not happen in one of the runs.
    """

    step: int
    what: str
    left: Json
    right: Json


class Difference(msgspec.Struct, frozen=True):
    """The result of comparing two runs.

    `shared` counts the entries that both runs share (as forks do), and `steps` the steps in them.
    `agents` names the differences between their agents. `parting` is the first difference, or None.
    """

    left: Trajectory
    right: Trajectory
    shared: int
    steps: int
    agents: tuple[str, ...]
    parting: Parting | None


def diff(left: Trajectory, right: Trajectory) -> Difference:
    """Compare two runs by their thoughts, calls and observations, not by times, ids and tokens."""
    for name, record in (("left", left), ("right", right)):
        check_argument(name, record, Trajectory, "a record, as sync.read returns it")
    shared = steps = 0
    makers = zip(_makers(left), _makers(right), strict=False)
    for entry, (one, other) in zip(left.entries, makers, strict=False):
        if one != other:
            break
        shared += 1
        steps += isinstance(entry.event, Thought)
    settings = [record.spec or record.started.spec for record in (left, right)]
    return Difference(left, right, shared, steps, changes(*settings), _parting(left, right))


def _makers(record: Trajectory) -> list[tuple[str, bytes]]:
    """Who wrote each entry, and its hash: runs begun in one moment may have the same hashes."""
    maker, blobs = record.run_id, list[tuple[str, bytes]]()
    for entry in reversed(record.entries):
        blobs.append((maker, entry.hash))
        if isinstance(entry.event, Forked):
            maker = entry.event.parent
    return blobs[::-1]


def _parting(left: Trajectory, right: Trajectory) -> Parting | None:
    for one, other in zip_longest(_facts(left), _facts(right)):
        if one != other:
            step, what, _ = min(filter(None, (one, other)), key=_sort_key)
            values = [
                fact[2] if fact is not None and fact[:2] == (step, what) else None
                for fact in (one, other)
            ]
            return Parting(step, what, *values)
    return None


def _sort_key(fact: Fact) -> tuple[int, bool]:
    """What comes first of two that differ; of an end and of what went on, the latter."""
    return fact[0], fact[1] == "stop"


def _facts(record: Trajectory) -> Iterator[Fact]:
    """What happened in a run, in the order of its steps and calls."""
    yield 0, "question", record.goal
    for step in (record.before, *record.steps):
        yield from _of_step(step)
    if record.stop is not None:
        stop = record.stop
        yield len(record.steps), "stop", f"{stop.status}: {stop.reason}"
        yield len(record.steps), "answer", stop.answer


def _of_step(step: Step) -> Iterator[Fact]:
    if step.thought is not None:
        thought = step.thought
        yield step.number, "thought", thought.text or thought.answer or thought.reply.text
    for call in step.all_calls:
        made = {"tool": call.action.name, "args": call.args, "fault": call.action.fault}
        yield step.number, f"action {call.key}", {k: v for k, v in made.items() if v != ""}
    for call in step.all_calls:
        if call.observation is not None:
            yield step.number, f"observation {call.key}", call.observation.content
    for notice in step.notices:
        if isinstance(notice, Note):
            yield step.number, f"word of a {notice.source}", notice.text
        elif isinstance(notice, Landing):
            yield step.number, "landing", notice.bound
        elif isinstance(notice, Rewound):
            yield step.number, f"rewind to step {notice.to}", notice.lesson


def as_begun(agent: Agent[A_co], record: Trajectory) -> Agent[A_co]:
    """The agent with the variant and the ranking of tools that the record names, where that is
    nearer to the record's and the agent leaves them open.

    What suits a model, or is installed, may be another than when a run began: it goes on as it
    began.
    """
    spec = record.spec or record.started.spec
    for likened in (_with_ranking, _with_variant):
        if not (different := changes_to_accept(spec, redact(agent.spec))):
            return agent
        begun = likened(agent, spec)
        left = changes_to_accept(spec, redact(begun.spec))
        agent = begun if len(left) < len(different) else agent
    return agent


def as_judged(agent: Agent[A_co], record: Trajectory) -> Agent[A_co]:
    """The agent without the guard `Provenance`, where the record has none and the agent leaves it
    open: a replay judges as the run was judged.
    """
    spec = record.spec or record.started.spec
    if "provenance" in spec.parts or any(isinstance(it, Provenance) for it in agent.guards):
        return agent
    return agent.replace(guards=[*agent.guards, Provenance("off")])


def _with_variant(agent: Agent[A_co], spec: AgentSpec) -> Agent[A_co]:
    name = spec.parts.get("variant")
    variants = [one for one in agent.parts.instructions.variants if one.name == name]
    forced = [replace(one, match=("*",), below=None, native=None) for one in variants]
    return agent.replace(prompt=agent.parts.instructions.replace(variants=forced))


def _with_ranking(agent: Agent[A_co], spec: AgentSpec) -> Agent[A_co]:
    finder, name = agent.context.retrieval, spec.parts.get("retrieval")
    if not isinstance(finder, Ranks) or not isinstance(name, str):
        return agent
    return agent.replace(context=agent.context.replace(retrieval=finder.as_recorded(name)))


@runtime_checkable
class Ranks(Finder, Protocol, metaclass=Structural):
    """A finder whose ranking may have been left to what is installed."""

    def as_recorded(self, name: str) -> Finder:
        """The same with the ranking that a record names, or itself where that was not left open."""
        ...
