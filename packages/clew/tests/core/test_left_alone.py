"""Cancellation is no crash: an effect that has begun is seen to its end and recorded.

Whoever goes away (a timeout, a task that is cancelled, a client whose tab is closed, a loop that is
left early) leaves an open run behind, in which nothing is in doubt.
"""

import asyncio
import gc
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextvars import copy_context
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import anyio
import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    ModelError,
    Result,
    Retry,
    SqliteStore,
    Tool,
    ToolError,
    delegate,
    open_run,
    read,
    replay,
    resume,
    run,
    stream,
    sync,
    tool,
)
from clew.concurrency.tasks import spawn, task_end
from clew.core.codes import Effect
from clew.core.entries import Entry
from clew.core.events import Attempt
from clew.core.stores import Append, Store
from clew.testing import ScriptedModel, act, acts, say
from clew.tools import Attempts

pytestmark = pytest.mark.both_loops

NONE: Final = {"type": "object", "properties": {}, "additionalProperties": False}
Kind: TypeAlias = Literal["async", "thread"]


class Paying:
    """A tool that takes money, and a moment more to say so."""

    def __init__(self, kind: Kind = "async", error: Exception | None = None) -> None:
        self.kind, self.error = kind, error
        self.begun = anyio.Event()
        self.paid: list[str] = []
        self._go = anyio.Event()
        self._thread_goes = threading.Event()

    def let_go(self) -> None:
        self._go.set()
        self._thread_goes.set()

    def tool(self, effect: Effect = "unsafe", name: str = "pay", **more: Any) -> Tool:
        """The tool, under a name."""

        def done(key: str) -> str:
            if self.error is not None:
                raise self.error
            self.paid.append(key)
            return "paid"

        async def pay(args: dict[str, Any], key: str) -> str:
            del args
            self.begun.set()
            await self._go.wait()
            return done(key)

        if self.kind == "async":
            return Tool(name, "Pay it back.", NONE, pay, effect=effect, **more)
        wake = self.waker()

        def pay_in_thread() -> str:
            """Pay it back."""
            wake()
            self._thread_goes.wait(30)
            return done("")

        return tool(name=name, effect=effect)(pay_in_thread)

    def waker(self) -> Callable[[], None]:
        """What a thread calls, to say that it has begun."""
        end = task_end()

        async def tell() -> None:
            await end.wait(30)
            self.begun.set()

        spawn(tell, copy_context())
        return end.wake_from_thread


def payer(*tools: Tool, limits: Limits | None = None) -> Agent:
    """An agent that calls all of its tools at once, and then answers."""
    script = [acts(*(act(one.name) for one in tools)), say("done")]
    return Agent(ScriptedModel(script), tools=tools, limits=limits or Limits())


async def by_scope(work: Callable[[], Awaitable[Any]], till: Paying) -> None:
    """Cancel the scope around it."""
    async with anyio.create_task_group() as group:

        async def leave() -> None:
            await till.begun.wait()
            scope.cancel()
            await anyio.wait_all_tasks_blocked()
            till.let_go()

        group.start_soon(leave)
        with anyio.CancelScope() as scope:
            await work()
        assert scope.cancelled_caught


async def by_task(work: Callable[[], Awaitable[Any]], till: Paying, times: int = 1) -> None:
    """Cancel the task of asyncio, as `asyncio.wait_for` and web servers do."""

    async def working() -> None:
        await work()

    task = asyncio.create_task(working())
    await till.begun.wait()
    for _ in range(times):
        task.cancel()
        await anyio.wait_all_tasks_blocked()
        assert not task.done()
    till.let_go()
    with pytest.raises(asyncio.CancelledError):
        await task


async def by_timeout(work: Callable[[], Awaitable[Any]], till: Paying) -> None:
    """Let a timeout of asyncio run out."""

    async def timed() -> None:
        async with asyncio.timeout(None) as clock:
            group.start_soon(release, clock)
            await work()

    async def release(clock: asyncio.Timeout) -> None:
        await till.begun.wait()
        clock.reschedule(asyncio.get_running_loop().time())
        await anyio.wait_all_tasks_blocked()
        till.let_go()

    async with anyio.create_task_group() as group:
        with pytest.raises(TimeoutError):
            await timed()


