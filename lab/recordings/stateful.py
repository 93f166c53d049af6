"""Stateful gold runs: replayed, and forked at every step, they observe what is recorded.

Every call is a step of its own; the words of a person stand between, and a reply of text ends what
each of them asked for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate, islice, zip_longest
from typing import Any, Final

import anyio

import clew
from clew.core.actions import Action
from clew.core.codes import Effect
from clew.core.stores import Store
from clew.core.values import Json, encode
from clew.guards import Provenance
from clew.testing.models import Line, Move, ScriptedModel, say
from clew.tools.definitions import Published, published
from recordings.allowed import forbidden
from recordings.data import document, records
from recordings.forms import Record, functions
from recordings.part import Figure, Judging, Part, count

KIND: Final = "bfcl-multiturn"
TOOLS: Final = "bfcl-multiturn-tools.json"
GO_ON: Final = "Go on."
"""Said where nothing is recorded of a person between two rounds of calls."""
RUN: Final = "run"
"""The id of each run, in a store of its own: names of recordings have all kinds of signs."""

EFFECTS: Final[tuple[Effect, ...]] = ("read", "unsafe")
REPLAYS: Final = 10
"""Every so-manieth fork is replayed as well."""

LIMITS: Final = clew.Limits(
    steps=1_000, tool_calls=1_000, tokens=100_000_000, seconds=3_600.0, no_progress=None
)

TEXT: Final = """\
Multi-turn tasks with gold calls (files, tickets, trades, travel, a car, messages) and the
observations of the real simulators. A scripted model makes the gold calls, one per step, with a
text after each round; the person's messages follow through `resume(say=…)`. The world is stateful:
it observes only the call that is due, and its state is a hash over all calls and observations. Each
run is replayed (the world must not move), and forked at every step with the world reset to that
step (observations and state at the end must be the same). With tools declared `unsafe`, each call
that the first run made after the fork point must be held for a person, who allows it. Functions
recorded as added later exist from the start; those left out do not. A run with a gold call that its
own definition forbids, by an independent reader, is listed.

