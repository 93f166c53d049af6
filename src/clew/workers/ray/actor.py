"""What a Ray actor does: it carries runs, many at once, and is made with data only."""

import asyncio
from pathlib import Path
from typing import Final

import msgspec

from clew.agent_files import make_agent, origin, read_agent_file, with_model
from clew.agent_files.imports import imported
from clew.core.agent import Agent, is_agent
from clew.core.errors import ClewError, ConfigError, FencedError
from clew.core.events import Json, Usage
from clew.core.interfaces import Standing
from clew.core.journal import load
from clew.core.trajectory import Trajectory
from clew.stores import open_store
from clew.workers.agents import agents_of
from clew.workers.driver import What
from clew.workers.gate import Gate
from clew.workers.locks import Shared, claim, shared
from clew.workers.run_one import Agents, carry
from clew.workers.worker_log import described

PAUSE: Final = 0.2
"""Seconds between two looks at a run that somebody else works on."""


class Orders(msgspec.Struct, frozen=True):
    """What an actor is made with, as JSON: where the records lie, and which agents it has.

    `agents` are names, as `agent_named` takes them, with modules looked for in `folder` first; with
    `only` no other is made of what a record says, with `trust_origin` also of what somebody else's
    does. A `patient` actor waits for the end of a run that
    another worker has.
    """

    store: str
    agents: tuple[str, ...] = ()
    only: bool = False
    folder: str = ""
    patient: bool = True
    trust_origin: bool = False

    def __repr__(self) -> str:
        """Without the store: there may be a password in its address."""
        return f"Orders(agents={self.agents}, only={self.only})"


class End(msgspec.Struct, frozen=True):
    """How a run left its actor: what `Result` says, with the answer as it stands in the record.

    `open` says that its record has not come to a stop, and how that is: its model or its store
    "failed" (the status is that, as `batch` has it, and the reason is the error), its agent is not
    there ("refused"), it was "left" where its step ended, or another worker has it ("lost").
    """

    run_id: str
    status: Standing
    reason: str = ""
    answer: Json = None
    usage: Usage = Usage()
    steps: int = 0
    fallback: bool = False
    open: What | None = None

    @property
    def ok(self) -> bool:
        """Whether the question was answered, neither bound nor held nor refused."""
        return self.status == "answered"


def named_from(name: str, folder: str) -> str:
    """The name of an agent as it is understood anywhere: an agent file with its whole path."""
    return str(Path(folder, name).expanduser()) if name.endswith(".toml") else name


async def agent_named(name: str, folder: str = "") -> tuple[Agent, dict[str, Json]]:
    """The agent of an agent file, with what a record says of it; or what `module:name` is or makes.

    Raises `ConfigError`.
    """
    if name.endswith(".toml"):
        spec, _ = await with_model(read_agent_file(name))
        return make_agent(spec), origin(spec)
    found = imported(name, "agent", folder)
    agent = found() if callable(found) and not is_agent(found) else found
    if not is_agent(agent):
        what = type(agent).__name__
        raise ConfigError(f"{name} is of type {what}: name an agent, or a function that makes one")
    return agent, {}


def ended(so_far: Trajectory) -> End:
    """How a run stands that has stopped."""
    stop = so_far.stop
    if stop is None:
        return _open(so_far.run_id, "left", "left where its step ended: others go on from there")
    return End(
        so_far.run_id,
        stop.status,
        stop.reason,
        stop.answer,
        so_far.usage,
        len(so_far.steps),
        stop.fallback,
    )


def _open(run_id: str, what: What, reason: str) -> End:
    """How a run stands that has not."""
    status: Standing = "failed"
    if what in {"left", "lost"}:
        status = "waiting" if what == "left" else "working"
    return End(run_id, status, reason, open=what)


class Actor:
    """Carries runs to their ends. No agent comes or goes with a message, and nothing is kept.

    It is made with `Orders` as JSON.
    """

    def __init__(self, orders: bytes) -> None:
        self._orders = msgspec.json.decode(orders, type=Orders)
        self._leaving = False
        self._store: Shared | None = None
        self._agents: Agents | None = None
        self._making = asyncio.Lock()
        self._gate = Gate()

    async def advance(self, run_id: str, over: bool = False) -> bytes:  # noqa: FBT001, FBT002 - Ray hands on arguments by place
        """Carry a run until it stops: its `End`, as JSON. With `over`, whoever has claimed it.

        Whatever goes wrong is told as the end of this run only. Ray may call this again, here or
        elsewhere, as often as it likes: the record says what is left to do.
        """
        try:
            end = await self._advance(run_id, over=over)
        except FencedError as error:
            end = _open(run_id, "lost", str(error))
        except ConfigError as error:
            end = _open(run_id, "refused", str(error))
        except ClewError as error:
            end = _open(run_id, "failed", str(error))
        except Exception as error:  # noqa: BLE001 - a user's part that fails ends no other run
            end = _open(run_id, "failed", described(error))
        return msgspec.json.encode(end)

    async def leave(self) -> None:
        """Let each run at hand go where its step ends, and take up no more."""
        self._leaving = True

    async def _advance(self, run_id: str, *, over: bool) -> End:
        async with self._making:  # once, for all runs that come at the beginning
            if self._store is None:
                self._store = shared(open_store(self._orders.store))
            if self._agents is None:
                self._agents = await self._make_agents()
            store, agents = self._store, self._agents
        while not self._leaving:
            so_far = await load(store, run_id)
            if so_far.stop is not None and not await store.inbox(run_id):
                return ended(so_far)
            if (mine := await claim(store, run_id, take_over=over)) is not None:
                try:
                    carried = await carry(
                        agents, store, run_id, leaving=lambda: self._leaving, gate=self._gate
                    )
                    return ended(carried)
                finally:
                    await store.release(mine)
            if not self._orders.patient:
                return _open(run_id, "lost", "another worker has it")
            await asyncio.sleep(PAUSE)
        return _open(run_id, "left", "its actor leaves")

    async def _make_agents(self) -> Agents:
        orders = self._orders
        given = [(await agent_named(name, orders.folder))[0] for name in orders.agents]
        return agents_of(*given, recorded=not orders.only, trust_origin=orders.trust_origin)
