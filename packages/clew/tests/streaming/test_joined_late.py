"""Whoever begins to follow in the middle of a reply learns of it what others learn, from its begin.

And of a reply that comes in one piece, or is asked for again.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from clew import (
    Agent,
    Answered,
    Entry,
    Limits,
    MemoryStore,
    PartialCall,
    Retrying,
    Token,
    Withdrawn,
    follow,
    run,
    start,
    tool,
)
from clew.core.events import Charged
from clew.interfaces import OnText, Prompt, Reply
from clew.testing import Cassette, ScriptedModel, act, acts, finish
from clew.testing.models import position
from clew_testing.model_script import Cut, Say
from tests.models.gemini_support import over as gemini
from tests.models.messages import over as anthropic
from tests.models.support import few, over
from tests.streaming.pieces import Stepwise, partial_calls, partials, standing, told_of, words
from tests.streaming.runs import agent, look_up

FORMATS: Final = ("native", "json", "paper", "labelled", "code")


@dataclass
class Town:
    name: str
    people: int = 0
    text: str = ""


TOWN: Final = {"name": "Vienna", "people": 2_000_000, "text": "It lies on the Danube."}


class Whole(ScriptedModel):
    """A model whose replies come in one piece, of which it tells nobody before."""

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        del on_text
        return self.reply(prompt, position(prompt))


@pytest.mark.parametrize("codec", [*FORMATS, "native text", "cassette"])
@pytest.mark.parametrize(
    ("kind", "answer"),
    [(Town, TOWN), (list[int], [1, 2]), (Town | None, None), (dict[str, int], {})],
    ids=["object", "list", "null", "empty"],
)
async def test_the_last_value_of_an_answer_is_that_of_the_result(
    kind: Any, answer: Any, codec: str, tmp_path: Path
) -> None:
    line: Any = json.dumps(answer) if codec == "native text" else finish(answer)
    script = [act("look"), line]
    name = codec if codec in FORMATS else "native"
    model: Any = Whole(script, codec=name, tools=[look_up()], answer=kind)
    if codec == "cassette":
        recorder = Cassette(tmp_path / "c.json", record=True)
        made = Agent(recorder.model("m", lambda: model), [look_up()], answer=kind)
        await run(made, "Tell.", store=MemoryStore(), run_id="r")
        recorder.save()
        model = Cassette(tmp_path / "c.json").model("m", lambda: model)
    made = Agent(model, [look_up()], codec=name, answer=kind)
    async with await start(made, "Tell.", store=MemoryStore(), run_id="r") as events:
        items = [item async for item in events]
    assert isinstance(events.result, Answered)
    (last,) = partials(items)
    assert (last.json, last.valid, last.state) == (answer, True, "complete")
    assert last.value == events.result.answer
    (call,) = partial_calls(items, "look")
    assert call == PartialCall("look", 1, {}, valid=True, state="complete")


# ------------------------------------------------------------------- one that is asked for again

TEXT: Final = "It lies on the Danube. " * 20
DOORS: Final = {"chat": over, "anthropic": anthropic, "gemini": gemini}


@tool(effect="read")
def search(query: str) -> str:
    """Search.

    Args:
        query: What.
    """
    return query


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize("codec", ["native", "json", "labelled"])
async def test_words_of_another_attempt_come_as_they_are_written(codec: str, door: Any) -> None:
    reply = ScriptedModel([], codec=codec).written(finish(TEXT.strip()), 1)
    text = reply.text or TEXT
    script = [Cut(Say(text), 2000), Cut(Say(text), 3000), Say(text)]
    async with door(script, piece=40, retries=few(2)) as (model, _, _):
        items = await told_of(Agent(model, [search], codec=codec))
    attempts = list[list[Any]]([[]])
    for item in items:
        if isinstance(item, Retrying):
            attempts.append([])
        attempts[-1].append(item)
    assert len(attempts) == 3
    for each in attempts:
        told = [it for it in each if isinstance(it, Token) and it.field == "answer"]
        assert len(told) > 1
        assert TEXT.startswith("".join(it.text for it in told).strip())
    assert [standing(each) for each in attempts] == ["", "", TEXT.strip()]


# ---------------------------------------------------------------- one that somebody comes into


class Gate:
    """What lets so many pieces pass, says that they did, and then all."""

    def __init__(self, pieces: int = 0) -> None:
        self.left = pieces
        self.came, self.go = anyio.Event(), anyio.Event()

    async def pass_through(self) -> None:
        if self.left == 0:
            self.came.set()
            await self.go.wait()
        self.left -= 1


def by_field(items: Sequence[object]) -> dict[str, str]:
    """The words that stand, by their fields."""
    told = defaultdict[str, str](str)
    for item in items:
        if isinstance(item, Withdrawn):
            told = defaultdict(str, {k: v for k, v in told.items() if not k.startswith("answer")})
        elif isinstance(item, Token):
            told[item.field] += item.text
    return dict(told)


class Deaf:
    """A listener for whom the reply is streamed."""

    def token(self, text: str) -> None:
        del text

    def entry(self, entry: Entry) -> None:
        del entry


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "text"])
@pytest.mark.parametrize("codec", FORMATS)
@pytest.mark.parametrize("pieces", [0, 1, 4, 8])
async def test_who_comes_second_knows_what_the_first_one_knows(
    pieces: int, codec: str, typed: bool
) -> None:
    line = finish(TOWN if typed else TEXT.strip(), thought="I know it well.")
    kind: Any = Town if typed else str
    store, gate = MemoryStore(), Gate(pieces)
    model = Stepwise([line], codec=codec, answer=kind, step=gate.pass_through)
    first = await start(Agent(model, codec=codec, answer=kind), "Tell.", store=store, run_id="r")
    await gate.came.wait()
    second = follow("r", store=store)
    seen = [await anext(second)]
    gate.go.set()
    whole, seen = [item async for item in first], [*seen, *[item async for item in second]]
    assert by_field(seen) == by_field(whole)
    assert partials(seen)[-1:] == partials(whole)[-1:]


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "text"])
@pytest.mark.parametrize("codec", FORMATS)
@pytest.mark.parametrize("heard", [True, False], ids=["heard", "unheard"])
async def test_who_comes_first_is_told_a_reply_as_it_was_read(
    heard: bool, codec: str, typed: bool
) -> None:
    """No piece of it without the ones before."""
    line = finish(TOWN if typed else TEXT.strip(), thought="I know it well.")
    kind: Any = Town if typed else str
    store, gate = MemoryStore(), Gate(5)
    model = Stepwise([line], codec=codec, answer=kind, step=gate.pass_through)
    made, items, results = Agent(model, codec=codec, answer=kind), list[Any](), list[Any]()

    async def listen() -> None:
        await gate.came.wait()
        stream = follow("r", store=store)
        items.append(await anext(stream))
        gate.go.set()
        items.extend([item async for item in stream])

    async with anyio.create_task_group() as group:
        group.start_soon(listen)
        listener = Deaf() if heard else None
        results.append(await run(made, "Tell.", store=store, run_id="r", listener=listener))
    (result,) = results
    assert isinstance(result, Answered)
    assert {field.partition(".")[0] for field in by_field(items)} == {"answer"}
    if typed:
        (last,) = partials(items)
        assert (last.value, last.state) == (result.answer, "complete")
        assert words(items, "answer.name") == TOWN["name"]
    else:
        assert standing(items) == result.answer
        assert not partials(items)


async def test_calls_that_are_on_record_are_not_told_again() -> None:
    """However often somebody comes back: the record has them."""
    gate = Gate(0)
    model = Stepwise([act("look", thought="I look."), finish("There.")], step=gate.pass_through)
    store = MemoryStore()
    events = await start(Agent(model, [look_up()]), "Where?", store=store, run_id="r")
    gate.go.set()
    await events.wait()
    again = [item async for item in follow("r", store=store)]
    assert all(isinstance(item, Entry) for item in again)


@pytest.mark.both_loops
async def test_a_reply_that_comes_too_late_is_withdrawn_before_the_run_stops() -> None:
    gate = Gate(4)
    model = Stepwise([finish(TOWN)], answer=Town, step=gate.pass_through)
    made = Agent(model, answer=Town, limits=Limits(seconds=0.5))
    async with await start(made, "Tell.", store=MemoryStore(), run_id="r") as events:
        items = [item async for item in events]
    last = partials(items)[-1]
    assert (last.state, last.valid) == ("cut", False)
    charged = next(
        n for n, it in enumerate(items) if isinstance(it, Entry) and isinstance(it.event, Charged)
    )
    assert Withdrawn() in items[:charged]
    assert last in items[:charged]


# ------------------------------------------------------------------------- others have their turn


@pytest.mark.both_loops
@pytest.mark.parametrize("way", ["one stream", "a stream for each"])
async def test_a_stream_whose_items_are_ready_lets_others_have_their_turn(way: str) -> None:
    store = MemoryStore()
    script = [acts(*[act("look")] * 60), finish("There.")]
    await run(
        agent(*script, tools=[look_up()], limits=Limits(tool_calls=99)),
        "Where?",
        store=store,
        run_id="r",
    )
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    taken, at = 0, "0"
    async with anyio.create_task_group() as group:
        group.start_soon(others)
        if way == "one stream":
            async for _ in follow("r", store=store):
                taken += 1
        else:
            while item := await anext(stream := follow("r", after=at, store=store), None):
                assert isinstance(item, Entry)
                taken, at = taken + 1, stream.position
        group.cancel_scope.cancel()
    assert taken > 60
    assert turns >= taken // 16


@pytest.mark.both_loops
async def test_who_is_cancelled_takes_no_more_items_and_loses_none() -> None:
    store = MemoryStore()
    script = [acts(*[act("look")] * 60), finish("There.")]
    await run(
        agent(*script, tools=[look_up()], limits=Limits(tool_calls=99)),
        "Where?",
        store=store,
        run_id="r",
    )
    stream, taken = follow("r", store=store), list[Any]()
    with anyio.CancelScope() as scope:
        async for item in stream:
            taken.append(item)
            if len(taken) == 5:
                scope.cancel()
    assert len(taken) < 30
    taken += [item async for item in stream]
    assert taken == [item async for item in follow("r", store=store)]
