"""A fork begins with another run's steps: none is made again, and only what was changed differs."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew import (
    Agent,
    ConfigError,
    Limits,
    MemoryStore,
    Observation,
    Result,
    SqliteStore,
    StoreError,
    Trajectory,
    cancel,
    fork,
    open_fork,
    prompt_of,
    replay,
    resume,
    rule,
    run,
    run_sync,
    sync,
)
from clew.agent.runner import start, start_fork
from clew.codecs import by_name
from clew.core.actions import Done
from clew.core.blobs import BLOB_BYTES
from clew.core.contents import Reply, text_parts
from clew.core.done import DONE_CHARS
from clew.core.entries import decode
from clew.core.events import AnyEvent, Fingerprints, Forked, Note, Thought
from clew.core.fork import find_fork_point
from clew.core.journal import Journal, load
from clew.core.loop import run as go
from clew.core.models import OnText
from clew.core.prompts import Prompt
from clew.core.stores import Append, Store
from clew.core.tools import AgentTool, AnyTool
from clew.core.values import encode
from clew.guards import Provenance
from clew.testing.models import ScriptedModel, act, acts, finish, say
from tests.core.family import hold_letters, letters
from tests.core.play import copy, play
from tests.core.scenarios import (
    SCENARIOS,
    Ledger,
    Scenario,
    add,
    broken,
    effect_tools,
    hold_sends,
    lookup,
    must_say_42,
)
from tests.core.test_replay import without_world

pytestmark = pytest.mark.anyio

STEPS, ANSWER = 30, 12
"""The long run: it answers at step 12, is asked on, and lands with step 30."""


@dataclass
class World:
    """Counts what is really done: thoughts asked for, and calls made, by their keys."""

    thoughts: int = 0
    calls: list[str] = field(default_factory=list[str])

    def of(self, agent: Agent) -> Agent:
        """The agent, whose model and tools are counted."""
        return agent.replace(
            model=Counted(agent.engine.model, self),
            tools=[self._counted(tool) for tool in agent.tools],
        )

    def _counted(self, tool: AnyTool) -> AnyTool:
        if isinstance(tool, AgentTool):
            return tool

        async def call(args: dict[str, Any], key: str) -> Any:
            self.calls.append(key)
            return await tool.call(args, key)

        return replace(tool, call=call)


class Counted:
    """A model whose completions are counted."""

    def __init__(self, model: Any, world: World) -> None:
        self.info = model.info
        self._model, self._world = model, world

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self._world.thoughts += 1
        reply: Reply = await self._model.complete(prompt, on_text)
        return reply


def script(word: str) -> list[Any]:
    """Thirty steps: parallel calls, effects (with `word` in them), failures, faults, an answer."""
    lines: list[Any] = []
    for number in range(1, STEPS + 1):
        kinds: list[Any] = [
            act("lookup", key=f"k{number}"),
            acts(act("lookup", key=f"p{number}"), act("broken"), act("add", a=number, b=1)),
            act("send", text=f"{word} {number}"),
            Reply(text="hm", finish="length") if number % 2 else act("serach", key="x"),
            acts(
                act("put", text=f"{word} {number}"),
                act("lookup", key=f"q{number}"),
                act("send", text=f"{word} also {number}"),
            ),
        ]
        lines.append(kinds[number % 5])
    lines[ANSWER - 1] = say("first")
    lines[STEPS - 1] = say("the best there is")
    return lines


def agent_of(folder: Path, word: str = "one", **changes: Any) -> Agent:
    """The agent of the long run."""
    folder.mkdir(exist_ok=True)
    tools = [lookup, add, broken, *effect_tools(Ledger(folder / "effects"))]
    limits = Limits(steps=STEPS - ANSWER - 1, tool_calls=99)
    model, off = ScriptedModel(script(word), tools=tools), [Provenance("off")]
    return Agent(model=model, tools=tools, limits=limits, guards=off).replace(**changes)


async def long_run(folder: Path, store: Store, run_id: str = "run") -> Trajectory:
    """The long run, with a person's word and a landing in it."""
    agent = agent_of(folder)
    assert (await run(agent, "What is it?", store=store, run_id=run_id)).answer == "first"
    found = await resume(agent, run_id, say="And more?", store=store)
    assert (found.status, found.steps) == ("bound", STEPS)
    return await load(store, run_id)


