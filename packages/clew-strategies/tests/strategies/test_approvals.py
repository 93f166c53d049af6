"""What waits in a run of a vote."""

import pytest

from clew import (
    Agent,
    Call,
    Trajectory,
    Verdict,
    pending_approvals,
    rule,
    tool,
)
from clew.stores.memory import MemoryStore
from clew.testing.models import act, say
from clew_strategies import vote
from tests.core.family import scripted

pytestmark = pytest.mark.both_loops


async def test_a_run_of_a_vote_is_named_with_the_vote() -> None:
    @tool(effect="read")
    def look(what: str) -> str:
        """Look something up.

        Args:
            what: What.
        """
        return what

    async def hold(_call: Call, _so_far: Trajectory) -> Verdict:
        return Verdict("hold", "ask first")

    store = MemoryStore()
    agent = Agent(model=scripted(act("look", what="x"), say("x")), tools=[look], guards=[hold])
    waiting = await vote(agent, "What?", 2, store=store, run_id="v")
    assert waiting.result.status == "held"
    assert {(each.run_id, each.root) for each in await pending_approvals(store=store)} == {
        ("v.1", "v"),
        ("v.2", "v"),
    }
    for each in await pending_approvals(store=store):
        await rule(each.id, allow=True, store=store)
    assert await store.inbox("v") == []  # a vote listens to its runs itself
    assert (await vote(agent, "What?", 2, store=store, run_id="v")).answer == "x"