async def by_several(work: Callable[[], Awaitable[Any]], till: Paying) -> None:
    """Cancel the task over and over."""
    await by_task(work, till, times=3)


async def by_break(agent: Agent, store: Store, till: Paying) -> None:
    """Leave the stream."""

    async def release() -> None:
        await anyio.wait_all_tasks_blocked()
        till.let_go()

    async with (
        anyio.create_task_group() as group,
        stream(agent, "Pay.", store=store, run_id="r") as events,
    ):
        async for event in events:
            if isinstance(event, Entry) and isinstance(event.event, Attempt):
                await till.begun.wait()  # it is shown before the tool is called
                break
        else:
            pytest.fail("it ended by itself")
        group.start_soon(release)


ANYWHERE: Final = {"scope": by_scope}
ASYNCIO: Final = {"task": by_task, "timeout": by_timeout, "several times": by_several}
WAYS: Final = ANYWHERE | ASYNCIO


async def settled(agent: Agent, store: Store, till: Paying, effect: str = "unsafe") -> None:
    """The effect is recorded as done, the run is open, and goes on without doing it again."""
    record = await read("r", store=store)
    [call] = record.calls
    assert record.stop is None
    assert call.observation is not None, effect
    assert (call.observation.outcome, call.observation.text, len(call.attempts)) == (
        "done",
        "paid",
        1,
    )
    result = await resume(agent, "r", store=store)
    assert (result.answer, len(till.paid)) == ("done", 1)
    await replay(agent, "r", store=store)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "s.sqlite")
    yield made
    await made.close()


@pytest.mark.parametrize("kind", ["async", "thread"])
@pytest.mark.parametrize("effect", ["unsafe", "idempotent"])
@pytest.mark.parametrize("way", WAYS)
async def test_an_effect_is_seen_to_its_end_whoever_cancels(
    way: str, effect: Effect, kind: Kind, store: Store, anyio_backend: str
) -> None:
    if way in ASYNCIO and anyio_backend == "trio":
        pytest.skip("a way of asyncio")
    till = Paying(kind)
    agent = payer(till.tool(effect))
    await WAYS[way](lambda: run(agent, "Pay.", store=store, run_id="r"), till)
    await settled(agent, store, till)


# ------------------------------------------------------------------------------------- streams


async def went_on(agent: Agent, store: Store, till: Paying) -> None:
    """The effect was had once, and the run came to its end."""
    result = await resume(agent, "r", store=store)
    [call] = result_calls = (await read("r", store=store)).calls
    assert (result.answer, len(till.paid), len(result_calls)) == ("done", 1, 1)
    assert call.observation is not None
    assert (call.observation.outcome, len(call.attempts)) == ("done", 1)
    await replay(agent, "r", store=store)


async def test_who_breaks_out_of_a_stream_ends_no_work(store: Store) -> None:
    till = Paying()
    agent = payer(till.tool())
    await by_break(agent, store, till)
    await went_on(agent, store, till)


async def _page(agent: Agent, store: Store) -> AsyncGenerator[str]:
    """What a web page is sent."""
    async with stream(agent, "Pay.", store=store, run_id="r") as events:
        async for event in events:
            yield type(event.event).__name__ if isinstance(event, Entry) else ""


@pytest.mark.parametrize("way", ["closed", "closed by another task", "thrown away"])
async def test_a_browser_tab_is_closed(way: str, store: Store, anyio_backend: str) -> None:
    if way == "thrown away" and anyio_backend == "trio":
        pytest.skip("trio warns of whoever does that")
    till = Paying()
    agent = payer(till.tool())
    page = _page(agent, store)
    while await anext(page) != "Attempt":
        pass
    await till.begun.wait()
    async with anyio.create_task_group() as group:

        async def release() -> None:
            await anyio.wait_all_tasks_blocked()
            till.let_go()

        group.start_soon(release)
        if way == "closed":
            await page.aclose()
        elif way == "closed by another task":
            group.start_soon(page.aclose)
        else:
            del page
            gc.collect()
    await went_on(agent, store, till)


