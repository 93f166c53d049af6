"""A worker's log as JSON: dated lines with the run, the step and the worker, and no contents."""

import json
import logging
from datetime import datetime
from typing import Any

from clew import MemoryStore, submit
from clew.operations import Operations, operate
from clew.workers import WorkerConfig
from tests.operations.test_held_notices import writer


async def logged(store: MemoryStore, **how: Any) -> list[dict[str, Any]]:
    lines = list[str]()
    config = WorkerConfig(store=store, agents=[writer()], name="w1", until_idle=True, **how)
    await operate(config, Operations(log=lines.append))
    return [json.loads(line) for line in lines]


async def test_each_event_is_a_dated_line_with_run_step_and_worker() -> None:
    store = MemoryStore()
    run_id = await submit(writer(), "Write to Ada of secret-4711.", store=store)
    lines = await logged(store)
    for line in lines:
        assert datetime.fromisoformat(line["at"]).utcoffset() is not None
        assert (line["worker"], line["queue"]) == ("w1", "default")
        assert line["level"] in {"info", "warning"}
    events = [(line["event"], line.get("step")) for line in lines if line.get("run") == run_id]
    assert events == [
        ("taken", None), ("thought", 1), ("judged", 1), ("stop", 1), ("ended", None)
    ]  # fmt: skip
    thought = next(line for line in lines if line["event"] == "thought")
    assert thought["input"] > 0
    assert thought["entry"] == 2
    assert "secret" not in json.dumps(lines)


async def test_what_goes_wrong_is_a_line_too_and_nothing_is_logged_afterwards() -> None:
    store = MemoryStore()
    await submit(writer(), "Write to Ada.", store=store, run_id="lost-agent", queue="other")
    lines = await logged(store, queue="other", day_tokens=1)
    logging.getLogger("clew").warning("nobody writes this")
    assert not [line for line in lines if line.get("text") == "nobody writes this"]
    lines = await logged(store, queue="other")
    assert lines[0]["event"] == "serving"
    await submit(writer(), "Write again.", store=store, queue="other")
    spent = await logged(store, queue="other", day_tokens=1)
    warned = [line for line in spent if line["level"] == "warning"]
    assert {line["event"] for line in warned} == {"log", "spent"}
    assert all("has spent" in line["text"] for line in warned)
