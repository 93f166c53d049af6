"""Frozen workers, a database that restarts, a disk that is full."""

import itertools
import resource
import signal
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from clew import Agent
from clew.core.stores import Store
from durability import world
from durability.audit import Audit, audit
from durability.nursery import Nursery
from durability.progress import tell
from durability.storm import (
    Storm,
    Weather,
    Workers,
    asyncio_run,
    begin,
    folder,
    ids,
    open_runs,
    with_store,
)  # fmt: skip
from durability.storms import figures, misses, part, sized
from recordings.part import Figure, Part, count
from tests.postgres import postgres

FROZEN: Final = 40
PATIENCE: Final = 90.0

FREEZE: Final = """\
A working worker is stopped (`SIGSTOP`), like a sleeping machine or a paused container. Its
connections and locks stay, so a second worker takes over the claimed runs (`take_over`) and
finishes all of them. Then the first one continues (`SIGCONT`). Its next append fails, and nothing
of it must get into a record. No store can keep it from an effect that it was about to cause: such
an effect may come late. If the tool has a probe that had found nothing by the deadline, the effect
may come a second time, under the same key.
"""

RESTART: Final = """\
The server is shut down with all its connections broken off (`SIGINT`), or killed (`kill -9`), in
turn, while two workers are at work; it comes back at once. No worker is started anew.
"""

ROOM: Final = 256 * 1024
"""Bytes that what the tools do and the workers tell needs less than, and what they record more."""

FULL: Final = """\
In the middle of the work, the workers may suddenly write no file beyond its first {room} KiB
(`RLIMIT_FSIZE`), which looks like a full disk to them. {seconds:.0f} seconds later they may write
again. No worker is restarted.
"""


def frozen(sample: int) -> Part:
    """A worker is stopped, replaced, and goes on: on SQLite and on PostgreSQL."""
    listed = list[Figure]()
    wrong = list[str]()
    with folder("frozen") as outside:
        _freeze("SQLite", str(outside / "runs.sqlite"), outside, sample, listed, wrong)
    with folder("frozen") as outside, postgres(durable=True) as server:
        _freeze("PostgreSQL", server.database(), outside, sample, listed, wrong)
    return Part("A worker that was frozen and replaced", FREEZE, listed, wrong)


