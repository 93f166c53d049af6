"""A recorded run replays without a call; what differs is named by step and field."""

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew import Agent, ReplayError, Tool
from clew.errors import ModelError
from clew.journal import load
from clew.protocols import OnText, Prompt
from clew.replay import first_difference, replay
from clew.stores import MemoryStore
from tests.core.play import copy, go_on, play
from tests.core.scenarios import SCENARIOS, Ledger, Scenario, by_name

pytestmark = pytest.mark.anyio


class NoModel:
    """A model that must not be called."""

    def __init__(self, like: Any) -> None:
        self.name, self.params, self.priced = like.name, like.params, like.priced

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Any:
        message = "a replay called the model"
        raise ModelError(message)


def without_world(agent: Agent) -> Agent:
    """The agent with a model and tools that must not be called."""

    async def call(args: dict[str, Any], key: str) -> object:
        message = f"a replay called a tool: {key} {args}"
        raise AssertionError(message)

    def closed(tool: Tool) -> Tool:
        return replace(tool, call=call, probe=None if tool.probe is None else call)

    return agent.but(model=NoModel(agent.thinker), tools=[closed(tool) for tool in agent.tools])


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        message = "a replay opened a socket"
        raise AssertionError(message)

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_sockets")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_a_recorded_run_replays_byte_for_byte_without_a_call(
    scenario: Scenario, tmp_path: Path
) -> None:
    store = MemoryStore()
    await play(scenario, tmp_path, store)
    record = await load(store, "run")
    before = Ledger(tmp_path / "effects").lines()
    replayed = await replay(without_world(scenario.agent(tmp_path)), record, MemoryStore())
    assert replayed.trajectory.entries == record.entries
    assert replayed.passed_over == ()
    assert Ledger(tmp_path / "effects").lines() == before


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_a_run_cut_anywhere_and_gone_on_with_replays_too(
    scenario: Scenario, tmp_path: Path
) -> None:
    store = MemoryStore()
    (tmp_path / "whole").mkdir()
    await play(scenario, tmp_path / "whole", store)
    lines = await store.read("run")
    for cut in range(1, len(lines)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        second = await copy(lines[:cut])
        await go_on(scenario, scenario.agent(folder), second)
        record = await load(second, "run")
        replayed = await replay(without_world(scenario.agent(folder)), record, MemoryStore())
        assert replayed.trajectory.entries == record.entries


async def test_one_changed_byte_of_the_prompt_is_named(tmp_path: Path) -> None:
    scenario = by_name("three values")
    store = MemoryStore()
    await play(scenario, tmp_path, store)
    record = await load(store, "run")
    agent = scenario.agent(tmp_path)
    with pytest.raises(ReplayError) as caught:
        await replay(agent.but(prompt=agent.prompt + "!"), record, MemoryStore())
    assert (caught.value.step, caught.value.field) == (0, "setting.prompt")


@pytest.mark.parametrize("section", ["head", "tools", "params", "parts"])
async def test_a_prompt_rendered_otherwise_is_named_by_step_and_section(
    section: str, tmp_path: Path
) -> None:
    scenario = by_name("three values")
    store = MemoryStore()
    await play(scenario, tmp_path, store)
    record = await load(store, "run")
    place = next(
        n
        for n, e in enumerate(record.entries)
        if getattr(e.event, "text", "").startswith("The second")
    )
    entry = record.entries[place]
    prints = msgspec.structs.replace(entry.event.prints, **{section: "0" * 16})
    event = msgspec.structs.replace(entry.event, prints=prints)
    record.entries[place] = msgspec.structs.replace(entry, event=event)
    with pytest.raises(ReplayError) as caught:
        await replay(scenario.agent(tmp_path), record, MemoryStore())
    assert (caught.value.step, caught.value.field) == (2, f"prints.{section}")


def test_the_first_difference_is_found_wherever_it_is() -> None:
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == "a[1].b"
    assert first_difference({"a": 1}, {"a": 1, "c": 2}) == "c"
    assert first_difference([1], [1, 2], "x") == "x"
    assert first_difference({"a": [1]}, {"a": [1]}) is None
