"""Machines share a database: what one begins is the others' own, and what is imported is not."""

import io
from itertools import count
from pathlib import Path

import pytest

from clew import Agent, StoreError, fork, read, resume, run, tool
from clew.agent.foreign import trust
from clew.core.actions import Action
from clew.core.contents import Reply, text_parts
from clew.core.events import Fingerprints, Note, Thought
from clew.core.journal import Journal
from clew.guards import Provenance
from clew.retention import export_runs, import_runs
from clew.stores.memory import MemoryStore
from clew.support.errors import RunNotFoundError
from clew.testing.models import ScriptedModel, act, say
from clew_cluster.postgres.store import PostgresStore
from tests.postgres import Server

_SCHEMAS = count(1)
PAID: list[str] = []


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Psycopg runs on no other."""
    return "asyncio"


@pytest.fixture
def address(postgres_server: Server) -> str:
    PAID.clear()
    return f"{postgres_server.address()}?schema=foreign_{next(_SCHEMAS)}"


@tool
def pay(to: str) -> str:
    """Pay somebody."""
    PAID.append(to)
    return f"paid {to}"


@tool(effect="read")
def look(page: str) -> str:
    """Read a page."""
    return f"page {page}"


def agent(*script: object) -> Agent:
    guards = [Provenance("off")]
    return Agent(model=ScriptedModel(script), tools=[pay, look], guards=guards)  # type: ignore[arg-type]  # moves


def pending(to: str) -> Thought:
    return Thought(Reply(), Fingerprints("h", "t", "p", "s"), actions=(Action("pay", {"to": to}),))


async def test_a_run_goes_on_on_another_machine(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = PostgresStore(address)
    await run(agent(act("look", page="a"), say("One.")), "Look", store=store, run_id="r")
    journal = await Journal.open(store, "r")
    await journal.record(Note(text_parts("Pay bob")), pending("bob"))  # and its worker is killed
    await store.close()
    monkeypatch.setenv("HOME", str(tmp_path))
    other = PostgresStore(address)
    assert await other.foreign("r") == 0
    await resume(agent(say("…"), say("…"), say("…"), say("Done.")), "r", store=other)
    assert PAID == ["bob"]
    await other.close()


async def test_an_import_is_a_strangers_until_it_is_trusted(address: str) -> None:
    theirs = MemoryStore()
    await run(agent(act("look", page="a"), say("One.")), "Look", store=theirs, run_id="r")
    await fork(agent(say("…"), say("Two.")), "r", at=1, store=theirs, new_id="f")
    for run_id in ("r", "f"):
        journal = await Journal.open(theirs, run_id)
        await journal.record(Note(text_parts("Pay")), pending("mallory"))
    archive = io.BytesIO()
    await export_runs(archive, store=theirs)
    archive.seek(0)
    store = PostgresStore(address)
    assert len((await import_runs(archive, store=store)).runs) == 2
    seen = await read("r", store=store)
    assert seen.foreign == len(seen.entries)
    script = [say("…")] * 3
    await resume(agent(*script, say("No.")), "r", store=store)
    assert PAID == []
    forked = await read("f", store=store)
    await trust(store, forked)
    assert (await read("f", store=store)).foreign == 0
    assert (await read("r", store=store)).foreign == seen.foreign, "its own lines are not trusted"
    await resume(agent(*script, say("Done.")), "f", store=store)
    assert PAID == ["mallory"]
    with pytest.raises(RunNotFoundError):
        await store.foreign("none")
    (last,) = await store.read("r", len(await store.read("r")) - 1)
    with pytest.raises(StoreError, match="another than the one you looked at"):
        await store.adopt("f", last)
    await store.close()
