"""Several who work on one run: nobody is fenced off who did not ask for it, no effect is in doubt.

Within a process the second waits for the first, whatever loop or thread it is in; across processes
it is told, and may take the run over.
"""

import asyncio
import gc
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import cast

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    MemoryStore,
    Result,
    SqliteStore,
    Tool,
    batch,
    open_run,
    read,
    resume,
    rule,
    run,
    run_sync,
    sync,
    tool,
)
from clew.core.codes import Effect
from clew.core.contents import Observation
from clew.core.events import Stop
from clew.core.journal import Journal, load
from clew.core.judging import Guard
from clew.core.stores import Store
from clew.stores import FencedError, RunExistsError
from clew.testing import ScriptedModel, act, say
from tests.guards.verdicts import verdict_on

pytestmark = pytest.mark.both_loops

POST = {"type": "object", "properties": {}, "additionalProperties": False}


class Till:
    """A tool that pays, and stays at it until it is let go; it counts how often it was called."""

    def __init__(self) -> None:
        self.paid = 0
        self.begun = anyio.Event()
        self.go = anyio.Event()

    async def __call__(self, args: dict[str, object], key: str) -> str:
        del args, key
        self.paid += 1
        self.begun.set()
        await self.go.wait()
        return "paid"


hold = verdict_on("pay", "hold", "money leaves")
"""Whatever is paid waits for a person."""


def payer(till: Till, *more: str, guards: Sequence[Guard] = (), effect: Effect = "unsafe") -> Agent:
    """An agent that pays once, then answers each of a person's messages."""
    pay = Tool("pay", "Pay it back.", POST, till, effect=effect)
    script = [act("pay"), say("done"), *(say(one) for one in more)]
    return Agent(ScriptedModel(script), tools=[pay], guards=guards)


async def both(*work: Callable[[], Awaitable[Result]], till: Till) -> list[Result]:
    """Let all work at once, the first of them until it pays; what each came to, in this order."""
    found: dict[int, Result] = {}

    async def one(index: int) -> None:
        found[index] = await work[index]()

    async with anyio.create_task_group() as group:
        group.start_soon(one, 0)
        await till.begun.wait()
        for index in range(1, len(work)):
            group.start_soon(one, index)
        await anyio.wait_all_tasks_blocked()
        till.go.set()
    return [found[index] for index in range(len(work))]


async def paid_once(store: Store, till: Till, run_id: str = "r") -> None:
    """The money was paid once, and the record says that it was."""
    record = await load(store, run_id)
    [seen] = [e.event for e in record.entries if isinstance(e.event, Observation)]
    assert (till.paid, seen.outcome, seen.text) == (1, "done", "paid")


async def _held(agent: Agent, store: Store) -> None:
    assert (await run(agent, "Pay.", store=store, run_id="r")).status == "held"
    await rule("r:1.1", allow=True, store=store)


async def test_a_second_resume_waits_and_gets_the_same_result() -> None:
    store, till = MemoryStore(), Till()
    agent = payer(till, guards=[hold])
    await _held(agent, store)
    again = [lambda: resume(agent, "r", store=store)] * 4
    results = await both(*again, till=till)
    assert [(one.status, one.answer) for one in results] == [("answered", "done")] * 4
    await paid_once(store, till)


@pytest.mark.parametrize("words", [("a",), ("a", "b", "c")])
async def test_each_message_at_once_gets_an_answer(words: Sequence[str]) -> None:
    store, till = MemoryStore(), Till()
    agent = payer(till, *words)
    talks = [lambda word=word: resume(agent, "r", say=word, store=store) for word in words]
    first = partial(run, agent, "Pay.", store=store, run_id="r")
    results = await both(first, *talks, till=till)
    assert results[0].answer == "done"
    assert {one.answer for one in results[1:]} == set(words)  # in whatever order they came
    assert len((await read("r", store=store)).steps) == 2 + len(words)
    await paid_once(store, till)


