"""What is sent to the actors of a queue, and when again; the actors are in this process."""

import asyncio
from pathlib import Path
from typing import cast

import anyio
import msgspec
import pytest

from clew import Agent, SqliteStore, submit
from clew.core.events import Note, encode
from clew.testing.models import ScriptedModel, say
from clew.workers.driver import Serving, WorkerEvent

pytest.importorskip("ray", reason="the extra `ray` is not installed")

from clew.workers.ray.actor import Actor, End, Orders
from clew.workers.ray.crew import Crew
from clew.workers.ray.service import Service
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow


class Here:
    """A crew of one actor, without Ray."""

    full = False

    def __init__(self, store: str) -> None:
        self.sent: list[str] = []
        self._actor = Actor(msgspec.json.encode(Orders(store, only=True, patient=False)))
        self._flying: dict[str, asyncio.Task[None]] = {}
        self._landed = asyncio.Queue[bytes]()

    @property
    def idle(self) -> bool:
        return not self._flying

    def has(self, run_id: str) -> bool:
        return run_id in self._flying

    def send(self, run_id: str, *, over: bool = False) -> None:
        async def carry() -> None:
            await self._landed.put(await self._actor.advance(run_id, over))

        self.sent.append(run_id)
        self._flying[run_id] = asyncio.create_task(carry())

    async def next(self) -> End:
        end = msgspec.json.decode(await self._landed.get(), type=End)
        await self._flying.pop(end.run_id)
        return end


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_refused_run_that_was_spoken_to_is_not_sent_at_every_look(tmp_path: Path) -> None:
    place = str(tmp_path / "runs.sqlite")
    store, crew, told = SqliteStore(Path(place)), Here(place), list[WorkerEvent]()
    agent = Agent(model=ScriptedModel([say("yes")]))
    run_id = await submit(agent, "?", store=store)
    await store.post(run_id, encode(Note("a word")))
    serving = Serving(place, only=True, until_idle=True)
    service = Service(store, cast(Crew, crew), serving, told.append, anyio.Event())
    with anyio.fail_after(PATIENCE):
        await service.go_on()
    assert crew.sent == [run_id]
    assert [news.what for news in told] == ["serving", "taken", "refused"]
    await store.close()
