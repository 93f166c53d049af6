"""The durability program, a short form of each part; and that it sees what is not as it should be.

Ray's part is among the tests of its driver: a cluster takes half a minute to come and go.
"""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from clew import Agent
from clew.core.interfaces import Store
from durability import (
    code,
    damaged,
    entries,
    lost_ends,
    mcp,
    mcp_leaks,
    outages,
    poisoned,
    storms,
    strategies,
    torn,
    world,
)
from durability.audit import Audit, audit
from durability.nursery import PATH, ROOT
from durability.storm import Storm, Weather, asyncio_run, begin, blow, ids, with_store
from recordings.part import Part
from recordings.report import failures
from reporting.outcomes import of_parts
from reporting.pages import in_full
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow

RUNS = 4


def whole(part: Part) -> None:
    """Every figure of a part meets its aim, and none of them is of nothing."""
    assert list(failures([part])) == []
    assert any(figure.aim for figure in part.figures)


def test_two_workers_on_sqlite_are_killed() -> None:
    whole(storms.sqlite(15))


def test_two_workers_on_postgresql_are_killed() -> None:
    whole(storms.on_postgres(20))


def test_two_workers_of_dbos_are_killed() -> None:
    whole(storms.dbos(50))


def test_poisoned_runs_take_no_other_with_them() -> None:
    whole(poisoned.poisoned(20))


def test_a_long_run_is_killed_at_its_entries() -> None:
    whole(entries.killed(30))


def test_programs_of_a_model_are_killed_at_every_suspension() -> None:
    whole(code.code(60))


def test_each_strategy_is_killed_at_its_entries() -> None:
    whole(strategies.killed(40))


def test_servers_of_mcp_tools_are_killed_in_calls() -> None:
    whole(mcp.servers(16))


def test_calls_of_mcp_tools_are_killed_and_resumed() -> None:
    whole(mcp.clew(18))


def test_many_runs_over_one_server_of_mcp_tools_leave_nothing_open() -> None:
    whole(mcp_leaks.leaks(40))


def test_a_frozen_worker_is_fenced_off() -> None:
    whole(outages.frozen(8))


def test_postgresql_restarts() -> None:
    whole(outages.restarted(5))


def test_a_disk_is_full() -> None:
    whole(outages.full(8))


def test_writes_are_torn() -> None:
    whole(torn.torn(211))


def test_a_database_is_damaged() -> None:
    whole(damaged.damaged(40))


def test_files_of_an_open_run_are_damaged() -> None:
    whole(lost_ends.lost_ends(100))


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the records and the effects of runs that nothing happened to."""
    outside = tmp_path_factory.mktemp("calm")
    storm = Storm("calm", RUNS, 0, workers=1)
    assert blow(storm, str(outside / "runs.sqlite"), outside).audit.well
    return outside


def looked(place: Path, run_ids: list[str]) -> Audit:
    """What an audit finds in a folder."""
    agent = world.agent(place)

    async def look(store: Store) -> Audit:
        return await audit(store, run_ids, world.Ledger(place), agent)

    found: Audit = asyncio_run(with_store, str(place / "runs.sqlite"), look)
    return found


def copied(calm: Path, place: Path) -> Path:
    for file in calm.iterdir():
        (place / file.name).write_bytes(file.read_bytes())
    return place


@pytest.mark.parametrize("tool", ["send", "post"])
def test_an_effect_that_happened_twice_is_seen(calm: Path, tmp_path: Path, tool: str) -> None:
    ledger = world.Ledger(copied(calm, tmp_path))
    line = next(line for line in ledger.lines() if line.startswith(tool))
    ledger.write(line)
    found = looked(tmp_path, ids(RUNS))
    assert [entry.partition(":")[0] for entry in found.twice] == [line.partition(":")[0]]
    assert not found.well


def test_an_effect_that_never_happened_is_seen(calm: Path, tmp_path: Path) -> None:
    ledger = world.Ledger(copied(calm, tmp_path))
    lines = ledger.lines()
    lost = next(line for line in lines if line.startswith("put"))
    ledger.path.write_text("".join(f"{line}\n" for line in lines if line != lost))
    assert looked(tmp_path, ids(RUNS)).amiss == [f"{lost}: done, and happened 0 times"]


def test_an_effect_that_no_record_tells_is_seen(calm: Path, tmp_path: Path) -> None:
    world.Ledger(copied(calm, tmp_path)).write("send run-0001:99.1")
    found = looked(tmp_path, ids(RUNS))
    assert found.silent == ["send run-0001:99.1: happened, and stands in no record"]


def test_a_run_that_is_not_there_or_not_done_is_seen(calm: Path, tmp_path: Path) -> None:
    place = copied(calm, tmp_path)
    agent: Agent = world.agent(place)
    asyncio_run(begin, str(place / "runs.sqlite"), agent, ["late"])
    found = looked(place, ["late", "never"])
    assert found.lost == ["late: open after 1 entries"]
    assert [line.partition(":")[0] for line in found.broken] == ["never"]


def test_a_changed_byte_is_seen(calm: Path, tmp_path: Path) -> None:
    place = copied(calm, tmp_path)
    connection = sqlite3.connect(place / "runs.sqlite")
    connection.execute("UPDATE entries SET body = replace(body, 'send: done', 'send: gone')")
    connection.commit()
    connection.close()
    assert len(looked(place, ids(RUNS)).broken) == RUNS


def test_a_miss_stands_on_the_page_with_its_reason() -> None:
    seen = Audit(runs=1, twice=["send a:1.1: 2 times"])
    seen.calls["send"] = 1
    figures = [*storms.figures(Storm("a", 1, 1), Weather(1, 2.0, seen))]
    part = Part("A", "B", figures, storms.misses(seen))
    assert any("unsafe calls that happened twice: 1 of 1 (0)" in line for line in failures([part]))
    assert "- send a:1.1: 2 times" in in_full(of_parts("durability", [part]))


async def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": PATH}
    argv = [sys.executable, "-m", "durability", "--parts", "sqlite", "--print"]
    async with await anyio.open_process(
        argv, cwd=ROOT, env=env, stderr=subprocess.PIPE, start_new_session=True
    ) as program:
        assert program.stderr is not None
        with anyio.fail_after(PATIENCE):
            while b"kills" not in await program.stderr.receive():
                pass
            assert len(theirs(tmp_path)) > 2  # itself, the nursery, workers
            os.killpg(program.pid, signal.SIGINT)
            assert await program.wait() == 130
            while theirs(tmp_path):
                await anyio.sleep(0.01)
    assert list(tmp_path.iterdir()) == []


def theirs(folder: Path) -> list[str]:
    """The processes whose temporary folder is this one."""
    mine, found = f"TMPDIR={folder}\0".encode(), list[str]()
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mine in place.read_bytes():
                found.append(place.parent.name)
        except OSError:
            continue
    return found
