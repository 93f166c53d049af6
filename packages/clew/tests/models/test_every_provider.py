"""One conversation with every provider's format: the same record, taken by every strict server.

The servers refuse what the real services refuse; an official client is in between.
"""

import itertools
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest

from clew import MemoryStore, ModelError, resume, run
from clew.core.contents import Observation
from clew.core.entries import Entry
from clew.core.events import Attempt, Thought
from clew.core.models import Model
from clew.core.stores import Store
from clew.core.values import encode
from clew.testing.models import ScriptedModel
from clew_testing.servers.http_server import Fail, Say
from tests.core.play import copy
from tests.models.long_talk import (
    GOAL,
    PROVIDERS,
    Provider,
    Watching,
    agent,
    but_for_format,
    entries,
    go_on,
    script,
    talk,
)
from tests.models.test_contract import reply

END = "The north light is the oldest."

per_provider = pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@per_provider
@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
async def test_the_same_record_but_for_format_and_wire(provider: Provider, streamed: bool) -> None:
    expected = MemoryStore()
    await talk(ScriptedModel([reply(said) for said in script()], name="scripted:same"), expected)
    store, watching = MemoryStore(), Watching()
    async with provider.open(script()) as line:
        done = await talk(line.model, store, watching if streamed else None)
    assert (done.status, done.answer) == ("answered", END)
    assert len(line.server.requests) == len(script())  # each was accepted at once
    record = await entries(store)
    assert but_for_format(record) == but_for_format(await entries(expected))
    thoughts = [entry.event for entry in record if isinstance(entry.event, Thought)]
    assert [bool(thought.reply.reasoning) for thought in thoughts] == [
        bool(said.reasoning) for said in script()
    ]
    assert bool(watching.text) == streamed


@per_provider
@on_asyncio
async def test_cut_at_every_entry_and_resumed_it_asks_the_same(
    provider: Provider, anyio_backend: str
) -> None:
    """The next request of a run that was cut is, to the byte, the one it would have made."""
    store = MemoryStore()
    async with provider.open(script()) as line:
        await talk(line.model, store)
        asked = [seen.raw for seen in line.server.requests]
        lines, record = await store.read("run"), await entries(store)
        for cut in range(1, len(lines)):
            before = _thoughts(record[:cut])
            line.say(Fail(403, "no more"))
            said = await _why_it_ended(line.model, await copy(lines[:cut]))
            if before == len(asked):
                assert said == ""
                continue
            assert "no more" in said  # after a 400 the earlier steps would be sent as text
            same = [seen.raw for seen in line.server.requests] == [asked[before]]
            begun = {one.event.call for one in record[:cut] if isinstance(one.event, Attempt)}
            ended = {one.event.call for one in record[:cut] if isinstance(one.event, Observation)}
            in_doubt = bool(begun - ended)  # which the model is told
            assert same != in_doubt


async def _why_it_ended(model: Model, store: Store) -> str:
    try:
        await go_on(model, store)
    except ModelError as error:
        return str(error)
    return ""


def _thoughts(record: Sequence[Entry]) -> int:
    return sum(isinstance(entry.event, Thought) for entry in record)


@per_provider
@on_asyncio
async def test_cut_and_resumed_it_comes_to_the_same_end(
    provider: Provider, anyio_backend: str
) -> None:
    store = MemoryStore()
    async with provider.open(script()) as line:
        await talk(line.model, store)
        record, lines = await entries(store), await store.read("run")
        for cut in range(3, len(lines), 17):
            left = script()[_thoughts(record[:cut]) :]
            line.say(*left)
            again = await copy(lines[:cut])
            assert (await go_on(line.model, again)).answer == END
            assert len(line.server.requests) == len(left)
            assert but_for_format(await entries(again)) == but_for_format(record)


@pytest.mark.parametrize(
    ("first", "then"),
    list(itertools.permutations(PROVIDERS, 2)),
    ids=lambda provider: provider.name,
)
@on_asyncio
async def test_another_provider_goes_on_with_it(
    first: Provider, then: Provider, anyio_backend: str
) -> None:
    store = MemoryStore()
    async with first.open(script()) as line:
        await talk(line.model, store)
    record, lines = await entries(store), await store.read("run")
    async with then.open() as line:
        for cut in range(4, len(lines), 23):
            left = script()[_thoughts(record[:cut]) :]
            line.say(*left)
            again = await copy(lines[:cut])
            assert (await go_on(line.model, again, accept_change=True)).answer == END
            assert len(line.server.requests) == len(left)


@on_asyncio
async def test_each_step_by_another_provider(anyio_backend: str) -> None:
    """They take turns, and all take what the others wrote."""
    store: Any = MemoryStore()
    async with AsyncExitStack() as stack:
        open_lines = [await stack.enter_async_context(each.open()) for each in PROVIDERS]
        turns = itertools.cycle(open_lines)
        for number, said in enumerate(script()[:15]):
            line = next(turns)
            line.say(said, Fail(403, "no more"))
            if number:
                going = resume(agent(line.model), "run", store=store, accept_change=True)
            else:
                going = talk(line.model, store)
            with pytest.raises(ModelError, match="no more"):
                await going
            assert len(line.server.requests) == 2
    assert _thoughts(await entries(store)) == 15


TASK: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("I look for Ada.", "look_up", {"name": "Ada"}),
    ("And for another.", "look_up", {"name": "missing"}),
    ("I count.", "add", {"a": 1, "b": 2}),
    ("It must burn.", "light", {"lamp": "north"}),
    ("That is it.", "finish", {"answer": END}),
)


def _native(number: int, thought: str, name: str, args: dict[str, Any]) -> Say:
    return Say(thought, [(name, encode(args).decode())])


def _paper(number: int, thought: str, name: str, args: dict[str, Any]) -> Say:
    inner = END if name == "finish" else encode(args).decode()
    called = "Finish" if name == "finish" else name
    return Say(f"Thought {number}: {thought}\nAction {number}: {called}[{inner}]")


def _labelled(number: int, thought: str, name: str, args: dict[str, Any]) -> Say:
    if name == "finish":
        return Say(f"Thought: {thought}\nFinal Answer: {END}")
    return Say(f"Thought: {thought}\nAction: {name}\nAction Input: {encode(args).decode()}")


def _json(number: int, thought: str, name: str, args: dict[str, Any]) -> Say:
    return Say(encode({"thought": thought, "action": name, "args": args}).decode())


@per_provider
@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize(
    ("codec", "write"),
    [("native", _native), ("paper", _paper), ("labelled", _labelled), ("json", _json)],
    ids=["native", "paper", "labelled", "json"],
)
async def test_one_task_in_every_format_over_every_provider(
    provider: Provider,
    codec: str,
    write: Callable[[int, str, str, dict[str, Any]], Say],
    streamed: bool,
) -> None:
    said = [write(number, *step) for number, step in enumerate(TASK, start=1)]
    store = MemoryStore()
    async with provider.open(said) as line:
        who = agent(line.model).replace(codec=codec)
        listener = Watching() if streamed else None
        done = await run(who, GOAL, store=store, run_id="run", listener=listener)
    assert (done.status, done.answer) == ("answered", END)
    assert len(line.server.requests) == len(TASK)
    expected = MemoryStore()
    scripted = ScriptedModel([reply(_native(0, *step)) for step in TASK], name="scripted:same")
    await run(agent(scripted), GOAL, store=expected, run_id="run")
    assert but_for_format(await entries(store)) == but_for_format(await entries(expected))