def own(record: Trajectory) -> list[AnyEvent]:
    """What a fork has of its own, its first entry included."""
    events = [entry.event for entry in record.entries]
    last = max(place for place, event in enumerate(events) if isinstance(event, Forked))
    return events[last:]


def but_for_prints(thought: Thought) -> Thought:
    """A thought without what says which prompt it answered."""
    return msgspec.structs.replace(thought, prints=Fingerprints("", "", "", ""))


def told(record: Trajectory, *, prints: bool = False) -> list[AnyEvent]:
    """What happened, in the order of steps and calls: parallel calls end in any order."""
    events: list[AnyEvent] = []
    for step in (record.before, *record.steps):
        if step.thought is not None:
            events.append(step.thought if prints else but_for_prints(step.thought))
        for call in step.calls:
            events += call.attempts
            events += [call.observation] if call.observation is not None else []
        events += [aside for aside in step.notices if not isinstance(aside, Forked)]
    return [*events, *([record.stop] if record.stop is not None else [])]


STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore(folder / "runs.sqlite"),
}


@pytest.mark.parametrize(
    ("kind", "places"),
    [("memory", range(STEPS + 1)), ("sqlite", (0, 5, 6, 12, 17, 29, 30))],
)
async def test_no_step_that_is_shared_is_made_again(
    kind: str, places: range | tuple[int, ...], tmp_path: Path
) -> None:
    store = STORES[kind](tmp_path)
    whole = await long_run(tmp_path, store)
    lines = await store.read("run")
    for at in places:
        world, new_id = World(), f"fork-{at}"
        agent = world.of(agent_of(tmp_path / f"at {at}", f"fork {at}"))
        found = await fork(agent, "run", at=at, store=store, new_id=new_id)
        record = await load(store, new_id)
        last = ANSWER if at <= ANSWER else STEPS
        assert (found.run_id, found.steps) == (new_id, last)
        assert found.answer == ("first" if at <= ANSWER else "the best there is")
        assert world.thoughts == last - at
        made = [
            f"{new_id}:{call.key}"
            for step in record.steps[at:]
            for call in step.calls
            if call.observation is not None and call.observation.made
        ]
        assert sorted(world.calls) == sorted(made)
        forked = own(record)[0]
        assert isinstance(forked, Forked)
        shared = len(record) - len(own(record))
        assert (await store.read(new_id))[:shared] == lines[:shared]
        assert [step.thought for step in record.steps[:at]] == [
            step.thought for step in whole.steps[:at]
        ]
        assert (forked.parent, forked.step, forked.again) == ("run", at, 0)
        assert record.total.usage.tokens == 15 * sum(
            step.thought is not None and step.thought.reply.usage.output > 0 for step in record
        )
        replayed = await replay(without_world(agent), new_id, store=store)
        assert replayed.trajectory.entries == record.entries
        (passed,) = replayed.passed_over
        assert passed.startswith(f"entries 1 to {shared + 1} were taken as they are: shared with")
    assert await store.read("run") == lines, "the run itself stays as it was"
    await store.close()


async def test_two_forks_differ_exactly_where_they_were_changed(tmp_path: Path) -> None:
    store = MemoryStore()
    await long_run(tmp_path, store)

    async def forked(new_id: str, **changes: Any) -> Trajectory:
        agent = agent_of(tmp_path / new_id, "two")
        await fork(agent, "run", at=21, store=store, new_id=new_id, **changes)
        return await load(store, new_id)

    first, second = await forked("a"), await forked("b")
    assert told(first, prints=True) == told(second, prints=True)
    left = await forked("c", observations={"21.2": "left"})
    right = await forked("d", observations={"21.2": {"which": "right"}})
    for changed, content in ((left, "left"), (right, {"which": "right"})):
        differing = [
            (was, now) for was, now in zip(told(first), told(changed), strict=True) if was != now
        ]
        ((was, now),) = differing
        assert isinstance(was, Observation)
        assert was.call == "21.2"
        assert isinstance(now, Observation)
        assert (now.call, now.content, now.ok, now.trust) == ("21.2", content, True, "untrusted")
        assert changed.forks[0].what == ("observation 21.2",)
    assert [left.steps[n].thought == right.steps[n].thought for n in range(STEPS)] == [
        n < 21 for n in range(STEPS)
    ], "the prompts before the change are the same, and none after it"


