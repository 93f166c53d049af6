"""Words of an answer stand, or are withdrawn: by a call, a refusal, a reply that breaks off."""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, Final

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import (
    Agent,
    Entry,
    MemoryStore,
    Nested,
    Retrying,
    Token,
    Withdrawn,
    delegate,
    follow,
    read,
    resume,
    serving,
    start,
    stream,
    tool,
)
from clew.core.codes import FINISH
from clew.core.events import Stop, Thought
from clew.interfaces import OnText, Prompt, RawCall, Reply
from clew.testing import ScriptedModel, act, finish, say
from clew_testing.model_script import Cut, Say
from tests.models.support import few, over
from tests.streaming.pieces import InPieces, standing
from tests.streaming.runs import agent, look_up

FORMATS: Final = ("native", "json", "paper", "labelled")


@tool(effect="read")
def search(query: str) -> str:
    """Search.

    Args:
        query: What.
    """
    return "found"


async def items_of(made: Agent[Any], **more: Any) -> list[Any]:
    async with stream(made, "Where?", store=MemoryStore(), run_id="r", **more) as events:
        return [item async for item in events]


def kinds(items: Sequence[object]) -> list[str]:
    """What came, in short: the words of the answer as `+`, their withdrawal as `-`."""
    told = list[str]()
    for item in items:
        if isinstance(item, Token) and item.field.startswith("answer"):
            told += ["+"] if told[-1:] != ["+"] else []
        elif isinstance(item, Withdrawn):
            told.append("-")
        elif isinstance(item, Entry) and isinstance(item.event, Thought | Stop):
            told.append(type(item.event).__name__)
    return told


@pytest.mark.both_loops
async def test_words_beside_a_call_are_withdrawn_before_their_thought() -> None:
    script = [act("look", thought="I will look."), act("look"), say("It is there.")]
    items = await items_of(agent(*script, tools=[look_up()]))
    assert kinds(items) == ["+", "-", "Thought", "Thought", "+", "Thought", "Stop"]
    assert standing(items) == "It is there."


async def test_words_beside_the_call_of_finish_are_no_answer() -> None:
    items = await items_of(agent(finish("It is there.", thought="I know it.")))
    assert kinds(items) == ["+", "-", "+", "Thought", "Stop"]
    assert standing(items) == "It is there."


class Afterthought(ScriptedModel):
    """A model whose text goes on behind the arguments of its call."""

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        reply = await super().complete(prompt, on_text)
        if on_text is not None and reply.calls:
            on_text("AFTER")
        return reply


async def test_words_behind_a_call_are_a_thought() -> None:
    script = [act("look", thought="So."), say("ok")]
    made = agent(tools=[look_up()]).replace(model=Afterthought(script))
    items = await items_of(made)
    assert [item for item in items if isinstance(item, Token)] == [
        Token("So.", "answer"), Token("AFTER", "thought"), Token("ok", "answer"),
    ]  # fmt: skip


@pytest.mark.parametrize("codec", FORMATS)
async def test_a_refused_answer_is_withdrawn(codec: str) -> None:
    async def better(answer: str, _: object) -> str | None:
        return None if "better" in answer else "say it better"

    script = [finish("It is bad."), finish("It is better.")]
    made = Agent(ScriptedModel(script, codec=codec), codec=codec, checks=[better])
    items = await items_of(made)
    assert kinds(items) == ["+", "Thought", "-", "+", "Thought", "Stop"]
    assert standing(items) == "It is better."
    last = made.replace(model=ScriptedModel(script[:1], codec=codec), tries=0, fallback="None.")
    items = await items_of(last)
    assert kinds(items) == ["+", "Thought", "-", "Stop"]
    assert standing(items) == ""


@pytest.mark.parametrize("second", ["Warsaw", "Paris"])
async def test_of_several_answers_in_a_reply_the_words_of_one_stand(second: str) -> None:
    calls = tuple(
        RawCall(name=FINISH, arguments=json.dumps({"answer": {"place": place}}), id=place * 2)
        for place in ("Warsaw", second)
    )
    reply = Reply(calls=calls, finish="calls")
    made = Agent(InPieces([reply], cuts=[0.5]), answer=dict[str, str])
    items = await items_of(made)
    assert standing(items) == "Warsaw"


@pytest.mark.parametrize("codec", FORMATS)
async def test_an_answer_that_never_ends_is_withdrawn(codec: str) -> None:
    """And so are the words of a typed one, by their place in it."""
    for answer, value in ((str, "It is there."), (dict[str, str], {"place": "It is there."})):
        writer = InPieces([], codec=codec, answer=answer, cuts=[])
        whole = writer.written(finish(value), 1)
        cut = Reply(text=whole.text[:-3], finish="length")
        if whole.calls:
            args = (whole.calls[0].arguments or "")[:-3]
            calls = (RawCall(name=FINISH, arguments=args, id="c1"),)
            cut = Reply(calls=calls, finish="length")
        model = InPieces([cut, finish(value)], codec=codec, answer=answer, cuts=[0.5])
        items = await items_of(Agent(model, codec=codec, answer=answer))
        assert kinds(items)[:3] == ["+", "-", "Thought"], answer
        assert standing(items) == "It is there."


async def test_an_attempt_that_breaks_off_is_withdrawn_and_the_next_is_told_whole() -> None:
    text = "It lies on the Danube. " * 20
    async with over([Cut(Say(text), 900), Say(text)], piece=40, retries=few(2)) as (model, _, _):
        items = await items_of(Agent(model, tools=[search]))
    assert kinds(items) == ["+", "-", "+", "Thought", "Stop"]
    at = items.index(Withdrawn())
    assert isinstance(items[at + 1], Retrying)
    assert standing(items) == text.strip()


