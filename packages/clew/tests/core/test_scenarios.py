"""Every scenario comes to its end, on both event loops, and its record reads back the same."""

from pathlib import Path

import pytest

from clew.core.journal import load
from clew.stores.memory import MemoryStore
from tests.core.play import events, play
from tests.core.scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.both_loops


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_a_scenario_comes_to_its_end(scenario: Scenario, tmp_path: Path) -> None:
    store = MemoryStore()
    found = await play(scenario, tmp_path, store)
    assert found.status == scenario.status, found
    assert found.answer == scenario.answer
    if scenario.steps is not None:
        assert found.steps == scenario.steps


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_every_call_has_exactly_one_observation_and_no_effect_lacks_an_attempt(
    scenario: Scenario, tmp_path: Path
) -> None:
    store = MemoryStore()
    await play(scenario, tmp_path, store)
    trajectory = await load(store, "run")
    assert all(call.observation is not None for call in trajectory.calls)
    assert events(trajectory).count("Observation") == len(trajectory.calls)
    for call in trajectory.calls:
        assert call.observation is not None
        if call.observation.made and call.action.name in {"send", "put", "post"}:
            assert call.attempts


@pytest.mark.parametrize("codec", ["native", "paper", "labelled", "json"])
async def test_one_script_gives_one_record_in_every_format(codec: str, tmp_path: Path) -> None:
    name = "three values" if codec == "native" else codec
    scenario = next(s for s in SCENARIOS if s.name == name)
    reference = next(s for s in SCENARIOS if s.name == "three values")
    stores = MemoryStore(), MemoryStore()
    await play(scenario, tmp_path, stores[0])
    await play(reference, tmp_path, stores[1])
    records = [await load(store, "run") for store in stores]
    told = [
        [
            (
                type(e).__name__,
                getattr(e, "text", ""),
                getattr(e, "actions", ()),
                getattr(e, "answer", None),
            )
            for e in (entry.event for entry in record.entries)
        ]
        for record in records
    ]
    assert told[0] == told[1]
