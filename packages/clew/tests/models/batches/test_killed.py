"""`kill -9` at every write of the ledger and of the store, while a batch is done.

What must hold: whoever does the same again comes to the end, no batch is handed in twice, no reply
is paid twice, and each is on record once.
"""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from select import select
from typing import Any, Final

import pytest

from clew import read
from clew.core.events import Charged, Thought
from tests.models.batches.bench import Service, serving, texts
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.share(4),
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),
    pytest.mark.parametrize("service", ["openai", "anthropic"]),
]

ROOT = Path(__file__).parents[3]

WRITES: Final = 20
"""So many commits there are from the first question to the last answer."""


class Worker:
    """Starts children that do jobs."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def work(self, service: Service, url: str, folder: Path, kill_at: int = 0) -> Any:
        """The exit status, the number of writes, and what the runs came to."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([service, url, str(folder), kill_at]) + "\n")
        self._process.stdin.flush()
        assert select([self._process.stdout], [], [], PATIENCE)[0], "the child hangs"
        status, (writes, statuses) = json.loads(self._process.stdout.readline())
        return status, writes, statuses


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.models.batches.dying"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        try:
            yield Worker(process)
        finally:
            process.kill()


@pytest.mark.parametrize("kill_at", range(1, WRITES + 1))
async def test_killed_at_any_write_nothing_is_paid_twice_or_lost(
    service: Service, kill_at: int, tmp_path: Path, worker: Worker
) -> None:
    async with serving(service, tmp_path) as place:
        status, _, _ = worker.work(service, place.base_url, tmp_path, kill_at)
        assert status == -signal.SIGKILL
        status, _, statuses = worker.work(service, place.base_url, tmp_path)
        assert (status, statuses) == (0, ["answered", "answered"])
        batches = place.bench.batches
        handed_in = [texts(entry.body) for batch in batches for entry in batch.entries]
        assert len(handed_in) == len({*handed_in}) == len(place.bench.paid) == 4
    for run in ("shops-1", "shops-2"):
        record = await read(run, store=tmp_path / "runs.sqlite")
        events = [entry.event for entry in record.entries]
        assert sum(isinstance(event, Thought) for event in events) == 2
        assert not any(isinstance(event, Charged) for event in events)


async def test_these_are_all_the_writes(service: Service, tmp_path: Path, worker: Worker) -> None:
    async with serving(service, tmp_path) as place:
        status, writes, statuses = worker.work(service, place.base_url, tmp_path)
    assert (status, statuses) == (0, ["answered", "answered"])
    assert writes == WRITES