async def test_what_ends_a_streamed_run_is_raised_where_it_is_read(store: Store) -> None:
    class Gone(ScriptedModel):
        async def complete(self, prompt: Any, on_text: Any = None) -> Any:
            raise ModelError("it is away")

    agent = Agent(Gone([]))

    async def read_all() -> None:
        async with stream(agent, "What?", store=store, run_id="r") as events:
            async for _ in events:
                pass
            pytest.fail("it went on behind the events")

    async def read_none() -> None:
        async with stream(agent, "What?", store=store, run_id="q"):
            await anyio.wait_all_tasks_blocked()

    for read_it in (read_all, read_none):
        with pytest.raises(ModelError, match="it is away"):
            await read_it()


@pytest.mark.slow
def test_a_stream_without_a_loop_is_left(tmp_path: Path) -> None:
    paid: list[str] = []
    go = threading.Event()

    @tool(effect="unsafe")
    def pay() -> str:
        """Pay it back."""
        go.wait(30)
        paid.append("x")
        return "paid"

    agent = payer(pay)
    file = tmp_path / "s.sqlite"
    with sync.stream(agent, "Pay.", store=file, run_id="r") as events:
        for event in events:
            if isinstance(event, Entry) and isinstance(event.event, Attempt):
                break
    go.set()
    assert sync.resume(agent, "r", store=file).answer == "done"
    [call] = sync.read("r", store=file).calls
    assert call.observation is not None
    assert (call.observation.outcome, paid) == ("done", ["x"])


# -------------------------------------------------------------------------------- what is cut


@pytest.mark.parametrize("effect", ["pure", "read"])
async def test_what_has_no_effect_is_cut_and_made_again(effect: Effect, store: Store) -> None:
    till = Paying()
    agent = payer(till.tool(effect))
    async with anyio.create_task_group() as group:

        async def leave() -> None:
            await till.begun.wait()
            scope.cancel()

        group.start_soon(leave)
        with anyio.CancelScope() as scope:
            await run(agent, "Pay.", store=store, run_id="r")
    [call] = (await read("r", store=store)).calls
    assert (call.observation, till.paid) == (None, [])
    till.let_go()
    assert (await resume(agent, "r", store=store)).answer == "done"


async def test_of_two_calls_the_effect_is_recorded_and_the_look_is_cut(store: Store) -> None:
    pays, looks = Paying(), Paying()
    agent = payer(pays.tool(), looks.tool("read", "look"))

    async def both() -> Result:
        return await run(agent, "Pay.", store=store, run_id="r")

    await by_scope(both, pays)
    paid, seen = (await read("r", store=store)).calls
    assert paid.observation is not None
    assert (paid.observation.outcome, seen.observation) == ("done", None)
    looks.let_go()
    assert (await resume(agent, "r", store=store)).answer == "done"
    assert len(pays.paid) == 1


async def test_two_effects_at_once_are_both_recorded(store: Store) -> None:
    first, second = Paying(), Paying()
    agent = payer(first.tool(), second.tool(name="send"))

    async def leave() -> None:
        await second.begun.wait()
        await by_let_go(first, second)

    async with anyio.create_task_group() as group:
        group.start_soon(leave)
        await by_scope(lambda: run(agent, "Pay.", store=store, run_id="r"), first)
    record = await read("r", store=store)
    assert [it.observation and it.observation.outcome for it in record.calls] == ["done", "done"]


async def by_let_go(*tills: Paying) -> None:
    """Let all of them end."""
    await anyio.wait_all_tasks_blocked()
    for one in tills:
        one.let_go()


@pytest.mark.parametrize(
    ("error", "outcome", "code"),
    [(ToolError("no money"), "not_done", "tool_error"), (ValueError("odd"), "unknown", "crashed")],
    ids=["refused", "crashed"],
)
async def test_a_failure_is_recorded_as_what_it_is(
    error: Exception, outcome: str, code: str, store: Store
) -> None:
    till = Paying(error=error)
    agent = payer(till.tool(attempts=Attempts(retry=Retry(times=3, delay=60))))
    await by_scope(lambda: run(agent, "Pay.", store=store, run_id="r"), till)
    [call] = (await read("r", store=store)).calls
    assert call.observation is not None
    assert (call.observation.outcome, call.observation.code) == (outcome, code)
    assert len(call.attempts) == 1  # it was not tried again for nobody


