"""Work that is begun goes on, whoever leaves, until it stops or its application ends."""

import asyncio
import os
import subprocess
import sys
import warnings
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NoReturn

import anyio
import pytest

from clew import (
    Agent,
    ClewError,
    ConfigError,
    Entry,
    Limits,
    MemoryStore,
    ModelError,
    RunContext,
    StoreError,
    Token,
    cancel,
    follow,
    read,
    result_of,
    resume,
    run,
    serving,
    start,
    stream,
    sync,
    tool,
)
from clew.deps import RunIdentity
from clew.interfaces import Prompt
from clew.stores import RunBusyError, RunNotFoundError
from clew.stores.locks import claim, release_quietly
from clew.testing import ScriptedModel, act, say
from tests.streaming.runs import Gate, agent, paying

pytestmark = pytest.mark.both_loops


class Ear:
    """A listener."""

    def __init__(self) -> None:
        self.heard = list[object]()

    def token(self, text: str) -> None:
        self.heard.append(text)

    def entry(self, entry: Entry) -> None:
        self.heard.append(entry.seq)


async def test_who_leaves_at_any_entry_ends_nothing() -> None:
    for leave_at in range(1, 7):
        gate, store = Gate(), MemoryStore()
        async with stream(paying(gate), "Pay.", store=store, run_id="r") as events:
            gate.go.set()
            async for item in events:
                if isinstance(item, Entry) and item.seq == leave_at:
                    break
        assert (await resume(paying(gate), "r", store=store)).answer == "It is paid."
        assert gate.calls == 1


async def test_a_second_start_or_resume_joins_the_work_under_way() -> None:
    gate, store, ear = Gate(), MemoryStore(), Ear()
    made = paying(gate)
    first = await start(made, "Pay.", store=store, run_id="r")
    await gate.begun.wait()
    second = await start(made, "Pay.", store=store, run_id="r")
    third = await start(made, run_id="r", store=store)
    answers = list[object]()

    async def join() -> None:
        answers.append((await resume(made, "r", store=store, listener=ear)).answer)

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(join)
        await anyio.wait_all_tasks_blocked()
        gate.go.set()
    assert [(await each.wait()).answer for each in (first, second, third)] == ["It is paid."] * 3
    assert answers == ["It is paid."] * 3
    assert gate.calls == 1
    assert [it for it in ear.heard if isinstance(it, str)] == [
        word for word in ("It", " is", " paid.") for _ in range(3)
    ]
    record = await read("r", store=store)
    assert [entry.epoch for entry in record.entries] == [1] * len(record)
    items = [item async for item in second]
    assert [item.seq for item in items if isinstance(item, Entry)] == list(
        range(1, len(record) + 1)
    )
    assert [item.seq async for item in third if isinstance(item, Entry)] == [4, 5, 6]


async def test_who_joins_a_run_while_it_begins_is_asked_no_less_than_who_comes_later() -> None:
    gate, store, ready = Gate(), MemoryStore(), anyio.Event()
    came = dict[str, object]()

    async def deps(run: RunIdentity) -> str:
        await ready.wait()
        return run.owner

    async def begin(name: str, goal: str, owner: str) -> None:
        made = paying(gate).replace(deps=deps)
        try:
            events = await start(made, goal, run_id="r", store=store, owner=owner)
            came[name] = events.run_id
        except ClewError as error:
            came[name] = type(error)

    async with anyio.create_task_group() as group:
        group.start_soon(begin, "first", "Pay.", "bob")
        await anyio.wait_all_tasks_blocked()  # it waits for its deps, and nothing is on record
        group.start_soon(begin, "same", "Pay.", "bob")
        group.start_soon(begin, "another's", "Pay.", "ada")
        group.start_soon(begin, "other", "Look.", "bob")
        await anyio.wait_all_tasks_blocked()
        ready.set()
    gate.go.set()
    assert came == {"first": "r", "same": "r", "another's": RunNotFoundError, "other": ConfigError}
    assert (await resume(paying(gate), "r", store=store)).answer == "It is paid."
    assert gate.calls == 1


async def test_who_joins_and_goes_away_leaves_the_work_alone() -> None:
    gate, store = Gate(), MemoryStore()
    first = await start(paying(gate), "Pay.", store=store, run_id="r")
    await gate.begun.wait()
    with anyio.move_on_after(0.01):
        await resume(paying(gate), "r", store=store)
    gate.go.set()
    assert (await first.wait()).answer == "It is paid."


async def test_a_request_sent_twice_is_one_run() -> None:
    gate, store = Gate(), MemoryStore()
    gate.go.set()
    first = await start(paying(gate), "Pay.", store=store, run_id="r")
    assert (await first.wait()).answer == "It is paid."
    again = await start(paying(gate), "Pay.", store=store, run_id="r")
    assert (await again.wait()).answer == "It is paid."
    assert gate.calls == 1
    with pytest.raises(ConfigError, match="answers another question"):
        await start(paying(gate), "Pay twice.", store=store, run_id="r")


