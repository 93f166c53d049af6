"""The ways in: run, resume, stream, batch, cancel, and their sync twins."""

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    Entry,
    MemoryStore,
    ModelError,
    Result,
    RunContext,
    StoreError,
    Token,
    batch,
    cancel,
    open_store,
    read,
    replay,
    resume,
    rule,
    run,
    run_sync,
    stream,
    sync,
    tool,
)
from clew.agent.runner import start
from clew.core.contents import Reply
from clew.core.events import Cancel, Started, Stop, Thought
from clew.core.journal import Journal
from clew.core.loop import run as go
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.testing.models import ScriptedModel, act, acts, finish, recorded, say
from tests.core.play import events
from tests.core.scenarios import Ledger, effect_tools, hold_sends, lookup
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops


def agent(*script: Any, **options: Any) -> Agent:
    return Agent(model=ScriptedModel(script, tools=[lookup]), **{"tools": [lookup], **options})


TWO_STEPS = (act("lookup", thought="Look at a.", key="a"), say("It is a."))


async def test_a_run_lands_in_the_default_store_and_is_read_from_there() -> None:
    found = await run(agent(*TWO_STEPS), "What is a?", origin={"who": "a test"})
    record = await read(found.run_id)
    assert record.goal == "What is a?"
    assert isinstance(record.entries[-1].event, Stop)
    assert record.started.origin["who"] == "a test"
    assert Path(os.environ["CLEW_STORE"]).exists()


async def test_an_empty_question_is_refused() -> None:
    with pytest.raises(ConfigError, match="the question is empty"):
        await run(agent(say("ok")), "  \n", store=MemoryStore())


async def test_an_unknown_run_is_named() -> None:
    with pytest.raises(StoreError, match="nowhere"):
        await resume(agent(say("ok")), "nowhere", store=MemoryStore())


async def test_resuming_a_run_that_is_done_gives_its_result_again() -> None:
    store = MemoryStore()
    first = await run(agent(*TWO_STEPS), "What is a?", store=store, run_id="run")
    again = await resume(agent(*TWO_STEPS), "run", store=store)
    assert again == first
    assert len(await read("run", store=store)) == 5


async def test_a_model_that_fails_leaves_the_record_open() -> None:
    store = MemoryStore()
    with pytest.raises(ModelError, match="the script is over"):
        await run(agent(TWO_STEPS[0]), "What is a?", store=store, run_id="run")
    assert (await read("run", store=store)).stop is None
    found = await resume(agent(*TWO_STEPS), "run", store=store)
    assert found.answer == "It is a."


async def test_a_stream_shows_entries_and_tokens_and_ends_with_the_result() -> None:
    async with stream(agent(*TWO_STEPS), "What is a?", store=MemoryStore()) as shown:
        seen = [item async for item in shown]
    entries = [item.event for item in seen if isinstance(item, Entry)]
    assert isinstance(entries[0], Started)
    assert isinstance(entries[-1], Stop)
    tokens = [item.text for item in seen if isinstance(item, Token)]
    assert tokens == ["Look", " at", " a.", "It", " is", " a."]
    assert shown.result is not None
    assert shown.result.answer == "It is a."
    with pytest.raises(TypeError, match="ownr"):
        sync.start(agent(), "What is a?", ownr="ada")  # type: ignore[call-arg]  # it is refused


def test_the_sync_twins_take_deps() -> None:
    @tool(effect="read")
    def who(ctx: RunContext[str]) -> str:
        """Say who asks."""
        return ctx.deps

    store = MemoryStore()
    asking: Agent[str, str] = Agent(ScriptedModel([act("who"), say("ok")]), tools=[who])
    with sync.stream(asking, "Who?", deps="ada", store=store, run_id="r") as events:
        assert str(events.wait()) == "ok"
    sync.start(asking, "Who?", deps="bob", store=store, run_id="s").wait()
    seen = [sync.read(run_id, store=store).calls[0].observation for run_id in ("r", "s")]
    assert [each and each.content for each in seen] == ["ada", "bob"]


async def test_leaving_a_stream_early_leaves_a_record_that_resumes() -> None:
    store = MemoryStore()
    async with stream(agent(*TWO_STEPS), "What is a?", store=store, run_id="run") as shown:
        async for item in shown:
            if isinstance(item, Entry) and isinstance(item.event, Thought):
                break
    assert (await resume(agent(*TWO_STEPS), "run", store=store)).answer == "It is a."


async def test_an_error_in_a_stream_is_one_error() -> None:
    async def show() -> None:
        async with stream(agent(TWO_STEPS[0]), "What is a?", store=MemoryStore()) as shown:
            async for _ in shown:
                pass

    with pytest.raises(ModelError):
        await show()


