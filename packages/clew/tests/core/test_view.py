"""The view: dropped at every step it comes back the same; what was sent is never changed."""

from pathlib import Path

import pytest

from clew.agent.runner import start
from clew.context.view import View, plain
from clew.core.events import Thought
from clew.core.loop import advance
from clew.core.prompts import Prompt
from clew.core.values import encode
from clew.stores.memory import MemoryStore
from tests.core.scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.anyio


def told(prompt: Prompt) -> bytes:
    return encode([plain(part) for part in prompt])


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_a_dropped_view_comes_back_the_same(scenario: Scenario, tmp_path: Path) -> None:
    prints = []
    for drop in (False, True):
        folder = tmp_path / str(drop)
        folder.mkdir()
        agent = scenario.agent(folder)
        journal = await start(agent, scenario.goal, MemoryStore())
        while journal.trajectory.stop is None:
            await advance(agent.engine, journal)
            if drop:
                journal.trajectory.folds.clear()
        entries = journal.trajectory.entries
        prints.append([e.event.prints for e in entries if isinstance(e.event, Thought)])
    assert prints[0] == prints[1]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_the_prompt_only_grows_between_head_and_tail(
    scenario: Scenario, tmp_path: Path
) -> None:
    agent = scenario.agent(tmp_path)
    journal = await start(agent, scenario.goal, MemoryStore())
    view = View(
        agent.engine.codec, agent.engine.prompt_spec, scenario.goal, agent.engine.model.info.params
    )
    before = b"["
    while journal.trajectory.stop is None:
        await advance(agent.engine, journal)
        step = journal.trajectory.step
        if step.pending or step.answer is not None or step.thought is None:
            continue
        prompt, _ = view.prompt(journal.trajectory, (), "auto")
        now = told(prompt)
        assert now.startswith(before)
        before = now[:-1]
        calls = [call.id for part in prompt for call in part.calls]
        results = [part.call_id for part in prompt if part.role == "tool"]
        assert calls == results