@pytest.mark.both_loops
async def test_a_run_that_is_left_in_the_middle_of_a_reply_takes_its_words_back() -> None:
    begun = anyio.Event()

    class Waiting(ScriptedModel):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            if on_text is not None:
                on_text("It is")
            begun.set()
            await anyio.sleep_forever()
            raise AssertionError

    store, items = MemoryStore(), list[Any]()
    async with serving(store=store):
        events = await start(Agent(Waiting([])), "Where?", store=store, run_id="r")
        await begun.wait()
    with pytest.raises(Exception, match="left open"):
        await events.wait()
    items = [item async for item in events]
    assert kinds(items) == ["+", "-"]
    await resume(Agent(ScriptedModel([say("It is there.")])), "r", store=store)
    assert (await read("r", store=store)).stop is not None


async def test_words_of_a_run_below_are_withdrawn_at_their_place() -> None:
    below = agent(act("look", thought="I look."), say("There."), tools=[look_up()])
    above = agent(
        act("ask", task="Where?"), say("ok"), tools=[delegate(below, name="ask", description="A.")]
    )
    items = await items_of(above)
    inner = [it.item for it in items if isinstance(it, Nested) and it.path == ("r-1.1",)]
    assert kinds(inner) == ["+", "-", "Thought", "+", "Thought", "Stop"]
    assert standing(inner) == "There."


@pytest.mark.parametrize("text", [
    '{"name": "search", "arguments": {"query": "ARGUMENT"}}',
    '<tool_call>\n{"name": "search", "arguments": {"query": "ARGUMENT"}}\n</tool_call>',
    '```json\n{"name": "search", "arguments": {"query": "ARGUMENT"}}\n```',
    '[{"name": "search", "arguments": {"query": "ARGUMENT"}}]',
])  # fmt: skip
async def test_a_text_that_begins_as_a_call_is_told_once_it_is_read(text: str) -> None:
    items = await items_of(
        Agent(ScriptedModel([text, text.replace("search", "x"), "ok"]), [search])
    )
    assert not [it for it in items if isinstance(it, Token) and "search" in it.text]
    items = await items_of(Agent(ScriptedModel(["<b>It</b> is there."]), [search]))
    assert [it.text for it in items if isinstance(it, Token)] == ["<b>It</b> is there."]
    items = await items_of(Agent(ScriptedModel(["<b>It</b> is there."])))
    assert len([it for it in items if isinstance(it, Token)]) == 3


async def test_what_waits_for_a_slow_listener_keeps_its_order() -> None:
    words = " ".join(f"word{number}" for number in range(600))
    made = agent(act("look", thought=words), say("It is there."), tools=[look_up()])
    events = await start(made, "Where?", store=MemoryStore(), run_id="r")
    await events.wait()
    assert standing([item async for item in events]) == "It is there."


WORDS: Final = st.text("ab \n{[<`*", max_size=12)


def moves(write: Callable[[str, str], Any]) -> Any:
    return st.builds(write, WORDS, WORDS)


@pytest.mark.parametrize("codec", FORMATS)
@settings(max_examples=40)
@given(
    st.lists(moves(lambda a, b: act("search", thought=a, query=b)), max_size=3),
    moves(lambda a, b: finish(f"x{b}", thought=a)) | WORDS.filter(str.strip),
    st.lists(st.floats(0, 1), max_size=6),
)
def test_what_stands_of_each_reply_is_its_answer(
    codec: str, calls: list[Any], last: Any, cuts: list[float]
) -> None:
    lines = [*calls, last, finish("x")]
    model = InPieces(lines, codec=codec, tools=[search], cuts=cuts)

    async def check() -> None:
        items = await items_of(Agent(model, [search], codec=codec, tries=9))
        until = 0
        for at, item in enumerate(items):
            if isinstance(item, Entry) and isinstance(item.event, Thought):
                thought = item.event
                finishes = [each.args for each in thought.actions if each.name == FINISH]
                answer = thought.answer or (finishes[0].get("answer") if finishes else "") or ""
                told = standing(items[until:at])
                assert isinstance(answer, str)
                assert told.strip() == answer.strip(), (thought, items)
                until = at

    anyio.run(check)


async def test_whoever_follows_the_record_is_told_of_no_words() -> None:
    store = MemoryStore()
    made = agent(act("look", thought="I look."), say("There."), tools=[look_up()], store=store)
    async with stream(made, "Where?", run_id="r") as events:
        live = [item async for item in events]
    later = [item async for item in follow("r", store=store)]
    assert later == [item for item in live if isinstance(item, Entry)]
    assert json.dumps(Withdrawn().to_json()) == '{"event": "withdrawn"}'


async def test_whoever_comes_while_a_reply_does_is_told_all_of_its_words() -> None:
    begun, go = anyio.Event(), anyio.Event()

    class Slow(ScriptedModel):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            assert on_text is not None
            on_text("It is ")
            begun.set()
            await go.wait()
            on_text("there.")
            return Reply(text="It is there.")

    store = MemoryStore()
    first = await start(Agent(Slow([])), "Where?", store=store, run_id="r")
    await begun.wait()
    for after in (0, 1):
        late = follow("r", after=after, store=store)
        told = [await anext(late) for _ in range(3 - after)][1 - after :]
        assert told == [Withdrawn(), Token("It is ", "answer")]
        await late.aclose()
    again = follow("r", after=1, store=store)
    back = again.sse()
    assert "Withdrawn" in await anext(back)
    go.set()
    rest = [line async for line in back]
    assert [re.findall("event: (.*)", line)[0] for line in rest] == ["Token", "Token", "Result"]
    async with aclosing(follow("r", after=1, store=store).sse()) as over:
        assert [line.split("\n")[1] async for line in over] == ["event: Result"]
    assert standing([item async for item in first]) == "It is there."
