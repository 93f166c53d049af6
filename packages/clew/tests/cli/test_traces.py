"""Traces: what a program reads of a run, live and afterwards, and that it is the whole run."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew import StoreError
from clew.agent_files import make_agent, read_agent_file
from clew.core.contents import text_parts
from clew.core.events import Started
from clew.core.journal import Journal
from clew.retention.traces import read_trace
from clew.stores import store_at
from tests.cli.shell import clew, library


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_trace_has_the_shape_that_such_traces_usually_have() -> None:
    assert clew("ask", "What is 2+3?", "--quiet").code == 0
    told = [json.loads(line) for line in clew("show", "last", "--jsonl").out.splitlines()]
    shape = {"thought": "content", "action": "input", "observation": "output", "final": "answer"}
    short = [(one["event"], one[shape[one["event"]]]) for one in told if one["event"] in shape]
    assert [event for event, _ in short[:3]] == ["thought", "action", "observation"]
    assert (short[1][1], short[2][1]) == (
        {"expression": "2+3"},
        {"expression": "2+3", "result": "5", "exact": True},
    )
    assert short[-1][0] == told[-1]["event"] == "final"
    assert "5" in short[-1][1]
    assert all(isinstance(one["step"], int) and one["time"] for one in told)


def test_a_trace_is_read_back_if_it_is_whole() -> None:
    assert clew("ask", "What is 2+3?", "--quiet").code == 0
    text = clew("show", "last", "--jsonl").out.splitlines()
    again = read_trace(text)
    assert again.goal == "What is 2+3?"
    assert again.stop is not None
    assert again.stop.answer == json.loads(text[-1])["answer"]
    with pytest.raises(StoreError, match="has gaps"):
        read_trace(text[:1] + text[2:])
    with pytest.raises(StoreError, match="line 2 is no line of a trace"):
        read_trace([text[0], "{", *text[1:]])


def test_a_run_is_written_down_as_it_happens() -> None:
    asked = clew(
        "ask", "When was Mary Shelley born?", "--docs", library(), "--log-dir", "logs", "--json"
    )
    run_id = asked.document["run_id"]
    folder = Path("logs") / run_id
    assert sorted(path.name for path in folder.iterdir()) == [
        "chat.jsonl", "chat.md", "run.log", "trace.jsonl",
    ]  # fmt: skip
    assert lines(folder / "trace.jsonl") == [
        json.loads(line) for line in clew("show", run_id, "--jsonl").out.splitlines()
    ]
    said = lines(folder / "chat.jsonl")
    assert said[0] == {"role": "user", "content": "When was Mary Shelley born?"}
    assert (said[-1]["role"], said[-1]["status"]) == ("assistant", "answered")
    assert any(line["role"] == "tool" and line["name"] == "docs" for line in said)
    assert (folder / "chat.md").read_text() == clew("show", run_id, "--md").out.rstrip("\n")
    log = (folder / "run.log").read_text().splitlines()
    assert all(len(line) <= 160 for line in log)
    assert " Question: When was" in log[0] or any(" Question: " in line for line in log)

    clew("resume", run_id, "--say", "And in which town?", "--log-dir", "logs", "--quiet")
    after = lines(folder / "trace.jsonl")
    assert len(after) > len(said)
    assert next(line["seq"] for line in after if "seq" in line) == 1  # the run from its beginning


def test_a_log_folder_that_cannot_be_written_is_one_line() -> None:
    Path("taken").touch()
    failed = clew("ask", "What is 2+3?", "--log-dir", "taken")
    assert failed.code == 2
    assert "clew: the log folder taken/" in failed.err
    assert "cannot be written" in failed.err


@pytest.mark.parametrize("run_id", ["../../evil", "..", "a/../../../evil", "/tmp/evil", "a\nb c"])
async def test_the_files_of_a_run_stay_in_the_log_folder(run_id: str) -> None:
    """An older clew began runs under any id."""
    Path("agent.toml").write_text('model = "offline"\n')
    agent = make_agent(read_agent_file("agent.toml"))
    async with store_at("runs.sqlite") as store:
        await Journal.create(store, Started(text_parts("What is 2+3?"), agent.spec), run_id)
    words = ["resume", run_id, "--store", "runs.sqlite", "--set", "model=offline"]
    logs = Path("deep", "er", "logs")
    before = {*Path().rglob("*")}
    failed = clew(*words, "--accept-change", "--log-dir", str(logs))
    assert failed.code == 2
    assert "the run's id cannot name a folder: " in failed.err
    assert {path for path in Path().rglob("*") if "sqlite" not in path.name} <= before
    assert clew(*words, "--accept-change").code == 0
