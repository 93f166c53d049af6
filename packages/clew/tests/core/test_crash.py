"""Cut anywhere, gone on with: the record of a run is all that is needed to finish it."""

from pathlib import Path

import pytest

from clew.core.events import Charged, Stop, Thought
from clew.core.journal import load
from clew.stores.memory import MemoryStore
from tests.core.play import copy, go_on, play
from tests.core.scenarios import SCENARIOS, Ledger, Scenario

pytestmark = pytest.mark.both_loops


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_cut_after_every_entry_and_gone_on_with_it_ends_the_same(
    scenario: Scenario, tmp_path: Path
) -> None:
    store = MemoryStore()
    (tmp_path / "whole").mkdir()
    whole = await play(scenario, tmp_path / "whole", store)
    lines, events = await store.read("run"), [e.event for e in (await load(store, "run")).entries]
    assert not any(isinstance(event, Charged) for event in events)
    for cut in range(1, len(lines)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        again = await go_on(scenario, scenario.agent(folder), second := await copy(lines[:cut]))
        assert (again.status, again.answer, again.steps) == (
            whole.status,
            whole.answer,
            whole.steps,
        ), f"cut after entry {cut}: {lines[cut - 1].body!r}"
        charged = [e for e in (await load(second, "run")).entries if isinstance(e.event, Charged)]
        asking = isinstance(events[cut], Thought) and not isinstance(events[cut - 1], Stop)
        assert [entry.seq for entry in charged] == ([cut + 1] if asking else []), f"after {cut}"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_an_effect_that_was_recorded_is_never_done_again(
    scenario: Scenario, tmp_path: Path
) -> None:
    store = MemoryStore()
    (tmp_path / "whole").mkdir()
    await play(scenario, tmp_path / "whole", store)
    lines = await store.read("run")
    for cut in range(1, len(lines)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        await go_on(scenario, scenario.agent(folder), await copy(lines[:cut]))
        done = Ledger(folder / "effects").lines()
        assert len(done) == len(set(done))
        recorded = [line.body for line in lines[:cut] if b'"event":"attempt"' in line.body]
        unsafe = [line for line in done if line.startswith("send")]
        if any(b'"tool":"send"' in body for body in recorded):
            assert not unsafe, "an attempt of an unsafe tool stands: it may not be made again"
