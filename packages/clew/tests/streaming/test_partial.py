"""Answers and arguments as they arrive: partial values with their validity, and their words."""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import (
    Agent,
    Entry,
    MemoryStore,
    Nested,
    Partial,
    PartialCall,
    Retrying,
    Token,
    delegate,
    stream,
    tool,
)
from clew.agent.streaming.json_prefix import JsonPrefix
from clew.core.events import Thought
from clew.interfaces import OnText, Prompt, RawCall, Reply
from clew.models.openai.responses import openai_responses
from clew.support.live import tell_arguments
from clew.testing import ScriptedModel, act, finish, say
from clew.testing.models import position
from clew_testing.servers.openai_server import Fail, Say
from tests.models.gemini_support import over as gemini
from tests.models.messages import over as anthropic
from tests.models.support import few, over
from tests.streaming.pieces import InPieces, partial_calls, partials, told_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def texts_in(value: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """The texts in a value that are not empty, by their path."""
    if isinstance(value, str):
        return {path: value} if value else {}
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value if isinstance(value, list) else ())
    )
    return {
        k: v for key, each in pairs for k, v in texts_in(each, (*path, str(key) or " ")).items()
    }


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), st.booleans(), st.integers(1, 9))
def test_whatever_the_pieces_all_of_it_arrives(value: Any, ascii_only: bool, size: int) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
    reader, words = JsonPrefix(), defaultdict[tuple[str, ...], str](str)
    for at in range(0, len(text), size):
        for path, piece in reader.feed(text[at : at + size]):
            words[path] += piece
        assert isinstance(reader.value(), dict)
        assert isinstance(reader.value(open_text=False), dict)
    assert reader.closed
    assert not reader.broken
    assert reader.value() == value
    if "" not in value and " " not in value:
        assert {k: v for k, v in words.items() if v} == texts_in(value)


@given(st.text(alphabet='{}[]",:\\ua01 e-', max_size=30), st.integers(1, 5))
def test_what_is_no_json_never_ends_in_an_error(text: str, size: int) -> None:
    reader = JsonPrefix()
    for at in range(0, len(text), size):
        reader.feed(text[at : at + size])
        reader.value()


# ------------------------------------------------------------------------------- in a stream


@dataclass
class Life:
    title: str
    kind: Literal["city", "country"]
    years: list[int]
    text: str = ""


LIFE: dict[str, Any] = {
    "title": "Vienna",
    "kind": "city",
    "years": [1156, 1918],
    "text": "On the Danube.",
}


class Piecemeal(ScriptedModel):
    """A model whose replies come a few characters at a time, so that each is taken as it comes."""

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        reply = self.reply(prompt, position(prompt))
        if on_text is None:
            return reply
        for at in range(0, len(reply.text), 3):
            if on_text(reply.text[at : at + 3]):
                return msgspec.structs.replace(reply, text=reply.text[: at + 3])
            await taken()
        for number, call in enumerate(reply.calls):
            for at in range(0, len(call.arguments or ""), 3):
                tell_arguments(number, call.name, (call.arguments or "")[at : at + 3])
                await taken()
        return reply


async def taken() -> None:
    """Let whoever listens take what there is."""
    for _ in range(8):
        await anyio.lowlevel.checkpoint()


async def items_of(agent: Agent[Any]) -> list[Any]:
    async with stream(agent, "Tell.", store=MemoryStore(), run_id="r") as events:
        items = [item async for item in events]
    assert events.result is not None
    return items


def words(items: list[Any]) -> dict[str, str]:
    by_field = defaultdict[str, str](str)
    for item in items:
        if isinstance(item, Token):
            by_field[item.field] += item.text
    return dict(by_field)


