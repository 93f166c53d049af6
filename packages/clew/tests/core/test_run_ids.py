"""What the id of a run may be: one rule wherever a run comes from."""

from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, fork, open_fork, open_run, read, resume, run
from clew.core.contents import text_parts
from clew.core.events import Started
from clew.core.journal import Journal
from clew.testing import ScriptedModel, say
from tests.core.test_promises import Work, made

WRONG = [
    "../../evil", "..", ".", "/etc/x", "a/../b", "a//b", "a/", "a/.", "a\\b", "a\nb", "a b", "a\tb",
    " a", "-a", "--log-dir", ".a", "~a", "$(ls)", "a;ls", "a|b", "a\x00", "a\x1b[2J", "a\u202eb",
    "a\u200b", "a\ud800", "'a'", "a*", "last",
]  # fmt: skip
RIGHT = [
    "a", "5", "_a", "team:mail/r-1.1", "eve@example.org/3", "a+b=c", "a..b", "Übung", "質問-1",
    "lasts", "LAST", "20261128-120000-00ff00ff",
]  # fmt: skip


def agent() -> Agent:
    return Agent(model=ScriptedModel([say("first"), say("again")]), tools=[made(Work())])


@pytest.mark.parametrize("run_id", WRONG, ids=ascii)
async def test_no_run_is_begun_or_forked_under_an_id_that_could_act_somewhere(run_id: str) -> None:
    store = MemoryStore()
    await run(agent(), "Say.", store=store, run_id="r")
    with pytest.raises(ConfigError, match=r"no run can have this id: .*; choose another"):
        await run(agent(), "Say.", store=store, run_id=run_id)
    with pytest.raises(ConfigError, match="no run can have this id"):
        async with open_run(agent(), "Say.", store=store, run_id=run_id):
            pass
    with pytest.raises(ConfigError, match="no run can have this id"):
        await fork(agent(), "r", at=0, store=store, new_id=run_id)
    with pytest.raises(ConfigError, match="no run can have this id"):
        async with open_fork(agent(), "r", at=0, store=store, new_id=run_id):
            pass
    assert [info.run_id for info in await store.runs()] == ["r"]


@pytest.mark.parametrize("run_id", RIGHT)
async def test_ids_that_people_choose_are_taken(run_id: str) -> None:
    store = MemoryStore()
    assert (await run(agent(), "Say.", store=store, run_id=run_id)).run_id == run_id
    forked = await fork(agent(), run_id, at=0, store=store, new_id=f"{run_id}-fork")
    assert forked.run_id == f"{run_id}-fork"


@pytest.mark.parametrize("run_id", [5, b"r"])
async def test_an_id_that_is_no_text_is_refused(run_id: Any) -> None:
    with pytest.raises(ConfigError, match="give a text"):
        await run(agent(), "Say.", store=MemoryStore(), run_id=run_id)


async def test_a_run_that_an_older_clew_began_under_such_an_id_goes_on() -> None:
    store = MemoryStore()
    started = Started(text_parts("Say."), agent().spec)
    await Journal.create(store, started, "../a b")
    assert (await resume(agent(), "../a b", store=store)).answer == "first"
    assert (await read("../a b", store=store)).stop is not None
