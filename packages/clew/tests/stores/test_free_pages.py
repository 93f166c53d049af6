"""Damage of the list of free pages: all entries are there, and no new one can be written."""

from pathlib import Path

import pytest

from clew import Agent, SqliteStore, run
from clew.retention import gc, verify
from clew.testing import ScriptedModel, finish

NUMBER_OF_FREE = range(36, 40)
"""The bytes of a database file that say how many of its pages are free."""


async def closed(path: Path) -> bytes:
    """A store with one run, as it is left."""
    store = SqliteStore(path)
    await run(Agent(model=ScriptedModel([finish("done")])), "Do it.", store=store)
    await store.close()
    return path.read_bytes()


@pytest.mark.parametrize("byte", NUMBER_OF_FREE)
async def test_a_wrong_number_of_free_pages_is_named(tmp_path: Path, byte: int) -> None:
    path = tmp_path / "runs.sqlite"
    whole = await closed(path)
    for bit in range(8):
        changed = bytearray(whole)
        changed[byte] ^= 1 << bit
        path.write_bytes(changed)
        store = SqliteStore(path)
        (kept,), lost = await verify(store=store)
        await store.close()
        assert (kept.wrong, [each.run_id for each in lost]) == ("", [""])
        assert "its list of free pages is not what it says" in lost[0].why


async def test_free_pages_that_are_there_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    await closed(path)
    store = SqliteStore(path)
    await gc(older=0, store=store)
    assert await verify(store=store) == ([], [])
    await store.close()
    again = SqliteStore(path)
    assert await verify(store=again) == ([], [])
    await again.close()
