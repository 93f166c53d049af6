"""Whatever a model gets wrong: always a stop, never an exception, never a bound exceeded."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Agent, Limits
from clew.agent.runner import start
from clew.core.codes import EFFECTFUL
from clew.core.contents import Observation, Reply
from clew.core.events import Thought
from clew.core.loop import run
from clew.core.replay import replay
from clew.core.trajectory import Trajectory
from clew.guards import Provenance
from clew.stores.memory import MemoryStore
from clew.testing.models import (
    NATIVE_FAULTS,
    TEXT_FAULTS,
    FaultyModel,
    Move,
    ScriptedModel,
    act,
    acts,
    finish,
    say,
)
from tests.core.scenarios import TOOLS, Ledger, effect_tools

LIMITS = Limits(steps=8, tool_calls=6, calls_per_step=3, calls_per_tool={"send": 2}, faults=2)

moves: st.SearchStrategy[Move] = st.one_of(
    st.sampled_from("abc").map(lambda key: act("lookup", key=key)),
    st.integers(0, 9).map(lambda n: act("add", a=n, b=1)),
    st.sampled_from("xy").map(lambda text: act("send", text=text)),
    st.sampled_from("xy").map(lambda text: act("put", text=text)),
    st.just(act("broken")),
    st.lists(st.sampled_from(["lookup", "send", "serach"]), min_size=1, max_size=5).map(
        lambda names: acts(*[act(name, key="a") for name in names])
    ),
    st.just(say("an answer")),
    st.just(finish("an answer")),
    st.just(finish(5)),
)


def held_together(trajectory: Trajectory) -> None:
    """What must hold of every record, whatever was said in it."""
    assert trajectory.stop is not None
    assert trajectory.total.steps <= LIMITS.steps
    assert sum(trajectory.total.calls.values()) <= LIMITS.tool_calls
    assert trajectory.total.calls["send"] <= 2
    thoughts = [entry.event for entry in trajectory.entries if isinstance(entry.event, Thought)]
    assert len(thoughts) <= LIMITS.steps + 1
    for step in trajectory:
        made = [c for c in step.calls if c.observation is not None and c.observation.made]
        assert len([c for c in made if c.action.name != "finish"]) <= LIMITS.calls_per_step
    for call in trajectory.calls:
        assert isinstance(call.observation, Observation)
        if call.observation.effect in EFFECTFUL and call.observation.made:
            assert call.attempts


async def play(folder: Path, codec: str, script: list[Any], seed: int, rate: float) -> None:
    tools = [*TOOLS, *effect_tools(Ledger(folder / "effects"))[:2]]
    faults = NATIVE_FAULTS if codec == "native" else TEXT_FAULTS
    scripted = ScriptedModel(script, codec=codec, tools=tools)
    model = FaultyModel(scripted, seed, rate, faults)
    agent = Agent(model=model, tools=tools, codec=codec, limits=LIMITS, guards=[Provenance("off")])
    journal = await start(agent, "What is it?", MemoryStore())
    trajectory = await run(agent.engine, journal)
    held_together(trajectory)
    sent = [line for line in Ledger(folder / "effects").lines() if line.startswith("send")]
    assert len(sent) == len(set(sent))
    replayed = await replay(agent.engine, trajectory, MemoryStore())
    assert replayed.trajectory.entries == trajectory.entries


@pytest.mark.parametrize("codec", ["native", "paper", "labelled", "json"])
@settings(max_examples=60, deadline=None)
@given(
    script=st.lists(moves, min_size=1, max_size=8),
    seed=st.integers(0, 10_000),
    rate=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)
def test_a_faulty_model_always_comes_to_a_stop_within_its_bounds(
    codec: str, script: list[Move], seed: int, rate: float
) -> None:
    if codec != "native":
        script = [move for move in script if move.answer is None and len(move.actions) == 1]
        script = script or [finish("an answer")]
    with TemporaryDirectory() as folder:
        anyio.run(play, Path(folder), codec, script, seed, rate)


@pytest.mark.parametrize("codec", ["native", "paper", "labelled", "json"])
@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.text(max_size=200), min_size=1, max_size=4))
def test_a_model_that_says_anything_at_all_comes_to_a_stop(codec: str, texts: list[str]) -> None:
    script: list[Any] = [Reply(text=text) for text in texts] * 8
    with TemporaryDirectory() as folder:
        anyio.run(play, Path(folder), codec, script, 0, 0.0)
