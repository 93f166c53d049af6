"""`kill -9` at every write of the journal, with real processes and real stores.

What must hold: an unsafe tool never ran twice, an idempotent or probed one had each effect once,
what is unknown is said to be unknown, and the run comes to its end.
"""

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from clew import open_store
from clew.core.journal import load
from clew.core.trajectory import Trajectory
from tests.core.scenarios import Ledger

pytestmark = pytest.mark.slow

SCENARIO = "effects of every kind"
ROOT = Path(__file__).parents[2]
WRITES = 11  # appends of the whole run: see test_the_number_of_writes


Work = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def work() -> Iterator[Work]:
    """Start a worker process, wait for its end: its exit status and what it printed."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.core.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip

        def one(
            store: Path, folder: Path, kill_at: int = 0, when: str = "after"
        ) -> tuple[int, str]:
            assert process.stdin
            assert process.stdout
            words = [str(store), str(folder), SCENARIO, kill_at, when]
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
            printed, _, status = process.stdout.readline().partition("\t")
            return int(status), printed

        yield one


def read(store: Path) -> Trajectory:
    """The record as it lies there."""

    async def reading() -> Trajectory:
        place = open_store(store)
        try:
            return await load(place, "run")
        finally:
            await place.close()

    return anyio.run(reading)


def effects(folder: Path) -> Counter[str]:
    """How often each effect happened outside, by tool."""
    return Counter(line.split()[0] for line in Ledger(folder / "effects").lines())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kill_at", range(1, WRITES + 1))
def test_killed_at_any_write_nothing_is_done_twice_or_lost(
    kill_at: int, when: str, tmp_path: Path, work: Work
) -> None:
    store = tmp_path / "runs.sqlite"
    status, _ = work(store, tmp_path, kill_at, when)
    assert status == -signal.SIGKILL
    status, printed = work(store, tmp_path)
    assert (status, printed) == (0, "answered done")
    done, record = effects(tmp_path), read(store)
    sent, stored, posted = (
        next(call for call in record.calls if call.action.name == name)
        for name in ("send", "put", "post")
    )
    assert sent.observation
    if sent.observation.outcome == "unknown":
        assert done["send"] <= 1
        assert "may or may not have happened" in sent.observation.text
    else:
        assert done["send"] == 1
    keys = Ledger(tmp_path / "effects").lines()
    assert len({line for line in keys if line.startswith("put")}) == 1
    assert done["post"] == 1
    assert stored.observation
    assert stored.observation.outcome == "done"
    assert posted.observation
    assert posted.observation.outcome == "done"


def test_the_number_of_writes(tmp_path: Path, work: Work) -> None:
    status, printed = work(tmp_path / "runs.sqlite", tmp_path, WRITES + 1)
    assert (status, printed) == (0, "answered done")
    assert effects(tmp_path) == {"send": 1, "put": 1, "post": 1}
