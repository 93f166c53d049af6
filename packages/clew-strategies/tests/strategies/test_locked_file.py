"""A file that somebody else has locked is busy for a vote too."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from clew import Agent, SqliteStore, run
from clew.agent.runner import start
from clew.stores import StoreBusyError
from clew.testing.models import ScriptedModel, say
from clew_strategies import vote

pytestmark = pytest.mark.both_loops


AGENT = Agent(model=ScriptedModel([say("4")]))


@pytest.fixture
def locked(tmp_path: Path) -> Generator[SqliteStore]:
    """A store whose file another program has locked, and does not let go of."""
    store = SqliteStore(tmp_path / "runs.sqlite", patience=0.01)
    with closing(sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield store


async def test_a_locked_file_is_busy_whoever_writes(locked: SqliteStore) -> None:
    """A new run with an id of its own, as a fan-out and a vote begin them: it was never there."""
    with pytest.raises(StoreBusyError, match="kept locked by another process"):
        await start(AGENT, "2 + 2?", locked, run_id="storm-26")
    with pytest.raises(StoreBusyError, match="kept locked by another process"):
        await vote(AGENT, "2 + 2?", 3, store=locked, run_id="vote")
    with pytest.raises(StoreBusyError, match="kept locked by another process"):
        await run(AGENT, "2 + 2?", store=locked)
