"""One recorded conversation through the ordinary `run` and `resume`, its world as recorded."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio
import anyio.lowlevel

import clew
from clew.agent.validate import MAX_TOOLS
from clew.core.codes import Effect
from clew.core.contents import Observation, Reply
from clew.core.prompts import Part, Prompt
from clew.core.stores import Line, Store
from clew.core.values import Json
from clew.guards import Provenance
from clew.testing.models import Line as Answer
from clew.testing.models import ScriptedModel
from clew.tools.definitions import published
from recordings.native_talks import Talk, Turn

RUN: Final = "run"
"""The id of each run, in a store of its own: names of recordings have all kinds of signs."""

LIMITS = clew.Limits(
    landing=False,
    no_progress=None,
    steps=10_000,
    tool_calls=10_000,
    calls_per_step=1_000,
    tokens=1_000_000_000,
    seconds=86_400.0,
    faults=1_000,
)
"""What no recorded conversation reaches: the originals had bounds of their own."""


@dataclass(frozen=True)
class Over:
    """A bound: the recording has no further reply, since its harness ended the conversation."""

    turns: int

    def __call__(self, trajectory: clew.Trajectory) -> str | None:
        """A reason once all recorded replies were given."""
        return "recording: it ends here" if len(trajectory.steps) >= self.turns else None


@dataclass(frozen=True)
class World:
    """Gives each call what is recorded for its place; of a step's calls the last is done first."""

    turns: Sequence[Turn]
    made: Counter[str] = field(default_factory=Counter[str])
    """How often each call was really made."""

    async def call(self, name: str, args: dict[str, Json], key: str) -> Observation:
        """The recorded observation; what the arguments are is compared elsewhere."""
        del name, args
        call_key = key.rpartition(":")[2]
        step, number = map(int, call_key.split("."))
        seen = self.turns[step - 1].seen
        for _ in seen[number:]:
            await anyio.lowlevel.checkpoint()
        self.made[call_key] += 1
        if number > len(seen):
            raise clew.ToolError("nothing is recorded of this call")
        one = seen[number - 1]
        return Observation(content=one.text, ok=one.ok, outcome="done" if one.ok else "not_done")


@dataclass(frozen=True)
class Driven:
    """A conversation as clew had it: its record, and the prompt of its last thought.

    The prompt is without its tail, which is clew's own and new every time.
    """

    talk: Talk
    agent: clew.Agent
    world: World
    store: Store
    trajectory: clew.Trajectory
    lines: Sequence[Line]
    prompt: Sequence[Part]


async def drive(talk: Talk, store: Store, effect: Effect) -> Driven:
    """Run it, with a person's words as follow-ups; its record is called by the talk's name."""
    world, prompts = World(talk.turns), list[Prompt]()

    def last(prompt: Prompt) -> Reply:
        if not prompts:
            prompts.append(prompt)
        return talk.turns[-1].reply

    script: list[Answer] = [*(turn.reply for turn in talk.turns[:-1]), last]
    agent = clew.Agent(
        model=ScriptedModel(script),
        tools=_tools(talk, world, effect),
        limits=LIMITS,
        guards=[Provenance("off")],  # nobody is there to ask, and a record knows no plan
        bounds=(Over(len(talk.turns)),),
    )
    await clew.run(agent, talk.goal, store=store, run_id=RUN)
    await go_on(agent, RUN, talk.words, store)
    trajectory = await clew.read(RUN, store=store)
    seen = [part for prompt in prompts for part in (*prompt.head, *prompt.parts)]
    return Driven(talk, agent, world, store, trajectory, await store.read(RUN), seen)


def _tools(talk: Talk, world: World, effect: Effect) -> list[clew.Tool]:
    """The recorded tools; those over the most that clew shows at once are hidden, and answer."""
    made = published(talk.tools, world.call, effect=effect)
    return [replace(one.tool, hidden=number >= MAX_TOOLS) for number, one in enumerate(made)]


async def go_on(agent: clew.Agent, run_id: str, words: Sequence[str], store: Store) -> None:
    """Say what is left to be said, one word after each answer."""
    for word in words:
        await clew.resume(agent, run_id, say=word, store=store)