async def test_two_approvers_and_an_impatient_one() -> None:
    store, till = MemoryStore(), Till()
    agent = payer(till, guards=[hold])
    await run(agent, "Pay.", store=store, run_id="r")

    async def approve() -> Result:
        await rule("r:1.1", allow=True, store=store)
        return await resume(agent, "r", store=store)

    async def late() -> Result:
        with pytest.raises(ConfigError, match=r"was begun since|ruled on already|does not wait"):
            await rule("r:1.1", allow=False, store=store)
        return await resume(agent, "r", store=store)

    results = await both(approve, late, lambda: resume(agent, "r", store=store), till=till)
    assert {one.answer for one in results} == {"done"}
    await paid_once(store, till)


@pytest.mark.parametrize("effect", ["unsafe", "idempotent", "read", "pure"])
async def test_a_second_run_of_the_same_id_is_refused_at_once(effect: Effect) -> None:
    store, till = MemoryStore(), Till()
    agent = payer(till, effect=effect)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: run(agent, "Pay.", store=store, run_id="r"))
        await till.begun.wait()
        with pytest.raises(RunExistsError, match="is being worked on"):
            await run(agent, "Pay.", store=store, run_id="r")
        till.go.set()
    await paid_once(store, till)


async def test_a_run_of_a_batch_is_waited_for() -> None:
    store, till = MemoryStore(), Till()
    agent = payer(till)

    async def later() -> Result:
        [info] = await store.runs()
        return await resume(agent, info.run_id, store=store)

    results: list[list[Result]] = []

    async def all_of_them() -> Result:
        results.append(await batch(agent, ["Pay."], store=store))
        return results[0][0]

    assert [one.answer for one in await both(all_of_them, later, till=till)] == ["done", "done"]
    [info] = await store.runs()
    await paid_once(store, till, info.run_id)


async def test_two_messages_at_once_to_a_run_that_is_open() -> None:
    store, till = MemoryStore(), Till()
    async with open_run(payer(till, "two"), "Pay.", store=store, run_id="r") as opened:
        results = await both(opened.go_on, lambda: opened.go_on("And two?"), till=till)
    assert [one.answer for one in results] == ["done", "two"]
    await paid_once(store, till)


async def test_a_run_that_waits_for_itself_is_told_so() -> None:
    store = MemoryStore()

    @tool
    async def again() -> str:
        """Look into the run that asks."""
        try:
            return str((await resume(agent, "r", store=store)).answer)
        except ConfigError as error:
            return str(error)

    agent = Agent(ScriptedModel([act("again"), say("done")]), tools=[again])
    assert (await run(agent, "Do.", store=store, run_id="r")).answer == "done"
    [call] = (await read("r", store=store)).calls
    assert call.observation is not None
    assert "waits for the call that asks for it" in call.observation.text


async def test_a_tool_that_starts_a_thread_with_the_sync_twin_is_told_so_too() -> None:
    store = MemoryStore()

    @tool
    def again() -> str:
        """Look into the run that asks, from a thread."""
        try:
            return str(sync.resume(agent, "r", store=store).answer)
        except ConfigError as error:
            return str(error)

    agent = Agent(ScriptedModel([act("again"), say("done")]), tools=[again])
    assert (await run(agent, "Do.", store=store, run_id="r")).answer == "done"
    [call] = (await read("r", store=store)).calls
    assert call.observation is not None
    assert "waits for the call that asks for it" in call.observation.text


async def test_after_a_worker_that_was_cancelled_the_next_goes_on() -> None:
    store, till, found = MemoryStore(), Till(), list[Result]()
    agent = payer(till, effect="read")
    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()

        async def first() -> None:
            with scope:
                await run(agent, "Pay.", store=store, run_id="r")

        group.start_soon(first)
        await till.begun.wait()

        async def second() -> None:
            found.append(await resume(agent, "r", store=store))

        group.start_soon(second)
        await anyio.wait_all_tasks_blocked()
        till.begun = anyio.Event()
        scope.cancel()
        await till.begun.wait()
        till.go.set()
    assert (found[0].answer, till.paid) == ("done", 2)


