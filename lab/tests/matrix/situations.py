"""The situations that a cell is driven through, as a user would, and what each must come to."""

import os
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from clew import (
    Agent,
    SqliteStore,
    StoreError,
    fork,
    open_run,
    pending_approvals,
    read,
    replay,
    resume,
    rewind,
    rule,
)
from clew.agent_files import load_agent, origin, read_agent_file
from clew.cli.memory import tell_memories
from clew.interfaces import encode
from clew_strategies import agent_of, vote
from clew_testing.cut_store import CutStore
from clew_testing.servers import OpenAIServer
from tests.matrix.connections import close_models
from tests.matrix.model import GOAL, PARSER, Asked, Model, Script
from tests.matrix.outcome import Outcome, Request
from tests.matrix.parts import ACTS, LEDGER
from tests.matrix.ways import Way

FURTHER: Final = "Please send world."
RULINGS: Final = 64
"""Rounds of rulings after which a run counts as one that never ends."""
ENDS: Final = frozenset({"answered", "declined", "bound", "failed", "refused"})


@dataclass
class Play:
    """An agent file in a folder of its own, and the runs that are made with it."""

    outcome: Outcome
    model: Model
    servers: tuple[OpenAIServer, ...]
    goal: str = GOAL
    lax: frozenset[str] = frozenset()
    store: Any = None
    complaints: list[str] = field(default_factory=list[str])
    made: list[Agent] = field(default_factory=list[Agent])
    run_id: str = "run"

    @property
    def file(self) -> Path:
        """The agent file."""
        return self.outcome.folder / "agent.toml"

    @cached_property
    def agent(self) -> Agent:
        """The agent of the file; made anew once it is deleted, as by another process."""
        made = load_agent(self.file).agent
        self.made.append(made)
        return made

    async def begin(self, goal: str = "") -> Any:
        """Ask, as the command line does."""
        agent, votes, goal = self.agent, self.outcome.way.votes, goal or self.goal
        spec = read_agent_file(self.file)
        if votes:
            return await self._vote(agent, goal)
        async with open_run(
            agent, goal, run_id=self.run_id, store=self.store, origin=origin(spec)
        ) as opened:
            if spec.memory:
                await tell_memories(spec.memory, goal, opened.run_id, self.store)
            self.outcome.results.append(await opened.go_on())
        return self.outcome.result

    async def _vote(self, agent: Agent, goal: str) -> Any:
        votes = self.outcome.way.votes
        done = await vote(agent, goal, votes, store=self.store, run_id=self.run_id)
        self.outcome.results.append(done.result)
        return done.result

    async def go_on(self, say: str = "", run_id: str = "") -> Any:
        """Continue."""
        if self.outcome.way.votes:
            return await self._vote(self.agent, self.goal)
        done = await resume(self.agent, run_id or self.run_id, say=say, store=self.store)
        self.outcome.results.append(done)
        return done

    async def settle(self, run_id: str = "") -> None:
        """Rule on what is held until nothing is: what has not been done yet may be."""
        for _ in range(RULINGS):
            if not await self.rule_on_held():
                return
            await self.go_on(run_id=run_id)
        self.complaints.append(f"still held after {RULINGS} rounds of rulings")

    async def rule_on_held(self) -> bool:
        """Rule on what is held, and leave it to somebody to go on; whether anything was."""
        waiting = await pending_approvals(store=self.store)
        done = await self._done() if waiting else set[tuple[str, bytes]]()
        for each in waiting:
            act = (each.tool, encode(each.args))
            allow = act not in done
            done.add(act)
            self.outcome.rulings.append(allow)
            await rule(each.id, allow=allow, store=self.store)
        return bool(waiting)

    async def _done(self) -> set[tuple[str, bytes]]:
        """The calls that were made, by the ledger and by all records."""
        done = set[tuple[str, bytes]]()
        for line in self.effects:
            name, _, text = line.partition(" ")
            encoded = encode({self.outcome.script.argument: text})
            done |= {
                (name, encoded),
                (self.outcome.script.acts, encoded),
            }  # a tool may have another name
        for each in await self.store.runs():
            with suppress(StoreError):  # cut before its beginning was written
                record = await read(each.run_id, store=self.store)
                good = [call for call in record.calls if call.observation and call.observation.ok]
                done |= {(call.action.name, encode(call.args)) for call in good}
        return done

    @property
    def effects(self) -> list[str]:
        """What was done, in order."""
        ledger = Path(os.environ[LEDGER])
        return ledger.read_text().splitlines() if ledger.exists() else []

    async def look_back(self) -> Outcome:
        """The outcome, with all that there is to see."""
        taken = {id(each.body): each for each in self.model.asked}
        self.outcome.requests = [
            Request(seen, taken[id(seen.body)], server.base_url)
            for server in self.servers
            for seen in server.requests
            if id(seen.body) in taken
        ]
        self.outcome.effects = self.effects
        self.outcome.servers = tuple(each.base_url for each in self.servers)
        for each in await self.store.runs():
            with suppress(StoreError):  # cut before its beginning was written
                self.outcome.records[each.run_id] = await read(each.run_id, store=self.store)
        return self.outcome


async def plain(play: Play) -> None:
    """Ask, and nothing else."""
    await play.begin()
    await play.settle()


async def held(play: Play) -> None:
    """A guard holds what acts: nothing is done before a person has said so."""
    await play.begin()
    if play.effects:
        play.complaints.append(f"done although it was held: {play.effects}")
    await play.settle()
    if not any(play.outcome.rulings) and "acts" not in play.lax:
        play.complaints.append("nothing was held")


async def denied(play: Play) -> None:
    """A guard forbids what acts: it is never done."""
    await play.begin()
    await play.settle()
    if play.effects:
        play.complaints.append(f"done although it was denied: {play.effects}")


