"""A run that goes on while it is watched, and readers who come back."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from pathlib import Path

from benchmarks.viewers.rows import BODY, Row, Sizes, middle, worst
from benchmarks.viewers.server import Server, view
from benchmarks.viewers.sse import EntryReader, reading, rest_of, slow_socket
from clew import SqliteStore
from tests.server.written_runs import go_on, started, stopped, thought, write

PAUSE = 0.3
"""Seconds between two entries whose way is measured."""
BURST = 10
"""So many entries are written at once where it is the memory that is measured."""


class Watchers:
    """Many who watch one run, and when each of them saw which entry."""

    def __init__(self, server: Server, run_id: str) -> None:
        self.server, self.run_id = server, run_id
        self.seen = dict[int, list[float]]()
        self.readers = list[EntryReader]()
        self._news = asyncio.Event()

    async def come(self, number: int) -> None:
        """Let so many come, and wait until they are there."""
        for _ in range(number):
            self.readers.append(await reading(self.server, self.run_id, self._on_entry))
        await self.until(1)

    async def until(self, seq: int) -> None:
        """Wait until all have seen an entry."""
        while len(self.seen.get(seq, ())) < len(self.readers):
            self._news.clear()
            await self._news.wait()

    def wrong(self, last: int) -> int:
        """How many entries up to the last one were lost, or came twice."""
        return sum(
            abs(len(self.seen.get(seq, ())) - len(self.readers)) for seq in range(1, last + 1)
        )

    def _on_entry(self, seq: int, at: float) -> None:
        self.seen.setdefault(seq, []).append(at)
        self._news.set()


async def live_run(folder: Path, sizes: Sizes) -> AsyncIterator[Row]:
    """Entries that another process writes, seen by one and by 200."""
    store = SqliteStore(folder / "live.sqlite")
    for watching in (1, sizes.viewers):
        await write(store, f"live-{watching}", [started()])
    with view(folder / "live.sqlite") as server:
        for watching in (1, sizes.viewers):
            watchers, wrote = Watchers(server, f"live-{watching}"), dict[int, float]()
            await watchers.come(watching)
            cpu = server.cpu
            for seq in range(2, sizes.live + 2):
                wrote[seq] = time.perf_counter()
                await go_on(store, watchers.run_id, [thought("t" * BODY)])
                await watchers.until(seq)
                await asyncio.sleep(PAUSE * (1 + seq % 7 / 10))  # not in step with who looks
            spent = 1_000 * (server.cpu - cpu) / sizes.live
            late = [1_000 * (at - wrote[seq]) for seq in wrote for at in watchers.seen[seq]]
            last = [1_000 * (max(watchers.seen[seq]) - wrote[seq]) for seq in wrote]
            wrong = watchers.wrong(sizes.live + 1)
            beside = (
                f"the last of them {middle(last)}, {worst(last)}; CPU of the server {spent:.0f} ms "
                f"for an entry; lost or twice: {wrong}"
            )
            what = f"an entry that another process writes, seen by {watching}"
            yield Row(what, middle(late), "≤ 100 ms", beside, wrong)
            for reader in watchers.readers:
                reader.close()
    await store.close()


async def steady(folder: Path, sizes: Sizes) -> AsyncIterator[Row]:
    """200 and one who reads nothing, while much is written."""
    store = SqliteStore(folder / "steady.sqlite")
    await write(store, "steady", [started()])
    with view(folder / "steady.sqlite") as server:
        watchers, memory = Watchers(server, "steady"), list[float]()
        slow = slow_socket(server, "steady")
        await watchers.come(sizes.viewers)
        before, begun, last = server.memory, time.perf_counter(), 1
        while last <= sizes.steady:
            await go_on(store, "steady", [thought("t" * BODY) for _ in range(BURST)])
            last += BURST
            await watchers.until(last)
            memory.append(server.memory)
        took = time.perf_counter() - begun
        await go_on(store, "steady", [stopped()])
        await watchers.until(last + 1)
        numbers = await asyncio.to_thread(rest_of, slow)
    await store.close()
    wrong = watchers.wrong(last + 1)
    late = len({*numbers} ^ {*range(1, last + 2)}) + len(numbers) - len({*numbers})
    half = memory[len(memory) // 2]
    what = f"{sizes.viewers} viewers and one who reads nothing, {last:,} entries of 12 kB"
    sent = sizes.viewers * last * 2 * BODY / took / 1e6
    beside = f"{took:.0f} s, {sent:,.0f} MB a second; lost or twice: {wrong}"
    yield Row(f"{what}: memory of the server", f"{memory[-1] - before:.1f} MB", "",
              f"{before:.0f} MB before", wrong)  # fmt: skip
    yield Row("the same: what it grew by in the second half", f"{memory[-1] - half:.1f} MB", "flat",
              beside)  # fmt: skip
    yield Row("the same: entries that the slow one lost or got twice, when it reads", f"{late}",
              "0", "", late)  # fmt: skip


async def reconnects(folder: Path, sizes: Sizes) -> AsyncIterator[Row]:
    """A reader who comes back for each event."""
    store, count = SqliteStore(folder / "again.sqlite"), sizes.reconnects
    await write(store, "again", [started(), *(thought("t") for _ in range(count - 1))])
    await store.close()
    numbers, times = list[int](), list[float]()
    with view(folder / "again.sqlite") as server:
        for _ in range(count):
            begun, first = time.perf_counter(), asyncio.get_running_loop().create_future()

            def on_entry(seq: int, at: float, first: "asyncio.Future[int]" = first) -> None:
                del at
                if not first.done():
                    first.set_result(seq)

            after = str(numbers[-1]) if numbers else ""
            reader = await reading(server, "again", on_entry, after)
            numbers.append(await first)
            times.append(1_000 * (time.perf_counter() - begun))
            reader.close()
    wrong = len({*numbers} ^ {*range(1, count + 1)}) + len(numbers) - len({*numbers})
    early, late = times[: count // 10], times[-count // 10 :]
    beside = (
        f"{middle(times)} each; {statistics.mean(early):.1f} ms at the beginning of the record, "
        f"{statistics.mean(late):.1f} ms at its end"
    )
    yield Row(f"{count:,} reconnects with `Last-Event-ID`: lost or twice", f"{wrong}", "0", beside,
              wrong)  # fmt: skip
