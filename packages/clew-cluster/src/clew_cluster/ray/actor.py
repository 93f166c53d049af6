"""What a Ray actor does: it carries runs, many at once, and is made with data only."""

import asyncio
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from clew import ConfigError, Trajectory, Usage
from clew.agent_files import agent_named
from clew.core.journal import load
from clew.interfaces import Json
from clew.stores import open_store
from clew.stores.locks import SharedStore, claim, shared
from clew.support.resources import Resources
from clew.workers import Agents, Standing
from clew.workers.agents import KnownAgents
from clew.workers.gate import RunGate
from clew.workers.run_one import carry_claimed, describe

PAUSE: Final = 0.2
"""Seconds between two looks at a run that somebody else works on."""


Open: TypeAlias = Literal["left", "lost", "refused", "failed"]
"""Why the record of a run has not come to a stop."""


class ActorConfig(msgspec.Struct, frozen=True):
    """What an actor is made with, as JSON: where the records lie, and which agents it has.

    `agents` are names, as `agent_named` takes them, with modules looked for in `folder` first;
    `only`, `trust_origin` and `accept_change` are those of `WorkerConfig`. A `patient` actor waits
    for the end of a run that another worker has.
    """

    store: str
    agents: tuple[str, ...] = ()
    only: bool = False
    folder: str = ""
    patient: bool = True
    trust_origin: bool = False
    accept_change: bool = False

    def __repr__(self) -> str:
        """Without the store: there may be a password in its address."""
        return f"ActorConfig(agents={self.agents}, only={self.only})"


class ActorResult(msgspec.Struct, frozen=True):
    """How a run left its actor: like a `Result`, with the answer as recorded.

    `open` says why its record has no stop: its model or its store "failed" (then so is the status,
    as in `batch`, and the reason is the error), its agent is missing ("refused"), it was "left"
    after a step, or another worker has it ("lost"). `entries` counts those of its record, and
    `moved` says whether it made progress before it failed.
    """

    run_id: str
    status: Standing
    reason: str = ""
    answer: Json = None
    usage: Usage = Usage()
    steps: int = 0
    fallback: bool = False
    open: Open | None = None
    entries: int = 0
    moved: bool = False

    @property
    def ok(self) -> bool:
        """Whether the question was answered: not at a limit, held, declined or refused."""
        return self.status == "answered"


def named_from(name: str, folder: str) -> str:
    """The name of an agent as it is understood anywhere: an agent file with its whole path."""
    return str(Path(folder, name).expanduser()) if name.endswith(".toml") else name


def ended(trajectory: Trajectory) -> ActorResult:
    """How a run stands that has stopped."""
    stop = trajectory.stop
    if stop is None:
        return _open(
            trajectory.run_id, "left", "left where its step ended: others go on from there"
        )
    return ActorResult(
        trajectory.run_id,
        stop.status,
        stop.reason,
        stop.answer,
        trajectory.usage,
        len(trajectory.steps),
        stop.fallback,
        entries=len(trajectory),
    )


def _open(run_id: str, what: Open, reason: str, *, moved: bool = False) -> ActorResult:
    """How a run stands that has not."""
    status: Standing = "failed"
    if what in {"left", "lost"}:
        status = "waiting" if what == "left" else "working"
    return ActorResult(run_id, status, reason, open=what, moved=moved)


class Actor:
    """Carries runs to their ends. No agent comes or goes with a message, and nothing is kept but
    what tools hold open.

    It is made with an `ActorConfig` as JSON.
    """

    def __init__(self, config: bytes) -> None:
        self._config = msgspec.json.decode(config, type=ActorConfig)
        self._leaving = False
        self._store: SharedStore | None = None
        self._agents: Agents | None = None
        self._making = asyncio.Lock()
        self._gate = RunGate()
        self._held = Resources()

    async def advance(self, run_id: str, over: bool = False) -> bytes:  # noqa: FBT001, FBT002 - Ray hands on arguments by place
        """Run it until it stops: its `ActorResult`, as JSON.

        With `over`, whoever has claimed it is fenced off.

        Whatever goes wrong is told as the end of this run only. Ray may call this again, here or
        elsewhere, as often as it likes: the record says what is left to do.
        """
        try:
            end = await self._advance(run_id, over=over)
        except ConfigError as error:
            end = _open(run_id, "refused", str(error))
        except Exception as error:  # noqa: BLE001 - a user's part that fails ends no other run
            end = _open(run_id, "failed", describe(error))
        return msgspec.json.encode(end)

    async def leave(self) -> None:
        """Let each run at hand go where its step ends, and take up no more."""
        self._leaving = True

    async def close(self) -> None:
        """Close what tools hold open here; nothing is at hand any more."""
        self._leaving = True
        await self._held.close()

    async def _advance(self, run_id: str, *, over: bool) -> ActorResult:
        async with self._making:  # once, for all runs that come at the beginning
            if self._store is None:
                self._store = shared(open_store(self._config.store))
            if self._agents is None:
                self._agents = await self._make_agents()
            store, agents = self._store, self._agents
        while not self._leaving:
            trajectory = await load(store, run_id)
            if trajectory.stop is not None and not await store.inbox(run_id):
                return ended(trajectory)
            if (lock := await claim(store, run_id, take_over=over)) is not None:
                with self._held.owned():
                    outcome = await carry_claimed(
                        agents, store, run_id, lock, gate=self._gate,
                        leaving=lambda: self._leaving, taken=_ignore,
                        accept_change=self._config.accept_change,
                    )  # fmt: skip
                if outcome.record is None and outcome.what != "ended":
                    return _open(run_id, outcome.what, outcome.text, moved=outcome.moved)
                return ended(outcome.record or trajectory)
            if not self._config.patient:
                return _open(run_id, "lost", "another worker has it")
            await asyncio.sleep(PAUSE)
        return _open(run_id, "left", "its actor leaves")

    async def _make_agents(self) -> Agents:
        config = self._config
        agents = {name: (await agent_named(name, config.folder))[0] for name in config.agents}
        return KnownAgents(
            agents, recorded=not config.only, trusting=config.trust_origin,
            accept_change=config.accept_change,
        )  # fmt: skip


def _ignore(record: Trajectory) -> None:
    """Whoever sent the run has told that it was taken up."""
    del record