async def test_a_fork_with_all_else_the_same_needs_a_ruling_on_what_was_done_already(
    tmp_path: Path,
) -> None:
    store = MemoryStore()
    whole = await long_run(tmp_path, store)
    agent = agent_of(tmp_path)
    found = await fork(agent, "run", at=26, store=store, new_id="again")
    rulings = 0
    while found.status == "held":
        record = await load(store, "again")
        for call in [call for call in record.calls if call.held]:
            assert call.verdict is not None
            assert call.verdict.by == "AlreadyDone()"
            assert f"already, by run:{call.key}" in call.verdict.verdict.reason
            await rule(f"again:{call.key}", allow=True, store=store)
            rulings += 1
        found = await resume(agent, "again", store=store)
    assert (found.status, found.answer, rulings) == ("bound", "the best there is", 3)
    record = await load(store, "again")
    assert [but_for_prints(s.thought) for s in record if s.thought] == [
        but_for_prints(s.thought) for s in whole if s.thought
    ]
    assert (await replay(without_world(agent), "again", store=store)).trajectory.entries


@pytest.mark.parametrize("observations", [{}, {"21.2": "another value"}], ids=["plain", "changed"])
async def test_cut_after_every_entry_of_its_own_a_fork_goes_on_to_the_same_end(
    observations: dict[str, Any], tmp_path: Path
) -> None:
    store = MemoryStore()
    await long_run(tmp_path, store)
    agent = agent_of(tmp_path / "fork", "two")
    whole = await fork(agent, "run", at=21, observations=observations, store=store, new_id="fork")
    lines = await store.read("fork")
    (info,) = [info for info in await store.runs() if info.run_id == "fork"]
    assert info.base is not None
    (forked,) = (
        e.event for e in (await load(store, "fork")).entries if isinstance(e.event, Forked)
    )
    assert bool(forked.again) == bool(observations)
    for place in range(info.base.seq + 1 + forked.again, len(lines)):
        folder = tmp_path / str(place)
        new_id = f"cut {place}"
        await store.create(new_id, info.base)
        await store.append(Append(new_id, 1, tuple(lines[info.base.seq : place])))
        world = World()
        cut_agent = world.of(agent_of(folder, "two"))
        again = await resume(cut_agent, new_id, store=store)
        assert (again.status, again.answer, again.steps) == (
            whole.status,
            whole.answer,
            whole.steps,
        )
        assert all(int(key.partition(":")[2].partition(".")[0]) > 21 for key in world.calls)
        record = await load(store, new_id)
        replayed = await replay(without_world(cut_agent), new_id, store=store)
        assert replayed.trajectory.entries == record.entries


async def test_a_fork_whose_maker_died_before_its_first_entry_is_no_run(tmp_path: Path) -> None:
    store = MemoryStore()
    record = await long_run(tmp_path, store)
    await store.create("half", find_fork_point(record, 3).base)
    with pytest.raises(StoreError, match="has no beginning"):
        await resume(agent_of(tmp_path), "half", store=store)