async def forked(play: Play) -> None:
    """The run is forked after each of its steps: what was done is not done again.

    A fork knows what the run did, and not what the other forks did.
    """
    await plain(play)
    first = play.effects
    play.outcome.lines = [first]
    complete = await read("run", store=play.store)
    for at in range(1, len(complete.steps)):
        name, before = f"fork-{at}", len(play.effects)
        done = await fork(play.agent, "run", at=at, store=play.store, new_id=name)
        play.outcome.results.append(done)
        await play.settle(name)
        play.outcome.lines.append([*first, *play.effects[before:]])
        if play.outcome.result.status not in ENDS:
            play.complaints.append(f"fork at {at}: {play.outcome.result.reason}")
        record = await read(name, store=play.store)
        lost = [c.observation.text for c in record.calls if c.observation and not c.observation.ok]
        lost = [text for text in lost if "not in this store" in text]
        play.complaints += [f"fork at {at}: {text}" for text in lost]


async def rewound(play: Play) -> None:
    """A person takes all steps out of the view, and lets it go on: what was done is known."""
    await plain(play)
    if not (await read("run", store=play.store)).steps:
        return
    await rewind("run", to=0, lesson="That was the wrong way: begin anew.", store=play.store)
    await play.go_on("Go on.")
    await play.settle()


async def chat(play: Play) -> None:
    """A second question follows, in the same run."""
    await plain(play)
    if play.outcome.result.status != "answered":
        return
    before = len(play.model.asked)
    await play.go_on(FURTHER)
    await play.settle()
    asked = [each for each in play.model.asked[before:] if is_question(each)]
    if asked and play.goal not in asked[-1].text:
        play.complaints.append("the second question was asked without the first")


def is_question(asked: Asked) -> bool:
    """Whether it is asked of who answers: judges, and who reads free text, are shown less."""
    return asked.role != "typed" and asked.body["model"] != PARSER


async def replayed(play: Play) -> None:
    """The run is replayed: no model is asked, no tool is called, and it ends the same."""
    await plain(play)
    asked, done = len(play.model.asked), play.effects
    record, agent = await read("run", store=play.store), play.agent
    agent = agent_of(agent, record) if play.outcome.way.votes else agent
    again = await replay(agent, "run", store=play.store)
    if again.trajectory.stop != record.stop:
        play.complaints.append(f"replayed otherwise: {again.trajectory.stop} for {record.stop}")
    if len(play.model.asked) > asked or play.effects != done:
        play.complaints.append("the replay asked a model or called a tool")


async def killed(play: Play) -> None:
    """The process ends at a write of its store, and another goes on."""
    cut = play.store
    play.store = cut_store(SqliteStore(cut.path), play.outcome.cut)
    with suppress(StoreError):
        await play.begin()
    play.store = cut
    del play.agent
    try:
        _ = (await read("run", store=play.store)).started
    except StoreError:  # it was never begun
        play.run_id = "another"
        await play.begin()
    else:
        await play.go_on()
    await play.settle()


Situation = Callable[[Play], Awaitable[None]]
SITUATIONS: Final[Mapping[str, Situation]] = {
    each.__name__: each for each in (plain, held, denied, killed, forked, rewound, chat, replayed)
}
GUARDS: Final = {"held": "tests.matrix.parts:hold", "denied": "tests.matrix.parts:deny"}
NOT_FOR_VOTES: Final = frozenset({"forked", "rewound", "chat"})
"""A vote is no conversation: the command line refuses these."""


def cut_store(store: SqliteStore, writes: int = 1 << 30) -> CutStore:
    """A store on disk that fails after so many writes."""
    made = CutStore(writes)
    made.inner = store  # type: ignore[assignment]  # it is of the same form as one in memory
    return made


def cuts(name: str, writes: int, limit: int) -> list[int]:
    """At which writes to cut: all of them, or as many as asked for, drawn by the cell's name."""
    if writes <= limit:
        return list(range(1, writes))
    drawn = (zlib.crc32(f"{name} {n}".encode()) % (writes - 1) + 1 for n in range(limit))
    return sorted(set(drawn))


@asynccontextmanager
async def playing(
    way: Way, situation: str, script: Script, folder: Path, servers: tuple[OpenAIServer, ...],
    model: Model, goal: str, lax: frozenset[str],
) -> AsyncIterator[Play]:  # fmt: skip
    """A play in a folder of its own, in which nothing happened yet."""
    os.environ |= {LEDGER: str(folder / "ledger"), ACTS: script.acts}
    model.begin(script)
    for server in servers:
        server.requests.clear()
    play = Play(Outcome(way, situation, script, folder), model, servers, goal, lax)
    play.store = SqliteStore(read_agent_file(play.file).store)
    try:
        yield play
    finally:
        for agent in play.made:
            await close_models(agent)
        await play.store.close()


def expected(play: Play) -> Iterator[str]:
    """What a situation promises whatever the setting; `lax` names what the setting changes."""
    outcome, lax = play.outcome, play.lax
    yield from play.complaints
    if outcome.repeated and "repeats" not in lax:
        yield f"done twice: {', '.join(outcome.repeated)}"
    if outcome.errors:
        return
    if outcome.result.status not in ENDS:
        yield f"it never ended: {outcome.result.status}, {outcome.result.reason}"
    if outcome.situation != "denied" and "acts" not in lax and not outcome.effects:
        yield f"nothing was done ({outcome.result.status}: {outcome.result.reason})"
    wanted = "answers" not in lax and outcome.situation in {"plain", "killed", "chat", "replayed"}
    if wanted and outcome.result.status != "answered":
        yield f"no answer: {outcome.result.status}, {outcome.result.reason}"
