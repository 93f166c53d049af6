"""`clew mcp serve` killed at fifty points of calls: no task is lost, no effect is repeated."""

import random
import signal
from pathlib import Path
from typing import Final

import anyio
import pytest

from clew import Trajectory, read
from clew.stores import store_at
from tests.patience import PATIENCE
from tests.serve.served import begin_task, raw
from tests.serve.test_mcp_processes import Http, client_of

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

KILLS: Final = 50
PARTS: Final = 5
"""The full check draws one of them: ten kills, and at least one after each entry."""
ENTRIES: Final = 9
"""The entries of a whole run, from its start to its stop."""
MOMENT: Final = 0.01
"""Seconds at most from an entry to the kill, so that it also falls between two."""


async def has_entries(store: str, run_id: str, count: int) -> None:
    """Wait until the run has so many entries, or is over."""
    async with store_at(store) as place:
        with anyio.fail_after(PATIENCE):
            while len(lines := await place.read(run_id)) < count:
                if b'"event":"stop"' in lines[-1].body:
                    return
                await anyio.sleep(0.002)


def letter(record: Trajectory) -> str:
    """What the record says of the letter."""
    observation = record.call("1.1").observation
    assert observation is not None
    return observation.outcome


@pytest.mark.share(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
async def test_kills_lose_no_task_and_repeat_no_effect(tmp_path: Path, part: int) -> None:
    chance = random.Random(7 + part)
    store = str(tmp_path / "runs.sqlite")
    (tmp_path / "open").touch()
    begun: list[str] = []
    for number in range(part, KILLS, PARTS):
        server = Http(tmp_path, "--no-token")
        async with client_of(server.url) as client:
            begun.append(await begin_task(client, f"Write letter {number}."))
            await has_entries(store, begun[-1], 1 + number % ENTRIES)
            await anyio.sleep(chance.random() * MOMENT)
            server.end(signal.SIGKILL)
    last = Http(tmp_path, "--no-token")
    try:
        async with client_of(last.url) as client:
            results = [await raw(client, "tasks/result", taskId=run_id) for run_id in begun]
    finally:
        last.end(signal.SIGTERM)
    assert [result["structuredContent"]["status"] for result in results] == ["answered"] * len(
        begun
    )
    outcomes = [letter(await read(run_id, store=store)) for run_id in begun]
    sent = (tmp_path / "sent").read_text("utf-8").splitlines()
    done, unknown = outcomes.count("done"), outcomes.count("unknown")
    assert done + unknown == len(begun) == KILLS // PARTS
    assert done <= len(sent) <= done + unknown
