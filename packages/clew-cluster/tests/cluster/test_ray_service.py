"""What is sent to the actors of a queue, and when again; the actor is in this process."""

from pathlib import Path

import anyio
import msgspec
import pytest

from clew import Agent, SqliteStore, submit
from clew.core.events import Note, encode, text_parts
from clew.testing.models import ScriptedModel, say
from clew.workers import WorkerConfig, WorkerEvent
from clew.workers.worker import Worker

pytest.importorskip("ray", reason="the extra `ray` is not installed")

from clew_cluster.ray.actor import Actor, ActorConfig, ActorResult
from clew_cluster.ray.driver import Sender
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow


class Here:
    """A crew of one actor, without Ray."""

    def __init__(self, store: str) -> None:
        self.sent: list[str] = []
        self._actor = Actor(msgspec.json.encode(ActorConfig(store, only=True, patient=False)))

    async def carry(self, run_id: str, *, over: bool = False) -> ActorResult:
        self.sent.append(run_id)
        return msgspec.json.decode(await self._actor.advance(run_id, over), type=ActorResult)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_refused_run_that_was_spoken_to_is_not_sent_at_every_look(tmp_path: Path) -> None:
    place = str(tmp_path / "runs.sqlite")
    store, crew, told = SqliteStore(Path(place)), Here(place), list[WorkerEvent]()
    agent = Agent(model=ScriptedModel([say("yes")]))
    run_id = await submit(agent, "?", store=store)
    await store.post(run_id, encode(Note(text_parts("a word"))))
    config = WorkerConfig(store=store, only=True, until_idle=True)
    worker = Worker(store, config, Sender(store, crew), told.append, anyio.Event())
    with anyio.fail_after(PATIENCE):
        await worker.serve()
    assert crew.sent == [run_id]
    assert [event.what for event in told] == ["serving", "taken", "refused"]
    await store.close()
