"""A time at which a held call goes on by itself, and requests that are safe to send twice."""

from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    MemoryStore,
    RunContext,
    Trajectory,
    Verdict,
    delegate,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    submit,
    tool,
)
from clew.core.events import Note, Stop, Woken
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say
from clew.tools import later
from clew.workers import WorkerConfig, work
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops

SENT: list[str] = []
SCRIPT = [act("send", to="Ada"), say("Sent.")]


@tool
async def send(to: str) -> str:
    """Send a letter."""
    SENT.append(to)
    return "sent"


class Office:
    """A guard: holds letters until the office opens, the first time that it is asked."""

    def __init__(self, opens: Any) -> None:
        self.opens, self.asked = opens, 0

    def __repr__(self) -> str:
        return "Office()"

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Hold the first time."""
        self.asked += 1
        return later(self.opens, "the office is closed") if self.asked == 1 else None


def agent(office: Any, *tools: Any, script: Any = SCRIPT) -> Agent:
    """An agent that sends a letter."""
    SENT.clear()
    guards: list[Any] = [office, Provenance("off")]
    return Agent(ScriptedModel(script), tools=tools or [send], guards=guards)


async def test_before_its_time_the_run_waits_and_a_person_may_rule() -> None:
    store, one = MemoryStore(), agent(Office(timedelta(hours=1)))
    held = await run(one, "Write.", store=store, run_id="r")
    assert held.status == "held"
    stop = (await read("r", store=store)).stop
    assert isinstance(stop, Stop)
    assert (await resume(one, "r", store=store)).status == "held"
    (waiting,) = await pending_approvals(store=store)
    assert waiting.until == stop.wake > waiting.at
    assert (await rule(waiting.id, allow=True, store=store, agent=one)).answer == "Sent."
    await replay(one, "r", store=store)


async def test_once_its_time_has_come_resume_takes_it_up_and_it_is_judged_anew() -> None:
    store, office = MemoryStore(), Office(0.001)
    one = agent(office)
    result = await run(one, "Write.", store=store, run_id="r")
    while result.status == "held":
        await anyio.lowlevel.checkpoint()
        result = await resume(one, "r", store=store)
    assert (result.answer, SENT, office.asked) == ("Sent.", ["Ada"], 2)
    record = await read("r", store=store)
    assert sum(isinstance(entry.event, Woken) for entry in record.entries) == 1
    await replay(one, "r", store=store)


WOKEN: list[bool] = []


async def not_at_once(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Hold for a span from now, unless the call's time has come."""
    WOKEN.append(call.woken)
    return None if call.woken else later(0.001)


async def with_context(call: Call, ctx: RunContext) -> Verdict | None:
    """The same."""
    return await not_at_once(call, ctx.record)


async def by_resume(one: Agent) -> None:
    store = MemoryStore()
    result = await run(one, "Write.", store=store, run_id="r")
    while result.status == "held":
        await anyio.lowlevel.checkpoint()
        result = await resume(one, "r", store=store)


async def by_a_worker(one: Agent) -> None:
    store = MemoryStore()
    await submit(one, "Write.", store=store, run_id="r")
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(work, WorkerConfig(store=store, agents=[one]))
            while True:
                stop = (await read("r", store=store)).stop
                if stop is not None and stop.status == "answered":
                    break
                await anyio.sleep(0.02)
            group.cancel_scope.cancel()


@pytest.mark.parametrize("take_up", [by_resume, by_a_worker])
@pytest.mark.parametrize("guard", [not_at_once, with_context])
async def test_a_guard_knows_that_the_time_of_the_call_has_come(guard: Any, take_up: Any) -> None:
    WOKEN.clear()
    await take_up(agent(guard))
    assert (SENT, WOKEN) == (["Ada"], [False, True])


async def test_a_sub_run_wakes_by_its_root() -> None:
    store, office = MemoryStore(), Office(0.001)
    clerk = delegate(agent(office), name="clerk", description="Writes.")
    head = Agent(ScriptedModel([act("clerk", task="write"), say("Done.")]), tools=[clerk])
    result = await run(head, "Write.", store=store, run_id="r")
    while result.status == "held":
        await anyio.lowlevel.checkpoint()
        result = await resume(head, "r", store=store)
    assert (result.answer, SENT) == ("Done.", ["Ada"])
    await replay(head, "r", store=store)


async def test_a_tool_may_say_it_and_is_called_again() -> None:
    asked: list[str] = []

    @tool(effect="idempotent")
    async def poll(job: str) -> str | Verdict:
        """Look whether a job is done."""
        asked.append(job)
        return later(0.001) if len(asked) == 1 else "done"

    store = MemoryStore()
    model = ScriptedModel([act("poll", job="x"), say("Done.")])
    one = Agent(model, tools=[poll], guards=[Provenance("off")])
    result = await run(one, "Wait.", store=store, run_id="r")
    while result.status == "held":
        await anyio.lowlevel.checkpoint()
        result = await resume(one, "r", store=store)
    assert (result.answer, asked) == ("Done.", ["x", "x"])
    record = await read("r", store=store)
    assert record.call("1.1").attempts[-1].after == "its time has come"
    await replay(one, "r", store=store)


async def test_a_worker_takes_a_held_run_whose_time_has_come() -> None:
    await by_a_worker(agent(Office(0.2)))
    assert SENT == ["Ada"]


@pytest.mark.parametrize(
    "when",
    ["soon", None, True, float("nan"), float("inf"), datetime(2030, 1, 1), -1e18, 1e30],  # noqa: DTZ001 - a time without its zone
)
def test_what_is_no_time_is_refused(when: Any) -> None:
    with pytest.raises(ConfigError, match="later"):
        later(when)
    assert later(datetime(2030, 1, 1, tzinfo=UTC)).until == 1_893_456_000_000


async def test_a_request_that_is_sent_twice_is_one_run_and_one_message() -> None:
    store, one = MemoryStore(), agent(Office(0.001))
    first = await submit(one, "Write.", store=store, request="a1")
    assert await submit(one, "Write.", store=store, request="a1") == first
    assert await submit(one, "Write.", store=store, request="a2") != first
    with pytest.raises(ConfigError, match="asked something else"):
        await submit(one, "Write more.", store=store, request="a1")
    with pytest.raises(ConfigError, match="not both"):
        await submit(one, "Write.", store=store, request="a1", run_id="r")
    talk = Agent(ScriptedModel([say("Hi."), say("Well.")]))
    await run(talk, "Hello.", store=store, run_id="t")
    for _ in range(2):
        result = await resume(talk, "t", say="How are you?", request="w1", store=store)
        assert result.answer == "Well."
    record = await read("t", store=store)
    assert sum(isinstance(entry.event, Note) for entry in record.entries) == 1
