"""An effect that a fallback had is not repeated unasked after a fork, by whichever tool."""

import pytest

from clew import Agent, MemoryStore, Retry, Tool, ToolError, fork, read, replay, run
from clew.core.events import Attempt
from clew.interfaces import Effect
from clew.testing import ScriptedModel, act, say
from clew.testing.models import Move
from clew.tools import Attempts
from clew.tools.fallback import with_fallback

TO = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}


class Office:
    """What was sent, and by which tool."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def tool(self, name: str, effect: Effect = "unsafe", *, fails: Exception | None = None) -> Tool:
        async def call(args: dict[str, object], key: str) -> str:
            del key
            if isinstance(fails, ToolError):
                raise fails
            self.sent.append(f"{name} {args['to']}")
            if fails is not None:
                raise fails
            return "sent"

        return Tool(name, "Sends.", TO, call, effect=effect, attempts=Attempts(5))


async def sent(office: Office, tools: list[Tool], one: Move, two: Move) -> str:
    """The status of a fork that makes the second call after a run that made the first."""
    store = MemoryStore()
    await run(Agent(ScriptedModel([one, say("ok")]), tools), "Go.", store=store, run_id="r")
    agent = Agent(ScriptedModel([two, say("ok")]), tools)
    again = await fork(agent, "r", at=0, store=store, new_id="f")
    await replay(agent, "f", store=store)
    return again.status


@pytest.mark.parametrize("fails", [None, OSError("out of sight")], ids=["done", "unknown"])
@pytest.mark.parametrize("turned", [False, True])
async def test_the_second_tool_of_a_pair_is_not_called_again(
    fails: Exception | None, *, turned: bool
) -> None:
    office = Office()
    post = office.tool("post", fails=fails)
    tools = [with_fallback(office.tool("email", fails=ToolError("no line")), post), post]
    calls = [act("email", to="a"), act("post", to="a")]
    assert await sent(office, tools, *(reversed(calls) if turned else calls)) == "held"
    assert office.sent == ["post a"]


async def test_what_every_try_handed_on_counts() -> None:
    office, tried = Office(), 0

    async def down_once(args: dict[str, object], key: str) -> str:
        nonlocal tried
        tried += 1
        if tried == 1:
            raise ToolError("no line")
        return f"read to {args['to']}"

    call = Tool(
        "call", "Calls.", TO, down_once, effect="read", attempts=Attempts(retry=Retry(1, delay=0.0))
    )
    box = office.tool("box", "idempotent", fails=OSError("who knows"))
    pair, store = with_fallback(call, box), MemoryStore()
    agent = Agent(ScriptedModel([act("call", to="a"), say("ok")]), [pair])
    await run(agent, "Go.", store=store, run_id="r")
    record = await read("r", store=store)
    events = [entry.event for entry in record.entries]
    tools = [event.tool for event in events if isinstance(event, Attempt)]
    assert tools == ["call", "box", "call"]
    after = Agent(ScriptedModel([act("box", to="a"), say("ok")]), [pair, box])
    again = await fork(after, "r", at=0, store=store)
    assert (again.status, office.sent) == ("held", ["box a"])
