"""Which effects of runs and of the runs below them are told, and when a cut prompt is."""

import logging
from typing import Any

import msgspec
import pytest

from clew import Agent, MemoryStore, run
from clew.core.actions import Action, Done
from clew.core.contents import Observation, Reply, Undercounted, Usage, text_parts
from clew.core.effects import effects_after, effects_of, is_strategy, with_those_within
from clew.core.events import AnyEvent, Attempt, Started
from clew.core.journal import Journal, load
from clew.core.stores import Store
from clew.testing.models import ScriptedModel, act
from clew.toolbox import calc
from tests.core.records import SPEC, record, thought

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])

POST, ASK = Action("post", {"x": 1}), Action("ask", {"x": 1})


async def recorded(store: Store, run_id: str, *events: AnyEvent, model: str = "m") -> None:
    spec = msgspec.structs.replace(SPEC, model=model)
    journal = await Journal.create(store, Started(text_parts("?"), spec), run_id)
    for event in events:
        await journal.record(event)


def posted(step: int = 1) -> list[AnyEvent]:
    key = f"{step}.1"
    seen = Observation(key, "x", effect="unsafe")
    return [thought(POST), Attempt(key, "post", "h", 1.0), seen]


def asked(child: str, *, seen: bool = True) -> list[AnyEvent]:
    attempt = Attempt("1.1", "ask", "h", 0.0, child=child)
    return [thought(ASK), attempt, *([Observation("1.1", "x", effect="unsafe")] if seen else [])]


async def keys(store: Store, run_id: str) -> list[str]:
    trajectory = await load(store, run_id)
    return [*await effects_of(store, trajectory, trajectory.calls)]


async def test_effects_count_at_any_depth() -> None:
    store = MemoryStore()
    await recorded(store, "low", *posted(), *posted(2))
    await recorded(store, "middle", *asked("low"))
    await recorded(store, "top", *asked("middle"), *posted(2))
    assert await keys(store, "top") == ["low:1.1", "low:2.1", "top:2.1"]
    await recorded(store, "gone", *asked("nobody"))
    assert await keys(store, "gone") == ["gone:1.1"], "its run is not here"
    await recorded(store, "begun", *asked("nobody", seen=False))
    assert await keys(store, "begun") == [], "it may not have begun at all"
    await recorded(store, "read", thought(Action("look")), Observation("1.1", "x"))
    assert await keys(store, "read") == []


async def test_those_after_a_step_are_told_but_for_what_is_known() -> None:
    store = MemoryStore()
    await recorded(store, "run", *posted(), *posted(2), *posted(3))
    trajectory = await load(store, "run")
    told = [[done.key for done in await effects_after(store, trajectory, n)] for n in (0, 1, 2, 3)]
    assert told == [["run:1.1", "run:2.1", "run:3.1"], ["run:2.1", "run:3.1"], ["run:3.1"], []]
    trajectory.done_elsewhere.append(Done("run:3.1", "post", "h", "t"))
    assert [done.key for done in await effects_after(store, trajectory, 1)] == ["run:2.1"]


async def test_listed_ones_have_those_within_them() -> None:
    store = MemoryStore()
    await recorded(store, "low", *posted())
    await recorded(store, "top", *asked("low"), *posted(2))
    await recorded(store, "plan", *asked("low"), model="strategy:tree")

    def listed(*names: str) -> list[Done]:
        return [Done(name, "t", "h", "t") for name in names]

    async def within(*names: str) -> list[str]:
        return [*await with_those_within(store, listed(*names))]

    assert await within("top:1.1") == ["top:1.1", "low:1.1"]
    assert await within("top:2.1", "top:1.1") == ["top:2.1", "top:1.1", "low:1.1"]
    assert await within("plan:1.1") == ["low:1.1"], "a role is asked again"
    assert await within("nobody:1.1", "top:9.1") == ["nobody:1.1", "top:9.1"]
    assert await within("a:b:1.1") == ["a:b:1.1"]


@pytest.mark.parametrize(
    ("model", "strategy"),
    [("strategy:tree", True), ("strategy", True), ("strategy:a:b", True), ("x:strategy", False)],
)
async def test_a_strategy_is_known_by_its_model(model: str, strategy: bool) -> None:
    trajectory = record()
    trajectory.spec = msgspec.structs.replace(SPEC, model=model)
    assert is_strategy(trajectory) == strategy
    trajectory.spec = None
    assert not is_strategy(trajectory)


class Cutting(ScriptedModel):
    """A model whose server cuts off prompts, of these replies."""

    cut: tuple[int, ...] = (0, 1, 3)

    def reply(self, prompt: Any, index: int) -> Reply:
        reply = super().reply(prompt, index)
        under = Undercounted(9_000, cut=True) if index in self.cut else None
        return msgspec.structs.replace(reply, undercounted=under, usage=Usage(100))


async def test_a_prompt_that_is_cut_off_is_told_where_that_begins(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "clew")
    script: list[Any] = [*(act("calc", expression=f"{n} + 1") for n in range(4)), "done"]
    await run(Agent(Cutting(script), [calc()]), "?", store=MemoryStore(), run_id="r")
    told = [one.getMessage() for one in caplog.records if "probably cut the prompt" in one.message]
    assert len(told) == 2, "before the first and the fourth call: between them it did not"
    assert all(one.startswith("run r: ") for one in told)
