"""The benchmark of rewinds: its arms part from the same steps, and its page has what is on file."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from benchmarks.rewinds import real
from benchmarks.rewinds.__main__ import real as table
from benchmarks.rewinds.arms import ARMS, CRITIC, Outcome, settle
from benchmarks.rewinds.planted import planted
from benchmarks.rewinds.simulated import Believer, Knower, tasks
from clew import Context, Rewinds, Tool
from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.testing import ScriptedModel, act, finish
from reporting.outcomes import markdown, of_markdown, read


async def simulated(off: int, seed: int, stick: float = 1.0) -> dict[str, Outcome]:
    """What comes of a simulated task in all arms."""
    trail, task = list(tasks(off))[seed]
    critic = Rewinds((), critic=Knower(trail, 1.0), every=1)
    arms, model = [*ARMS, CRITIC], Believer(trail, stick)
    settled = await settle(task, model, 40, Rewinds(), arms=arms, critic=critic)
    return {one.arm: one for one in settled}


@pytest.mark.parametrize("seed", [0, 1])  # a wrong word on the stone, and a circle
async def test_a_wrong_observation_holds_until_it_leaves_the_view(seed: int) -> None:
    simulated_run = await simulated(0, seed)
    right = {arm: one.right for arm, one in simulated_run.items()}
    assert right == dict.fromkeys([*ARMS, CRITIC], True) | {"nothing": False, "hint": False}
    assert simulated_run["rewind"].fired == 1
    assert simulated_run["rewind"].prompts < simulated_run["fresh start"].prompts
    assert (
        simulated_run["rewind"].cached
        <= simulated_run["rewind"].later
        < simulated_run["rewind"].prompts
    )


async def test_a_rewind_that_goes_back_too_little_goes_back_further() -> None:
    simulated_run = await simulated(2, 0)
    assert simulated_run["rewind"].fired > 1
    assert simulated_run[CRITIC].by == ("clew: critic",)


async def test_a_model_that_doubts_needs_no_rewind() -> None:
    assert (await simulated(0, 0, stick=0.0))["nothing"].right


async def test_where_nothing_is_wrong_all_arms_are_the_same_run() -> None:
    task, *others = planted()
    model = ScriptedModel([act("records", query="Ardle"), finish("1702")])
    settled = await settle(task, model, real.STEPS, real.REWINDS)
    assert len(others) == 47
    assert {(one.right, one.steps, one.fired) for one in settled} == {(True, 2, 0)}
    script: Any = [act("search", query="Ardle"), finish("1719"), finish("1702")]
    told = await settle(task, ScriptedModel(script), real.STEPS, real.REWINDS)
    assert {one.arm: one.right for one in told}["nothing"]
    assert all(one.fired for one in told if one.arm == "rewind")


@dataclass
class Stubborn:
    """A small model that searches, and says what it must not; what its grammars offer is noted."""

    offered: list[bool] = field(default_factory=list[bool])

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("test:small", {"grammar": True, "max_tokens": 100}, billions=1.5)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next reply."""
        self.offered.append("search" in prompt.grammar)
        turns = sum(part.role == "assistant" for part in prompt.parts)
        made = next(planted()).agent(self, 1, Context())
        tools = [tool for tool in made.tools if isinstance(tool, Tool)]
        moves = [act("search", query="x"), finish("1719")]
        return ScriptedModel(moves, "json", tools).reply(prompt, turns % 2)


async def test_the_parts_of_a_rewind_are_told_apart() -> None:
    model = Stubborn()
    held, offered = await settle(next(planted()), model, real.STEPS, real.REWINDS, arms=real.PARTS)
    assert model.offered[:3] == [True, True, False]
    assert model.offered[6:] == [True, True, True, True]
    assert (held.fired, offered.fired) == (1, 2)


def test_the_page_has_what_is_on_file() -> None:
    record, kept = real.read(), read("context")["rewinds-real"]
    assert markdown(kept) == markdown(of_markdown("", "\n".join(table(record))))
    assert len({one.task for one in record}) >= 40
