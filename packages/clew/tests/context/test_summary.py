"""A summary of what is left out: the model writes it in the cached prompt, and it is recorded."""

from typing import Any

import pytest

import clew
from benchmarks.context.long_runs import SUMMARY, Line, Summariser, WindowModel, page, reading
from clew import Agent, Compaction, Context, Limits, MemoryStore, ModelError
from clew.context.summary import SUMMARY_CHARS
from clew.core.contents import RawCall, Reply
from clew.core.events import Charged, Compacted
from clew.support.errors import TooLongError
from clew.testing.models import say
from tests.context.test_compaction import WHERE, answered, compactions, ran
from tests.core.play import copy

BY = ("duplicates", "mask", "summary")


def agent(model: WindowModel, **more: Any) -> Agent:
    context = Context(compaction=Compaction(BY, **more))
    limits = Limits(steps=400, tool_calls=400, tokens=10**8)
    return Agent(model, [page], prompt="Read.", limits=limits, codec=model.codec, context=context)


def script(steps: int = 60) -> Line:
    return reading(steps, say("ok"))


@pytest.mark.parametrize("codec", ["native", "json", "labelled", "paper"])
async def test_it_is_asked_in_the_cached_prompt_and_stays_in_view(codec: str) -> None:
    model, store = Summariser(script(), codec=codec), MemoryStore()
    done = await ran(agent(model), WHERE, store)
    cuts = compactions(done)
    assert answered(done)
    assert not model.refused
    assert model.asked == len(cuts) > 1
    assert [cut.summary for cut in cuts] == [f"{SUMMARY} ({n})." for n in range(1, len(cuts) + 1)]
    assert all(cut.usage.cached > 0.9 * cut.usage.input for cut in cuts)
    assert cuts[-1].summary in b"\n".join(model.sent[-1]).decode()
    thoughts = [step.thought for step in done.steps if step.thought is not None]
    said = sum(one.reply.usage.input for one in thoughts)
    assert done.total.usage.input == said + sum(cut.usage.input for cut in cuts)
    silent = Summariser(script(), codec=codec)
    again = await clew.replay(agent(silent), "run", store=store)
    assert len(again.trajectory.entries) == len(done.entries)
    assert not silent.asked


async def test_a_run_cut_anywhere_goes_on_with_the_summaries_it_has() -> None:
    store = MemoryStore()
    whole = await ran(agent(Summariser(script(30), 6_000)), WHERE, store)
    lines = await store.read("run")
    want = [entry.event for entry in whole.entries]
    for cut in range(1, len(lines)):
        there = await copy(lines[:cut])
        done = await ran(agent(model := Summariser(script(30), 6_000)), store=there, resume=True)
        got = [e.event for e in done.entries if not isinstance(e.event, Charged)]
        here = [event.summary for event in want[cut:] if isinstance(event, Compacted)]
        assert model.asked == len(here)
        assert [type(event) for event in got] == [type(event) for event in want]
        assert [entry.event for entry in done.entries[:cut]] == want[:cut]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(),
        Reply(text="I read on.", calls=(RawCall(name="page", arguments='{"number": 1}', id="1"),)),
        Reply(text="a word " * 100_000),
    ],
    ids=["empty", "a call", "long"],
)
async def test_what_is_no_summary_is_left_out_and_paid_for(reply: Reply) -> None:
    model = Summariser(script(), summary=reply)
    done = await ran(agent(model), WHERE)
    cuts = compactions(done)
    assert answered(done)
    assert all(cut.usage.input for cut in cuts)
    assert all(len(cut.summary) <= SUMMARY_CHARS for cut in cuts)
    if len(reply.text) < SUMMARY_CHARS:
        assert not any(cut.summary for cut in cuts)
    assert "Steps 1 to" in b"\n".join(model.sent[-1]).decode()


async def test_one_that_is_longer_than_what_it_is_of_is_left_out() -> None:
    @clew.tool(effect="read")
    def page(number: int) -> str:
        """Read a page."""
        return f"Page {number} is empty. " * 9

    model = Summariser(script(30), 1_450, tools=(page,), summary=Reply(text="word " * 700))
    done = await ran(agent(model).replace(tools=[page]), WHERE)
    assert answered(done)
    first = compactions(done)[0]
    assert first.usage.input
    assert not first.summary


async def test_where_even_its_prompt_is_too_long_there_is_none() -> None:
    model = Summariser(script(), summary=TooLongError("too long"))
    done = await ran(agent(model), WHERE)
    assert answered(done)
    assert model.asked == len(compactions(done)) > 1


async def test_where_the_model_is_away_the_run_can_be_resumed() -> None:
    store = MemoryStore()
    with pytest.raises(ModelError, match="gone"):
        await ran(agent(Summariser(script(), summary=ModelError("gone"))), WHERE, store)
    done = await ran(agent(Summariser(script())), store=store, resume=True)
    assert answered(done)
    assert compactions(done)[0].summary