def _freeze(
    what: str, location: str, outside: Path, sample: int, figures: list[Figure], wrong: list[str]
) -> None:
    storm = Storm(f"frozen, {what}", max(10, FROZEN // sample), 0, workers=1, model=0.01)
    agent, run_ids = world.agent(outside), ids(storm.runs)
    asyncio_run(begin, location, agent, run_ids)
    with Nursery() as nursery:
        workers = Workers(storm, location, outside, nursery)
        first = workers.start()
        _until(lambda: len(world.Ledger(outside).lines()) > 3 * storm.at_once, "its work to begin")
        _stop(nursery, first, location)
        held = workers.in_hand("1")
        second = workers.start(take_over=True)
        _until(partial(_all_done, location, storm), "the second worker")
        nursery.signal(second, signal.SIGTERM)
        nursery.wait(second)
        before, effects = _entries(location, run_ids), len(world.Ledger(outside).lines())
        nursery.signal(first, signal.SIGCONT)
        _until(lambda: not workers.in_hand("1"), "the first worker to notice")
        nursery.signal(first, signal.SIGTERM)
        nursery.wait(first)
        after = _entries(location, run_ids)
        fenced = sum(told.what == "lost" for told in workers.news("1"))
    seen = asyncio_run(with_store, location, partial(_seen, run_ids, world.Ledger(outside), agent))
    late = len(world.Ledger(outside).lines()) - effects
    figures += [
        count(f"{what}: runs in the hands of the frozen worker, of which it was fenced off",
              fenced, len(held), exactly=len(held)),
        count(f"{what}: entries appended after it went on", after - before, after, exactly=0),
        count(f"{what}: runs that did not come to their end", len(seen.lost), seen.runs, exactly=0),
        count(f"{what}: unsafe calls that happened twice",
              sum(line.startswith("send") for line in seen.twice), seen.calls["send"], exactly=0),
        count(f"{what}: effects that came late, after it went on", late, seen.calls.total()),
        count(f"{what}: of probed calls, that happened twice so",
              sum(line.startswith("post") for line in seen.twice), seen.calls["post"]),
        count(f"{what}: records that do not verify or do not replay",
              len(seen.broken), seen.runs, exactly=0),
    ]  # fmt: skip
    wrong += [f"{what}: {line}" for line in misses(seen)]


async def _seen(run_ids: list[str], ledger: world.Ledger, agent: Agent, store: Store) -> Audit:
    return await audit(store, run_ids, ledger, agent)


def _stop(nursery: Nursery, pid: int, location: str) -> None:
    """Freeze a worker, though not within a commit of SQLite: its lock is for the process to end."""
    while True:
        nursery.signal(pid, signal.SIGSTOP)
        _until(lambda: _state(pid) == "T", "the worker to stop")
        if not location.endswith(".sqlite") or not _locked(location):
            return
        nursery.signal(pid, signal.SIGCONT)
        time.sleep(0.001)


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]


def _locked(location: str) -> bool:
    connection = sqlite3.connect(location, timeout=0.05)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.rollback()
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()
    return False


def _entries(location: str, run_ids: list[str]) -> int:
    async def counted(store: Store) -> int:
        return sum([len(await store.read(run_id)) for run_id in run_ids])

    number: int = asyncio_run(with_store, location, counted)
    return number


def _hashes(location: str, run_ids: list[str]) -> set[tuple[str, int, bytes]]:
    """Every entry there is, by run, number and hash."""

    async def read(store: Store) -> set[tuple[str, int, bytes]]:
        lines = {run_id: await store.read(run_id) for run_id in run_ids}
        return {(run_id, line.seq, line.hash) for run_id in run_ids for line in lines[run_id]}

    pairs: set[tuple[str, int, bytes]] = asyncio_run(with_store, location, read)
    return pairs


def _all_done(location: str, storm: Storm) -> bool:
    left: int = asyncio_run(with_store, location, open_runs)
    tell(f"{storm.name}: {storm.runs - left} of {storm.runs} runs done")
    return not left


def _until(done: Callable[[], bool], what: str) -> None:
    """Look until it is so. Raises `TimeoutError`."""
    patience = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > patience:
            raise TimeoutError(f"waited {PATIENCE:.0f} s for {what}")
        time.sleep(0.01)


def restarted(sample: int) -> Part:
    """PostgreSQL goes and comes back, twice politely and twice not."""
    with folder("restarted") as outside, postgres(durable=True) as server:
        ways = itertools.cycle((signal.SIGINT, signal.SIGKILL))
        base = sized("restarted", sample, runs=100, kills=4)
        storm = Storm(base.name, base.runs, base.kills, strike=lambda: server.restart(next(ways)))
        storm_part = part("PostgreSQL restarted in the middle", storm, server.database(), outside)
    kept = [figure for figure in storm_part.figures if not figure.what.startswith("workers killed")]
    times = Figure("restarts of the server", f"{storm.kills}", f"{storm.runs} runs")
    return Part(storm_part.title, RESTART, [times, *kept], storm_part.misses)


def full(sample: int) -> Part:
    """No room in the middle of the work, and room again."""
    with folder("full") as outside:
        storm = Storm("full", max(20, 100 // sample), 0)
        return _filled(storm, str(outside / "runs.sqlite"), outside)


def _filled(storm: Storm, location: str, outside: Path) -> Part:
    seconds = 2.0
    agent, run_ids = world.agent(outside), ids(storm.runs)
    asyncio_run(begin, location, agent, run_ids)
    with Nursery() as nursery:
        workers = Workers(storm, location, outside, nursery)
        pids = [workers.start() for _ in range(storm.workers)]
        enough = storm.runs * 4
        _until(lambda: len(world.Ledger(outside).lines()) > enough, "the work to begin")
        # Not as much as the log has: it begins again at its start, and could hold all the rest.
        room, free = ROOM, resource.RLIM_INFINITY
        for pid in pids:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (room, free))
        time.sleep(seconds / 2)
        before = _hashes(location, run_ids)
        time.sleep(seconds / 2)
        within = len(_hashes(location, run_ids)) - len(before)
        for pid in pids:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (free, free))
        _until(partial(_all_done, location, storm), "the runs to go on")
        workers.check()
        workers.leave()
        failed = [told for told in workers.news() if told.what == "failed"]
    seen = asyncio_run(with_store, location, partial(_seen, run_ids, world.Ledger(outside), agent))
    weather = Weather(audit=seen)
    kept = [one for one in figures(storm, weather) if not one.what.startswith("workers killed")]
    told = Figure(
        "times a worker said that a run could not be written", f"{len(failed)}",
        f"{len({one.run_id for one in failed})} runs", "≥ 1", bool(failed),
    )  # fmt: skip
    more = count("entries written in the second half of that time", within, len(before))
    gone = len(before - _hashes(location, run_ids))
    lost = count("entries recorded before, and not there after", gone, len(before), exactly=0)
    changes = {
        one.text.partition(" (it is tried")[0].replace(location, "runs.sqlite") for one in failed
    }
    text = FULL.format(seconds=seconds, room=ROOM // 1024)
    return Part(
        "The disk is full", text, [told, more, lost, *kept],
        [*misses(seen), *(f"a worker said: {line}" for line in sorted(changes))],
    )  # fmt: skip