This shows that calls reach the world once, in order, with the right arguments, and that nothing
changes its observations. It cannot show that they are right.
"""


@dataclass(frozen=True, slots=True)
class GoldCall:
    """A call that belongs there, and what the real simulator observed of it."""

    name: str
    args: dict[str, Json]
    observation: str


@dataclass(frozen=True)
class Gold:
    """A recorded run: its tools, its calls with their observations, the words before each round.

    `rounds` is how many calls each round has.
    """

    name: str
    tools: Sequence[Json]
    calls: Sequence[GoldCall]
    words: Sequence[str]
    rounds: Sequence[int]

    @property
    def spoken(self) -> list[int]:
        """After each step, the one before the first included: words that were said before it."""
        steps = [number for number, calls in enumerate(self.rounds) for _ in range(calls + 1)]
        return [1, *(number + 1 for number in steps)]

    @property
    def done(self) -> list[int]:
        """After each step, the one before the first included: calls that were made by then."""
        made = [1] * 0
        for calls in self.rounds:
            made += [*[1] * calls, 0]
        return [*accumulate(made, initial=0)]


def gold(record: Record) -> Gold:
    """The run of a record."""
    left_out = set(record.get("excluded_function") or ())
    held = record.get("tools")
    by_class: Any = {} if held else document(TOOLS)
    listed = held or [by_class[name] for name in record["involved_classes"]]
    tools = [tool for tool in functions(listed) if tool["name"] not in left_out]
    turns = record["turns"]
    calls = [
        GoldCall(c["name"], c["args"], c["observation"]) for t in turns for c in t["gold_calls"]
    ]
    words = [
        "\n\n".join(message["content"] for message in turn.get("user") or ()) or GO_ON
        for turn in turns
    ]
    return Gold(record["id"], tools, calls, words, [len(turn["gold_calls"]) for turn in turns])


def unfit(run: Gold) -> str:
    """Which gold call is none by its own definitions, so that nobody can follow the run."""
    known = {tool["name"]: tool.get("parameters") for tool in functions(run.tools)}
    for number, call in enumerate(run.calls, start=1):
        if call.name not in known:
            return f"gold call {number}: {call.name} is not among its functions"
        if why := forbidden(known[call.name], call.args):
            return f"gold call {number}: {call.name}: {why}"
    return ""


@dataclass
class World:
    """A world with a state: how many of the gold calls were made in it, and what came of them."""

    gold: Gold
    at: int = 0
    made: int = 0

    async def call(self, name: str, args: dict[str, Json], key: str) -> str:
        """The next observation, to the call that is due; a word of being out of step to others."""
        del key
        self.made += 1
        due = self.gold.calls[self.at] if self.at < len(self.gold.calls) else None
        if due is None or (due.name, due.args) != (name, args):
            return f"out of step: {name} is not due after {self.at} calls"
        self.at += 1
        return due.observation

    @property
    def state(self) -> str:
        """A hash over all that happened in it."""
        happened = [(call.name, call.args, call.observation) for call in self.gold.calls[: self.at]]
        return sha256(encode(happened)).hexdigest()


@dataclass
class Forks:
    """Forks with tools of one effect: how many, how they ended, what was held in them."""

    made: int = 0
    same: int = 0
    replayed: int = 0
    due: int = 0
    held: int = 0


@dataclass
class StatefulTally:
    """What was counted over all runs."""

    runs: int = 0
    turns: int = 0
    calls: int = 0
    as_recorded: int = 0
    replays: int = 0
    forks: dict[Effect, Forks] = field(default_factory=lambda: {e: Forks() for e in EFFECTS})
    unfit: list[str] = field(default_factory=list[str])
    """Runs that their own definitions forbid, each with the reason."""
    judging: Judging = field(default_factory=Judging)
    misses: list[str] = field(default_factory=list[str])


async def follow(run: Gold, tally: StatefulTally) -> None:
    """Run it, replay it, and fork it at every step, with tools of either effect."""
    tally.runs += 1
    tally.turns += len(run.rounds)
    for effect in EFFECTS:
        world, store = World(run), clew.MemoryStore()
        agent = _agent(run, world, effect)
        result = await clew.run(agent, run.words[0], store=store, run_id=RUN)
        await _go_on(agent, result, run.words[1:], store)
        trajectory = await clew.read(RUN, store=store)
        if effect == EFFECTS[0]:
            await _compare(run, trajectory, tally)
        made = world.made
        await clew.replay(agent, RUN, store=store)
        tally.replays += world.made == made and world.at == len(run.calls)
        for step in range(len(trajectory.steps) + 1):
            await _fork(agent, world, trajectory, step, store, tally)


async def _compare(run: Gold, trajectory: clew.Trajectory, tally: StatefulTally) -> None:
    """Each call as recorded, in its place."""
    tally.calls += len(run.calls)
    for call, due in zip_longest(trajectory.calls, run.calls):
        if call is None or due is None or call.observation is None:
            tally.misses.append(f"{run.name}: {len(trajectory.calls)} calls of {len(run.calls)}")
            return
        if call.observation.text == due.observation:
            tally.as_recorded += 1
        else:
            tally.misses.append(f"{run.name}, {call.key} {due.name}: {call.observation.text}")


async def _fork(
    agent: clew.Agent,
    world: World,
    trajectory: clew.Trajectory,
    step: int,
    store: Store,
    tally: StatefulTally,
) -> None:
    """Fork after a step, into the world as it was then, and compare all that is observed."""
    run, effect = world.gold, agent.tools[0].effect
    forks, ended, new_id = tally.forks[effect], world.state, f"{RUN}-{step}"
    world.at, world.made = run.done[step], 0
    due = len(run.calls) - world.at
    result = await clew.fork(agent, RUN, at=step, store=store, new_id=new_id)
    held = await _go_on(agent, result, run.words[run.spoken[step] :], store)
    forked = await clew.read(new_id, store=store)
    forks.made += 1
    forks.due += due
    forks.held += held
    same = _seen(forked) == _seen(trajectory) and (world.made, world.state) == (due, ended)
    forks.same += same
    if not same:
        tally.misses.append(f"{new_id}: {world.made} calls of {due}, or other observations")
    elif forks.same % REPLAYS == 0:
        await clew.replay(agent, new_id, store=store)
        forks.replayed += 1


async def _go_on(agent: clew.Agent, result: clew.Result, words: Sequence[str], store: Store) -> int:
    """Allow what is held and say what is left to be said; gives how many calls were held."""
    held = 0
    for text in (*words, ""):
        while result.status == "held":
            for call in (await clew.read(result.run_id, store=store)).held:
                await clew.rule(f"{result.run_id}:{call.key}", allow=True, store=store)
                held += 1
            result = await clew.resume(agent, result.run_id, store=store)
        if text:
            result = await clew.resume(agent, result.run_id, say=text, store=store)
    return held


def _seen(trajectory: clew.Trajectory) -> list[tuple[str, Any]]:
    """What each call observed, by its place."""
    return [(call.key, call.observation and call.observation.text) for call in trajectory.calls]


def _agent(run: Gold, world: World, effect: Effect) -> clew.Agent:
    """An agent that makes the gold calls, a text behind those of each round."""
    made = published(run.tools, world.call, effect=effect)
    known = {one.name: one for one in made}
    calls, script = iter(run.calls), list[Line]()
    for number in run.rounds:
        script += [_move(call, known.get(call.name)) for call in islice(calls, number)]
        script.append(say("Done."))
    return clew.Agent(
        model=ScriptedModel(script),
        tools=[one.tool for one in made],
        limits=LIMITS,
        guards=[Provenance("off")],  # nobody is there to ask, and a record knows no plan
    )


def _move(call: GoldCall, tool: Published | None) -> Move:
    """The call under the names by which the tool and its arguments are known."""
    if tool is None:
        return Move(actions=(Action(call.name, call.args),))
    names = {was: now for now, was in tool.renamed.items()}
    args = {names.get(name, name): value for name, value in call.args.items()}
    return Move(actions=(Action(tool.tool.name, args),))


async def _take(run: Gold, tally: StatefulTally) -> None:
    """Follow a run; one that its own definitions forbid is told instead."""
    if why := unfit(run):
        tally.unfit.append(f"{run.name}: not followed: {why}")
    else:
        await follow(run, tally)


def measure(sample: int) -> Part:
    """Every nth run."""
    return anyio.run(measured, records(KIND, sample=sample))


async def measured(recorded: Iterable[Record]) -> Part:
    """The same for any gold runs, on the event loop that is there."""
    tally = StatefulTally()
    for record in recorded:
        with tally.judging.one(record.get("id")):
            await _take(gold(record), tally)
    figures = [
        count(
            "gold calls that observe what is recorded",
            tally.as_recorded,
            tally.calls,
            exactly=tally.calls,
        ),
        count(
            "replays in which the world stood still",
            tally.replays,
            2 * tally.runs,
            exactly=2 * tally.runs,
        ),
    ]
    for effect, forks in tally.forks.items():
        figures += [
            count(
                f"{effect} tools: forks that observe the same and end in the same state",
                forks.same,
                forks.made,
                exactly=forks.made,
            ),
            count(
                f"{effect} tools: calls held because the first run had made them",
                forks.held,
                forks.due,
                exactly=forks.due if effect == "unsafe" else 0,
            ),
            Figure(
                f"{effect} tools: of those forks, replayed byte-equal",
                f"{forks.replayed:,}",
                f"every {REPLAYS}th",
            ),
        ]
    every = tally.runs + len(tally.unfit)
    figures += [
        count("runs that their own definitions forbid", len(tally.unfit), every),
        *tally.judging.figures(),
    ]
    misses = [*tally.judging.misses, *tally.misses, *tally.unfit]
    return Part(
        "Stateful gold runs: replay and fork at every step", TEXT, figures, misses,
        compared=tally.turns,
        finding="a replay never touches the world; a fork at any step ends in the same state",
        lead=(
            "replays in which the world stood still",
            "read tools: forks that observe the same and end in the same state",
            "unsafe tools: calls held because the first run had made them",
        ),
    )  # fmt: skip