async def test_words_wait_for_their_turn() -> None:
    gate, store = Gate(), MemoryStore()
    made = agent(act("pay"), say("It is paid."), say("Good bye."), tools=[gate.tool])
    first = await start(made, "Pay.", store=store, run_id="r")
    await gate.begun.wait()
    second = await start(made, run_id="r", say="Thank you.", store=store)
    gate.go.set()
    assert (await first.wait()).answer == "It is paid."
    assert (await second.wait()).answer == "Good bye."


async def test_what_keeps_a_run_from_being_opened_is_raised_at_once() -> None:
    store = MemoryStore()
    made = agent(say("ok"))
    with pytest.raises(ConfigError, match="the question is empty"):
        await start(made, "", store=store)
    with pytest.raises(StoreError):
        await start(made, run_id="unknown", store=store)
    await run(made, "What?", store=store, run_id="r")
    with pytest.raises(ConfigError, match="differs"):
        await start(agent(say("ok"), tries=1), run_id="r", store=store)


async def test_what_ends_the_work_is_raised_by_every_stream() -> None:
    def gone(_: Prompt) -> NoReturn:
        raise ModelError("it is away")

    events = await start(agent(gone), "What?", store=MemoryStore(), run_id="r")
    with pytest.raises(ModelError, match="it is away"):
        await events.wait()
    with pytest.raises(ModelError, match="it is away"):
        async for _ in events:
            pass
    assert await anext(events, None) is None


async def test_a_run_is_cancelled_from_elsewhere() -> None:
    gate, store = Gate(), MemoryStore()
    events = await start(paying(gate), "Pay.", store=store, run_id="r")
    await gate.begun.wait()
    await cancel("r", store=store)
    gate.go.set()
    assert (await events.wait()).status == "interrupted"


async def test_a_stopped_run_goes_on_with_words_and_ends_in_their_answer() -> None:
    store, made = MemoryStore(), agent(say("ok"), say("That too."))
    await (await start(made, "What?", store=store, run_id="r")).wait()
    later = await start(made, run_id="r", say="And?", store=store)
    items = [item async for item in later]
    assert next(item.seq for item in items if isinstance(item, Entry)) == 4
    assert later.result is not None
    assert later.result.answer == "That too."


# ---------------------------------------------------------------------- ends of applications


@pytest.mark.parametrize("leave", ["at once", "within the effect", "when all is done"])
@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_an_application_that_ends_leaves_an_open_run(tmp_path: Path, loop: str, leave: str) -> None:
    """Nothing is lost, nothing is done twice, and nobody is warned of a task."""
    place, gates = tmp_path / "runs.sqlite", list[Gate]()

    async def release(gate: Gate) -> None:
        await gate.begun.wait()
        await anyio.wait_all_tasks_blocked()
        gate.go.set()

    async def first() -> None:
        gates.append(Gate())
        async with anyio.create_task_group() as group:
            async with serving(store=place) as app:
                await start(paying(gates[0]), "Pay.", store=place, run_id="r")
                group.start_soon(release, gates[0])
                if leave != "at once":
                    await gates[0].begun.wait()
                if leave == "when all is done":
                    await app.wait()
            group.cancel_scope.cancel()

    async def second() -> None:
        gates.append(Gate())
        gates[1].go.set()
        typed = Agent(ScriptedModel([say("7")]), answer=int)  # agents of any answers
        async with serving(paying(gates[1]), agent(say("x"), tries=1), typed, store=place) as app:
            await app.wait()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        anyio.run(first, backend=loop)
        assert (sync.read("r", store=place).stop is None) is (leave != "when all is done")
        anyio.run(second, backend=loop)
    assert sum(gate.calls for gate in gates) == 1
    assert sync.result_of(paying(gates[0]), "r", store=place).answer == "It is paid."


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_a_loop_that_just_ends_leaves_an_open_run_too(tmp_path: Path, loop: str) -> None:
    """Its tools were cancelled with it, so an effect may be in doubt; it is not had again."""
    place, gates = tmp_path / "runs.sqlite", [Gate(), Gate()]

    async def first() -> None:
        await start(paying(gates[0]), "Pay.", store=place, run_id="r")

    async def second() -> str:
        gates[1].go.set()
        return str((await resume(paying(gates[1]), "r", store=place)).answer)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        anyio.run(first, backend=loop)
        assert anyio.run(second, backend=loop) == "It is paid."
    [call] = sync.read("r", store=place).calls
    assert call.observation is not None
    assert (call.observation.outcome, gates[1].calls) in {("done", 1), ("unknown", 0)}