def check_life(items: list[Any]) -> None:
    told = partials(items)
    assert [each.state for each in told] == ["open"] * (len(told) - 1) + ["complete"]
    assert told[-1] == Partial(
        LIFE, Life(**LIFE), valid=True, state="complete", index=told[0].index
    )
    assert len(told) > 3
    for each in told:
        assert isinstance(each.json, dict)
        assert each.json.get("kind", "city") == "city"  # what is one of two words comes whole
        assert each.valid == isinstance(each.value, Life)
        assert LIFE["title"].startswith(str(each.json.get("title", "")))
    assert any(each.valid for each in told[:-1])  # a text has a default: it fits without
    spoken = words(items)
    assert spoken["answer.title"] == "Vienna"
    assert spoken["answer.text"] == "On the Danube."
    thought = next(
        n for n, it in enumerate(items) if isinstance(it, Entry) and type(it.event) is Thought
    )
    assert items.index(told[-1]) < thought


@pytest.mark.both_loops
@pytest.mark.parametrize("way", ["a call of finish", "the text", "a fence", "an object"])
async def test_a_typed_answer_flows(way: str) -> None:
    codec = "json" if way == "an object" else "native"
    lines: dict[str, Any] = {
        "the text": json.dumps(LIFE),
        "a fence": f"```json\n{json.dumps(LIFE, indent=2)}\n```",
    }
    line = lines.get(way, finish(LIFE, thought="I know it."))
    model = Piecemeal([line], codec=codec, answer=Life)
    items = await items_of(Agent(model, codec=codec, answer=Life))
    check_life(items)
    field = {"an object": "thought", "a call of finish": ""}.get(way)
    assert field is None or words(items)[field] == "I know it."


async def test_a_text_flows_out_of_an_object() -> None:
    model = Piecemeal([finish('It is "Vienna".\n', thought="Easy.")], codec="json")
    items = await items_of(Agent(model, codec="json"))
    assert words(items) == {"thought": "Easy.", "answer": 'It is "Vienna".\n'}
    assert partials(items) == []


@tool(effect="read")
def search(query: str, limit: int) -> str:
    """Search.

    Args:
        query: What.
        limit: How many.
    """
    return "nothing"


@pytest.mark.parametrize("codec", ["native", "json"])
async def test_arguments_of_a_call_flow(codec: str) -> None:
    script = [act("search", query="the long way", limit=30), finish("ok")]
    model = Piecemeal(script, codec=codec, tools=[search])
    told = partial_calls(await items_of(Agent(model, tools=[search], codec=codec)), "search")
    assert next(each.args["query"] for each in told if "query" in each.args) != "the long way"
    assert [each.valid for each in told] == sorted(each.valid for each in told)
    args = {"query": "the long way", "limit": 30}
    assert told[-1] == PartialCall("search", 1, args, valid=True, state="complete")


@tool(name="answer", effect="read")
def ask_again(title: str, kind: str) -> str:
    """Ask.

    Args:
        title: What.
        kind: Of which kind.
    """
    return title + kind


@pytest.mark.parametrize("codec", ["native", "json", "paper", "labelled"])
@pytest.mark.parametrize("words", [{"title": "Wien", "kind": "city"}, {"title": "Wien"}])
async def test_a_value_of_a_partial_is_an_answer_whatever_a_tool_is_called(
    codec: str, words: dict[str, Any]
) -> None:
    script = [act("answer", **words), finish(LIFE)]
    model = Piecemeal(script, codec=codec, answer=Life, tools=[ask_again])
    items = await items_of(Agent(model, [ask_again], codec=codec, answer=Life))
    assert partials(items)[-1].value == Life(**LIFE)
    assert all(isinstance(each.value, Life) == each.valid for each in partials(items))
    for each in partial_calls(items, "answer"):
        assert each.valid == (len(each.args) == len(words) == 2)  # what is no text comes whole
    assert partial_calls(items, "answer")[-1].args == words


async def test_arguments_that_are_no_object_are_told_as_none() -> None:
    wrong = Reply(calls=(RawCall(name="search", arguments='["the long way", 30]', id="c1"),))
    items = await items_of(Agent(Piecemeal([wrong, say("ok")], tools=[search]), [search]))
    told = partial_calls(items, "search")
    assert told[-1] == PartialCall("search", 1, {}, state="cut")
    assert not any(each.args or each.valid for each in told)


