"""Whose an origin is: the seal, and the key that it is made with."""

import multiprocessing
from pathlib import Path

import pytest

from clew import Agent, ConfigError, MemoryStore, fork, read, resume, run
from clew.agent.runner import start
from clew.stores.seal import SEAL, begun_here, sealed, trust
from clew.testing.models import ScriptedModel, say

ORIGIN = {"cli": {"tools": ["calc"]}}


def data() -> Path:
    return Path.home() / ".local" / "share" / "clew"


def test_an_origin_is_known_again_by_its_seal() -> None:
    assert not begun_here(ORIGIN, ["a"])  # there is no key yet
    mine = sealed("a", ORIGIN)
    assert begun_here(mine, ["b", "a"])
    assert not begun_here(mine, ["b"])
    assert not begun_here({**mine, "more": True}, ["a"])
    assert sealed("a", mine) == mine  # a seal is of what is said beside it
    assert sealed("a", {}) == {}


def test_what_is_trusted_stays_so() -> None:
    theirs = {**ORIGIN, SEAL: "0" * 32}
    assert not begun_here(sealed("b", ORIGIN), ["a"])
    trust("a", theirs)
    assert begun_here(theirs, ["a"])
    assert not begun_here(theirs, ["b"])


def test_a_key_that_is_none_is_told() -> None:
    sealed("a", ORIGIN)
    (data() / "key").write_text("rust")
    with pytest.raises(ConfigError, match="is no key: delete it"):
        begun_here(ORIGIN, ["a"])


def test_where_no_key_can_be_kept_nothing_is_sealed() -> None:
    data().parent.mkdir(parents=True)
    data().write_text("in the way")
    assert sealed("a", ORIGIN) == ORIGIN
    assert not begun_here(ORIGIN, ["a"])
    with pytest.raises(ConfigError, match="cannot be remembered"):
        trust("a", ORIGIN)


def _seal(number: int) -> str:
    return str(sealed("a", ORIGIN)[SEAL])


@pytest.mark.slow
def test_processes_that_make_the_key_at_once_have_the_same_one() -> None:
    pool = multiprocessing.get_context("spawn").Pool(4)
    try:
        assert len({*pool.map(_seal, range(4), chunksize=1), _seal(0)}) == 1
    finally:  # to terminate it, as `with` does, may kill one that holds the lock of all
        pool.close()
        pool.join()
    assert [file.name for file in data().iterdir()] == ["key"]


async def test_a_change_and_a_fork_are_sealed_too() -> None:
    store, agent = MemoryStore(), Agent(model=ScriptedModel([say("one"), say("two")]))
    journal = await start(agent, "Which?", store, run_id="a", origin=ORIGIN)
    assert begun_here(journal.trajectory.started.origin, ["a"])
    await resume(agent, "a", store=store)
    other = await fork(agent.replace(prompt="Be brief."), "a", at=1, store=store, origin=ORIGIN)
    (made,) = (await read(other.run_id, store=store)).forks
    assert begun_here(made.origin, [other.run_id])
    plain = await run(agent, "And?", store=store)
    assert (await read(plain.run_id, store=store)).started.origin == {}