async def test_who_gave_up_waiting_is_passed_over() -> None:
    store, till = MemoryStore(), Till()
    agent = payer(till)

    async def impatient() -> Result:
        with anyio.move_on_after(0):
            await resume(agent, "r", store=store)
        return await resume(agent, "r", store=store)

    first = partial(run, agent, "Pay.", store=store, run_id="r")
    results = await both(first, impatient, lambda: resume(agent, "r", store=store), till=till)
    assert [one.answer for one in results] == ["done"] * 3
    await paid_once(store, till)


async def test_a_run_is_taken_over_where_that_is_asked_for() -> None:
    store, till, found = MemoryStore(), Till(), list[Result]()
    agent = payer(till, effect="read")
    async with AsyncExitStack() as stack:
        group = await stack.enter_async_context(anyio.create_task_group())

        async def fenced() -> None:
            with pytest.raises(FencedError):
                await run(agent, "Pay.", store=store, run_id="r")

        group.start_soon(fenced)
        await till.begun.wait()
        till.begun = anyio.Event()

        async def over() -> None:
            found.append(await resume(agent, "r", store=store, take_over=True))

        group.start_soon(over)
        await till.begun.wait()
        till.go.set()
    assert found[0].answer == "done"
    assert (await resume(agent, "r", store=store)).answer == "done"


@pytest.mark.parametrize("alias", ["same", "relative", "link"])
def test_threads_wait_for_each_other_however_the_store_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alias: str
) -> None:
    file = tmp_path / "runs.sqlite"
    monkeypatch.chdir(tmp_path)
    begun, go, paid = threading.Event(), threading.Event(), list[str]()

    @tool(effect="unsafe")
    def pay() -> str:
        """Pay it back."""
        paid.append("x")
        begun.set()
        go.wait(20)
        return "paid"

    agent = Agent(ScriptedModel([act("pay"), say("done")]), tools=[pay], guards=[hold])
    run_sync(agent, "Pay.", store=file, run_id="r")
    sync.rule("r:1.1", allow=True, store=file)
    if alias == "link":
        (tmp_path / "link.sqlite").symlink_to(file)
    names = {"same": str(file), "relative": "runs.sqlite", "link": "link.sqlite"}
    results: list[Result] = []

    def first() -> None:
        results.append(sync.resume(agent, "r", store=file))

    def second() -> None:  # a loop of its own
        results.append(asyncio.run(resume(agent, "r", store=names[alias])))

    def third() -> None:
        results.append(anyio.run(lambda: resume(agent, "r", store=file), backend="trio"))

    threads = [threading.Thread(target=one) for one in (first, second, third)]
    threads[0].start()
    assert begun.wait(20)
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(30)
    assert ([one.answer for one in results], paid) == (["done"] * 3, ["x"])
    [call] = sync.read("r", store=file).calls
    assert call.observation is not None
    assert call.observation.outcome == "done"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_who_left_a_run_with_a_loop_that_ended_is_not_waited_for(tmp_path: Path) -> None:
    file, till = tmp_path / "runs.sqlite", Till()
    agent = payer(till, "after")
    opening = open_run(agent, "Pay.", store=file, run_id="r")
    loop = asyncio.new_event_loop()
    loop.run_until_complete(opening.__aenter__())
    loop.close()  # nobody ever leaves that run
    till.go.set()
    with pytest.raises(ConfigError, match="take_over=True"):
        sync.resume(agent, "r", store=file)
    assert sync.resume(agent, "r", store=file, take_over=True).answer == "done"
    del opening
    gc.collect()  # what it says of that belongs to this test


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_who_waited_in_a_loop_that_ended_is_passed_over() -> None:
    store, left = MemoryStore(), list[object]()

    async def main() -> list[Result]:
        till = Till()
        agent = payer(till)

        def wait_and_leave() -> None:
            async def begin() -> None:
                left.append(asyncio.create_task(resume(agent, "r", store=store)))
                await anyio.wait_all_tasks_blocked()

            loop = asyncio.new_event_loop()
            loop.run_until_complete(begin())
            loop.close()  # nobody is there any more who waits

        async def third() -> Result:
            await anyio.to_thread.run_sync(wait_and_leave)
            second.set()
            return await resume(agent, "r", store=store)

        async def first() -> Result:
            return await run(agent, "Pay.", store=store, run_id="r")

        async def letting_go() -> None:
            await second.wait()
            await anyio.wait_all_tasks_blocked()
            till.go.set()

        second, found = anyio.Event(), list[Result]()

        async def keep(work: Callable[[], Awaitable[Result]]) -> None:
            found.append(await work())

        async with anyio.create_task_group() as group:
            group.start_soon(keep, first)
            await till.begun.wait()
            group.start_soon(keep, third)
            group.start_soon(letting_go)
        assert till.paid == 1
        return found

    assert [one.answer for one in anyio.run(main)] == ["done", "done"]
    left.clear()
    gc.collect()  # what it says of that belongs to this test


