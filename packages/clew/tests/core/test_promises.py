"""Promises that were broken once: each was found by trying to break it."""

import asyncio
import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import anyio
import msgspec
import pytest

from clew import (
    Agent,
    ConfigError,
    Image,
    Limits,
    MemoryStore,
    Observation,
    PartError,
    ReplayError,
    StoreError,
    Tool,
    Trajectory,
    Verdict,
    batch,
    read,
    replay,
    resume,
    rule,
    run,
)
from clew.agent.runner import start
from clew.core.contents import RawCall, Reply, Wire, text_parts
from clew.core.events import Note, Started
from clew.core.journal import Journal, load
from clew.core.judging import Guard
from clew.core.loop import run as go
from clew.core.pending import interrupt
from clew.core.stores import Append, Store
from clew.core.trajectory import Call
from clew.core.values import Json, encode
from clew.testing.models import Line, ScriptedModel, act, acts, finish, say
from clew.tools import Attempts
from tests.core.play import copy
from tests.core.scenarios import Ledger, effect_tools, lookup
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops


def made(work: Any, **options: Any) -> Tool:
    """A tool `work` that takes a number."""
    schema = {"type": "object", "properties": {"v": {"type": "integer"}}}
    options = {"effect": "unsafe", "attempts": Attempts(0.01), **options}
    return Tool("work", "Do the work.", schema, work, **options)


