"""Runs that break their worker: no other run suffers, and they are set aside."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from typing_extensions import override

from clew import (
    Agent,
    ClewError,
    MemoryStore,
    ModelError,
    Verdict,
    cancel,
    delegate,
    result_of,
    resume,
    tool,
)
from clew.agent.broken_runs import MAX_FAILURES, idle_openings, is_set_aside
from clew.agent.runner import start
from clew.core.codes import ChargeKind
from clew.core.contents import Reply, Usage, text_parts
from clew.core.entries import Entry
from clew.core.events import Charged, Note
from clew.core.journal import load
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import encode
from clew.testing.models import ScriptedModel, act, finish, say
from clew.workers import QUEUE
from clew.workers.agents import KnownAgents
from clew.workers.gate import RunGate
from clew.workers.run_one import carry, describe
from clew_testing.servers.openai_server import OpenAIServer, Say
from durability.poisoned import POISONS, storm
from tests.cli.shell import clew

pytestmark = pytest.mark.both_loops


class OddError(BaseException):
    """A user's own, which no `except Exception` sees."""


@pytest.mark.slow
def test_no_poisoned_run_takes_another_with_it() -> None:
    """Real worker processes; each kind of poison once, in one of five runs."""
    found = storm([one for one in POISONS if one.endswith(("-exits", "-dies"))], 40)
    assert found.misses == []
    assert found.well == {"answered": 32}
    assert found.poisoned["guard-dies"] == {"set aside": 1}
    assert found.deaths <= (MAX_FAILURES + 1) * 3


TOOLS = '''
"""A user's own tools."""
import os
from pathlib import Path
from clew import tool

@tool(effect="read")
def leave() -> str:
    """Leave at once."""
    if Path("mended").exists():
        return "stayed"
    with Path("left").open("a") as file:
        file.write("x")
    os._exit(7)
'''


@pytest.mark.slow
def test_a_run_that_ends_its_worker_is_set_aside_and_goes_on_when_a_person_says_so() -> None:
    """`clew runs --broken` says why and how, `clew resume` goes on, and nothing hangs."""
    Path("own.py").write_text(TOOLS)
    with OpenAIServer([Say(calls=[("leave", "{}")]), Say("Done.")]) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test-0123456789"}
        words = ("--model", "openai:test", "--tools", "own:leave")
        run_id = clew("submit", "Will it end?", *words, env=env).out.strip()
        for _ in range(MAX_FAILURES + 1):
            assert clew("worker", "--until-idle", env=env).code == 7
        assert Path("left").read_text() == "x" * (MAX_FAILURES + 1)
        done = clew("worker", "--until-idle", env=env)
        ended = done.out.splitlines()[-1].split()[1:]
        assert (done.code, ended) == (0, ["ended", run_id, "failed"])
        told = clew("runs", "--broken")
        assert "set aside: 3 workers took it up in a row" in told.out
        assert f"go on: clew resume {run_id}" in told.out
        (found,) = json.loads(clew("runs", "--broken", "--json").out)
        assert (found["run_id"], found["reason"][:10]) == (run_id, "set aside:")
        assert "took up" not in clew("worker", "--until-idle", env=env).out
        Path("mended").touch()
        done = clew("resume", run_id, "--quiet", env=env)
        assert (done.code, "Answer: Done." in done.out) == (0, True)
    assert clew("runs", "--broken").out.startswith("no run was set aside")
    assert clew("runs", "--broken", "--watch").code == 2


def guarded(guard: Callable[[], None], *, model: ScriptedModel | None = None) -> Agent:
    """An agent whose guard does something to its worker, once the model called a tool."""

    @tool(effect="read")
    def look(at: int = 0) -> str:
        """Look around."""
        return f"seen {at}"

    async def guarding(call: object, trajectory: object) -> Verdict | None:
        del call, trajectory
        guard()
        return None

    script = model or ScriptedModel([act("look"), finish("done")])
    return Agent(model=script, tools=[look], guards=[guarding])


def leaves() -> None:
    sys.exit("enough")


def is_odd() -> None:
    raise OddError


async def carried(agent: Agent, store: Store) -> Trajectory:
    return await carry(KnownAgents({"agent": agent}), store, "r")


