"""A typed answer that never closes: cut, said in a line, and whole once a reply is."""

from typing import Any, Final

import pytest

from clew import Agent, Entry, MemoryStore, Nested, delegate, stream
from clew.core.codes import FINISH
from clew.core.events import Thought
from clew.interfaces import RawCall, Reply
from clew.testing import act, finish, say
from tests.streaming.pieces import InPieces, partials, standing
from tests.streaming.runs import agent

FORMATS: Final = ("native", "json", "paper", "labelled", "labelled:final")
PLACE: Final = {"place": "It is there."}
CUTS: Final = [number / 9 for number in range(9)]


def cut_reply(codec: str) -> Reply:
    """The answer without its end, at the limit of a reply's length."""
    whole = InPieces([], codec=codec, answer=dict[str, str]).written(finish(PLACE), 1)
    calls = tuple(
        RawCall(name=FINISH, arguments=(call.arguments or "")[:-5], id=call.id)
        for call in whole.calls
    )
    return Reply(text=whole.text[:-5], calls=calls, finish="length")


@pytest.mark.parametrize("below", [False, True], ids=["its own", "below"])
@pytest.mark.parametrize("codec", FORMATS)
async def test_a_value_that_never_closes_is_cut_and_then_whole(codec: str, below: bool) -> None:
    script: list[Any] = [cut_reply(codec), cut_reply(codec), finish(PLACE)]
    model = InPieces(script, codec=codec, answer=dict[str, str], cuts=CUTS)
    made: Agent[Any] = Agent(model, codec=codec, answer=dict[str, str])
    if below:
        asks = delegate(made, name="ask", description="Ask.")
        made = agent(act("ask", task="Where?"), say("ok"), tools=[asks])
    async with stream(made, "Where?", store=MemoryStore(), run_id="r") as events:
        items = [item async for item in events]
    if below:
        items = [it.item for it in items if isinstance(it, Nested)]
    states = [each.state for each in partials(items)]
    assert [state for state in states if state != "open"] == ["cut", "cut", "complete"]
    assert partials(items)[-1].json == PLACE
    assert standing(items) == "It is there."
    thoughts = [it.event for it in items if isinstance(it, Entry) and type(it.event) is Thought]
    assert [bool(thought.fault) for thought in thoughts] == [True, True, False]
    for thought in thoughts[:2]:
        assert "cut" in thought.fault.splitlines()[0]
