"""The codes that a guard may give: those of calls that nobody made."""

from typing import Any, get_args

import pytest

from clew import Agent, Call, MemoryStore, Trajectory, Verdict, read, run, tool
from clew.core.codes import UNMADE, Code
from clew.support.errors import PartError
from clew.testing import ScriptedModel, act, say

MADE = sorted({*get_args(Code)} - UNMADE)
REFUSALS = sorted(UNMADE - {"waits"})


@tool(effect="read")
def look() -> str:
    """Look there."""
    return "seen"


def agent(code: Any, kind: Any) -> Agent[str]:
    """An agent whose guard gives this verdict on each call."""

    def stern(call: Call, trajectory: Trajectory) -> Verdict:
        return Verdict(kind, "for a reason", code=code)

    return Agent(ScriptedModel([act("look"), say("done")]), [look], guards=[stern])


@pytest.mark.parametrize("kind", ["deny", "hold", "hint"])
@pytest.mark.parametrize("code", MADE)
async def test_a_code_of_a_call_that_was_made_is_refused(code: str, kind: str) -> None:
    with pytest.raises(PartError, match=r"gives the code .*: it says that a call was made") as it:
        await run(agent(code, kind), "Look.", store=MemoryStore())
    assert "\n" not in str(it.value)


async def test_a_guard_puts_no_call_off_by_a_code() -> None:
    """It holds the call, and says `gather`."""
    with pytest.raises(PartError, match=r"gives the code 'waits': hold the call, with gather=True"):
        await run(agent("waits", "deny"), "Look.", store=MemoryStore())


@pytest.mark.parametrize("code", REFUSALS)
async def test_any_other_code_is_that_of_the_observation(code: Any) -> None:
    store = MemoryStore()
    result = await run(agent(code, "deny"), "Look.", store=store)
    observation = (await read(result.run_id, store=store)).calls[0].observation
    assert observation is not None
    assert (result.answer, observation.code, observation.outcome) == ("done", code, "not_done")
