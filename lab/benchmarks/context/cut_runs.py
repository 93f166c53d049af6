"""Runs that are cut at random, and what a strict service says of every prompt that follows.

Everything a prompt may hold stands in them: parallel calls, calls that fail or cannot be made,
replies that cannot be read, calls that wait for a person, pictures, evidence, runs below runs, and
what a person says. A cut is a compaction, by one of the compactors that ship or by one that leaves
out what it likes, or a rewind, by the model or by a person.
"""

import random
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, Final

import clew
from benchmarks.context.cut_parts import (
    TOOLS,
    Talker,
    Taste,
    burst,
    compaction,
    hold_reds,
    rewinds,
)
from clew import Agent, ClewError, Context, Limits, MemoryStore, ModelError, Trajectory, delegate
from clew.core.events import Compacted, Rewound
from clew.guards import Provenance
from clew.toolbox import backtrack
from recordings.inside import APIS, Strict, over, service

FORMS: Final = tuple(APIS)
_MODEL: Final = "scripted"
_BOUND: Final = "bound to a different conversation"
"""How newer models refuse thinking that stands behind another prompt than it was thought behind."""

_LIMITS: Final = Limits(
    steps=10**6, tool_calls=10**6, tokens=10**12, seconds=10**6, faults=10**6,
    calls_per_step=50, no_progress=None,
)  # fmt: skip
_BELOW: Final = Limits(steps=6, faults=6, tokens=10**9, no_progress=None)
_REWINDS: Final = {"model": "rewind by the model", "a person": "rewind by a person"}
_PATIENCE: Final = 20
"""A run is gone on with so often at most where its provider finds a prompt too long."""


@dataclass
class CutTally:
    """What was counted: cuts and prompts, what was refused, and what did not replay."""

    runs: int = 0
    requests: int = 0
    moved: int = 0
    """Requests refused once in a run since thinking is bound to what stood before it."""
    cuts: Counter[str] = field(default_factory=Counter[str])
    refused: list[str] = field(default_factory=list[str])
    replayed: int = 0
    diverged: list[str] = field(default_factory=list[str])

    @property
    def total(self) -> int:
        """All cuts."""
        return self.cuts.total()

    def add(self, other: "CutTally") -> None:
        """Count what another found too."""
        self.runs += other.runs
        self.requests += other.requests
        self.moved += other.moved
        self.replayed += other.replayed
        self.cuts += other.cuts
        self.refused += other.refused
        self.diverged += other.diverged


class Cutting:
    """One run, made from its seed: its agent, the one it delegates to, and the services behind."""

    def __init__(self, form: str, seed: int, rounds: int = 4) -> None:
        self.name, self.rounds, self.store = f"{form} {seed}", rounds, MemoryStore()
        self.chance = chance = random.Random(self.name)
        bound = chance.random() < 0.5
        self.talker = Talker(random.Random(f"{self.name} says"), left=chance.randint(3, 12))
        below = Talker(random.Random(f"{self.name} says below"), below=True, left=3)
        self.services = [
            Strict(service(form, bound=bound), self.talker),
            Strict(service(form, bound=bound), below),
        ]
        model, model_below = (over(APIS[form](_MODEL), one) for one in self.services)
        self.below = Agent(
            model_below, TOOLS, prompt="Look after it.", limits=_BELOW, codec="native",
            context=Context(compaction=compaction(chance)), guards=[Provenance("off")]
        )  # fmt: skip
        colleague = delegate(self.below, name="colleague", description="A colleague.")
        self.agent = Agent(
            model, [*TOOLS, burst, colleague, backtrack(10**6)], prompt="Keep the lights.",
            limits=_LIMITS if chance.random() < 0.5 else replace(_LIMITS, no_progress="early"),
            guards=[hold_reds, Provenance("off")], codec="native", checks=[Taste(seed)],
            tries=3, fallback="dark",
            context=Context(compaction=compaction(chance), rewinds=rewinds(chance)),
        )  # fmt: skip

    async def play(self) -> None:
        """Run it, and go on with it after each answer, with a person's words or a rewind."""
        await self._worked(clew.run(self.agent, "Keep them.", store=self.store, run_id="run"))
        for number in range(self.rounds):
            record = await self._ruled()
            self.talker.left = self.chance.randint(1, 12)
            text = f"And number {number}?" if self.chance.random() < 0.6 else ""
            if (
                record.steps
                and not record.step.pending
                and not (text and self.chance.random() < 0.5)
            ):
                to = self.chance.randrange(len(record.steps))
                await clew.rewind("run", to=to, lesson=f"Not as in {number}.", store=self.store)
            await self._worked(clew.resume(self.agent, "run", say=text, store=self.store))
        await self._ruled()

    async def _ruled(self) -> Trajectory:
        """Rule on what is held, until nothing is; the record then."""
        while (record := await clew.read("run", store=self.store)).held:
            for call in record.held:
                allow = self.chance.random() < 0.7
                await clew.rule(f"run:{call.key}", allow=allow, store=self.store)
            await self._worked(clew.resume(self.agent, "run", store=self.store))
        return record

    async def _worked(self, work: Coroutine[Any, Any, object]) -> None:
        """Let it work on, and once more where its provider found a prompt too long."""
        for _ in range(_PATIENCE):
            try:
                await work
            except ModelError as error:
                if "too long" not in str(error):
                    raise
                work = clew.resume(self.agent, "run", store=self.store)
            else:
                return


async def cut_at_random(form: str, seed: int, rounds: int = 4) -> CutTally:
    """Play the run of this seed, count its cuts, and replay it."""
    tally, one, failed = CutTally(runs=1), Cutting(form, seed, rounds), ""
    try:
        await one.play()
    except ClewError as error:
        failed = f"{one.name}: {error}"
    for strict in one.services:
        tally.requests += len(strict.bodies)
        tally.moved += sum(_BOUND in why for why in strict.refused)
        tally.refused += [f"{one.name}: {why}" for why in strict.refused if _BOUND not in why]
    if failed and not tally.refused:
        tally.refused.append(failed)
    for info in await one.store.runs():
        agent = one.agent if info.run_id == "run" else one.below
        await _replayed(tally, agent, one, info.run_id)
    return tally


async def _replayed(tally: CutTally, agent: Agent[Any], one: Cutting, run_id: str) -> None:
    """Count a run's cuts, and replay it: every prompt has to be, to the byte, what it was."""
    before = await one.store.read(run_id)
    record = await clew.read(run_id, store=one.store)
    for entry in record.entries:
        if isinstance(entry.event, Compacted):
            forced = entry.event.why.startswith("the provider")
            tally.cuts["compaction after an error" if forced else "compaction"] += 1
        elif isinstance(entry.event, Rewound):
            tally.cuts[_REWINDS.get(entry.event.by, "rewind by itself")] += 1
    try:
        again = await clew.replay(agent, run_id, store=one.store)
    except ClewError as error:
        tally.diverged.append(f"{one.name}, {run_id}: {error}")
        return
    if again.passed_over or await one.store.read(run_id) != before:
        tally.diverged.append(f"{one.name}, {run_id}: {again.passed_over}")
    tally.replayed += 1
