"""A recorded run replays without a call; what differs is named by step and field."""

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from clew import (
    Agent,
    Call,
    Entry,
    Limits,
    ReplayError,
    Retry,
    Tool,
    ToolError,
    Trajectory,
    Verdict,
    resume,
    run,
)
from clew.codecs.native import Native
from clew.context import PROMPT
from clew.core.blobs import BLOB_BYTES
from clew.core.codec import Parsed, PromptSpec
from clew.core.contents import Observation, Reply
from clew.core.events import Attempt, Changed, Judged, Landing, Stop, Thought
from clew.core.journal import load
from clew.core.models import OnText
from clew.core.prompts import Prompt
from clew.core.replay import replay
from clew.core.spec_changes import first_difference
from clew.core.tools import AgentTool, AnyTool, SubRun
from clew.stores.memory import MemoryStore
from clew.support.errors import ModelError
from clew.testing.models import ScriptedModel, act, acts, say
from clew.tools import Attempts
from tests.core.play import copy, go_on, play
from tests.core.scenarios import SCENARIOS, Ledger, Scenario, by_name, lookup

pytestmark = pytest.mark.anyio

replaced = msgspec.structs.replace


class NoModel:
    """A model that must not be called."""

    def __init__(self, like: Any) -> None:
        self.info = like.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Any:
        message = "a replay called the model"
        raise ModelError(message)