OTHER = """
import sys
from clew import Agent, run_sync, tool
from clew.testing import ScriptedModel, act, say

@tool(effect="unsafe")
def pay() -> str:
    \"\"\"Pay it back.\"\"\"
    print("begun", flush=True)
    sys.stdin.readline()
    return "paid"

agent = Agent(ScriptedModel([act("pay"), say("done")]), tools=[pay])
run_sync(agent, "Pay.", store=sys.argv[1], run_id="r")
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["ends", "is killed", "is taken over"])
def test_another_process_at_work_is_left_alone_unless_asked(tmp_path: Path, how: str) -> None:
    file = tmp_path / "runs.sqlite"

    @tool(effect="unsafe")
    def pay() -> str:
        """Pay it back."""
        return "paid again"

    agent = Agent(ScriptedModel([act("pay"), say("done")]), tools=[pay])
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == "begun\n"
        with pytest.raises(ConfigError, match=r"by another process.*take_over=True"):
            sync.resume(agent, "r", store=file)
        if how == "is taken over":
            assert sync.resume(agent, "r", store=file, take_over=True).answer == "done"
        if how == "is killed":
            other.kill()
            other.wait(20)
            assert sync.resume(agent, "r", store=file).answer == "done"
        else:
            other.stdin.write("\n")
            other.stdin.flush()
            other.wait(20)
    [call] = sync.read("r", store=file).calls
    assert call.observation is not None
    assert call.observation.outcome == ("done" if how == "ends" else "unknown")
    assert sync.resume(agent, "r", store=file).answer == "done"


async def test_a_store_of_ones_own_without_locks_waits_in_this_process() -> None:
    class Own:
        """Only what a store must have."""

        def __init__(self) -> None:
            self._kept = MemoryStore()

        def __getattr__(self, name: str) -> object:
            if name in {"claim", "release", "due", "forget", "size", "place"}:
                raise AttributeError(name)
            return getattr(self._kept, name)

    store, till = cast("Store", Own()), Till()
    agent = payer(till, guards=[hold])
    await _held(agent, store)
    results = await both(*[lambda: resume(agent, "r", store=store)] * 2, till=till)
    assert [one.answer for one in results] == ["done"] * 2
    await paid_once(store, till)


async def test_a_journal_opened_by_hand_fences_off_as_before(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.sqlite")
    till = Till()
    till.go.set()
    await run(payer(till), "Pay.", store=store, run_id="r")
    first, second = await Journal.open(store, "r"), await Journal.open(store, "r")
    with pytest.raises(FencedError):
        await first.record(Stop("interrupted", "x"))
    await second.record(Stop("interrupted", "x"))
    await store.close()
