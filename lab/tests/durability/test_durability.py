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
from clew.core.stores import Store
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
from tests.cluster.temporal_server import needs_temporal
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow

RUNS = 4


def check_part(part: Part) -> None:
    """Every figure of a part meets its aim, and none of them is of nothing."""
    assert list(failures([part])) == []
    assert any(figure.aim for figure in part.figures)


def test_two_workers_on_sqlite_are_killed() -> None:
    check_part(storms.sqlite(15))


def test_two_workers_on_postgresql_are_killed() -> None:
    check_part(storms.on_postgres(20))


def test_two_workers_of_dbos_are_killed() -> None:
    check_part(storms.dbos(50))


@needs_temporal
def test_two_workers_of_temporal_and_its_server_are_killed() -> None:
    check_part(storms.temporal(25))


def test_poisoned_runs_take_no_other_with_them() -> None:
    check_part(poisoned.poisoned(20))


def test_a_long_run_is_killed_at_its_entries() -> None:
    check_part(entries.killed(30))


def test_programs_of_a_model_are_killed_at_every_suspension() -> None:
    check_part(code.code(60))


def test_each_strategy_is_killed_at_its_entries() -> None:
    check_part(strategies.killed(40))


def test_servers_of_mcp_tools_are_killed_in_calls() -> None:
    check_part(mcp.servers(16))


def test_calls_of_mcp_tools_are_killed_and_resumed() -> None:
    check_part(mcp.clew(18))


def test_many_runs_over_one_server_of_mcp_tools_leave_nothing_open() -> None:
    check_part(mcp_leaks.leaks(40))


def test_a_frozen_worker_is_fenced_off() -> None:
    check_part(outages.frozen(8))


def test_postgresql_restarts() -> None:
    check_part(outages.restarted(5))


def test_a_disk_is_full() -> None:
    check_part(outages.full(8))


def test_writes_are_torn() -> None:
    check_part(torn.torn(211))


def test_a_database_is_damaged() -> None:
    check_part(damaged.damaged(40))


def test_files_of_an_open_run_are_damaged() -> None:
    check_part(lost_ends.lost_ends(100))


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the records and the effects of runs that nothing happened to."""
    outside = tmp_path_factory.mktemp("calm")
    storm = Storm("calm", RUNS, 0, workers=1)
    assert blow(storm, str(outside / "runs.sqlite"), outside).audit.well
    return outside


def looked(path: Path, run_ids: list[str]) -> Audit:
    """What an audit finds in a folder."""
    agent = world.agent(path)

    async def look(store: Store) -> Audit:
        return await audit(store, run_ids, world.Ledger(path), agent)

    audit_result: Audit = asyncio_run(with_store, str(path / "runs.sqlite"), look)
    return audit_result


def copied(calm: Path, path: Path) -> Path:
    for file in calm.iterdir():
        (path / file.name).write_bytes(file.read_bytes())
    return path


@pytest.mark.parametrize("tool", ["send", "post"])
def test_an_effect_that_happened_twice_is_seen(calm: Path, tmp_path: Path, tool: str) -> None:
    ledger = world.Ledger(copied(calm, tmp_path))
    line = next(line for line in ledger.lines() if line.startswith(tool))
    ledger.write(line)
    audit = looked(tmp_path, ids(RUNS))
    assert [entry.partition(":")[0] for entry in audit.twice] == [line.partition(":")[0]]
    assert not audit.well


def test_an_effect_that_never_happened_is_seen(calm: Path, tmp_path: Path) -> None:
    ledger = world.Ledger(copied(calm, tmp_path))
    lines = ledger.lines()
    lost = next(line for line in lines if line.startswith("put"))
    ledger.path.write_text("".join(f"{line}\n" for line in lines if line != lost))
    assert looked(tmp_path, ids(RUNS)).amiss == [f"{lost}: done, and happened 0 times"]


def test_an_effect_that_no_record_tells_is_seen(calm: Path, tmp_path: Path) -> None:
    world.Ledger(copied(calm, tmp_path)).write("send run-0001:99.1")
    audit = looked(tmp_path, ids(RUNS))
    assert audit.silent == ["send run-0001:99.1: happened, and stands in no record"]


def test_a_run_that_is_not_there_or_not_done_is_seen(calm: Path, tmp_path: Path) -> None:
    path = copied(calm, tmp_path)
    agent: Agent = world.agent(path)
    asyncio_run(begin, str(path / "runs.sqlite"), agent, ["late"])
    audit = looked(path, ["late", "never"])
    assert audit.lost == ["late: open after 1 entries"]
    assert [line.partition(":")[0] for line in audit.broken] == ["never"]


def test_a_changed_byte_is_seen(calm: Path, tmp_path: Path) -> None:
    path = copied(calm, tmp_path)
    connection = sqlite3.connect(path / "runs.sqlite")
    connection.execute("UPDATE entries SET body = replace(body, 'send: done', 'send: gone')")
    connection.commit()
    connection.close()
    assert len(looked(path, ids(RUNS)).broken) == RUNS


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
    mine, listed = f"TMPDIR={folder}\0".encode(), list[str]()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mine in path.read_bytes():
                listed.append(path.parent.name)
        except OSError:
            continue
    return listed
