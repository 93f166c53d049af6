"""What a stream tells between entries: calls that begin, retries, progress; and slow listeners."""

from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    Calling,
    CallProgress,
    Dropped,
    Entry,
    Held,
    MemoryStore,
    Retry,
    Retrying,
    SqliteStore,
    Token,
    Tool,
    ToolError,
    Verdict,
    Withdrawn,
    read,
    start,
    stream,
)
from clew.core.call_context import CALL
from clew.core.contents import Observation
from clew.core.events import Attempt
from clew.interfaces import encode
from clew.testing import act, acts, say
from clew.tools import Attempts
from tests.streaming.runs import NONE, agent, look_up, numbered

pytestmark = pytest.mark.both_loops


async def all_of(made: Agent, **more: Any) -> list[object]:
    async with stream(made, "Where?", store=MemoryStore(), run_id="r", **more) as events:
        return [item async for item in events]


async def test_a_call_is_told_as_it_begins_before_its_observation() -> None:
    items = await all_of(agent(acts(act("look"), act("look")), say("ok"), tools=[look_up()]))
    begun = [items.index(it) for it in (Calling("1.1", "look"), Calling("1.2", "look"))]
    seen = [
        number
        for number, item in enumerate(items)
        if isinstance(item, Entry) and isinstance(item.event, Observation)
    ]
    assert max(begun) < min(seen)


async def test_attempts_of_a_call_and_what_they_wait_for_are_told() -> None:
    tries = list[str]()

    async def call(args: dict[str, Any], key: str) -> str:
        del args
        tries.append(key)
        context = CALL.get()
        assert context is not None
        context.progress(f"try {len(tries)}")
        if len(tries) < 3:
            raise ToolError(f"busy {len(tries)}")
        return "sent"

    retry = Attempts(retry=Retry(times=2, delay=0.001))
    send = Tool("send", "Send it.", NONE, call, effect="idempotent", attempts=retry)
    items = await all_of(agent(act("send"), say("ok"), tools=[send]))
    told = [item for item in items if isinstance(item, Calling | Retrying | CallProgress)]
    assert told == [
        Calling("1.1", "send", 1),
        CallProgress("1.1", "try 1"),
        Retrying(2, 3, "ERROR: tool_error: busy 1", 0.001, "1.1"),
        Calling("1.1", "send", 2),
        CallProgress("1.1", "try 2"),
        Retrying(3, 3, "ERROR: tool_error: busy 2", 0.002, "1.1"),
        Calling("1.1", "send", 3),
        CallProgress("1.1", "try 3"),
    ]
    attempts = [item for item in items if isinstance(item, Entry) and type(item.event) is Attempt]
    assert len(attempts) == 3


HALF = "a \ud83d b"


async def test_half_a_character_breaks_neither_the_record_nor_a_stream() -> None:
    """Of a tool's own verdict, of what it says of its progress, of a model's words."""

    async def call(args: dict[str, Any], key: str) -> Verdict:
        del args, key
        context = CALL.get()
        assert context is not None
        context.progress(HALF)
        return Verdict("hold", HALF)

    store = MemoryStore()
    made = agent(act("ask", thought=HALF), tools=[Tool("ask", "Ask.", NONE, call, effect="unsafe")])
    async with stream(made, "Where?", store=store, run_id="r") as events:
        items = [item async for item in events]
    assert CallProgress("1.1", "a \ufffd b") in items
    assert [item.text for item in items if isinstance(item, Token)]
    for item in items:
        assert "\\ud83d" not in encode(item.to_json()).decode()
    assert isinstance(events.result, Held)
    assert events.result.why.endswith(": a ? b")


def chatty(words: int) -> str:
    return " ".join(f"word{number}" for number in range(words))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_slow_listener_holds_up_nobody_and_misses_no_entry(
    kind: str, tmp_path: Path
) -> None:
    store = MemoryStore() if kind == "memory" else SqliteStore(tmp_path / "s.sqlite")
    script = [act("look", thought=chatty(1_000)) for _ in range(5)]
    made = agent(*script, say(chatty(30_000)), tools=[look_up()])
    events = await start(made, "Where?", store=store, run_id="r")
    await events.wait()  # nobody has taken an item yet
    items = [item async for item in events]
    length = len(await read("r", store=store))
    assert numbered(items) == [((), seq) for seq in range(1, length + 1)]
    assert Dropped() in items
    assert len([item for item in items if not isinstance(item, Entry)]) <= 1_100
    await store.close()


async def test_a_slow_listener_learns_that_words_which_it_took_were_none() -> None:
    """However much came behind them that was dropped."""
    words = act("look", thought="Let me look.")
    events = await start(
        agent(words, *[words] * 5, say(chatty(30_000)), tools=[look_up()]), "Where?"
    )
    told = list[str]()
    async for item in events:
        if isinstance(item, Token) and not told:
            told.append(item.text)
            await events.wait()  # nobody takes an item meanwhile
        elif isinstance(item, Withdrawn):
            told.append("-")
    assert told[:2] == ["Let", "-"]


async def test_tokens_that_wait_are_merged_and_say_the_same() -> None:
    text = chatty(700)
    events = await start(agent(say(text)), "Where?", store=MemoryStore())
    await events.wait()
    words = [item.text async for item in events if isinstance(item, Token)]
    assert "".join(words) == text
    assert len(words) <= 260


async def test_one_slow_and_one_quick_listener() -> None:
    store = MemoryStore()
    made = agent(act("look"), say("one two three"), tools=[look_up()])
    async with await start(made, "Where?", store=store, run_id="r") as slow:
        first = await anext(slow)
        quick = [item async for item in await start(made, run_id="r", store=store, after=0)]
        rest = [item async for item in slow]
    assert numbered([first, *rest]) == numbered(quick)
