"""The process that works is killed in the middle of a value: who follows it elsewhere, and who
comes back to the next process, are told no entry twice, no value that is not so, and the end.
"""

import itertools
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from clew import Entry, Idle, follow, read
from tests.streaming.killed_stream import TOWN
from tests.streaming.pieces import extends

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).parents[2]
EVENT: Final = re.compile(r"(?:id: (.*)\n)?event: (.*)\ndata: (.*)")
Event = tuple[str, dict[str, Any]]
Work = Callable[[Path, str, str, int], tuple[list[Event], str, int]]


@pytest.fixture(scope="module")
def work() -> Iterator[Work]:
    """Let a fork work: what it told a browser, the last place in that, and its exit status."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.streaming.killed_stream"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip

        def one(path: Path, codec: str, after: str, end_at: int) -> tuple[list[Event], str, int]:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps([str(path), codec, after, end_at]) + "\n")
            process.stdin.flush()
            told = list[Event]()
            for line in process.stdout:
                if not isinstance(text := json.loads(line), str):
                    return told, after, text
                for number, kind, data in EVENT.findall(text):
                    after = number or after
                    told.append((kind, json.loads(data)))
            pytest.fail("the program ended")

        yield one


def values(told: list[Event]) -> list[dict[str, Any]]:
    """The partial values of the answer, once words that were told before are forgotten."""
    return [data for kind, data in told if kind == "Partial"]


@pytest.mark.share(2)
@pytest.mark.parametrize("end_at", [2, 9, 12, 15, 17])
@pytest.mark.parametrize("codec", ["native", "json", "labelled"])
async def test_a_value_that_ends_with_its_process_is_told_anew(
    codec: str, end_at: int, tmp_path: Path, work: Work
) -> None:
    second = list[Event]()
    path, items, left = tmp_path / "runs.sqlite", list[object](), anyio.Event()
    first, seen, status = await anyio.to_thread.run_sync(work, path, codec, "0", end_at)
    assert status == -signal.SIGKILL

    async def listen() -> None:
        async for item in follow("r", store=path):
            items.append(item)
            if isinstance(item, Idle):
                left.set()

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        await left.wait()
        second, _, status = await anyio.to_thread.run_sync(work, path, codec, seen, 0)
    assert status == 0
    length = len(await read("r", store=path))
    assert [item.seq for item in items if isinstance(item, Entry)] == [*range(1, length + 1)]
    assert items.count(Idle("r")) == 1
    assert not [kind for kind, _ in first if kind == "Result"]
    assert all(value["state"] == "open" for value in values(first))
    if seen != "0":
        assert second[0][0] == "Withdrawn"
    assert second[-1][0] == "Result"
    assert second[-1][1]["answer"]
    told = values(second)
    assert told[-1]["json"] == TOWN
    assert [value["state"] for value in told] == ["open"] * (len(told) - 1) + ["complete"]
    assert all(extends(after["json"], before["json"]) for before, after in itertools.pairwise(told))
    calls = [(data["call"], data["state"]) for kind, data in [*first, *second] if kind == "Call"]
    assert calls.count(("1.1", "done")) == 1
