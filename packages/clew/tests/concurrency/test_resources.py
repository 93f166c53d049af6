"""What tools hold open: once per owner, in a task of its own, closed when the owner leaves."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from clew import Agent, MemoryStore, Observation, Tool, ToolError, batch, read, run, serving, stream
from clew.testing import ScriptedModel, act, acts, say
from clew.tools import close_resource, hold_open, resources

pytestmark = pytest.mark.both_loops


@dataclass
class Connection:
    """Something that is opened and closed, by one task, and may fail to open."""

    log: list[str] = field(default_factory=list)
    opened: int = 0
    broken: bool = False

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[int]:
        task = anyio.get_current_task().id
        if self.broken:
            raise ToolError("nobody is there")
        self.opened += 1
        self.log.append("open")
        try:
            async with anyio.create_task_group():  # a scope that may not leave its task
                yield self.opened
        finally:
            assert anyio.get_current_task().id == task
            self.log.append("close")

    @property
    def tool(self) -> Tool:
        async def call(args: dict[str, Any], key: str) -> str:
            number = await hold_open("line", self.connect)
            if args.get("drop"):
                await close_resource("line")
            return f"line {number}"

        return Tool("use", "Use it.", {"type": "object"}, call, effect="read")


def agent_of(line: Connection, *said: Any) -> Agent:
    return Agent(ScriptedModel([*said, say("done")]), [line.tool])


async def texts(store: MemoryStore, run_id: str) -> list[str]:
    record = await read(run_id, store=store)
    return [(call.observation or Observation()).text for call in record.calls]


async def test_a_run_opens_it_once_and_closes_it_at_its_end() -> None:
    line, store = Connection(), MemoryStore()
    both = acts(act("use", n=1), act("use", n=2))
    done = await run(agent_of(line, both, act("use", n=3)), "Go!", store=store)
    assert await texts(store, done.run_id) == ["line 1"] * 3
    assert line.log == ["open", "close"]


async def test_nothing_is_opened_for_who_does_not_ask() -> None:
    line = Connection()
    await run(agent_of(line), "Go!", store=MemoryStore())
    assert line.log == []


async def test_many_runs_of_one_owner_share_it() -> None:
    line, store = Connection(), MemoryStore()
    agent = Agent(ScriptedModel([act("use"), say("done")] * 5), [line.tool])
    async with resources():
        await batch(agent, [f"Go {n}!" for n in range(4)], at_once=1, store=store)
        assert line.log == ["open"]
        await run(agent, "Go on!", store=store)
    assert line.log == ["open", "close"]


async def test_what_was_closed_is_opened_anew() -> None:
    line, store = Connection(), MemoryStore()
    agent = agent_of(line, act("use", drop=True), act("use"))
    done = await run(agent, "Go!", store=store)
    assert await texts(store, done.run_id) == ["line 1", "line 2"]
    assert line.log == ["open", "close"] * 2


async def test_one_that_cannot_be_opened_is_an_observation() -> None:
    line, store = Connection(broken=True), MemoryStore()
    done = await run(agent_of(line, act("use", n=1)), "Go!", store=store)
    assert done.status == "answered"
    assert await texts(store, done.run_id) == ["ERROR: tool_error: nobody is there"]


async def test_one_that_dies_takes_no_run_with_it() -> None:
    line, store = Connection(), MemoryStore()
    died = anyio.Event()

    @asynccontextmanager
    async def dies() -> AsyncGenerator[int]:
        async def fail() -> None:
            died.set()
            raise RuntimeError("the server is gone")

        async with anyio.create_task_group() as group:
            line.opened += 1
            if line.opened == 1:
                group.start_soon(fail)
            yield line.opened

    async def call(args: dict[str, Any], key: str) -> str:
        number = await hold_open("line", dies)
        await died.wait()
        await anyio.wait_all_tasks_blocked()
        return f"line {number}"

    tool = Tool("use", "Use it.", {"type": "object"}, call, effect="read")
    agent = Agent(ScriptedModel([act("use", n=1), act("use", n=2), say("done")]), [tool])
    done = await run(agent, "Go!", store=store)
    assert done.status == "answered"
    first, second = await texts(store, done.run_id)
    assert first in {"line 1", "ERROR: tool_error: the server is gone"}  # it may die before
    assert second == "line 2"


async def test_it_is_closed_where_the_application_ends_while_the_run_goes_on() -> None:
    line, store = Connection(), MemoryStore()
    agent = agent_of(line, act("use"))
    async with serving(agent, store=store), stream(agent, "Go!", store=store) as events:
        async for _ in events:
            if line.log:
                break
    assert line.log == ["open", "close"]


async def test_outside_a_run_nobody_owns_it() -> None:
    with pytest.raises(ToolError, match="nobody holds connections open"):
        await hold_open("line", Connection().connect)


async def test_one_that_does_not_close_in_time_is_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("clew.support.resources.GRACE", 0.01)
    ended = anyio.Event()

    @asynccontextmanager
    async def stays() -> AsyncGenerator[int]:
        try:
            yield 1
            await anyio.sleep_forever()
        finally:
            ended.set()

    async with resources():
        assert await hold_open("line", stays) == 1
    assert ended.is_set()


async def test_one_that_is_ended_from_outside_says_so() -> None:
    @asynccontextmanager
    async def exits() -> AsyncGenerator[int]:
        if ended:
            raise SystemExit(3)
        yield 1

    ended = True
    async with resources():
        with pytest.raises(ToolError, match=r"ended at once: SystemExit\(3\)"):
            await hold_open("line", exits)
        ended = False
        assert await hold_open("line", exits) == 1
        await close_resource("another")
    await close_resource("line")
