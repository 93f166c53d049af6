"""What each thought of a run was shown, and what had been left out of it."""

from clew import Agent, MemoryStore, read, resume, rewind, run, tool
from clew.context import context_history
from clew.core.events import Rewound
from clew.testing import ScriptedModel, act, finish


@tool(effect="read")
def look() -> str:
    """Look."""
    return "a page"


async def test_each_thought_has_a_row_with_what_was_left_out_of_it() -> None:
    store = MemoryStore()
    model = ScriptedModel([act("look"), act("look"), finish("a"), finish("b")])
    agent = Agent(model, tools=[look])
    run_id = (await run(agent, "What?", store=store)).run_id
    rows = context_history(await read(run_id, store=store))
    assert [row.step for row in rows] == [1, 2, 3]
    assert all(not (row.upto or row.cuts or row.hidden or row.new) for row in rows)
    await rewind(run_id, to=1, lesson="it was of another year", store=store)
    await resume(agent, run_id, store=store)
    *before, last = context_history(await read(run_id, store=store))
    assert last.hidden == 2
    assert any(isinstance(each, Rewound) for row in (*before, last) for each in row.new)
