"""A long record, and a long list."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from benchmarks.viewers import inspect_logs
from benchmarks.viewers.chromium import chromium, missing, painted
from benchmarks.viewers.rows import BODY, Row, Sizes, middle, worst
from benchmarks.viewers.server import asked, client, first_byte, view
from clew import SqliteStore
from clew.interfaces import AnyEvent
from tests.server.written_runs import started, thought, write

SCREEN: Final = 60
"""Entries on a page."""


async def long_record(folder: Path, sizes: Sizes) -> AsyncIterator[Row]:
    """The pages of a record of 10,000 entries and 127 MB."""
    path = folder / "long.sqlite"
    store = SqliteStore(path)
    count = sizes.entries
    events: list[AnyEvent] = [
        started("The first words?"), *(thought("t" * BODY) for _ in range(count - SCREEN - 1)),
        thought("The last screen."), *(thought("t" * BODY) for _ in range(SCREEN - 1)),
    ]  # fmt: skip
    await write(store, "long", events)
    size = await store.size()
    await store.close()
    what = f"a record of {count:,} entries, {size / 1e6:.0f} MB"
    pages = (
        ("first", "", "The first words?"),
        ("last", f"?after={count - SCREEN}", "The last screen."),
    )
    with view(path) as server:
        async with client(server) as http:
            before = server.memory
            for name, query, _ in pages:
                url = f"/runs/long{query}"
                times, got = await asked(http, [url], sizes.asked)
                byte = await first_byte(http, url, sizes.asked)
                beside = f"first byte {byte:.0f} ms, {worst(times)}, {got / 1e3:.0f} kB"
                yield Row(f"{what}: its {name} page over HTTP", middle(times), "≤ 300 ms", beside)
            taken = server.memory - before
            yield Row("the same: memory that the server took for that", f"{taken:.1f} MB")
        if reason := missing():
            yield Row(reason, "–")
            return
        async with chromium() as browser:
            for name, query, words in pages:
                url = f"{server.url}runs/long{query}"
                paint = await painted(browser, server.link, url, words, sizes.paints)
                beside = f"first byte {paint.byte:.0f} ms, words seen {paint.words:.0f} ms"
                page = f"{what}: its {name} page in Chromium"
                yield Row(f"{page}, first paint", f"{paint.paint:.0f} ms", "≤ 300 ms", beside)
                yield Row(f"{page}, heap", f"{paint.heap:.1f} MB", "≤ 60 MB")
                if not query:
                    async for row in inspect_logs.long_record(folder, browser, paint, sizes):
                        yield row


async def long_list(folder: Path, sizes: Sizes) -> AsyncIterator[Row]:
    """Lists of 1,000 runs."""
    path = folder / "many.sqlite"
    store = SqliteStore(path)
    for number in range(sizes.runs):
        await write(store, f"run-{number:04}", [started(f"Question {number}?"), thought("t")])
    await store.close()
    last, wrong = sizes.runs - 1, 0
    with view(path) as server:
        async with client(server) as http:
            for name, query in (("the first page", "/"), ("a search", f"/?text=n+{last}?")):
                times, got = await asked(http, [query], sizes.asked)
                beside = f"{worst(times)}, {got / 1e3:.0f} kB"
                yield Row(f"{name} of {sizes.runs:,} runs", middle(times), "≤ 200 ms", beside)
            listed, pages = list[str](), ["/api/runs?limit=200"]
            while True:
                answer = (await http.get(pages[-1])).json()
                listed += [run["run_id"] for run in answer["runs"]]
                if not answer["after"]:
                    break
                pages.append(f"/api/runs?limit=200&after={answer['after']}")
            times, _ = await asked(http, pages, sizes.asked)
            wrong = len({*listed} ^ {f"run-{number:04}" for number in range(sizes.runs)})
            wrong += len(listed) - len({*listed})
            beside = f"{len(pages)} requests, {worst(times)}; missing or twice: {wrong}"
            yield Row(f"all of {sizes.runs:,} runs", middle(times), "≤ 200 ms", beside, wrong)
        if missing():
            return
        async with chromium() as browser:
            words = f"Question {last}?"
            paint = await painted(browser, server.link, server.url, words, sizes.paints)
            beside = f"words seen {paint.words:.0f} ms, heap {paint.heap:.1f} MB"
            what = f"the first page of {sizes.runs:,} runs in Chromium, first paint"
            yield Row(what, f"{paint.paint:.0f} ms", "", beside)
            async for row in inspect_logs.long_list(folder, browser, paint, sizes):
                yield row
