"""Traces: a record as lines for other programs, and back again."""

import json
from pathlib import Path

import pytest

from clew import StoreError
from clew.core.journal import load
from clew.core.values import encode
from clew.retention.traces import read_trace, trace
from clew.stores.memory import MemoryStore
from tests.core.play import play
from tests.core.scenarios import SCENARIOS, Scenario


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_a_trace_is_the_whole_run(scenario: Scenario, tmp_path: Path) -> None:
    store = MemoryStore()
    await play(scenario, tmp_path, store)
    record = await load(store, "run")
    again = read_trace(encode(line) for line in trace(record))
    assert again.entries == record.entries
    assert (again.run_id, again.usage, again.stop) == ("run", record.usage, record.stop)
    told = list(trace(record))
    made = [line["call"] for line in told if line["event"] == "action"]
    assert made == [call.key for call in record.calls]
    assert [line["step"] for line in told] == sorted(line["step"] for line in told)


@pytest.mark.parametrize(
    ("spoiled", "message"),
    [
        ("{", "line 2 is no line of a trace"),
        ("[]", "line 2 is no line of a trace"),
        ('{"seq": 2}', "line 2 is no line of a trace"),
        ('{"run_id": "run", "seq": 2, "event": "nobody"}', "line 2 is no line of a trace"),
        ("", "has gaps"),
        ('{"run_id": "run"}', "has gaps"),
    ],
)
async def test_a_trace_that_lacks_a_line_is_none(
    spoiled: str, message: str, tmp_path: Path
) -> None:
    store = MemoryStore()
    await play(SCENARIOS[0], tmp_path, store)
    first, _, *rest = (json.dumps(line) for line in trace(await load(store, "run")))
    with pytest.raises(StoreError, match=message):
        read_trace([first, spoiled, *rest])


def test_bytes_that_are_no_text_are_no_trace() -> None:
    with pytest.raises(StoreError, match="line 1 is no line of a trace"):
        read_trace([b"\xff"])