@pytest.mark.parametrize("way", ["the scope", "the task"])
async def test_between_two_tries_a_cancellation_leaves_the_first_on_record(
    way: str, store: Store, anyio_backend: str
) -> None:
    if way == "the task" and anyio_backend == "trio":
        pytest.skip("a way of asyncio")
    failed = anyio.Event()

    async def pay(args: dict[str, Any], key: str) -> str:
        del args, key
        failed.set()
        raise ToolError("no money")

    retry = Retry(times=3, delay=60)
    agent = payer(
        Tool("pay", "Pay it back.", NONE, pay, effect="idempotent", attempts=Attempts(retry=retry))
    )

    async def wait_for_the_pause() -> None:
        await failed.wait()
        await anyio.wait_all_tasks_blocked()

    if way == "the task":
        task = asyncio.create_task(run(agent, "Pay.", store=store, run_id="r"))
        await wait_for_the_pause()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: run(agent, "Pay.", store=store, run_id="r"))
            await wait_for_the_pause()
            group.cancel_scope.cancel()
    [call] = (await read("r", store=store)).calls
    assert call.observation is not None
    assert (call.observation.outcome, len(call.attempts)) == ("not_done", 1)
    assert (await resume(agent, "r", store=store)).answer == "done"


class LateStore(MemoryStore):
    """A store that keeps what an effect gave, and does not come back to say so."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: anyio.Event | None = anyio.Event()

    async def append(self, append: Append) -> bool:
        quiet = await super().append(append)
        if self.stored is not None and b'"observation"' in append.lines[-1].body:
            self.stored.set()
            await anyio.sleep_forever()
        return quiet


async def test_what_was_stored_when_the_cancellation_came_is_known() -> None:
    store, till = LateStore(), Paying()
    agent = payer(till.tool())
    till.let_go()
    async with open_run(agent, "Pay.", store=store, run_id="r") as opened:
        async with anyio.create_task_group() as group:
            group.start_soon(opened.go_on)
            assert store.stored is not None
            await store.stored.wait()
            group.cancel_scope.cancel()
        store.stored = None
        assert (await opened.go_on()).answer == "done"
    assert len(till.paid) == 1
    await replay(agent, "r", store=store)


async def test_an_effect_that_does_not_end_is_left_at_its_deadline(store: Store) -> None:
    till = Paying()
    agent = payer(till.tool(attempts=Attempts(0.05)), limits=Limits(grace=0.05))
    async with anyio.create_task_group() as group:

        async def leave() -> None:
            await till.begun.wait()
            scope.cancel()

        group.start_soon(leave)
        with anyio.CancelScope() as scope:
            await run(agent, "Pay.", store=store, run_id="r")
    [call] = (await read("r", store=store)).calls
    assert call.observation is not None
    assert (call.observation.outcome, call.observation.code) == ("unknown", "timeout")
    assert (await resume(agent, "r", store=store)).answer == "done"


async def test_what_was_cancelled_before_an_effect_begins_none(store: Store) -> None:
    till = Paying()
    agent = payer(till.tool())
    async with open_run(agent, "Pay.", store=store, run_id="r") as opened:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await opened.go_on()
        assert not till.begun.is_set()
        till.let_go()
        assert (await opened.go_on()).answer == "done"
    assert len(till.paid) == 1


async def test_the_effect_of_a_sub_agent_is_recorded_too(store: Store) -> None:
    till = Paying()
    below = payer(till.tool())
    agent = Agent(
        ScriptedModel([act("helper", task="Pay."), say("all done")]),
        tools=[delegate(below, name="helper", description="Pays.")],
    )
    await by_scope(lambda: run(agent, "Have it paid.", store=store, run_id="r"), till)
    child = await read("r-1.1", store=store)
    assert child.calls[0].observation is not None
    assert (child.calls[0].observation.outcome, child.stop) == ("done", None)
    assert (await resume(agent, "r", store=store)).answer == "all done"
    assert len(till.paid) == 1
