"""A provider sends the call of a program twice: its effects are had once."""

import msgspec
import pytest

from clew import Agent, MemoryStore, run, tool
from clew.core.contents import RawCall, Reply
from clew.testing import ScriptedModel, say
from clew_code.programs import run_code

SENDS = [
    "send(text='A')",
    "print(send(text='A'))",
    "for text in 'A':\n    send(text=text)",
    "def go():\n    return send(text='A')\ngo()",
    "try:\n    send(text='A')\n    raise ValueError\nexcept ValueError:\n    print('no')",
    "send(text='A')\n1 / 0",
]
"""Programs that send one letter."""


@pytest.mark.parametrize("sends", SENDS, ids=range(len(SENDS)))
@pytest.mark.parametrize("effect", ["unsafe", "read"])
@pytest.mark.parametrize("apart", [False, True])
async def test_a_program_that_acts_is_made_once(apart: bool, effect: str, sends: str) -> None:
    sent: list[str] = []

    def send(text: str) -> str:
        """Send."""
        sent.append(text)
        return "sent"

    made = tool(effect="unsafe" if effect == "unsafe" else "read")(send)
    program = RawCall(
        name="run_code", arguments=msgspec.json.encode({"code": sends}).decode(), id="abc1x"
    )
    steps = [(program,), (program,)] if apart else [(program, program)]
    replies = [Reply(calls=calls, finish="calls") for calls in steps]
    agent = Agent(ScriptedModel([*replies, say("done")]), [made, run_code()])
    result = await run(agent, "?", store=MemoryStore())
    looks = 2 if apart and effect == "read" else 1
    assert (result.status, sent) == ("answered", ["A"] * looks)