@pytest.mark.parametrize("guard", [leaves, is_odd])
async def test_what_would_end_a_worker_ends_one_try_of_one_run(guard: Callable[[], None]) -> None:
    """After three tries in a row without getting on it is set aside; a person takes that back."""
    store, agent = MemoryStore(), guarded(guard)
    await start(agent, "Look.", store, run_id="r", queue=QUEUE)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(ClewError, match=r"the guard .* failed: .*; mend it and resume the run"):
            await carried(agent, store)
    done = await carried(agent, store)
    assert is_set_aside(done.stop)
    assert (await result_of(agent, "r", store=store)).code == "set_aside"
    agents: list[Agent] = [agent.replace(guards=[]), agent]
    assert (await resume(agents[0], "r", store=store, accept_change=True)).answer == "done"


@pytest.mark.parametrize("why", ["", "etwas anderes", "the worker left between two steps"])
async def test_a_lost_reply_is_known_by_its_kind_whatever_its_sentence_says(why: str) -> None:
    """A charge for one is no sign that the worker got on; any other charge is one."""
    journal = await start(Agent(model=ScriptedModel([say("x")])), "q", MemoryStore(), run_id="r")
    lines = journal.trajectory.entries
    openings: dict[ChargeKind, int] = {"lost_reply": 3, "left": 1, "failed": 1, "critic": 1}
    for kind, count in openings.items():
        charged = Entry(2, 0, 3, Charged(Usage(), kind, why))
        assert idle_openings(Trajectory("r", [*lines, charged]), 4) == count, kind


async def test_counting_begins_anew_where_a_word_takes_a_run_up_again() -> None:
    store, agent = MemoryStore(), guarded(is_odd)
    await start(agent, "Look.", store, run_id="r", queue=QUEUE)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(ClewError):
            await carried(agent, store)
    assert is_set_aside((await carried(agent, store)).stop)
    await store.post("r", encode(Note(text_parts("Try again."))))
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(ClewError):
            await carried(agent, store)
    assert is_set_aside((await carried(agent, store)).stop)
    await store.post("r", encode(Note(text_parts("And again."))))
    await cancel("r", why="enough", store=store)
    stop = (await carried(agent, store)).stop
    assert stop is not None
    assert stop.status == "interrupted"


async def test_a_run_whose_bound_breaks_its_workers_is_set_aside_too() -> None:
    """Whoever takes a run up asks its bounds whether a thought may be lost."""

    def bound(trajectory: Trajectory) -> str | None:
        if trajectory.steps:
            raise OddError
        return None

    script = ScriptedModel([act("look", at=1), act("look", at=2), finish("done")])
    store, agent = MemoryStore(), guarded(lambda: None, model=script).replace(bounds=[bound])
    await start(agent, "Look.", store, run_id="r", queue=QUEUE)
    for _ in range(MAX_FAILURES + 1):
        with pytest.raises(ClewError):
            await carried(agent, store)
    assert is_set_aside((await carried(agent, store)).stop)