@pytest.mark.slow
def test_a_loop_that_is_closed_with_work_in_it_holds_up_no_other(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"

    async def first() -> None:
        gate = Gate(effect="read")
        await start(paying(gate), "Pay.", store=place, run_id="r")
        await gate.begun.wait()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(first())
    loop.run_until_complete(loop.shutdown_asyncgens())
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.close()
    gate = Gate(effect="read")

    async def second() -> str:
        gate.go.set()
        events = await start(paying(gate), "Pay.", store=place, run_id="r")
        return str((await events.wait()).answer)

    assert asyncio.run(second()) == "It is paid."


def test_one_loop_works_and_another_follows() -> None:
    """`sync` has a loop of its own: a stream of it is followed from any other."""
    store = MemoryStore()
    made = agent(say("one two three"))
    begun = sync.start(made, "Count.", store=store, run_id="r")

    async def here() -> list[object]:
        return [item async for item in follow("r", store=store)]

    items = asyncio.run(here())
    assert [type(item).__name__ for item in items if not isinstance(item, Token)] == ["Entry"] * 3
    assert begun.wait().answer == "one two three"


async def test_a_run_that_another_process_has_is_followed() -> None:
    store, one = MemoryStore(), Agent(ScriptedModel([say("Yes.")]))
    await run(one, "Is it?", store=store, run_id="r")
    lock = await claim(store, "r") or ""
    for again in (
        await start(one, "Is it?", run_id="r", store=store),
        await start(one, run_id="r", store=store, after=1),
    ):
        first = 2 if again.position == "1" else 1
        seen = [each.seq async for each in again if isinstance(each, Entry)]
        assert seen == [*range(first, 4)]
        assert (str(again.result), str(await again.wait())) == ("Yes.", "Yes.")
    with pytest.raises(ConfigError, match="use follow and result_of"):
        await follow("r", store=store).wait()
    await store.claim("over:r")
    with pytest.raises(RunBusyError):
        await start(one, run_id="r", store=store, take_over=True)
    await release_quietly(store, lock)


STARTER = """
import sys, anyio
from clew import Entry, start
from clew.testing import say
from tests.streaming.runs import agent

async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    events = await start(agent(say("Yes.")), "Is it?", run_id="r", store=sys.argv[1])
    seen = [item.seq async for item in events if isinstance(item, Entry)]
    print(seen, events.result, await events.wait(), flush=True)

anyio.run(main)
"""


@pytest.mark.slow
def test_two_processes_that_start_one_run_at_once_have_one_stream(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTER, str(tmp_path / "runs.sqlite")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipe = subprocess.PIPE
    with ExitStack() as stack:
        both = [
            stack.enter_context(
                subprocess.Popen(command, text=True, env=env, stdin=pipe, stdout=pipe, stderr=pipe)
            )
            for _ in range(3)
        ]
        for one in both:
            assert one.stdout
            assert one.stdout.readline() == "ready\n"
        for one in both:
            assert one.stdin
            one.stdin.write("\n")
            one.stdin.flush()
        ended = [one.communicate() for one in both]
    assert [told for told, _ in ended] == ["[1, 2, 3] Yes. Yes.\n"] * 3, ended


async def test_who_starts_a_run_that_another_is_about_to_begin_waits_for_its_record() -> None:
    store, made, streams = MemoryStore(), agent(say("Yes.")), list[object]()
    lock = await claim(store, "r") or ""  # as another process does it, before there is an entry

    async def second() -> None:
        events = await start(made, "Is it?", run_id="r", store=store)
        streams.extend([item.seq async for item in events if isinstance(item, Entry)])

    async with anyio.create_task_group() as group:
        group.start_soon(second)
        await anyio.wait_all_tasks_blocked()
        assert streams == []
        await release_quietly(store, lock)  # it died before it wrote anything
    assert streams == [1, 2, 3]
    assert await claim(store, "s")
    impatient = agent(say("Yes."), limits=Limits(part_seconds=0.2))
    with pytest.raises(RunBusyError):
        await start(impatient, "Is it?", run_id="s", store=store)


class BadEar(Ear):
    """A listener that hears progress too, and fails at each entry."""

    def entry(self, entry: Entry) -> None:
        raise RuntimeError(f"entry {entry.seq}")

    def progress(self, call: str, text: str) -> None:
        self.heard.append((call, text))


async def test_who_joins_hears_progress_and_a_listener_that_fails_ends_nothing() -> None:
    begun, go, store, ear = anyio.Event(), anyio.Event(), MemoryStore(), BadEar()

    @tool(effect="read")
    async def dig(ctx: RunContext[None]) -> str:
        """Dig."""
        begun.set()
        await go.wait()
        ctx.progress("half of it")
        return "dug"

    digging = agent(act("dig"), say("It is dug."), tools=[dig])
    await start(digging, "Dig.", store=store, run_id="r")
    await begun.wait()
    async with anyio.create_task_group() as group:
        group.start_soon(partial(resume, digging, "r", store=store, listener=ear))
        await anyio.wait_all_tasks_blocked()
        go.set()
    assert ear.heard == [("1.1", "half of it"), "It", " is", " dug."]
    assert (await result_of(digging, "r", store=store)).answer == "It is dug."