def without_world(agent: Agent) -> Agent:
    """The agent with a model and tools that must not be called."""

    async def call(args: dict[str, Any], key: str) -> object:
        message = f"a replay called a tool: {key} {args}"
        raise AssertionError(message)

    async def run(sub: SubRun) -> Observation:
        message = f"a replay went into {sub.run_id}"
        raise AssertionError(message)

    def closed(tool: AnyTool) -> AnyTool:
        if isinstance(tool, AgentTool):
            return replace(tool, run=run)
        probe = None if tool.attempts.probe is None else call
        return replace(tool, call=call, attempts=replace(tool.attempts, probe=probe))

    return agent.replace(
        model=NoModel(agent.engine.model), tools=[closed(tool) for tool in agent.tools]
    )


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **options: object) -> None:
        message = "a replay opened a socket"
        raise AssertionError(message)

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.usefixtures("no_sockets")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_a_recorded_run_replays_byte_for_byte_without_a_call(
    scenario: Scenario, tmp_path: Path
) -> None:
    store = MemoryStore()
    await play(scenario, tmp_path, store)
    record = await load(store, "run")
    before = Ledger(tmp_path / "effects").lines()
    replayed = await replay(without_world(scenario.agent(tmp_path)).engine, record, MemoryStore())
    assert replayed.trajectory.entries == record.entries
    assert replayed.passed_over == ()
    assert Ledger(tmp_path / "effects").lines() == before


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_a_run_cut_anywhere_and_gone_on_with_replays_too(
    scenario: Scenario, tmp_path: Path
) -> None:
    store = MemoryStore()
    (tmp_path / "whole").mkdir()
    await play(scenario, tmp_path / "whole", store)
    lines = await store.read("run")
    for cut in range(1, len(lines)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        second = await copy(lines[:cut])
        await go_on(scenario, scenario.agent(folder), second)
        record = await load(second, "run")
        replayed = await replay(without_world(scenario.agent(folder)).engine, record, MemoryStore())
        assert replayed.trajectory.entries == record.entries


async def test_one_changed_byte_of_the_prompt_is_named(tmp_path: Path) -> None:
    scenario = by_name("three values")
    store = MemoryStore()
    await play(scenario, tmp_path, store)
    record = await load(store, "run")
    agent = scenario.agent(tmp_path)
    with pytest.raises(ReplayError) as caught:
        await replay(
            agent.replace(prompt=PROMPT.replace(persona="You guess.")).engine, record, MemoryStore()
        )
    assert (caught.value.step, caught.value.field) == (0, "spec.prompt")


@pytest.mark.parametrize("section", ["head", "tools", "params", "parts"])
async def test_a_prompt_rendered_otherwise_is_named_by_step_and_section(
    section: str, tmp_path: Path
) -> None:
    scenario = by_name("three values")
    store = MemoryStore()
    await play(scenario, tmp_path, store)
    record = await load(store, "run")
    place = next(
        n
        for n, e in enumerate(record.entries)
        if getattr(e.event, "text", "").startswith("The second")
    )
    entry = record.entries[place]
    assert isinstance(entry.event, Thought)
    prints = msgspec.structs.replace(entry.event.prints, **{section: "0" * 16})
    event = msgspec.structs.replace(entry.event, prints=prints)
    record.entries[place] = msgspec.structs.replace(entry, event=event)
    with pytest.raises(ReplayError) as caught:
        await replay(scenario.agent(tmp_path).engine, record, MemoryStore())
    assert (caught.value.step, caught.value.field) == (2, f"prints.{section}")


def test_the_first_difference_is_found_wherever_it_is() -> None:
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == "a[1].b"
    assert first_difference({"a": 1}, {"a": 1, "c": 2}) == "c"
    assert first_difference([1], [1, 2], "x") == "x"
    assert first_difference({"a": [1]}, {"a": [1]}) is None


async def record_of(name: str, folder: Path) -> Trajectory:
    """The record of a scenario."""
    store = MemoryStore()
    await play(by_name(name), folder, store)
    return await load(store, "run")


def with_entries(record: Trajectory, *changed: Entry) -> Trajectory:
    """The record with other entries, numbered anew."""
    other = Trajectory(record.run_id)
    other.entries = [
        msgspec.structs.replace(entry, seq=seq) for seq, entry in enumerate(changed, start=1)
    ]
    return other


async def divergence(agent: Agent, record: Trajectory) -> tuple[int, str, str]:
    with pytest.raises(ReplayError) as caught:
        await replay(agent.engine, record, MemoryStore())
    return caught.value.step, caught.value.field, str(caught.value)


async def test_a_record_that_goes_on_where_the_loop_stops(tmp_path: Path) -> None:
    record = await record_of("plain answer", tmp_path)
    longer = with_entries(record, *record.entries, record.entries[1])
    step, field, message = await divergence(by_name("plain answer").agent(tmp_path), longer)
    assert (step, field) == (2, "event")
    assert message == "step 2, event: the loop stops here, the record goes on"


async def test_a_record_that_does_not_think_where_the_loop_does(tmp_path: Path) -> None:
    record = await record_of("plain answer", tmp_path)
    shorter = with_entries(record, record.entries[0], record.entries[2])
    step, field, message = await divergence(by_name("plain answer").agent(tmp_path), shorter)
    assert (step, field) == (0, "event")
    assert "the loop thinks here" in message


async def test_a_record_without_what_the_loop_derives(tmp_path: Path) -> None:
    record = await record_of("calls that cannot be made", tmp_path)
    first, thought, refused, *rest = record.entries
    note = msgspec.structs.replace(refused, event=Landing("steps"))
    other = with_entries(record, first, thought, note, *rest)
    agent = by_name("calls that cannot be made").agent(tmp_path)
    step, field, message = await divergence(agent, other)
    assert (step, field) == (1, "event")
    assert "derives Observation here" in message


async def test_a_record_with_what_the_loop_never_derives(tmp_path: Path) -> None:
    record = await record_of("parallel calls, one fails", tmp_path)
    entries = record.entries
    attempt = msgspec.structs.replace(entries[2], event=Attempt("1.3", "add", "hash", 30.0))
    other = with_entries(record, *entries[:2], attempt, *entries[2:])
    agent = by_name("parallel calls, one fails").agent(tmp_path)
    step, field, message = await divergence(agent, other)
    assert (step, field) == (1, "event")
    assert "never derives this entry" in message


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_long_replay_is_not_taken_for_one_that_is_stuck(anyio_backend: str) -> None:
    """Whether all its tasks wait is looked at ten times a second, whatever they are at."""
    steps, calls = 400, [act("lookup", key=str(number)) for number in range(8)]
    said = iter([*(acts(*calls) for _ in range(steps)), say("done")])
    model = ScriptedModel([lambda _: next(said)] * (steps + 1), tools=[lookup])
    limits = Limits(steps=steps + 1, tool_calls=8 * steps, no_progress=None)
    agent, store = Agent(model=model, tools=[lookup], limits=limits), MemoryStore()
    await run(agent, "What is it?", store=store, run_id="run")
    record = await load(store, "run")
    for _ in range(8):
        again = await replay(agent.engine, record, store)
        assert len(again.trajectory) == len(record)


async def test_a_verdict_field_that_differs_is_named(tmp_path: Path) -> None:
    record = await record_of("plain answer", tmp_path)
    stop = msgspec.structs.replace(record.entries[-1], event=Stop("answered", "", "It is 43."))
    other = with_entries(record, *record.entries[:-1], stop)
    step, field, _ = await divergence(by_name("plain answer").agent(tmp_path), other)
    assert (step, field) == (1, "answer")


def in_other_words(event: Any) -> Any:
    """The event as another wording of clew would have it."""
    words = "other words"
    match event:
        case Judged():
            return replaced(event, verdict=replaced(event.verdict, reason=words))
        case Observation(code=code) if code:
            return replaced(event, content=words)
        case Attempt(after=after) if after:
            return replaced(event, after=words)
        case Landing() | Stop():
            return replaced(event, **{"detail" if isinstance(event, Landing) else "reason": words})
        case _:
            return event


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
async def test_a_replay_passes_over_other_words_for_the_same_and_says_so(
    scenario: Scenario, tmp_path: Path
) -> None:
    record = await record_of(scenario.name, tmp_path)
    thoughts = [entry.seq for entry in record.entries if isinstance(entry.event, Thought)]
    later = [  # what stands before a thought is in its prompt, and told by its fingerprints
        replaced(entry, event=in_other_words(entry.event)) if entry.seq > thoughts[-1] else entry
        for entry in record.entries
    ]
    told = Trajectory(record.run_id, later)
    replayed = await replay(without_world(scenario.agent(tmp_path)).engine, told, MemoryStore())
    assert replayed.trajectory.entries == told.entries
    (passed,) = replayed.passed_over
    assert passed.startswith("words: ")


@pytest.mark.parametrize("field", ["code", "detail", "answer", "status"])
async def test_a_replay_passes_over_nothing_else(field: str, tmp_path: Path) -> None:
    record = await record_of("plain answer", tmp_path)
    changed = {"code": "steps", "detail": "x", "answer": "x", "status": "failed"}
    stop = replaced(record.entries[-1].event, reason="other words", **{field: changed[field]})
    other = with_entries(record, *record.entries[:-1], replaced(record.entries[-1], event=stop))
    _, at, _ = await divergence(by_name("plain answer").agent(tmp_path), other)
    assert at == field


async def test_prompts_of_an_older_codec_are_passed_over_and_said(tmp_path: Path) -> None:
    record = await record_of("one call", tmp_path)
    started = record.started
    setting = msgspec.structs.replace(started.spec, codec="native/0")
    first = msgspec.structs.replace(started, spec=setting)
    old = [msgspec.structs.replace(record.entries[0], event=first), *record.entries[1:]]
    for place, entry in enumerate(old):
        if isinstance(entry.event, Thought):
            prints = msgspec.structs.replace(entry.event.prints, head="0" * 16)
            thought = msgspec.structs.replace(entry.event, prints=prints)
            old[place] = msgspec.structs.replace(entry, event=thought)
    agent = by_name("one call").agent(tmp_path)
    replayed = await replay(agent.engine, with_entries(record, *old), MemoryStore())
    assert replayed.passed_over == ("prompts: rendered by native/0 then",)


class Before(Native):
    """The format as it once might have been: an answer had one line."""

    @property
    def name(self) -> str:
        return "native/1"

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        if reply.calls:
            return super().parse(prompt_spec, reply)
        return Parsed(answer=reply.text.partition("\n")[0])


async def test_replies_that_an_older_codec_read_otherwise_are_replayed_as_it_read_them() -> None:
    script = [say("42\nmen"), say("43")]  # the second is read the same by both
    agent = Agent(model=ScriptedModel(script), tools=[lookup], codec=Before())
    store = MemoryStore()
    assert (await run(agent, "What?", store=store, run_id="run")).answer == "42"
    assert (await resume(agent, "run", say="And then?", store=store)).answer == "43"
    replayed = await replay(
        agent.replace(codec="native").engine, await load(store, "run"), MemoryStore()
    )
    assert [step.thought.answer for step in replayed.trajectory.steps if step.thought] == [
        "42",
        "43",
    ]
    assert replayed.passed_over == (
        "prompts: rendered by native/1 then",
        "replies: as native/1 read them then",
    )


@pytest.mark.parametrize("script", [[say("42")], [act("lookup", key="a"), say("42")]])
async def test_a_newer_version_of_a_format_takes_nothing_back(script: list[Any]) -> None:
    """A run that has stopped stays as it is, and one that lands is not told that it may call."""
    limits = Limits(steps=1)
    old = Agent(model=ScriptedModel(script), tools=[lookup], codec=Before(), limits=limits)
    new, store = old.replace(codec="native"), MemoryStore()
    ended = await run(old, "What?", store=store, run_id="run")
    before = await load(store, "run")
    assert (await resume(new, "run", store=store)).status == ended.status
    assert (await load(store, "run")).entries == before.entries
    for cut in range(1, len(before.entries)):
        place = await copy((await store.read("run"))[:cut])
        assert (await resume(new, "run", store=place)).status == ended.status
        again = await load(place, "run")
        assert not any(isinstance(entry.event, Changed) for entry in again.entries)
        assert (again.landing is None) == (before.landing is None)
        await replay(new.engine, again, MemoryStore())


def test_retries_replay_without_waiting() -> None:
    """On a clock that jumps to the next thing that is waited for: nothing is timed."""
    errors: list[Exception] = [ToolError("busy"), RuntimeError("lost")]

    async def call(args: dict[str, Any], key: str) -> str:
        if errors:
            raise errors.pop()
        return "done"

    retry = Retry(2, delay=60.0)
    work = Tool(
        "work",
        "Work.",
        {"type": "object"},
        call,
        effect="idempotent",
        attempts=Attempts(retry=retry),
    )
    agent = Agent(model=ScriptedModel([act("work"), say("ok")]), tools=[work])

    async def main() -> None:
        store = MemoryStore()
        began = trio.current_time()
        await run(agent, "Work!", store=store, run_id="run")
        assert trio.current_time() >= began + 60
        ended = trio.current_time()
        record = await load(store, "run")
        assert [type(e.event).__name__ for e in record.entries].count("Attempt") == 3
        replayed = await replay(without_world(agent).engine, record, MemoryStore())
        assert replayed.trajectory.entries == record.entries
        assert trio.current_time() == ended

    trio.run(main, clock=MockClock(autojump_threshold=0))


async def test_several_guards_on_one_call_replay() -> None:
    async def first(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("hint", "one") if call.action.args.get("key") == "a" else None

    async def second(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("hint", "two")

    script = [act("lookup", key="a"), act("lookup", key="b"), say("ok")]
    agent = Agent(model=ScriptedModel(script), tools=[lookup], guards=[first, second])
    store = MemoryStore()
    await run(agent, "What?", store=store, run_id="run")
    record = await load(store, "run")
    assert [len(call.hints) for call in record.calls] == [2, 1]
    replayed = await replay(without_world(agent).engine, record, MemoryStore())
    assert replayed.trajectory.entries == record.entries


async def test_what_is_too_long_for_a_line_replays_too() -> None:
    async def call(args: dict[str, Any], key: str) -> str:
        return "x" * (BLOB_BYTES + 1)

    work = Tool("work", "Work.", {"type": "object"}, call, effect="read")
    agent = Agent(model=ScriptedModel([act("work"), say("ok")]), tools=[work])
    store = MemoryStore()
    await run(agent, "Work!", store=store, run_id="run")
    record = await load(store, "run")
    seen = record.call("1.1").observation
    assert seen is not None
    assert seen.blob
    replayed = await replay(without_world(agent).engine, record, MemoryStore())
    assert replayed.trajectory.entries == record.entries


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_a_replay_that_is_slow_makes_no_call_late() -> None:
    store, hurried = MemoryStore(), replace(lookup, attempts=Attempts(timeout=1e-9))
    script = [act("lookup", key="a"), say("done")]
    result = await run(Agent(ScriptedModel(script), [lookup]), "Which?", store=store)
    record = await load(store, result.run_id)
    for _ in range(20):
        await replay(Agent(ScriptedModel(script), [hurried]).engine, record, MemoryStore())
