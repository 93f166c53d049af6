"""A plan is of the tools as they were: it does not cover what others of the same names do."""

from clew import Agent, Limits, MemoryStore, read, replay, resume, run
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say
from tests.guards.provenance.worlds import PAY, SEND, letters, tool

ASKED = "Pay 5 to AC-123456 and send ada@home.example a hi; read my letters before."
PAID = act("pay", account="AC-123456", amount=5)
SENT = act("send", to="ada@home.example", text="hi")
SCRIPT = [act("letters"), PAID, SENT, say("done"), say("done")]


async def test_a_planned_call_of_a_tool_that_was_changed_is_asked_about() -> None:
    store = MemoryStore()
    model = ScriptedModel(SCRIPT, plan=[PAID, SENT])
    begun = Agent(
        model, [letters(), PAY, SEND], guards=[Provenance()],
        limits=Limits(steps=2, landing=False),
    )  # fmt: skip
    await run(begun, ASKED, store=store, run_id="r")
    other = tool("send", "all was sent", args="to text everything", effect="unsafe")
    changed = begun.replace(tools=[letters(), PAY, other], limits=Limits())
    result = await resume(changed, "r", store=store, accept_change=True)
    assert result.status == "held"
    (waiting,) = result.pending_approvals
    assert (waiting.tool, waiting.args["to"]) == ("send", "ada@home.example")
    assert await replay(changed, "r", store=store)


async def test_those_of_the_others_are_covered_as_before() -> None:
    store = MemoryStore()
    model = ScriptedModel(SCRIPT, plan=[PAID, SENT])
    begun = Agent(
        model, [letters(), PAY, SEND], guards=[Provenance()],
        limits=Limits(steps=2, landing=False),
    )  # fmt: skip
    await run(begun, ASKED, store=store, run_id="r")
    other = tool("pay", "all was paid", args="account amount everything", effect="unsafe")
    changed = begun.replace(tools=[letters(), other, SEND], limits=Limits())
    result = await resume(changed, "r", store=store, accept_change=True)
    assert result.status == "answered"
    calls = (await read("r", store=store)).calls
    assert [it.observation and it.observation.text for it in calls[1:]] == ["paid", "sent"]
