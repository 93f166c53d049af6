"""Runs go on with an agent that was changed meanwhile, where the application says so, on record."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    Limits,
    MemoryStore,
    Result,
    SqliteStore,
    Trajectory,
    answer,
    delegate,
    list_runs,
    pending_approvals,
    prompt_of,
    read,
    replay,
    resume,
    rule,
    run,
    serving,
    settle,
    start,
    submit,
    tool,
)
from clew.guards import Provenance
from clew.interfaces import Changed, Stop
from clew.testing import ScriptedModel, act, finish
from clew.workers import Agents, WorkerConfig, carry, work
from tests.patience import PATIENCE
from tests.streaming.runs import Gate, paying

pytestmark = pytest.mark.both_loops

SENT: list[str] = []


@tool(approve="ask first")
def send(text: str) -> str:
    """Send a letter."""
    SENT.append(text)
    return f"sent {text}"


@tool(effect="read")
def look() -> str:
    """Look around."""
    return "nothing"


@tool(external=True)
def sign(text: str) -> str:
    """Have it signed."""
    raise AssertionError


@dataclass
class Letter:
    text: str


def clerk(*moves: Any, answer: Any = "done", **fields: Any) -> Agent[Any]:
    fields.setdefault("tools", [send, sign])
    return Agent(
        ScriptedModel([*moves, finish(answer)]), guards=[Provenance("off")], **fields
    )  # fmt: skip


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "prompt": ({"prompt": "Be brief."}, "prompt"),
    "tools": ({"tools": [send, sign, look]}, "tools.look"),
    "answer type": ({"answer": {"text": "done"}, "kind": Letter}, "parts.answer"),
}

SEND = act("send", text="a")


def changed(name: str, move: Any, **more: Any) -> tuple[Agent[Any], str]:
    """The agent as it is now, and what differs."""
    fields, what = CHANGES[name]
    kind = fields.get("kind", str)
    fields = {key: each for key, each in fields.items() if key not in {"answer", "kind"}}
    value = CHANGES[name][0].get("answer", "done")
    made = clerk(move, answer=value, **fields, **more)
    return (made.replace(answer=kind) if kind is not str else made), what


async def _ruled(agent: Agent[Any], run_id: str, where: Path, accept: bool) -> None:
    (waiting,) = await pending_approvals(store=where)
    assert waiting.root == run_id
    await rule(waiting.id, allow=True, store=where, agent=agent, accept_change=accept)


async def _rule(run_id: str, where: Path) -> None:
    await rule(f"{run_id}:1.1", allow=True, store=where)


async def _resumed(agent: Agent[Any], run_id: str, where: Path, accept: bool) -> None:
    await _rule(run_id, where)
    await resume(agent, run_id, store=where, accept_change=accept)


async def _started(agent: Agent[Any], run_id: str, where: Path, accept: bool) -> None:
    await _rule(run_id, where)
    await (await start(agent, run_id=run_id, store=where, accept_change=accept)).wait()


async def _served(agent: Agent[Any], run_id: str, where: Path, accept: bool) -> None:
    await _rule(run_id, where)
    other = Agent(ScriptedModel([finish("no")]), [look], prompt="Be quiet.")
    async with serving(other, agent, store=where, accept_change=accept) as app:
        await app.wait()


async def _carried(agent: Agent[Any], run_id: str, where: Path, accept: bool) -> None:
    await _rule(run_id, where)
    async with SqliteStore(where) as store:
        await carry(_given(agent), store, run_id, accept_change=accept)


def _given(agent: Agent[Any]) -> Agents:
    async def agent_of(record: Trajectory) -> Agent[Any]:
        del record
        return agent

    return agent_of


WAYS: dict[str, Callable[[Agent[Any], str, Path, bool], Awaitable[None]]] = {
    "rule": _ruled,
    "resume": _resumed,
    "start": _started,
    "serving": _served,
    "carry": _carried,
}
LEAVES_IT = {"serving"}
"""These leave a changed run alone, and raise nothing."""


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", WAYS)
async def test_a_held_run_goes_on_with_the_agent_as_it_is_now(
    way: str, change: str, tmp_path: Path
) -> None:
    SENT.clear()
    where = tmp_path / "runs.sqlite"
    old = clerk(SEND)
    run_id = (await run(old, "?", store=where)).run_id
    refusing, what = changed(change, SEND)
    if way in LEAVES_IT:
        await WAYS[way](refusing, run_id, where, False)
        assert (await read(run_id, store=where)).stop.status == "held"  # type: ignore[union-attr] # it is held
    else:
        with pytest.raises(ConfigError, match=rf"differs from the record's in .*{what}"):
            await WAYS[way](refusing, run_id, where, False)
    assert SENT == []
    new, _ = changed(change, SEND)
    if way == "rule":
        await rule(f"{run_id}:1.1", allow=True, store=where, agent=new, accept_change=True)
    else:
        await WAYS[way](new, run_id, where, True)
    record = await read(run_id, store=where)
    assert record.stop
    assert record.stop.status == "answered"
    assert SENT == ["a"]
    (event,) = [each.event for each in record.entries if isinstance(each.event, Changed)]
    assert record.started.spec.fingerprint == old.spec.fingerprint
    assert event.spec.fingerprint == new.spec.fingerprint
    assert what in event.what
    for step, agent in ((1, old), (2, new)):
        rebuilt = await prompt_of(run_id, step, store=where)
        assert rebuilt.differs == ()
        assert rebuilt.spec.fingerprint == agent.spec.fingerprint
    replayed = await replay(new, run_id, store=where)
    assert replayed.trajectory.stop == record.stop


async def test_a_result_that_comes_later_goes_to_the_agent_as_it_is_now(tmp_path: Path) -> None:
    where = tmp_path / "runs.sqlite"
    sends = act("sign", text="b")
    run_id = (await run(clerk(sends), "?", store=where)).run_id
    new, _ = changed("prompt", sends, store=where)
    with pytest.raises(ConfigError, match="differs from the record's in prompt"):
        await answer(f"{run_id}:1.1", "Ada", agent=new)
    done = await answer(f"{run_id}:1.1", "Ada", agent=new, accept_change=True)
    assert done.status == "answered"


async def test_what_came_of_an_unknown_call_is_told_to_the_agent_as_it_is_now(
    tmp_path: Path,
) -> None:
    @tool(effect="unsafe")
    def post(text: str) -> str:
        """Post a letter."""
        raise OSError(text)

    where = tmp_path / "runs.sqlite"
    limits = Limits(unknown="hold")
    lost = clerk(act("post", text="a"), tools=[post], limits=limits)
    run_id = (await run(lost, "?", store=where)).run_id
    new = clerk(act("post", text="a"), tools=[post], limits=limits, prompt="Be brief.", store=where)
    with pytest.raises(ConfigError, match="differs from the record's in prompt"):
        await settle(f"{run_id}:1.1", done=True, agent=new)
    done = await settle(f"{run_id}:1.1", done=True, agent=new, accept_change=True)
    assert done.status == "answered"


async def _worked(
    where: Path, *agents: Agent[Any], accept: bool = True, **more: Any
) -> Stop | None:
    config = WorkerConfig(
        store=where, agents=agents, only=True, until_idle=True, accept_change=accept, **more
    )
    await work(config)
    (listed,) = await list_runs(store=where)
    return (await read(listed.run_id, store=where)).stop


async def test_a_worker_goes_on_with_the_nearest(tmp_path: Path) -> None:
    where = tmp_path / "runs.sqlite"
    await submit(clerk(act("look"), tools=[look]), "?", store=where)
    stranger = Agent(ScriptedModel([finish("no")]), [sign], prompt="Be loud.")
    far = clerk(finish("far"), tools=[look, send], prompt="Be loud.")
    near = clerk(act("look"), answer="near", tools=[look], prompt="Be brief.")
    assert await _worked(where, stranger) is None
    assert await _worked(where, stranger, far, near, accept=False) is None
    stop = await _worked(where, stranger, far, near)
    assert stop
    assert (stop.status, stop.answer) == ("answered", "near")


async def test_a_worker_has_the_agent_of_the_record_first(tmp_path: Path) -> None:
    where = tmp_path / "runs.sqlite"
    same, near = clerk(answer="same", tools=[look]), clerk(tools=[look], prompt="Be brief.")
    await submit(clerk(tools=[look]), "?", store=where)
    stop = await _worked(where, near, same)
    assert stop
    assert stop.answer == "same"


def _talker(**more: Any) -> Agent[Any]:
    return Agent(ScriptedModel([finish("done")]), guards=[Provenance("off")], **more)


UNLIKE: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "the usual prompt, and no tool of the other": ({"tools": [look]}, {"tools": [send]}, False),
    "the same prompt, and no tools any more": ({"tools": [look]}, {}, True),
    "the same prompt, and the first tools": ({}, {"tools": [look]}, True),
    "another prompt, and no tools": ({"prompt": "A."}, {"prompt": "B."}, False),
    "the same prompt, no tools, another answer": (
        {"prompt": "A."},
        {"prompt": "A.", "tries": 1},
        True,
    ),
}


@pytest.mark.parametrize("pair", UNLIKE)
async def test_runs_of_others_are_left_alone(pair: str, tmp_path: Path) -> None:
    where = tmp_path / "runs.sqlite"
    old, new, takes_over = UNLIKE[pair]
    await submit(_talker(**old), "?", store=where)
    stop = await _worked(where, _talker(**new))
    assert (stop is not None) is takes_over


async def test_a_sub_run_goes_on_with_its_agent_as_it_is_now(tmp_path: Path) -> None:
    SENT.clear()
    where = tmp_path / "runs.sqlite"

    def leader(prompt: str) -> Agent[Any]:
        worker = clerk(SEND, tools=[send], prompt=prompt)
        tools = [delegate(worker, name="desk", description="Ask the desk.")]
        return Agent(
            ScriptedModel([act("desk", task="send it"), finish("done")]), tools,
            guards=[Provenance("off")],
        )  # fmt: skip

    held = await run(leader("Be quick."), "?", store=where)
    (waiting,) = held.pending_approvals
    await rule(waiting.id, allow=True, store=where)
    async with serving(leader("Be brief."), store=where) as app:
        await app.wait()
    assert SENT == []
    async with serving(leader("Be brief."), store=where, accept_change=True) as app:
        await app.wait()
    listed = {each.run_id: each.status for each in await list_runs(store=where)}
    assert listed == dict.fromkeys((held.run_id, waiting.run_id), "answered")
    assert SENT == ["a"]


# ---------------------------------------------------------------------- a run that is at work


def _joined(agent: Agent[Any], **more: Any) -> Awaitable[Result[Any]]:
    return resume(agent, "r", **more)


async def _streamed(agent: Agent[Any], **more: Any) -> Result[Any]:
    return await (await start(agent, run_id="r", **more)).wait()


async def _asked_again(agent: Agent[Any], **more: Any) -> Result[Any]:
    return await (await start(agent, "Pay.", run_id="r", **more)).wait()


def _told(agent: Agent[Any], **more: Any) -> Awaitable[Result[Any]]:
    return resume(agent, "r", say="And?", **more)


async def _told_by_stream(agent: Agent[Any], **more: Any) -> Result[Any]:
    return await (await start(agent, run_id="r", say="And?", **more)).wait()


Joining = Callable[..., Awaitable[Result[Any]]]
JOINING: list[Joining] = [_joined, _streamed, _asked_again, _told, _told_by_stream]


@pytest.mark.parametrize("elsewhere", [False, True], ids=["started", "run"])
@pytest.mark.parametrize("join", JOINING)
async def test_an_agent_of_another_type_joins_no_run_at_work(
    join: Joining, elsewhere: bool
) -> None:
    """The result would be typed by it, and hold what the other answered."""
    gate, store = Gate(), MemoryStore()
    first, other = paying(gate), Agent(ScriptedModel([finish(5)]), answer=int)
    async with anyio.create_task_group() as group:
        if elsewhere:
            group.start_soon(partial(run, first, "Pay.", run_id="r", store=store))
        else:
            await start(first, "Pay.", run_id="r", store=store)
        await gate.begun.wait()
        with anyio.fail_after(PATIENCE), pytest.raises(ConfigError, match=r"differs .*answer"):
            await join(other, store=store)
        gate.go.set()
    assert (await resume(first, "r", store=store)).answer == "It is paid."


@pytest.mark.parametrize("join", [_told, _told_by_stream])
async def test_an_agent_that_takes_over_from_one_at_work_answers_when_that_has_ended(
    join: Joining,
) -> None:
    gate, store = Gate(), MemoryStore()
    other = paying(gate).replace(model=ScriptedModel([finish(0), finish(0), finish(5)]), answer=int)
    first = await start(paying(gate), "Pay.", run_id="r", store=store)
    await gate.begun.wait()
    results = list[Any]()
    async with anyio.create_task_group() as group:

        async def take_over() -> None:
            results.append(await join(other, store=store, accept_change=True))

        group.start_soon(take_over)
        await anyio.wait_all_tasks_blocked()
        gate.go.set()
    assert (await first.wait()).answer == "It is paid."
    assert [each.answer for each in results] == [5]