class Work:
    """Work that counts what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Json] = []

    async def __call__(self, args: dict[str, Json], key: str) -> str:
        self.asked.append(args.get("v"))
        return "done"


async def cut_after_attempt(agent: Agent) -> MemoryStore:
    """The record of a run that died right after the attempt of its first call."""
    store = MemoryStore()
    await run(agent, "Work!", store=store, run_id="run")
    lines = await store.read("run")
    place = next(n for n, line in enumerate(lines) if b'"attempt"' in line.body)
    return await copy(lines[: place + 1])


async def test_a_persons_no_to_a_call_in_doubt_is_not_overridden_by_the_probe() -> None:
    work, answers = Work(), [RuntimeError("closed"), None]

    async def probe(args: dict[str, Json], key: str) -> str | None:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    agent = Agent(
        model=ScriptedModel([act("work", v=1), say("ok")]),
        tools=[made(work, attempts=Attempts(0.01, probe=probe))],
        limits=Limits(unknown="hold"),
    )
    store = await cut_after_attempt(agent)
    assert (await resume(agent, "run", store=store)).status == "held"
    await rule("run:1.1", allow=False, store=store)
    assert (await resume(agent, "run", store=store)).status == "answered"
    record = await read("run", store=store)
    assert work.asked == [1]  # before the cut, and never again
    assert record.call("1.1").observation == record.effects[0].observation
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries


def holding(name: str) -> Guard:
    async def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("hold", f"{name} wants a look") if call.action.name != "finish" else None

    return hold


def refusing(value: int) -> Guard:
    async def refuse(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("deny", "never") if call.action.args.get("v") == value else None

    return refuse


async def test_a_hold_hides_no_refusal_of_a_later_guard() -> None:
    work = Work()
    agent = Agent(
        model=ScriptedModel([act("work", v=1), say("ok")]),
        tools=[made(work)],
        guards=[holding("one"), refusing(1)],
    )
    assert (await run(agent, "Work!", store=MemoryStore())).status == "answered"
    assert work.asked == []


async def test_caps_hold_for_calls_that_were_held_and_allowed() -> None:
    work, store = Work(), MemoryStore()
    agent = Agent(
        model=ScriptedModel([acts(*[act("work", v=n) for n in range(3)]), say("ok")]),
        tools=[made(work)],
        guards=[holding("one")],
        limits=Limits(tool_calls=2, calls_per_step=2),
    )
    assert (await run(agent, "Work!", store=store, run_id="run")).status == "held"
    for call in (await read("run", store=store)).calls:
        if call.held:
            await rule(f"run:{call.key}", allow=True, store=store)
    await resume(agent, "run", store=store)
    assert len(work.asked) <= 2


async def test_a_call_that_several_guards_hold_needs_one_plain_yes() -> None:
    work, store = Work(), MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("work", v=1), say("ok")]),
        tools=[made(work)],
        guards=[holding("one"), holding("two")],
    )
    await run(agent, "Work!", store=store, run_id="run")
    await rule("run:1.1", allow=True, store=store)
    assert (await resume(agent, "run", store=store)).status == "answered"
    assert work.asked == [1]
    record = await read("run", store=store)
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries


async def test_guards_of_one_name_are_told_apart() -> None:
    work, store = Work(), MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("work", v=1), say("ok")]),
        tools=[made(work)],
        guards=[holding("one"), refusing(5), refusing(6)],
    )
    names = [guard.name for guard in agent.engine.guards]
    assert len(set(names)) == len(names)
    await run(agent, "Work!", store=store, run_id="run")
    await rule("run:1.1", allow=True, args={"v": 6}, store=store)
    await resume(agent, "run", store=store)
    assert work.asked == []
    await replay(agent, "run", store=store)


async def at_most_3(call: Call, trajectory: Trajectory) -> Verdict | None:
    if cast("int", call.action.args["v"]) > 3:
        return Verdict("amend", "at most 3", args={"v": 3})
    return None


async def test_a_guard_may_amend_but_a_persons_edit_comes_later() -> None:
    work, store = Work(), MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("work", v=9), say("ok")]),
        tools=[made(work)],
        guards=[at_most_3, holding("one")],
    )
    await run(agent, "Work!", store=store, run_id="run")
    assert (await read("run", store=store)).call("1.1").args == {"v": 3}
    await rule("run:1.1", allow=True, args={"v": 2}, store=store)
    await resume(agent, "run", store=store)
    assert work.asked == [2]


def test_a_part_that_has_another_name_in_every_process_is_refused() -> None:
    async def guard(limit: int, call: Call, trajectory: Trajectory) -> Verdict | None:
        return None

    with pytest.raises(ConfigError, match="another name in every process"):
        Agent(model=ScriptedModel([]), guards=[functools.partial(guard, 5)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"effect": "write"},
        {"trust": "yes"},
        {"attempts": 5},
        {"attempts": Attempts(0)},
        {"attempts": Attempts(float("inf"))},
    ],
)
def test_a_tool_made_by_hand_is_checked_too(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="tool work"):
        Agent(model=ScriptedModel([]), tools=[replace(made(Work()), **wrong)])


async def test_a_verdict_in_words_there_are_not_is_the_guards_mistake() -> None:
    async def asks(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict(cast("Any", "ask"), "hm")

    store = MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("work", v=1), say("ok")]), tools=[made(Work())], guards=[asks]
    )
    with pytest.raises(
        PartError, match="there is no verdict 'ask': give hint, amend, deny or hold"
    ):
        await run(agent, "Work!", store=store, run_id="run")
    assert (await resume(agent.replace(guards=[]), "run", store=store, accept_change=True)).ok


async def awaited(call: Call, trajectory: Trajectory) -> Verdict | None:
    return Verdict("amend", "at most 100")


@dataclass(frozen=True)
class Amending:
    """A guard that is an object, and changes nothing either."""

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("amend", "at most 100", args=None)


@pytest.mark.parametrize("effect", ["read", "unsafe"])
@pytest.mark.parametrize(
    ("own", "guards"),
    [
        pytest.param(None, [awaited], id="function"),
        pytest.param(None, [Amending()], id="object"),
        pytest.param(awaited, [], id="guard of the tool"),
        pytest.param(None, [holding("one"), awaited], id="behind a hold"),
        pytest.param(None, [at_most_3, awaited], id="behind an amend"),
    ],
)
async def test_an_amend_that_does_not_say_how_makes_no_call(
    own: Guard | None, guards: list[Guard], effect: str
) -> None:
    work, store = Work(), MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("work", v=9), say("ok")]),
        tools=[made(work, effect=effect, guard=own)],
        guards=guards,
    )
    with pytest.raises(PartError, match=r"amends a call without saying how: give args"):
        await run(agent, "Work!", store=store, run_id="run")
    assert work.asked == []
    with pytest.raises(PartError, match="amends"):  # and none when it is asked again
        await resume(agent, "run", store=store)
    assert (work.asked, (await read("run", store=store)).stop) == ([], None)
    mended = Agent(
        model=ScriptedModel([act("work", v=9), say("ok")]), tools=[made(work, effect=effect)]
    )
    assert (await resume(mended, "run", store=store, accept_change=True)).ok
    assert work.asked == [9]


async def test_no_call_is_made_after_a_ruling_either() -> None:
    work, store = Work(), MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("work", v=9), say("ok")]),
        tools=[made(work, effect="unsafe")], guards=[holding("one")],
    )  # fmt: skip
    await run(agent, "Work!", store=store, run_id="run")
    await rule("run:1.1", allow=True, args={"v": 4}, store=store)
    careless = agent.replace(guards=[awaited, holding("one")])
    with pytest.raises(PartError, match="amends"):
        await resume(careless, "run", store=store, accept_change=True)
    assert work.asked == []


async def test_an_amend_to_no_arguments_is_one() -> None:
    async def bare(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("amend", "none are needed", args={})

    work, store = Work(), MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("work", v=9), say("ok")]), tools=[made(work)], guards=[bare]
    )
    await run(agent, "Work!", store=store, run_id="run")
    assert work.asked == [None]


@pytest.mark.parametrize("wrong", [{"code": "not_found"}, {"ok": None}, {"detail": "half \ud83d"}])
async def test_an_observation_that_no_record_can_hold_is_a_bad_output(wrong: Any) -> None:
    async def work(args: dict[str, Json], key: str) -> Observation:
        return Observation(**{"content": "x", **wrong})

    store = MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("work", v=1), say("ok")]),
        tools=[made(work, attempts=Attempts(30.0))],
    )
    await run(agent, "Work!", store=store, run_id="run")
    observation = (await read("run", store=store)).call("1.1").observation
    assert observation
    assert (observation.code, observation.outcome) == ("bad_output", "done")


async def test_half_a_character_in_an_error_is_marked() -> None:
    async def work(args: dict[str, Json], key: str) -> Observation:
        message = "half \ud83d"
        raise RuntimeError(message)

    patient = made(work, attempts=Attempts(PATIENCE))
    agent = Agent(model=ScriptedModel([act("work", v=1), say("ok")]), tools=[patient])
    await run(agent, "Work!", store=(store := MemoryStore()), run_id="run")
    observation = (await read("run", store=store)).call("1.1").observation
    assert observation
    assert observation.text == "ERROR: crashed: RuntimeError: half ?"


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_tool_that_raises_somebody_elses_cancellation_has_crashed() -> None:
    async def work(args: dict[str, Json], key: str) -> str:
        raise asyncio.CancelledError

    script = [acts(act("work", v=1), act("work", v=2)), say("ok")]
    agent = Agent(model=ScriptedModel(script), tools=[made(work, effect="read")])
    store = MemoryStore()
    assert (await run(agent, "Work!", store=store, run_id="run")).status == "answered"
    codes = [
        call.observation.code for call in (await read("run", store=store)).calls if call.observation
    ]
    assert codes == ["crashed", "crashed"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancelled_asyncio_task_is_no_crash_of_the_tool() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def work(args: dict[str, Json], key: str) -> str:
        begun.set()
        await go.wait()
        return "seen to its end"

    agent = Agent(
        model=ScriptedModel([act("work", v=1)]), tools=[made(work, attempts=Attempts(60))]
    )
    store = MemoryStore()
    task = asyncio.create_task(cast("Any", run(agent, "Work!", store=store, run_id="run")))
    await begun.wait()
    task.cancel()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    last = (await read("run", store=store)).entries[-1].event
    assert isinstance(last, Observation)
    assert (last.text, last.outcome) == ("seen to its end", "done")


class Ending:
    """A store in whose append the process is being ended."""

    def __init__(self) -> None:
        self.inner = MemoryStore()
        self.ending = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def append(self, append: Append) -> bool:
        await anyio.lowlevel.checkpoint()
        if self.ending:
            raise KeyboardInterrupt
        return await self.inner.append(append)


async def test_a_writer_that_is_ended_leaves_nobody_waiting() -> None:
    store = Ending()
    journal = await start(Agent(model=ScriptedModel([])), "Work!", cast("Store", store))
    store.ending = True
    seen: list[type[BaseException]] = []

    async def write(text: str) -> None:
        try:
            await journal.record(Note(text_parts(text)))
        except BaseException as error:  # noqa: BLE001 - that is what this is about
            seen.append(type(error))

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(write, "one")
            group.start_soon(write, "two")
    assert KeyboardInterrupt in seen
    assert len(seen) == 2


async def test_secrets_are_found_in_texts_only() -> None:
    agent = Agent(model=ScriptedModel([say("an observation of 12345678")]))
    secrets: Sequence[str] = ["observation", "12345678", "broken \ud83d", ""]
    started = Started(text_parts("an observation"), agent.spec)
    journal = await Journal.create(MemoryStore(), started, "run", secrets=secrets)
    trajectory = await go(agent.engine, journal)
    assert trajectory.stop
    assert trajectory.stop.answer == "an [redacted] of [redacted]"
    assert (await load(journal.store, "run")).entries == trajectory.entries


async def test_an_open_answer_of_another_type_goes_back_to_the_model() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("seven"), finish(7)]))
    journal = await start(agent, "How many?", store, run_id="run")
    await run(agent, "How many?", store=(other := MemoryStore()), run_id="run")
    await journal.record((await read("run", store=other)).entries[1].event)
    typed = agent.replace(answer=int)
    assert (await resume(typed, "run", store=store, accept_change=True)).answer == 7


async def test_the_answer_of_a_stopped_run_is_no_result_of_an_agent_of_another_type() -> None:
    """To both type checkers it would be of that type."""
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("seven")]))
    await run(agent, "How many?", store=store, run_id="run")
    with pytest.raises(ConfigError, match="an answer of another type"):
        await resume(agent.replace(answer=int), "run", store=store, accept_change=True)
    stop = (await read("run", store=store)).stop
    assert stop is not None
    assert stop.answer == "seven"


async def test_a_probe_waits_no_longer_than_the_deadline_when_the_clock_is_set_back() -> None:
    async def probe(args: dict[str, Json], key: str) -> str:
        return "found"

    agent = Agent(
        model=ScriptedModel([act("work", v=1), say("ok")]),
        tools=[made(Work(), attempts=Attempts(0.01, probe=probe))],
    )
    store = await cut_after_attempt(agent)
    journal = await Journal.open(store, "run", clock=lambda: 0)
    with anyio.fail_after(PATIENCE):
        trajectory = await go(agent.engine, journal)
    observation = trajectory.call("1.1").observation
    assert observation
    assert observation.text == "found"


async def test_a_batch_of_none_at_once_is_refused() -> None:
    with pytest.raises(ConfigError, match="at_once is 0"):
        await batch(Agent(model=ScriptedModel([])), ["a"], at_once=0, store=MemoryStore())


async def test_a_changing_picture_is_progress() -> None:
    shots = iter(range(100))

    async def look(args: dict[str, Json], key: str) -> Image:
        return Image("image/png", b"\x89PNG\r\n\x1a\n" + bytes([next(shots)]), text="the screen")

    agent = Agent(
        model=ScriptedModel([*[act("work")] * 8, say("ok")]), tools=[made(look, effect="read")]
    )
    assert (await run(agent, "Look!", store=MemoryStore())).status == "answered"


async def test_the_same_call_is_known_whatever_the_order_of_its_keys() -> None:
    one = Call("1.1", act("work", a={"x": 1, "y": 2}).actions[0])
    other = Call("1.2", act("work", a={"y": 2, "x": 1}).actions[0])
    assert one.hash == other.hash


async def test_a_view_belongs_to_one_agent() -> None:
    seen: list[str] = []

    @dataclass(frozen=True)
    class Watching(ScriptedModel):
        """A model that notes what it was told first."""

        async def complete(self, prompt: Any, on_text: Any = None) -> Reply:
            seen.append(prompt.head[0].text)
            return await super().complete(prompt, on_text)

    agent = Agent(model=Watching([act("lookup", key="a"), say("ok")]), tools=[lookup])
    journal = await start(agent, "Look!", MemoryStore())
    await go(agent.engine, journal)
    await journal.record(Note(text_parts("and?")))
    other = agent.replace(model=Watching([say("1"), say("2"), say("3")]), prompt="Be brief.")
    await go(other.engine, journal)
    assert seen[-1].startswith("Be brief.")


async def test_a_late_word_does_not_take_an_answer_back() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("an answer")]))
    done = await run(agent, "What?", store=store, run_id="run")
    lines = await store.read("run")
    cut = await copy(lines[:2])
    journal = await Journal.open(cut, "run")
    await journal.record(Note(text_parts("it went out after all"), source="late"))
    trajectory = await go(agent.engine, journal)
    assert trajectory.stop
    assert (trajectory.stop.answer, len(trajectory.steps)) == (done.answer, 1)


async def test_an_interrupted_effect_counts_as_one(tmp_path: Path) -> None:
    tools = effect_tools(Ledger(tmp_path / "effects"))
    script = [act("send", text="hi"), say("ok")]
    agent = Agent(model=ScriptedModel(script, tools=tools), tools=tools)
    store = await cut_after_attempt(agent)
    await store.post("run", encode(Note(text_parts("stop"))))
    from_outside = await Journal.open(store, "run")
    await interrupt(agent.engine, from_outside, "enough")
    assert [call.key for call in from_outside.trajectory.effects] == ["1.1"]


DEEP = "[" * 100_000


async def test_json_that_is_nested_without_end_is_a_fault_of_the_reply() -> None:
    script: list[Line] = [
        Reply(
            calls=(RawCall(name="lookup", arguments=f'{{"key": {DEEP}', id="c"),), finish="calls"
        ),
        Reply(text=f"<tool_call>{{{DEEP}}}</tool_call>"),
        say("ok"),
    ]
    agent = Agent(model=ScriptedModel(script), tools=[lookup])
    found = await run(agent, "Look!", store=(store := MemoryStore()), run_id="run")
    assert found.status == "answered"
    observation = (await read("run", store=store)).call("1.1").observation
    assert observation
    assert observation.code == "invalid_arguments"
    typed = Agent(model=ScriptedModel([Reply(text=DEEP), finish([1])]), answer=list[int])
    assert (await run(typed, "List!", store=MemoryStore())).answer == [1]


def _nested(levels: int) -> str:
    return "[" * levels + "]" * levels


async def test_what_only_an_empty_stack_could_read_again_is_not_recorded() -> None:
    """Such a value can be written, and then the record cannot be read from deeper in a program."""

    async def call(args: dict[str, Any], key: str) -> Any:
        return msgspec.json.decode(_nested(800))

    work = Tool("work", "Work.", {"type": "object"}, call, effect="read")
    deep = f'{{"key": {_nested(800)}}}'
    script: list[Any] = [
        Reply(calls=(RawCall(name="work", arguments=deep, id="c"),), finish="calls"),
        Reply(text=f'<tool_call>{{"name": "work", "arguments": {deep}}}</tool_call>'),
        act("work"),
        Reply(text=_nested(800)),
        finish([1]),
    ]
    agent = Agent(model=ScriptedModel(script), tools=[work], answer=list[int])
    found = await run(agent, "Look!", store=(store := MemoryStore()), run_id="run")
    assert found.answer == [1]
    record = await read("run", store=store)
    seen = [call.observation.code for call in record.calls[:2] if call.observation]
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries
    assert seen == ["invalid_arguments", "bad_output"]
    assert [bool(step.thought and step.thought.fault) for step in record] == [
        False, True, False, True, False,
    ]  # fmt: skip


async def test_what_cannot_be_written_is_said() -> None:
    items: list[Any] = []
    for _ in range(100_000):
        items = [items]
    model = ScriptedModel([Reply(text="ok", wire=Wire("scripted", "test", items))])
    with pytest.raises(StoreError, match="nested too deeply"):
        await run(Agent(model=model), "What?", store=MemoryStore())


async def test_a_message_that_is_nested_without_end_is_set_aside() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("ok")]))
    await start(agent, "What?", store, run_id="run")
    await store.post("run", f'{{"event":"ruling","call":"1.1","args":{DEEP}'.encode())
    assert (await resume(agent, "run", store=store)).answer == "ok"


async def test_a_run_that_went_on_with_another_agent_is_replayed_from_there() -> None:
    store = MemoryStore()
    script = [act("lookup", key="a"), say("so far"), say("all")]
    agent = Agent(model=ScriptedModel(script), tools=[lookup], limits=Limits(steps=1))
    await run(agent, "What?", store=store, run_id="run")
    raised = agent.replace(limits=Limits(steps=9))
    assert (await resume(raised, "run", store=store, accept_change=True)).ok
    replayed = await replay(raised, "run", store=store)
    assert replayed.trajectory.entries == (await read("run", store=store)).entries
    (passed,) = replayed.passed_over
    assert (
        "entries 1 to 7 were taken as they are: the run went on with another agent then (parts."
        in passed
    )
    with pytest.raises(ReplayError) as one:
        await replay(agent, "run", store=store)
    assert one.value.field == "spec.parts.bounds"