async def test_a_batch_answers_all_and_tells_as_it_goes() -> None:
    told: list[tuple[int, int, str]] = []

    def on_done(done: int, total: int, result: Result) -> None:
        told.append((done, total, result.status))

    def answer(prompt: Prompt) -> Any:
        goal = prompt.head[-1].text
        return act("lookup", key="a") if goal == "fail" else say(f"about {goal}")

    goals = ["one", "fail", "three"]
    found = await batch(agent(answer), goals, at_once=2, store=MemoryStore(), on_done=on_done)
    assert [result.answer for result in found] == ["about one", None, "about three"]
    assert (found[1].status, found[1].reason[:6]) == ("failed", "the sc")
    assert [(done, total) for done, total, _ in told] == [(1, 3), (2, 3), (3, 3)]


async def test_a_recorded_model_says_it_again() -> None:
    store = MemoryStore()
    first = await run(agent(*TWO_STEPS), "What is a?", store=store, run_id="run")
    model = recorded(await read("run", store=store))
    again = await run(agent().replace(model=model), "What is a?", store=store, run_id="again")
    assert (again.answer, again.steps) == (first.answer, first.steps)
    records = [await read(run_id, store=store) for run_id in ("run", "again")]
    assert records[0].started.spec == records[1].started.spec


async def test_many_runs_at_once_share_one_store(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.sqlite")
    found = await batch(agent(*TWO_STEPS), [f"{n}?" for n in range(40)], at_once=40, store=store)
    assert {result.status for result in found} == {"answered"}
    assert len({result.run_id for result in found}) == 40
    await store.close()


@dataclass(frozen=True)
class Waiting:
    """A model that thinks until it is stopped."""

    thinking: anyio.Event
    info = ModelInfo("waiting:1", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Never come to an end."""
        self.thinking.set()
        await anyio.sleep_forever()
        return Reply()


async def test_a_cancelled_task_writes_nothing_and_resumes() -> None:
    store, thinking = MemoryStore(), anyio.Event()
    waiting = Agent(model=Waiting(thinking), tools=[lookup])
    journal = await start(waiting, "What is a?", store, run_id="run")
    async with anyio.create_task_group() as group:
        group.start_soon(go, waiting.engine, journal)
        await thinking.wait()
        group.cancel_scope.cancel()
    assert events(await read("run", store=store)) == ["Started"]
    found = await resume(agent(*TWO_STEPS), "run", store=store, accept_change=True)
    assert found.answer == "It is a."


async def test_a_person_who_cancels_closes_what_is_pending(tmp_path: Path) -> None:
    begun = anyio.Event()

    @tool(effect="unsafe", name="stuck", timeout=0.2)  # it is seen to its end
    async def stuck() -> str:
        """Never end."""
        begun.set()
        await anyio.sleep_forever()
        return "never"

    tools = [stuck, *effect_tools(Ledger(tmp_path / "effects"))]
    script = [acts(act("stuck"), act("send", text="hi")), say("stopped"), say("again")]
    held = Agent(model=ScriptedModel(script, tools=tools), tools=tools, guards=[hold_sends])
    store = MemoryStore()
    journal = await start(held, "Do it", store, run_id="run")
    async with anyio.create_task_group() as group:
        group.start_soon(go, held.engine, journal)
        await begun.wait()
        group.cancel_scope.cancel()
    await journal.record(Cancel("enough"))
    trajectory = await go(held.engine, journal)
    assert trajectory.stop is not None
    assert (trajectory.stop.status, trajectory.stop.reason) == ("interrupted", "enough")
    outcomes = [call.observation.outcome for call in trajectory.calls if call.observation]
    assert outcomes == ["unknown", "not_done"]
    assert (await replay(held, "run", store=store)).trajectory.entries == trajectory.entries
    assert (await resume(held, "run", say="And now?", store=store)).answer == "stopped"
    again = await read("run", store=store)
    assert (await replay(held, "run", store=store)).trajectory.entries == again.entries


async def test_a_cancel_from_outside_waits_in_the_inbox() -> None:
    store = MemoryStore()
    await start(agent(*TWO_STEPS), "What is a?", store, run_id="run")
    await cancel("run", why="not needed", store=store)
    found = await resume(agent(*TWO_STEPS), "run", store=store)
    assert (found.status, found.reason) == ("interrupted", "not needed")
    assert (await resume(agent(*TWO_STEPS), "run", store=store)).answer == "It is a."
    await replay(agent(*TWO_STEPS), "run", store=store)


async def test_a_cancel_closes_what_was_held(tmp_path: Path) -> None:
    store = MemoryStore()
    tools = effect_tools(Ledger(tmp_path / "effects"))
    script = [act("send", text="hi"), say("sent")]
    held = Agent(model=ScriptedModel(script, tools=tools), tools=tools, guards=[hold_sends])
    assert (await run(held, "Send hi", store=store, run_id="run")).status == "held"
    await cancel("run", why="no need", store=store)
    found = await resume(held, "run", store=store)
    assert (found.status, found.reason) == ("interrupted", "no need")
    record = await read("run", store=store)
    observation = record.call("1.1").observation
    assert observation
    assert (observation.code, observation.outcome) == ("interrupted", "not_done")
    assert (await replay(held, "run", store=store)).trajectory.entries == record.entries


async def test_another_agent_does_not_reopen_an_answered_run() -> None:
    store = MemoryStore()
    first = await run(agent(*TWO_STEPS), "What is a?", store=store, run_id="run")
    other = agent(*TWO_STEPS, prompt="Be brief.")
    again = await resume(other, "run", store=store, accept_change=True)
    assert (again.answer, again.steps) == (first.answer, first.steps)


async def test_only_a_held_call_can_be_ruled_on() -> None:
    store = MemoryStore()
    await run(agent(*TWO_STEPS), "What is a?", store=store, run_id="run")
    with pytest.raises(ConfigError, match="does not wait for a ruling; held: none"):
        await rule("run:1.1", allow=True, store=store)
    with pytest.raises(ConfigError, match="has no call"):
        await rule("run:7.7", allow=True, store=store)


async def test_a_key_of_the_environment_stays_out_of_the_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-indeed")
    store = MemoryStore()
    await run(agent(say("the key is sk-very-secret-indeed")), "What?", store=store, run_id="run")
    assert not [line for line in await store.read("run") if b"very-secret" in line.body]


async def test_a_place_may_be_named_by_its_path(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "runs.sqlite"
    found = await run(agent(*TWO_STEPS), "What is a?", store=place)
    assert (await read(found.run_id, store=str(place))).goal == "What is a?"


def test_the_sync_twins_do_the_same(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    tools = effect_tools(Ledger(tmp_path / "effects"))
    script = [act("send", text="hi"), say("sent"), say("bye")]
    held = Agent(model=ScriptedModel(script, tools=tools), tools=tools, guards=[hold_sends])
    assert run_sync(held, "Send hi", store=place, run_id="run").status == "held"
    sync.rule("run:1.1", allow=True, store=place)
    assert sync.resume(held, "run", store=place).answer == "sent"
    assert sync.resume(held, "run", say="And?", store=place).answer == "bye"
    assert len(sync.replay(held, "run", store=place).trajectory) == len(
        sync.read("run", store=place)
    )
    sync.cancel("run", store=place)
    assert [r.answer for r in sync.batch(agent(say("ok")), ["a", "b"], store=place)] == ["ok"] * 2
    with sync.stream(agent(*TWO_STEPS), "What is a?", store=place) as shown:
        kinds = {type(item).__name__ for item in shown}
    assert kinds == {"Entry", "Token", "Withdrawn", "Calling", "PartialCall"}
    assert shown.result is not None
    assert shown.result.answer == "It is a."


async def test_the_sync_twins_work_where_a_loop_is_running(tmp_path: Path) -> None:
    found = run_sync(agent(*TWO_STEPS), "What is a?", store=tmp_path / "runs.sqlite")
    assert found.answer == "It is a."


async def test_a_journal_of_a_user_may_be_driven_step_by_step() -> None:
    journal = await start(agent(finish("a")), "What is a?", MemoryStore())
    assert isinstance(journal, Journal)
    assert (await go(agent(finish("a")).engine, journal)).stop is not None


def test_the_sync_twins_share_one_loop(tmp_path: Path) -> None:
    loops: set[object] = set()

    def look(prompt: Prompt) -> Any:
        loops.add(asyncio.get_running_loop())
        return say("ok")

    for _ in range(3):
        run_sync(agent(look), "What?", store=tmp_path / "runs.sqlite")
    assert len(loops) == 1


def test_ctrl_c_in_a_sync_twin_cancels_the_run_and_leaves_its_record_open(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    code = f"""
import signal, sys
from clew import Agent, run_sync
from clew.testing.models import ScriptedModel
import anyio, os

class Slow(ScriptedModel):
    async def complete(self, prompt, on_text=None):
        os.kill(os.getpid(), signal.SIGINT)
        await anyio.sleep_forever()

try:
    run_sync(Agent(model=Slow([])), "What?", store={str(place)!r}, run_id="run")
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
    assert events(sync.read("run", store=place)) == ["Started"]