class Away:
    """A model whose provider is down."""

    info = ModelInfo("away:model")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Fail, as a provider does after all tries."""
        message = "the provider is away"
        raise ModelError(message)


async def test_a_provider_that_is_away_sets_no_run_aside() -> None:
    """However often it is tried: each time something says that the worker lived."""
    store, agent = MemoryStore(), Agent(model=Away())
    await start(agent, "Well?", store, run_id="r", queue=QUEUE)
    for _ in range(3 * MAX_FAILURES):
        with pytest.raises(ModelError):
            await carried(agent, store)
    trajectory = await load(store, "r")
    assert trajectory.stop is None
    charged = [entry.event for entry in trajectory.entries if isinstance(entry.event, Charged)]
    assert len(charged) == 3 * MAX_FAILURES, "each try is charged once"


async def test_a_worker_that_leaves_sets_no_run_aside() -> None:
    store, agent = MemoryStore(), Agent(model=ScriptedModel([say("done")]))
    await start(agent, "Well?", store, run_id="r", queue=QUEUE)
    for _ in range(3 * MAX_FAILURES):
        asked = iter([False, True])
        left = await carry(KnownAgents({"agent": agent}), store, "r", leaving=lambda: next(asked))  # noqa: B023 - called here
        assert left.stop is None
    assert not (await carry(KnownAgents({"agent": agent}), store, "r", leaving=lambda: True)).steps
    done = await carried(agent, store)
    assert done.stop is not None
    assert done.stop.answer == "done"


async def test_kills_before_a_run_that_gets_on_do_not_add_up() -> None:
    """Two openings in a row come to nothing, again and again; each time the third brings a step."""
    script = [*(act("look", at=at) for at in range(6)), finish("done")]
    store, agent = MemoryStore(), guarded(lambda: None, model=ScriptedModel(script))
    await start(agent, "Look.", store, run_id="r", queue=QUEUE)
    for _ in range(6):
        for _ in range(MAX_FAILURES - 1):
            await store.open("r")  # by a worker that is killed at once
        asked = iter([False, False, True])
        await carry(KnownAgents({"agent": agent}), store, "r", leaving=lambda: next(asked))  # noqa: B023 - called here
    done = await carried(agent, store)
    assert done.stop is not None
    assert done.stop.answer == "done"


async def test_a_run_that_waits_for_a_sub_run_may_be_opened_more_often() -> None:
    """What gets on there stands in another record."""

    @tool(effect="read")
    def breaks() -> str:
        """Break."""
        return "never"

    async def guarding(call: object, trajectory: object) -> Verdict | None:
        raise OddError

    below = Agent(
        model=ScriptedModel([act("breaks"), finish("x")]), tools=[breaks], guards=[guarding]
    )
    above = Agent(
        model=ScriptedModel([act("helper", task="Help."), finish("done")]),
        tools=[delegate(below, name="helper", description="Help.")],
    )
    store = MemoryStore()
    await start(above, "Look.", store, run_id="r", queue=QUEUE)
    for _ in range(MAX_FAILURES + 2):
        with pytest.raises(ClewError):
            await carried(above, store)
    while (record := await load(store, "r")).stop is None and await store.epoch("r") < 99:
        await store.open("r")
        if await store.epoch("r") > 10 * MAX_FAILURES + 9:
            await carried(above, store)
    assert is_set_aside(record.stop)


async def test_who_is_alone_in_a_worker_lets_in_the_others_when_it_got_on() -> None:
    gate, order = RunGate(), list[str]()
    ready, go = anyio.Event(), anyio.Event()

    async def alone() -> None:
        async with gate.slot(alone=True) as place:
            order.append("alone")
            ready.set()
            await go.wait()
            await place.between_steps(got_on=False)
            order.append("still alone")
            await place.between_steps(got_on=True)
            await place.between_steps(got_on=True)

    async def many(name: str) -> None:
        async with gate.slot(alone=False) as place:
            order.append(name)
            await place.between_steps(got_on=True)

    async with anyio.create_task_group() as group:
        group.start_soon(alone)
        await ready.wait()
        group.start_soon(many, "a")
        with anyio.move_on_after(0):
            await many("never")
        with anyio.move_on_after(0):
            async with gate.slot(alone=True):
                order.append("never")
        go.set()
    assert order == ["alone", "still alone", "a"]
    assert not gate.someone_waits


async def test_a_run_among_many_makes_room_between_two_steps_for_one_that_is_to_be_alone() -> None:
    gate, order = RunGate(), list[str]()
    begun = anyio.Event()

    async def many() -> None:
        async with gate.slot(alone=False) as place:
            begun.set()
            while not gate.someone_waits:
                await anyio.lowlevel.checkpoint()
            await place.between_steps(got_on=True)
            order.append("many")

    async with anyio.create_task_group() as group:
        group.start_soon(many)
        await begun.wait()
        async with gate.slot(alone=True):
            order.append("alone")
    assert order == ["alone", "many"]


def test_an_error_that_cannot_be_described_is_told_by_its_name() -> None:
    class MuteError(Exception):
        @override
        def __str__(self) -> str:
            raise OddError

    assert describe(MuteError()) == "MuteError: (its message cannot be read: OddError)"
    assert describe(ValueError("a\nb")) == "ValueError: a b"
    assert describe(ClewError("do this")) == "do this"
