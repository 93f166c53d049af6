"""What is sent to the actors of a queue, and when again; the actor is in this process."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from clew import Agent, SqliteStore, submit
from clew.agent_files import load_agent
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.values import encode
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

    def __init__(self, store: str, **more: Any) -> None:
        self.sent: list[str] = []
        config = ActorConfig(store, only=True, patient=False, **more)
        self._actor = Actor(msgspec.json.encode(config))

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


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_actor_goes_on_with_a_changed_agent_where_that_is_accepted(tmp_path: Path) -> None:
    place, file = str(tmp_path / "runs.sqlite"), tmp_path / "desk.toml"
    tools = 'model = "offline"\ntools = ["calc"]\n'
    file.write_text(f'{tools}prompt = "Be quick."\n')
    async with SqliteStore(Path(place)) as store:
        run_id = await submit(load_agent(file).agent, "What is 3 + 4?", store=store)
        file.write_text(f'{tools}prompt = "Be brief."\n')
        refused = await Here(place, agents=(str(file),)).carry(run_id)
        assert (refused.open, "differs in prompt" in refused.reason) == ("refused", True)
        done = await Here(place, agents=(str(file),), accept_change=True).carry(run_id)
        assert (done.open, done.status) == (None, "answered")
