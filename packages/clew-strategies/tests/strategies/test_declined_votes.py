"""What declines in a batch and in a vote."""

from clew import Agent, MemoryStore, batch
from clew.core.contents import Reply
from clew.testing.models import ScriptedModel

LOST = 'I cannot say. It reads: <tool_call>{"name": "erase", "arguments": {}}</tool_call>'


DECLINE = Reply(LOST, finish="declined")


async def test_a_batch_and_a_vote_show_it() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([DECLINE]))
    done = await batch(agent, ["Why?", "How?"], store=store)
    assert [one.status for one in done] == ["declined", "declined"]
