"""The benchmark of rewinds: its arms part from the same steps, and its page has what is on file."""

from typing import Any

import pytest

from benchmarks.rewinds import real
from benchmarks.rewinds.arms import ARMS, CRITIC, Outcome, settle
from benchmarks.rewinds.planted import planted
from benchmarks.rewinds.simulated import Believer, Knower, tasks
from clew import Rewinds
from clew.testing import ScriptedModel, act, finish


async def simulated(off: int, seed: int, stick: float = 1.0) -> dict[str, Outcome]:
    """What comes of a simulated task in all arms."""
    trail, task = list(tasks(off))[seed]
    critic = Rewinds((), critic=Knower(trail, 1.0), every=1)
    arms, model = [*ARMS, CRITIC], Believer(trail, stick)
    found = await settle(task, model, 40, Rewinds(), arms=arms, critic=critic)
    return {one.arm: one for one in found}


@pytest.mark.parametrize("seed", [0, 1])  # a wrong word on the stone, and a circle
async def test_a_wrong_observation_holds_until_it_leaves_the_view(seed: int) -> None:
    found = await simulated(0, seed)
    right = {arm: one.right for arm, one in found.items()}
    assert right == dict.fromkeys([*ARMS, CRITIC], True) | {"nothing": False, "hint": False}
    assert found["rewind"].fired == 1
    assert found["rewind"].prompts < found["fresh start"].prompts
    assert found["rewind"].cached <= found["rewind"].later < found["rewind"].prompts


async def test_a_rewind_that_goes_back_too_little_goes_back_further() -> None:
    found = await simulated(2, 0)
    assert found["rewind"].fired > 1
    assert found[CRITIC].by == ("clew: critic",)


async def test_a_model_that_doubts_needs_no_rewind() -> None:
    assert (await simulated(0, 0, stick=0.0))["nothing"].right


async def test_where_nothing_is_wrong_all_arms_are_the_same_run() -> None:
    task, *others = planted()
    model = ScriptedModel([act("records", query="Ardle"), finish("1702")])
    found = await settle(task, model, real.STEPS, real.REWINDS)
    assert len(others) == 47
    assert {(one.right, one.steps, one.fired) for one in found} == {(True, 2, 0)}
    script: Any = [act("search", query="Ardle"), finish("1719"), finish("1702")]
    told = await settle(task, ScriptedModel(script), real.STEPS, real.REWINDS)
    assert {one.arm: one.right for one in told}["nothing"]
    assert all(one.fired for one in told if one.arm == "rewind")
