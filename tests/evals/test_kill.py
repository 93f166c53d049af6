"""`clew eval` killed half way, with real processes and a model behind real HTTP."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import msgspec
import pytest

from clew.evals.outcome import Outcome
from clew.evals.results import Results
from clew.journal import load
from clew.stores import SqliteStore
from clew.testing.openai_server import OpenAIServer, Say

ROOT = Path(__file__).parents[2]
CASES = 4
MATRIX = """
name = "sums"
dataset = "sums.jsonl"
models = ["openai:adder"]
[agent]
tools = ["calc"]
[agent.connection]
base_url = "{url}"
[agent.prices.adder]
input = 1.0
output = 2.0
[[configurations]]
name = "short"
set.prompt = "Be short."
[[configurations]]
name = "long"
set.prompt = "Be long."
set.thought = false
[[configurations]]
name = "votes"
votes = 2
set.prompt = "Vote."
"""


Request: TypeAlias = tuple[str, str, int]
"""What is asked for: the configuration, the case, the step."""


def who(prompt: str, question: str) -> tuple[str, str]:
    """The configuration and the case that are spoken of."""
    word = next(word for word in ("short", "long", "Vote") if word in prompt)
    (number, *_) = re.findall(r"What is (\d+) plus", question)
    return word.lower(), f"c{number}"


@dataclass
class Adder:
    """What the server says: a calculation, then its result. It kills whoever asks too often."""

    kill_at: set[int] = field(default_factory=set[int])
    asked: list[Request] = field(default_factory=list[Request])
    with_signal: signal.Signals = signal.SIGKILL
    pid: int = 0
    begun: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: Mapping[str, Any]) -> Say:
        said = json.dumps(body["messages"])
        configuration, case = who(said, said)
        number = int(case.removeprefix("c"))
        step = sum(message["role"] == "assistant" for message in body["messages"]) + 1
        with self._lock:
            self.asked.append((configuration, case, step))
            if len(self.asked) in self.kill_at:
                self.begun.wait()
                os.kill(self.pid, self.with_signal)
        if step == 1:
            return Say(calls=[("calc", json.dumps({"expression": f"{number} + {number}"}))])
        right = number != 2  # one case is answered wrongly
        return Say(f"It is {2 * number if right else 7}.")


class Worker:
    """Starts `clew eval` and says how it ended."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, model: Adder, *words: str) -> tuple[int, Any]:
        """The exit status, and the document that it wrote, if it came to that."""
        assert self._process.stdin
        assert self._process.stdout
        model.begun.clear()
        self._process.stdin.write(json.dumps(["eval", *words, "--json", "--quiet"]) + "\n")
        self._process.stdin.flush()
        model.pid = int(self._process.stdout.readline())
        model.begun.set()
        document = None
        while not (line := self._process.stdout.readline()).startswith("exit "):
            document = json.loads(line)
        return int(line.removeprefix("exit ")), document


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.evals.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        yield Worker(process)


def matrix(folder: Path, url: str) -> str:
    lines = [
        {"id": f"c{n}", "question": f"What is {n} plus {n}?", "gold": {"number": 2 * n}}
        for n in range(1, CASES + 1)
    ]
    (folder / "sums.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "sums.toml").write_text(MATRIX.replace("{url}", url))
    return str(folder / "sums.toml")


def outcomes(path: Path) -> list[Outcome]:
    """All that the file holds, without the times, which are never the same."""
    results = Results(path)
    try:
        return [
            msgspec.structs.replace(one, counted=msgspec.structs.replace(one.counted, seconds=0.0))
            for one in results.outcomes()
        ]
    finally:
        results.close()


def recorded(path: Path) -> set[Request]:
    """The replies that no run lacks any more: those of a vote when both of its runs have it."""

    async def read() -> Counter[Request]:
        store = SqliteStore(path)
        found = Counter[Request]()
        for info in await store.runs():
            record = await load(store, info.run_id)
            if record.started.setting.model == "openai:adder":
                found.update(
                    (*who(record.started.setting.prompt, record.goal), step.number)
                    for step in record
                )
        await store.close()
        return found

    have = anyio.run(read)
    return {key for key, runs in have.items() if runs == (2 if key[0] == "vote" else 1)}


def test_killed_three_times_it_ends_like_an_undisturbed_one_and_pays_nothing_twice(
    tmp_path: Path, worker: Worker
) -> None:
    whole, killed = tmp_path / "whole.sqlite", tmp_path / "killed.sqlite"
    quiet = Adder()
    with OpenAIServer(quiet) as server:
        code, document = worker(quiet, matrix(tmp_path, server.base_url), "--results", str(whole))
    assert (code, document["complete"]) == (0, True)
    expected = outcomes(whole)
    assert len(expected) == 3 * CASES
    assert len(quiet.asked) == 2 * 4 * CASES  # two replies, and two runs in a vote
    assert {one.case for one in expected if not one.passed} == {"c2"}

    model = Adder(kill_at={6, 15, 25})
    with OpenAIServer(model) as server:
        file = matrix(tmp_path, server.base_url)
        had: set[Request] = set()
        for _ in range(3):
            before = len(model.asked)
            code, _ = worker(model, file, "--results", str(killed), "--at-once", "3")
            assert code == -signal.SIGKILL
            assert not had & {*model.asked[before:]}
            assert len(outcomes(killed)) < len(expected)
            had = recorded(killed)
        before = len(model.asked)
        code, document = worker(model, file, "--results", str(killed), "--at-once", "3")
        assert not had & {*model.asked[before:]}
    assert (code, document["complete"]) == (0, True)
    assert outcomes(killed) == expected


def test_interrupted_it_leaves_all_records_open_and_goes_on(tmp_path: Path, worker: Worker) -> None:
    place = tmp_path / "r.sqlite"
    model = Adder(kill_at={3}, with_signal=signal.SIGINT)
    with OpenAIServer(model) as server:
        words = [matrix(tmp_path, server.base_url), "--results", str(place), "--only", "short"]
        code, document = worker(model, *words)
        assert (code, document) == (130, None)
        had = recorded(place)
        before = len(model.asked)
        code, document = worker(model, *words)
        assert not had & {*model.asked[before:]}
    assert (code, len(document["outcomes"])) == (0, CASES)