@pytest.mark.parametrize("codec", ["native", "json"])
async def test_a_value_that_never_closes_has_an_end(codec: str) -> None:
    cut = Reply(text='{"action": "finish", "args": {"answer": {"title": "Vien', finish="length")
    if codec == "native":
        cut = Reply(
            calls=(RawCall(name="finish", arguments='{"answer": {"title": "Vien', id="c1"),),
            finish="length",
        )
    model = Piecemeal([cut, finish(LIFE)], codec=codec, answer=Life)
    items = await items_of(Agent(model, codec=codec, answer=Life))
    told = partials(items)
    first = next(at for at, each in enumerate(told) if each.state == "cut")
    assert told[first] == Partial({"title": "Vien"}, state="cut", index=1)
    assert [each.state for each in told].count("cut") == 1
    assert told[-1].value == Life(**LIFE)


async def test_values_of_runs_below_have_their_place() -> None:
    below = Agent(Piecemeal([finish(LIFE)], answer=Life), answer=Life)
    ask = delegate(below, name="ask", description="Ask.")
    above = Agent(Piecemeal([act("ask", task="Tell."), say("ok")]), tools=[ask])
    items = await items_of(above)
    nested = [it.item for it in items if isinstance(it, Nested) and it.path == ("r-1.1",)]
    check_life(nested)
    assert partial_calls(items, "ask")[-1].args == {"task": "Tell."}


# ------------------------------------------------------------------------------- over the wire


DOORS = {
    "chat": over,
    "responses": partial(over, make=openai_responses),
    "anthropic": anthropic,
    "gemini": gemini,
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
async def test_pieces_of_a_server_flow_and_its_failure_is_told(door: Any) -> None:
    script = [Fail(503, "busy"), Say(calls=(("finish", json.dumps({"answer": LIFE})),))]
    async with door(script, piece=40, retries=few(2)) as (model, _, waits):
        items = await items_of(Agent(model, answer=Life))
    told = partials(items)
    assert told[-1].value == Life(**LIFE)
    assert told[-1].state == "complete"
    [again] = [item for item in items if isinstance(item, Retrying)]
    assert (again.attempt, again.of, again.wait) == (2, 3, waits[0])
    assert "busy" in again.why
    assert words(items)["answer.text"] == "On the Danube."


TEXTUAL: list[tuple[Any, str, object]] = [
    (date, "2026-11-30", date(2026, 11, 30)),
    (datetime, "2026-11-30T16:00:00+00:00", datetime(2026, 11, 30, 16, tzinfo=UTC)),
    (time, "16:00:00", time(16)),
    (timedelta, "PT90S", timedelta(seconds=90)),
    (UUID, str(UUID(int=7)), UUID(int=7)),
    (bytes, "AQI=", b"\x01\x02"),
    (Annotated[str, msgspec.Meta(max_length=9)], "Lovelace", "Lovelace"),
    (Decimal, "1.50", Decimal("1.50")),
]


@pytest.mark.parametrize("codec", ["native", "json", "paper", "labelled", "code"])
@pytest.mark.parametrize(("kind", "text", "value"), TEXTUAL)
async def test_a_typed_answer_that_json_writes_as_a_text_is_a_partial_too(
    kind: Any, text: str, value: object, codec: str
) -> None:
    model = InPieces([finish(text)], cuts=(0.3, 0.6), codec=codec, answer=kind)
    agent = Agent(model, answer=kind, codec=codec)
    last = partials(await told_of(agent))[-1]
    assert (last.json, last.value, last.valid, last.state) == (text, value, True, "complete")


async def test_a_plain_text_has_words_and_no_partial() -> None:
    items = await told_of(Agent(InPieces([finish("Ada")], cuts=(0.5,))))
    assert words(items) == {"answer": "Ada"}
    assert partials(items) == []
