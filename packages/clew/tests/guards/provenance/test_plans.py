"""Models and servers of tests answer a request for a plan as their scripts have it."""

import pytest

from clew import Agent, MemoryStore, Trajectory, read, run
from clew.core.contents import RawCall, Reply
from clew.guards import Provenance
from clew.models.openai.chat import openai_chat
from clew.testing import Move, ScriptedModel, act, acts, asks_for_plan, recorded, say, written_plan
from clew_testing.servers import OpenAIServer, Say
from tests.guards.provenance.worlds import SEND, letters

SENT = {"to": "ada@home.example", "text": "hi"}
RAW = Reply(
    calls=(RawCall(name="send", arguments='{"to": "ada@home.example", "text": "hi"}', id="c1"),)
)


def planned(record: Trajectory) -> list[tuple[str, object]]:
    assert record.planned is not None
    return [(call.tool, call.args) for call in record.planned.calls]


@pytest.mark.parametrize("line", [act("send", **SENT), RAW], ids=["move", "reply"])
async def test_a_script_without_a_plan_gives_its_own_calls(line: Move | Reply) -> None:
    model = ScriptedModel([act("letters"), line, say("done")])
    agent, store = Agent(model, [letters(), SEND], guards=[Provenance()]), MemoryStore()
    assert (await run(agent, "Answer", store=store, run_id="r")).status == "answered"
    record = await read("r", store=store)
    assert planned(record) == [("send", SENT)]
    again = agent.replace(model=recorded(record))
    await run(again, "Answer", store=store, run_id="again")
    assert planned(await read("again", store=store)) == [("send", SENT)]


async def test_a_local_server_gives_the_calls_of_its_script_and_uses_up_no_entry() -> None:
    script = [Say(calls=[("letters", "{}")]), Say(calls=[("send", RAW.calls[0].arguments)])]
    with OpenAIServer([*script, Say("done")]) as server:
        model = openai_chat("scripted", base_url=server.base_url, api_key="any")
        agent, store = Agent(model, [letters(), SEND], guards=[Provenance()]), MemoryStore()
        result = await run(agent, "Answer", store=store, run_id="r")
        await model.close()
    assert (result.status, result.answer) == ("answered", "done")
    assert (len(server.plans), len(server.requests)) == (1, 3)
    assert asks_for_plan(server.plans[0].raw)
    assert not any(asks_for_plan(request.raw) for request in server.requests)


def test_a_plan_leaves_out_what_no_call_can_be_made_of() -> None:
    calls = [("a", '{"x": 1}'), ("b", "{"), ("c", "[]"), ("d", None), ("e", {"y": 2})]
    assert written_plan(calls) == (
        '{"calls":[{"tool":"a","args":{"x":1}},{"tool":"d","args":{}},{"tool":"e","args":{"y":2}}]}'
    )
    assert written_plan([("send", acts(act("send", **SENT)).actions[0].args)]).count("hi") == 1
