"""In which order a worker takes up what waits: no priority keeps anybody waiting for ever."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, ConfigError, MemoryStore, submit
from clew.core.stores import Line, RunInfo
from clew.testing.models import ScriptedModel, say
from clew.workers import WorkerConfig, WorkerEvent, work
from clew.workers.priorities import MAX_PRIORITY, priority_of, waiting_since


def agent() -> Agent:
    return Agent(model=ScriptedModel([say("yes")]))


def queued(minute: float, label: object) -> RunInfo:
    first = msgspec.json.encode({"event": "started", "labels": {"priority": label}})
    line = Line(1, int(minute * 60_000), 1, first, b"")
    return RunInfo(f"run-{minute}", 1, line, line)


async def test_what_is_more_urgent_is_taken_up_first() -> None:
    store, taken = MemoryStore(), list[str]()
    for name, priority in (("late", -5), ("usual", 0), ("soon", 5), ("first", 60), ("too", 0)):
        await submit(agent(), name, store=store, run_id=name, priority=priority)

    def on_event(event: WorkerEvent) -> None:
        if event.what == "taken":
            taken.append(event.run_id)

    config = WorkerConfig(store=store, agents=[agent()], at_once=1, until_idle=True)
    await work(config, on_event=on_event)
    assert taken == ["first", "soon", "usual", "too", "late"]


@given(st.integers(1, MAX_PRIORITY), st.floats(0, 50_000))
def test_nothing_waits_longer_for_others_than_their_priority_says(
    ahead: int, minute: float
) -> None:
    """However many come later: a run passes no other that waited its priority longer than it."""
    waiting = queued(minute, "0")
    later = queued(minute + ahead + 0.001, str(ahead))
    assert waiting_since(waiting, 0) <= waiting_since(later, priority_of(later))
    sooner = queued(minute + ahead - 0.001, str(ahead))
    assert waiting_since(sooner, priority_of(sooner)) <= waiting_since(waiting, 0)


@pytest.mark.parametrize("label", ["high", "", 7, "9" * 5_000, None])
def test_a_label_of_ones_own_is_no_priority(label: object) -> None:
    assert priority_of(queued(1, label)) == 0


@pytest.mark.parametrize("priority", [10_001, -10_001, 1.5, True, "3"])
async def test_what_is_no_priority_is_refused_in_a_line(priority: int) -> None:
    with pytest.raises(ConfigError, match="give the minutes by which the run comes sooner") as no:
        await submit(agent(), "hello", store=MemoryStore(), priority=priority)
    assert "\n" not in str(no.value)
