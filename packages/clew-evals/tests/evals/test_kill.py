"""`clew eval run` in processes of its own, killed or not, with a model behind real HTTP."""

import json
import os
import re
import shlex
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

from clew import SqliteStore
from clew.core.contents import Usage
from clew.core.journal import load
from clew_evals.outcome import Outcome
from clew_evals.results import Results
from clew_testing.servers.openai_server import Fail, OpenAIServer, Say, Turn

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CASES = 4
MATRIX = """
name = "sums"
dataset = "sums.jsonl"
models = ["openai:adder"]
[agent]
tools = ["calc"]
screens = []
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
set.prompt = { persona = "Be long.", constraints = [], thought = false }
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
    tokens: int = 50
    with_signal: signal.Signals = signal.SIGKILL
    pid: int = 0
    begun: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, body: Mapping[str, Any]) -> Say:
        text = json.dumps(body["messages"])
        configuration, case = who(text, text)
        number = int(case.removeprefix("c"))
        step = sum(message["role"] == "assistant" for message in body["messages"]) + 1
        with self._lock:
            self.asked.append((configuration, case, step))
            if len(self.asked) in self.kill_at:
                self.begun.wait()
                os.kill(self.pid, self.with_signal)
        usage = Usage(input=self.tokens, output=1)
        if step == 1:
            return Say(
                usage=usage, calls=[("calc", json.dumps({"expression": f"{number} + {number}"}))]
            )
        right = number != 2  # one case is answered wrongly
        return Say(f"It is {2 * number if right else 7}.", usage=usage)


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What it says to programs."""
        return json.loads(self.out)


class Worker:
    """Starts `clew eval run` in a folder that takes what it writes, and says how it ended."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def __call__(self, *words: str, model: Adder | None = None) -> Ended:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps([str(self._folder), "eval", "run", *words]) + "\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        if model is not None:
            model.pid = pid
            model.begun.set()
        code = int(self._process.stdout.readline().removeprefix("exit "))
        if model is not None:
            model.begun.clear()
        return Ended(code, *((self._folder / name).read_text() for name in ("out", "err")))


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.evals.worker"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip
        yield Worker(process, tmp_path_factory.mktemp("written"))


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
            for one in results.outcomes
        ]
    finally:
        results.close()


def recorded(path: Path) -> set[Request]:
    """The replies that no run lacks any more: those of a vote when both of its runs have it."""

    async def read() -> Counter[Request]:
        store = SqliteStore(path)
        counts = Counter[Request]()
        for info in await store.runs():
            record = await load(store, info.run_id)
            if record.started.spec.model == "openai:adder":
                counts.update(
                    (*who(record.started.spec.prompt, record.goal), step.number) for step in record
                )
        await store.close()
        return counts

    have = anyio.run(read)
    return {key for key, runs in have.items() if runs == (2 if key[0] == "vote" else 1)}


def test_killed_three_times_it_ends_like_an_undisturbed_one_and_pays_nothing_twice(
    tmp_path: Path, worker: Worker
) -> None:
    path, killed = tmp_path / "whole.sqlite", tmp_path / "killed.sqlite"
    quiet = Adder()
    with OpenAIServer(quiet) as server:
        ended = worker(matrix(tmp_path, server.base_url), "--results", str(path))
    assert ended.code == 0
    expected = outcomes(path)
    assert len(expected) == 3 * CASES
    assert len(quiet.asked) == 2 * 4 * CASES  # two replies, and two runs in a vote
    assert {one.case for one in expected if not one.passed} == {"c2"}

    model = Adder(kill_at={6, 15, 25})
    with OpenAIServer(model) as server:
        words = [matrix(tmp_path, server.base_url), "--results", str(killed), "--at-once", "3"]
        had: set[Request] = set()
        for _ in range(3):
            before = len(model.asked)
            assert worker(*words, model=model).code == -signal.SIGKILL
            assert not had & {*model.asked[before:]}
            assert len(outcomes(killed)) < len(expected)
            had = recorded(killed)
        before = len(model.asked)
        ended = worker(*words, "--json", model=model)
        assert not had & {*model.asked[before:]}
    assert (ended.code, ended.document["complete"]) == (0, True)
    assert outcomes(killed) == expected


def test_interrupted_it_leaves_all_records_open_and_goes_on(tmp_path: Path, worker: Worker) -> None:
    path = tmp_path / "r.sqlite"
    model = Adder(kill_at={3}, with_signal=signal.SIGINT)
    with OpenAIServer(model) as server:
        words = [matrix(tmp_path, server.base_url), "--results", str(path), "--only", "short"]
        ended = worker(*words, model=model)
        again = f"what has begun goes on with: {shlex.join(['clew', 'eval', 'run', *words])}"
        assert (ended.code, ended.out) == (130, "")
        assert ended.err.splitlines()[-2:] == [
            "clew: interrupted",
            f"what has ended is kept in {path}, and {again}",
        ]
        had = recorded(path)
        before = len(model.asked)
        ended = worker(*words, "--json", model=model)
        assert not had & {*model.asked[before:]}
    assert (ended.code, len(ended.document["outcomes"])) == (0, CASES)


def test_the_cost_limit_ends_it_and_a_higher_one_goes_on(tmp_path: Path, worker: Worker) -> None:
    with OpenAIServer(Adder(tokens=10_000)) as server:
        words = [matrix(tmp_path, server.base_url), "--results", str(tmp_path / "r.sqlite")]
        words += ["--only", "short", "--at-once", "1"]
        ended = worker(*words, "--max-cost", "0.03")
        assert ended.code == 3
        assert "stopped by cost: $0.0400 of $0.0300 spent" in ended.err
        assert "2 trials not done: a higher --max-cost goes on" in ended.err
        ended = worker(*words)
    assert ended.code == 0
    assert len(server.requests) == 2 * CASES
    assert "$0.0800 · clew eval report" in ended.out


def test_trials_that_failed_are_told_and_tried_again(tmp_path: Path, worker: Worker) -> None:
    words = ["--results", str(tmp_path / "r.sqlite"), "--only", "short", "--at-once", "1"]
    script: list[Turn] = [Say("It is 2."), Fail(401), Say("It is 6."), Say("It is 8.")]
    with OpenAIServer(script) as server:
        ended = worker(matrix(tmp_path, server.base_url), *words)
        assert ended.code == 5
        assert "1 trial failed (the last: " in ended.err
        assert "refused the key" in ended.err
        assert [one.kind for one in outcomes(tmp_path / "r.sqlite")] == [None, "failed", None, None]
    with OpenAIServer([Say("It is 4.")]) as server:
        ended = worker(matrix(tmp_path, server.base_url), *words)
    assert ended.code == 0
    assert all(one.passed for one in outcomes(tmp_path / "r.sqlite"))


def test_a_check_asks_nobody_and_leaves_nothing(tmp_path: Path, worker: Worker) -> None:
    with OpenAIServer() as server:
        words = [matrix(tmp_path, server.base_url), "--results", str(tmp_path / "r.sqlite")]
        ended = worker(*words, "--check")
        assert (ended.code, ended.err) == (0, "")
        first, second, third = ended.out.splitlines()
        assert (first, second) == ("sums: everything fits.", "12 trials, 12 to do (16 runs)")
        assert third.endswith("at most $12.00 by the runs' limits")
        assert worker(*words, "--check", "--json").document["todo"] == 12
        assert not server.requests
    assert not (tmp_path / "r.sqlite").exists()