async def test_forks_of_forks_share_and_replay(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    await long_run(tmp_path, store)
    run_id = "run"
    for depth, at in enumerate((28, 27, 20, 25, 10, 11), start=1):
        world = World()
        agent = world.of(agent_of(tmp_path / str(depth), f"depth {depth}"))
        most = len((await load(store, run_id)).steps)
        found = await fork(agent, run_id, at=min(at, most), store=store, new_id=f"f{depth}")
        assert world.thoughts == found.steps - min(at, most)
        record = await load(store, found.run_id)
        replayed = await replay(without_world(agent), found.run_id, store=store)
        assert replayed.trajectory.entries == record.entries
        run_id = found.run_id
    parents = [[f.parent for f in (await load(store, f"f{n}")).forks] for n in range(1, 7)]
    assert parents == [["run"], ["run"], ["run"], ["run", "f3"], ["run"], ["run", "f5"]]
    bases = {info.run_id: info.base for info in await store.runs() if info.base is not None}
    assert {run: base.run_id for run, base in bases.items()} == {
        "f1": "run", "f2": "run", "f3": "run", "f4": "f3", "f5": "run", "f6": "f5",
    }  # fmt: skip
    await store.close()


@pytest.mark.parametrize("codec", ["paper", "labelled"])
@pytest.mark.parametrize("at", [0, 7, 15, 29])
async def test_another_model_with_another_format_takes_over(
    codec: str, at: int, tmp_path: Path
) -> None:
    store = MemoryStore()
    await long_run(tmp_path, store)
    tools = [lookup]
    prompts: list[Prompt] = []

    def answer(prompt: Prompt) -> Any:
        prompts.append(prompt)
        return finish("taken over")

    model = ScriptedModel([answer] * 99, codec=codec, tools=tools, name="other:model")
    agent = Agent(model=model, tools=tools, codec=codec, limits=Limits(steps=40))
    found = await fork(agent, "run", at=at, store=store)
    assert (found.status, found.answer, found.steps) == ("answered", "taken over", at + 1)
    record = await load(store, found.run_id)
    (forked,) = record.forks
    assert {"model", "codec", "tools.send", "tools.add", "parts.limits"} <= set(forked.what)
    assert forked.spec.codec == by_name(codec).name
    (prompt,) = prompts
    text = "\n".join(part.text for part in prompt)
    assert ("the value of k5" in text) is (at >= 5)
    assert "Already done in the world, after this point" in text or at == 29
    assert (await prompt_of(found.run_id, store=store)).differs == ()
    if at:  # its thought answered a prompt of the agent of the time
        shared = await prompt_of(found.run_id, at, store=store)
        assert (shared.spec.codec, shared.differs) == ("native/3", ())
    replayed = await replay(without_world(agent), found.run_id, store=store)
    assert replayed.trajectory.entries == record.entries


# --------------------------------------------------------------------- what stays done


def sender(folder: Path, *lines: Any, **options: Any) -> Agent:
    """An agent that has effects."""
    tools = [lookup, *effect_tools(Ledger(folder / "effects"))]
    guards = [*options.pop("guards", ()), Provenance("off")]
    return Agent(model=ScriptedModel(lines, tools=tools), tools=tools, guards=guards, **options)


async def test_what_the_parent_did_after_the_cut_stays_in_view(tmp_path: Path) -> None:
    store = MemoryStore()
    text = "x" * 300
    agent = sender(
        tmp_path,
        act("lookup", key="a"),
        acts(act("send", text="hello"), act("put", text=text), act("lookup", key="b")),
        finish("sent"),
    )
    await run(agent, "Say hello", store=store, run_id="run")
    prompts: list[str] = []

    def look(prompt: Prompt) -> Any:
        prompts.append("\n".join(part.text for part in prompt))
        return act("send", text="goodbye")

    other = sender(
        tmp_path, act("lookup", key="a"), look, act("send", text="hello"), finish("again")
    )
    held = await fork(other, "run", at=1, store=store, new_id="fork")
    assert held.status == "held"
    record = await load(store, "fork")
    (forked,) = record.forks
    assert [(done.key, done.tool, done.outcome) for done in forked.done] == [
        ("run:2.1", "send", "done"),
        ("run:2.2", "put", "done"),
    ]
    assert [done.text for done in forked.done] == [
        'send({"text":"hello"})',
        f'put({{"text":"{text}'[: DONE_CHARS - 1] + "…",
    ]
    assert (
        "by the run this one was forked from (do not do it again unless it is to happen twice):\n"
        '- send({"text":"hello"})\n- put(' in prompts[0]
    )
    assert [call.key for call in record.calls if call.held] == ["3.1"]
    *before, last = Ledger(tmp_path / "effects").lines()
    assert sorted(before) == [f"put run:2.2 {text}", "send run:2.1 hello"]
    assert last == "send fork:2.1 goodbye"
    await rule("fork:3.1", allow=True, store=store)
    assert (await resume(other, "fork", store=store)).answer == "again"
    assert Ledger(tmp_path / "effects").lines()[3:] == ["send fork:3.1 hello"]


async def test_what_is_unknown_is_told_as_unknown(tmp_path: Path) -> None:
    store = MemoryStore()
    agent = sender(tmp_path, act("lookup", key="a"), act("send", text="hello"), say("ok"))
    await run(agent, "Say hello", store=store, run_id="run")
    lines = await store.read("run")
    attempt = next(line.seq for line in lines if b'"event":"attempt"' in line.body)
    store = await copy(lines[:attempt])
    other = sender(tmp_path, act("lookup", key="a"), act("send", text="hello"), say("ok"))
    found = await fork(other, "run", at=1, store=store, new_id="fork")
    assert found.status == "held"
    record = await load(store, "fork")
    assert record.forks[0].done[0].outcome == "unknown"
    (verdict,) = [call.verdict for call in record.calls if call.verdict]
    assert verdict is not None
    assert verdict.verdict.reason.startswith("this may have been done already, by run:2.1")
    native, paper = by_name("native"), by_name("paper")
    for codec in (native, paper):
        parts = codec.render(agent.engine.prompt_spec, record.steps[0])
        assert parts[-1].text.endswith('send({"text":"hello"}) (it may or may not have happened)')
    with pytest.raises(ConfigError, match=r"give 0 to 1 \(step 2 waits for 2\.1\)"):
        await fork(other, "run", at=2, store=store)


async def test_an_observation_of_an_effect_may_be_changed_and_the_effect_is_told(
    tmp_path: Path,
) -> None:
    store = MemoryStore()
    agent = sender(
        tmp_path,
        acts(act("lookup", key="a"), act("send", text="hello"), act("put", text="p")),
        say("ok"),
    )
    await run(agent, "Say hello", store=store, run_id="run")
    failed = Observation(content="ERROR: no line", ok=False, code="tool_error", outcome="not_done")
    changed = {"1.2": failed, "1.1": [1, {"x": "y" * BLOB_BYTES}]}
    async with open_fork(
        agent, "run", at=1, observations=changed, store=store, new_id="fork"
    ) as opened:
        record = await load(store, "fork")
        assert record.entries == opened.record.entries
    first, second, third = record.steps[0].calls
    assert first.observation is not None
    assert second.observation is not None
    assert third.observation is not None
    assert (first.observation.content, first.observation.effect) == (changed["1.1"], "read")
    assert (second.observation.text, second.observation.ok) == ("ERROR: no line", False)
    assert (second.observation.effect, second.observation.trust) == ("unsafe", "untrusted")
    assert third.observation.text == "stored p"
    (forked,) = record.forks
    assert [done.key for done in forked.done] == ["run:1.2"]
    assert forked.what == ("observation 1.2", "observation 1.1")
    assert record.total.calls == {"lookup": 1, "send": 1, "put": 1}
    assert (await resume(agent, "fork", store=store)).answer == "ok"

    # Forked again at the same step: what the first fork tells stays, the call is still the run's.
    twice = {"1.3": "p?"}
    async with open_fork(agent, "fork", at=1, observations=twice, store=store, new_id="third"):
        pass
    third_record = await load(store, "third")
    told_of = [done.key for forked in third_record.forks for done in forked.done]
    assert sorted(told_of) == ["run:1.2", "run:1.3"]
    async with open_fork(agent, "third", at=0, store=store, new_id="anew"):
        pass
    (anew,) = (await load(store, "anew")).forks
    assert anew.parent == "run"
    assert {done.key for done in anew.done} == {"run:1.2", "run:1.3"}


# --------------------------------------------------------------------- answers and words


async def finishing(*lines: Any, tools: Any = (lookup, broken), **options: Any) -> MemoryStore:
    """A store with a run of such an agent."""
    store = MemoryStore()
    agent = Agent(model=ScriptedModel(lines, tools=tools), tools=tools, **options)
    await run(agent, "What is it?", store=store, run_id="run")
    return store


async def test_an_answer_is_judged_anew_by_the_fork() -> None:
    store = await finishing(acts(act("lookup", key="a"), finish("41")))
    strict = Agent(
        model=ScriptedModel([say("?"), finish("42")], tools=[lookup]),
        tools=[lookup],
        checks=[must_say_42],
    )
    found = await fork(strict, "run", at=1, store=store, new_id="fork")
    assert (found.answer, found.steps) == ("42", 2)
    refused = (await load(store, "fork")).call("1.2").observation
    assert refused is not None
    assert refused.code == "rejected"
    again = await fork(strict.replace(checks=[]), "run", at=1, store=store)
    assert (again.answer, again.steps) == ("41", 1)


async def test_an_answer_beside_a_changed_observation_is_judged_anew() -> None:
    store = await finishing(acts(act("broken"), finish("done")), finish("broken"))
    agent = Agent(model=ScriptedModel([say("?")]), tools=[lookup, broken])
    found = await fork(agent, "run", at=1, observations={"1.1": "fine"}, store=store)
    assert (found.answer, found.steps) == ("done", 1)
    spoken = agent.replace(model=ScriptedModel([say("?"), say("well")]))
    found = await fork(
        spoken, "run", at=1, observations={"1.1": "fine"}, say="Are you sure?", store=store
    )
    assert (found.answer, found.steps) == ("well", 2)
    closed = (await load(store, found.run_id)).call("1.2").observation
    assert closed is not None
    assert closed.text == "ERROR: interrupted: a person spoke before it was looked at"
    replayed = await replay(without_world(spoken), found.run_id, store=store)
    assert len(replayed.trajectory.steps) == 2


@pytest.mark.parametrize("line", [say("first"), finish("first")], ids=["text", "finish"])
async def test_a_word_is_answered_after_an_answer(line: Any) -> None:
    store = await finishing(line)
    agent = Agent(model=ScriptedModel([line, say("second")]))
    found = await fork(agent, "run", at=1, say="And then?", store=store, new_id="fork")
    assert (found.answer, found.steps) == ("second", 2)
    record = await load(store, "fork")
    assert [n.text for n in record.steps[0].notices if isinstance(n, Note)] == ["And then?"]
    closing = record.call("1.1").observation if record.calls else None
    assert closing is None or closing.text == "the answer was accepted"
    assert (await replay(without_world(agent), "fork", store=store)).trajectory.stop == record.stop


async def test_a_refused_answer_belongs_to_its_step() -> None:
    store = await finishing(finish("41"), finish("42"), checks=[must_say_42])
    agent = Agent(model=ScriptedModel([say("?"), say("well")]))
    found = await fork(agent, "run", at=1, store=store)
    record = await load(store, found.run_id)
    refused = record.call("1.1").observation
    assert refused is not None
    assert (refused.code, found.answer) == ("rejected", "well")


# --------------------------------------------------------------------- rulings, interrupts, bounds


async def test_rulings_of_the_step_are_shared_and_those_to_come_are_asked_again(
    tmp_path: Path,
) -> None:
    store = MemoryStore()
    held = sender(
        tmp_path,
        acts(act("lookup", key="a"), act("send", text="hello")),
        say("sent"),
        guards=[hold_sends],
    )
    await run(held, "Say hello", store=store, run_id="run")
    with pytest.raises(ConfigError, match=r"cannot be forked at 1: give 0 to 0 \(step 1 waits for"):
        await fork(held, "run", at=1, store=store)
    await rule("run:1.2", allow=True, args={"text": "hi"}, store=store)
    await resume(held, "run", store=store)
    found = await fork(held, "run", at=1, store=store)
    assert found.answer == "sent"
    changed = await fork(held, "run", at=1, observations={"1.1": "b"}, store=store)
    assert changed.answer == "sent"
    record = await load(store, changed.run_id)
    assert record.call("1.2").args == {"text": "hi"}
    assert len(record.call("1.2").attempts) == 1
    assert (await fork(held, "run", at=0, store=store)).status == "held"
    assert Ledger(tmp_path / "effects").lines() == ["send run:1.2 hi"]


async def test_an_interrupt_does_not_end_the_fork() -> None:
    store = MemoryStore()
    tools = [lookup]

    async def stop(call: Any, trajectory: Trajectory) -> None:
        await cancel("run", why="enough", store=store)

    model = ScriptedModel([act("lookup", key="a"), act("lookup", key="b"), say("ok")], tools=tools)
    agent = Agent(model=model, tools=tools, guards=[stop])
    assert (await run(agent, "What?", store=store, run_id="run")).status == "interrupted"
    found = await fork(agent.replace(guards=[]), "run", at=1, store=store)
    assert (found.status, found.answer) == ("answered", "ok")


async def test_the_time_until_a_fork_is_made_is_no_work_and_what_was_spent_counts() -> None:
    now = 1_000_000
    store = MemoryStore()
    model = ScriptedModel([act("lookup", key="a"), act("lookup", key="b"), say("ok")])
    agent = Agent(model=model, tools=[lookup])
    journal = await start(agent, "What?", store, run_id="run")
    await go(agent.engine, journal)
    point = find_fork_point(await load(store, "run"), 1)
    journal = await start_fork(agent.replace(limits=Limits(steps=1)), point, store)
    at = journal.trajectory.entries[-2].at
    journal = await Journal.fork(
        store,
        point.base,
        point.shared,
        [journal.trajectory.forks[0]],
        clock=lambda: at + now,
    )
    assert journal.trajectory.total.active_ms < now
    less = agent.replace(limits=Limits(steps=1, landing=False), fallback="-")
    assert (await go(less.engine, journal)).stop is not None
    assert journal.trajectory.stop is not None
    assert journal.trajectory.stop.reason == "steps: 1 of 1 used"


# --------------------------------------------------------------------- what cannot be


@pytest.mark.parametrize(
    ("at", "observations", "message"),
    [
        (3, {}, "run run cannot be forked at 3: give 0 to 2"),
        (-1, {}, "run run cannot be forked at -1: give 0 to 2"),
        (1, {"2.1": "x"}, "2.1 is no call of step 1: its calls are 1.1"),
        (2, {"2.1": "x"}, "2.1 is no call of step 2: its calls are -"),
        (0, {"1.1": "x"}, "1.1 is no call of step 0: its calls are -"),
        (1, {"1.1": {object()}}, "observation 1.1 cannot be put on record: "),
        (1, {"1.1": Observation(content="x", code="odd")}, "observation 1.1 cannot be put on rec"),  # type: ignore[arg-type]  # as a person without a type checker
    ],
)
async def test_what_cannot_be_forked_is_said_before_anything_is_made(
    at: int, observations: dict[str, Any], message: str
) -> None:
    store = await finishing(act("lookup", key="a"), finish("a"))
    agent = Agent(model=ScriptedModel([say("?")]), tools=[lookup])
    with pytest.raises(ConfigError) as caught:
        await fork(agent, "run", at=at, observations=observations, store=store)
    said = str(caught.value)
    assert said.startswith(message) if message.endswith(("rec", ": ")) else said == message
    assert "\n" not in str(caught.value)
    assert [info.run_id for info in await store.runs()] == ["run"]


async def test_a_fork_needs_an_id_of_its_own() -> None:
    store = await finishing(say("a"))
    agent = Agent(model=ScriptedModel([say("?")]))
    with pytest.raises(StoreError, match="there is a run 'run' already"):
        await fork(agent, "run", at=0, store=store, new_id="run")


def test_fork_has_a_twin(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    agent = Agent(model=ScriptedModel([say("a")]))
    run_id = run_sync(agent, "What?", store=place).run_id
    found: Result = sync.fork(agent, run_id, at=0, store=place)
    assert (found.answer, found.run_id == run_id) == ("a", False)


def test_the_first_entry_of_a_fork_stays_readable() -> None:
    body = (
        b'{"event":"forked","parent":"r","step":2,"spec":{"fingerprint":"f","model":"m",'
        b'"codec":"native/1","prompt":"p"},"what":["model"],"done":[{"key":"r:3.1","tool":"send",'
        b'"hash":"h","text":"send({})","outcome":"unknown"}],"again":1,"origin":{"cli":{}}}'
    )
    event = decode(body)
    assert isinstance(event, Forked)
    assert event.done == (Done("r:3.1", "send", "h", "send({})", "unknown"),)
    assert (event.parent, event.step, event.what, event.again) == ("r", 2, ("model",), 1)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
async def test_every_run_is_forked_at_every_step_and_replayed(
    scenario: Scenario, tmp_path: Path
) -> None:
    store = MemoryStore()
    whole = await play(scenario, tmp_path, store)
    agent = scenario.agent(tmp_path)
    before = Ledger(tmp_path / "effects").lines()
    for at in range(whole.steps + 1):
        found = await fork(agent, "run", at=at, store=store, new_id=f"at-{at}")
        assert found.status in {whole.status, "answered", "held"}
        if found.status == whole.status and not scenario.then:
            assert (found.answer, found.steps) == (whole.answer, whole.steps)
        entries = (await load(store, found.run_id)).entries
        replayed = await replay(without_world(agent), found.run_id, store=store)
        assert replayed.trajectory.entries == entries
    assert Ledger(tmp_path / "effects").lines() == before, "what would happen twice is held"


async def test_a_word_between_two_observations_is_kept_behind_one_that_is_changed() -> None:
    done: list[tuple[str, str]] = []
    script = [acts(act("lookup", key="first"), act("send", text="x")), say("done")]
    agent = Agent(
        model=ScriptedModel([*script, say("so be it")]),
        tools=[lookup, letters(done)],
        guards=[hold_letters],
    )
    store = MemoryStore()
    await run(agent, "Write!", store=store, run_id="r")
    await store.post("r", encode(Note(text_parts("Take care."))))
    await rule("r:1.2", allow=True, store=store)
    assert (await resume(agent, "r", store=store)).answer == "done"
    changed = {"1.1": "another"}
    found = await fork(agent, "r", at=1, observations=changed, store=store, new_id="f")
    step = (await load(store, "f")).steps[0]
    assert [call.observation.text for call in step.calls if call.observation] == [
        "another",
        "sent x",
    ]
    notes = [e.event.text for e in (await load(store, "f")).entries if isinstance(e.event, Note)]
    assert (found.answer, notes, len(done)) == ("done", ["Take care."], 1)
    spoken = await fork(
        agent, "r", at=1, observations=changed, say="And now?", store=store, new_id="g"
    )
    step = (await load(store, "g")).steps[0]
    assert [call.observation.text for call in step.calls if call.observation] == [
        "another",
        "sent x",
    ]
    assert (spoken.answer, len(done)) == ("done", 1)


async def test_a_call_that_is_not_there_is_named_with_those_that_are() -> None:
    store = await finishing(acts(act("lookup", key="a"), act("lookup", key="b")), finish("a"))
    record = await load(store, "run")
    with pytest.raises(StoreError, match=r"has no call '9\.9'; its calls: 1\.1, 1\.2, 2\.1$"):
        record.call("9.9")
    with pytest.raises(StoreError, match=r"has no call '1\.1'; its calls: none$"):
        Trajectory("run", record.entries[:1]).call("1.1")


async def test_before_the_first_step_there_is_no_call() -> None:
    record = await load(await finishing(act("lookup", key="a"), finish("a")), "run")
    begun = Trajectory("run", record.entries[:3])  # its last step is the one with the call
    with pytest.raises(ConfigError, match=r"1\.1 is no call of step 0: its calls are -$"):
        find_fork_point(begun, 0, {"1.1": "x"})


async def test_what_was_said_in_the_last_step_is_kept_beside_what_the_cut_hides() -> None:
    script = [acts(act("lookup", key="first"), act("send", text="x")), act("send", text="y")]
    model = ScriptedModel([*script, say("done")])
    agent = Agent(model=model, tools=[lookup, letters([])], guards=[hold_letters])
    store = MemoryStore()
    await run(agent, "Write!", store=store, run_id="r")
    await store.post("r", encode(Note(text_parts("Take care."))))
    for call in ("1.2", "2.1"):
        await rule(f"r:{call}", allow=True, store=store)
        await resume(agent, "r", store=store)
    again = agent.replace(model=ScriptedModel([*script[:1], say("so be it")]))
    await fork(again, "r", at=1, store=store, new_id="f")
    told = "\n".join(part.text for part in (await prompt_of("f", 2, store=store)).prompt.parts)
    assert "Take care." in told
    assert "send(" in told
