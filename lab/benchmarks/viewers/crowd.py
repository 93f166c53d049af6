"""An hour of 500 clients, as fast as the server goes: each begins runs, follows, rules, cancels.

In that hour each client comes every twenty minutes.
"""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2
import msgspec

from benchmarks.viewers.rows import Row, Sizes, middle
from benchmarks.viewers.server import Server, client, started

EVERY: Final = 10
"""One run of so many is cancelled where it is held, and one is refused; the others are allowed."""
MEMORY: Final = 0.25
"""Seconds between two looks at the memory."""


@dataclass
class Counts:
    """What the clients saw."""

    runs: int = 0
    allowed: int = 0
    entries: int = 0
    requests: int = 0
    again: int = 0
    """Requests that were sent again, since their connection had been closed."""
    wrong: int = 0
    """Entries that were lost or came twice, ends that were not asked for."""
    late: list[float] = field(default_factory=list[float])
    """Milliseconds from each entry's record to its reader, while it was followed."""


@dataclass(frozen=True)
class Client:
    """One who asks; `number` tells what is done with which of the runs."""

    number: int
    http: httpx2.AsyncClient
    counts: Counts

    async def visit(self, visit: int) -> None:
        """Begin a run, follow it until it is held, decide, and follow it to its end."""
        counts, turn = self.counts, (self.number + visit) % EVERY
        body = {"agent": "writer", "question": "Well?", "request": f"{self.number}-{visit}"}
        run = (await self._post("/api/runs", body))["run_id"]
        await self._post("/api/runs", body)  # as one whose first answer was lost
        numbers = list[int]()
        await self._follow(run, numbers)
        state = await self._get(f"/api/runs/{run}")
        counts.wrong += state["status"] != "held"
        (waiting,) = state["pending"]
        if turn == 0:
            await self._post(f"/api/runs/{run}/cancel", {"why": "changed my mind"})
        else:
            await self._post(f"/api/rulings/{waiting['id']}", {"allow": turn != 1})
            counts.allowed += turn != 1
        await self._follow(run, numbers)
        state = await self._get(f"/api/runs/{run}")
        page = await self._get(f"/api/runs/{run}/entries?limit=1000")
        counts.wrong += state["status"] != ("interrupted" if turn == 0 else "answered")
        counts.wrong += len({*numbers} ^ {entry["seq"] for entry in page["entries"]})
        counts.wrong += len(numbers) - len({*numbers})
        counts.entries += len(numbers)
        counts.runs += 1

    async def _follow(self, run: str, numbers: list[int]) -> None:
        """Take the entries behind those that were seen, until the run stops."""
        while True:
            try:
                await self._take(run, numbers)
            except httpx2.TransportError:  # the server closed what was idle: come back
                self.counts.again += 1
            else:
                return

    async def _take(self, run: str, numbers: list[int]) -> None:
        last = {"last-event-id": str(numbers[-1])} if numbers else {}
        self.counts.requests += 1
        async with self.http.stream("GET", f"/api/runs/{run}/events", headers=last) as answer:
            kind = ""
            async for line in answer.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data" and kind == "Entry":
                    entry = msgspec.json.decode(value)
                    numbers.append(entry["seq"])
                    self.counts.late.append(time.time() * 1_000 - entry["at"])

    async def _get(self, path: str) -> dict[str, Any]:
        return await self._ask("GET", path)

    async def _post(self, path: str, body: object) -> dict[str, Any]:
        return await self._ask("POST", path, body)

    async def _ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """What is answered; each of these may be asked again."""
        while True:
            self.counts.requests += 1
            try:
                answer = await self.http.request(method, path, json=body)
            except httpx2.TransportError:
                self.counts.again += 1
                continue
            answer.raise_for_status()
            state: dict[str, Any] = answer.json()
            return state


async def crowd(folder: Path, sizes: Sizes) -> AsyncIterator[Row]:
    """All clients at once; each has an hour's visits, one after the other."""
    counts, memory = Counts(), list[float]()
    words = ("-m", "benchmarks.viewers.crowd_server", str(folder))
    with started(words) as server:
        async with client(server) as http:
            everybody = [Client(number, http, counts) for number in range(sizes.clients)]
            await everybody[0].visit(-1)  # what is loaded at the first use
            begun = time.perf_counter()
            looks = asyncio.create_task(_look(server, memory))
            await asyncio.gather(*(_hour(each, sizes.visits) for each in everybody))
            looks.cancel()
            took = time.perf_counter() - begun
            memory.append(server.memory)
    sent = len((folder / "sent").read_text("utf-8").splitlines())
    wrong = (
        counts.wrong
        + abs(sent - counts.allowed)
        + abs(1 + sizes.clients * sizes.visits - counts.runs)
    )
    what = f"{sizes.clients} clients at once, {counts.runs:,} runs of an hour in {took:.0f} s"
    beside = (
        f"{counts.requests:,} requests, {counts.requests / took:,.0f} a second, "
        f"{counts.again} sent again; "
        f"{counts.entries:,} entries followed; letters sent {sent:,} of {counts.allowed:,} allowed"
    )
    yield Row(f"{what}: lost, twice or wrong", f"{wrong}", "0", beside, wrong)
    half = memory[len(memory) // 2]
    yield Row("the same: what the server's memory grew by in the second half",
              f"{memory[-1] - half:.1f} MB", "flat", f"{half:.0f} MB before")  # fmt: skip
    yield Row("the same: from an entry's record to its reader", middle(counts.late), "",
              f"mean {statistics.mean(counts.late):.0f} ms")  # fmt: skip


async def _hour(each: Client, visits: int) -> None:
    for visit in range(visits):
        await each.visit(visit)


async def _look(server: Server, memory: list[float]) -> None:
    while True:
        memory.append(server.memory)
        await asyncio.sleep(MEMORY)
