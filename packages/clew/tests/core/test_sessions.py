"""Conversations by name, and words of several people or processes at once."""

import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    Entry,
    MemoryStore,
    Usage,
    list_runs,
    open_run,
    open_store,
    read,
    resume,
    run,
    start,
    stream,
    submit,
)
from clew.agent.session_names import session_of, session_run
from clew.conversations import branch
from clew.interfaces import ModelInfo, Note, Prompt, Reply
from clew.stores import RunNotFoundError

pytestmark = pytest.mark.both_loops


class Echo:
    """A model that answers with the last words it was told, once it may."""

    info = ModelInfo("echo:1", unmetered=True)

    def __init__(self, before: Callable[[str], Awaitable[None]] | None = None) -> None:
        self.before = before

    async def complete(self, prompt: Prompt, on_text: Any = None) -> Reply:
        del on_text
        last = [part.text for part in (*prompt.head, *prompt.parts) if part.role == "user"][-1]
        if self.before is not None:
            await self.before(last)
        return Reply(f"heard {last}", usage=Usage(1, 1), model="echo:1")


AGENT = Agent(Echo())


async def told(run_id: str, store: Any) -> list[str]:
    """The words of a conversation after the first, and that nothing is left of any of them."""
    record = await read(run_id, store=store)
    return [it.event.text for it in record.entries if isinstance(it.event, Note)]


async def test_a_session_is_begun_once_and_then_continued() -> None:
    store = MemoryStore()
    for number, words in enumerate(("one", "two", "three"), 1):
        result = await run(AGENT, words, session="Ada's trip", store=store)
        assert result.answer == f"heard {words}"
        assert result.steps == number
    (listed,) = await list_runs(store=store)
    assert (listed.session, listed.title) == ("Ada's trip", "one")


async def test_owners_do_not_share_the_names_of_sessions() -> None:
    store = MemoryStore()
    ada = await run(AGENT, "one", session="support", owner="ada", store=store)
    eve = await run(AGENT, "other", session="support", owner="eve", store=store)
    nobody = await run(AGENT, "third", session="support", store=store)
    assert len({ada.run_id, eve.run_id, nobody.run_id}) == 3
    with pytest.raises(RunNotFoundError, match="there is no run"):
        await resume(AGENT, ada.run_id, say="mine now", owner="eve", store=store)
    named = await list_runs(store=store, owner="ada", session="support")
    assert [it.run_id for it in named] == [ada.run_id]
    assert await list_runs(store=store, owner="bob", session="support") == []


@pytest.mark.parametrize("name", ["a", "x/y:z@1=2 %41", "Übung 東京", "e\u0301", "\u3164a", "-"])
def test_the_id_of_a_session_has_its_name(name: str) -> None:
    for owner in ("", "ada@example.org"):
        again = session_of(session_run(name, owner))
        assert session_run(again, owner) == session_run(name, owner)
    assert session_of("20261130-101010-aabbccdd") == ""


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "two\nlines", 7])
async def test_a_name_that_cannot_be_one_is_refused_in_a_line(name: Any) -> None:
    with pytest.raises(ConfigError, match=r"^the session [^\n]+$"):
        await run(AGENT, "one", session=name, store=MemoryStore())


async def test_what_is_of_a_session_is_refused_without_one() -> None:
    with pytest.raises(ConfigError, match="session or run_id, not both"):
        await run(AGENT, "one", session="s", run_id="r", store=MemoryStore())
    with pytest.raises(ConfigError, match="give its session"):
        await run(AGENT, "one", request="r", store=MemoryStore())


async def test_a_request_is_answered_once_however_often_it_comes() -> None:
    store, answers = MemoryStore(), list[Any]()
    for request, words in (("1", "one"), ("1", "one"), ("2", "two"), ("1", "one"), ("2", "two")):
        result = await run(AGENT, words, session="s", request=request, store=store)
        answers.append(result.answer)
    assert answers == [f"heard {it}" for it in ("one", "one", "two", "one", "two")]
    assert await told(session_run("s"), store) == ["two"]
    for request in ("1", "2"):
        with pytest.raises(ConfigError, match="asked something else"):
            await run(AGENT, "other", session="s", request=request, store=store)


async def test_words_at_once_are_answered_in_order_each_once() -> None:
    store, results = MemoryStore(), dict[str, Any]()
    asked, go_on = anyio.Event(), anyio.Event()

    async def wait(words: str) -> None:
        if words == "0":
            asked.set()
            await go_on.wait()

    agent = Agent(Echo(wait))

    async def say(words: str) -> None:
        result = await run(agent, words, session="s", request=words, store=store)
        results[words] = result.answer

    async with anyio.create_task_group() as group:
        group.start_soon(say, "0")
        await asked.wait()
        for number in range(1, 5):
            group.start_soon(say, str(number))
            group.start_soon(say, str(number))  # sent twice
            with anyio.move_on_after(60):
                while len(await store.inbox(session_run("s"))) < number:
                    await anyio.lowlevel.checkpoint()
        go_on.set()
    assert results == {str(it): f"heard {it}" for it in range(5)}
    assert await told(session_run("s"), store) == ["1", "2", "3", "4"]
    assert await store.inbox(session_run("s")) == []


async def test_a_conversation_that_several_begin_at_once_is_one() -> None:
    store, answers = MemoryStore(), list[Any]()

    async def say(words: str) -> None:
        answers.append((await run(AGENT, words, session="s", store=store)).answer)

    async with anyio.create_task_group() as group:
        for number in range(4):
            group.start_soon(say, str(number))
    assert sorted(answers) == [f"heard {it}" for it in range(4)]
    assert len(await list_runs(store=store)) == 1


async def test_a_conversation_is_streamed_and_its_words_wait_for_their_turn() -> None:
    store = MemoryStore()
    async with stream(AGENT, "one", session="s", store=store) as events:
        first = [item async for item in events]
    assert events.result is not None
    assert events.result.answer == "heard one"
    again = await start(AGENT, "two", session="s", request="2", store=store)
    twice = await start(AGENT, "two", session="s", request="2", store=store)
    assert [(await it.wait()).answer for it in (again, twice)] == ["heard two"] * 2
    seen = [item.event for item in [it async for it in again] if isinstance(item, Entry)]
    assert isinstance(first[0], Entry)
    assert [it.text for it in seen if isinstance(it, Note)] == ["two"]
    assert await told(session_run("s"), store) == ["two"]


async def test_words_left_to_workers_are_answered_by_whoever_goes_on(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.sqlite")
    for request, words in (("1", "one"), ("2", "two"), ("1", "one"), ("2", "two")):
        run_id = await submit(AGENT, words, session="s", request=request, store=store)
        assert run_id == session_run("s")
    with pytest.raises(ConfigError, match="asked something else"):
        await submit(AGENT, "other", session="s", request="2", store=store)
    result = await run(AGENT, "three", session="s", store=store)
    assert result.answer == "heard three"
    assert await told(run_id, store) == ["two", "three"]
    await store.close()


async def test_words_are_not_left_to_workers_that_would_never_answer_them(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.sqlite")
    await run(AGENT, "one", session="spoken", store=store)
    await submit(AGENT, "one", session="left", store=store, queue="night")
    for session, why in (("spoken", "was not begun by submit"), ("left", "in the queue 'night'")):
        with pytest.raises(ConfigError, match=why):
            await submit(AGENT, "two", session=session, store=store)
        assert await store.inbox(session_run(session)) == []
    assert (await run(AGENT, "two", session="spoken", store=store)).answer == "heard two"
    await submit(AGENT, "two", session="left", store=store, queue="night")
    await store.close()


async def test_an_open_run_is_told_a_request_once() -> None:
    store = MemoryStore()
    first = await run(AGENT, "one", session="s", request="1", store=store)
    async with open_run(AGENT, run_id=first.run_id, store=store) as opened:
        for request, words in (("2", "two"), ("3", "three"), ("2", "two"), ("1", "one")):
            result = await opened.go_on(words, request=request)
            assert result.answer == f"heard {words}"
        for request in ("1", "2"):
            with pytest.raises(ConfigError, match="asked something else"):
                await opened.go_on("other", request=request)
        with pytest.raises(ConfigError, match="request"):
            await opened.go_on("four", request=4)  # type: ignore[arg-type] # it is wrong
    assert await told(first.run_id, store) == ["two", "three"]


WORKER = """
import sys
import anyio
from clew import Agent, resume, run
from tests.core.test_sessions import Echo

async def wait(words):
    if words == "begin":
        print("at work", flush=True)
        await anyio.to_thread.run_sync(sys.stdin.readline)

async def main():
    store, words, run_id = sys.argv[1:]
    agent = Agent(Echo(wait))
    if run_id == "session:s":
        result = await run(agent, words, session="s", request=words, store=store)
    else:
        result = await resume(agent, run_id, say=words, request=words, store=store)
    print(result.answer, flush=True)

anyio.run(main)
"""


async def begun(kind: str, store: Path) -> str:
    """The id of a conversation: a session that is not yet begun, a run, or a branch of one."""
    if kind == "session":
        return session_run("s")
    first = await run(AGENT, "zero", store=store)
    if kind == "run":
        return first.run_id
    return (await branch(AGENT, first.run_id, 2, "zero again", store=store)).run_id


def process(store: Path, words: str, run_id: str) -> "subprocess.Popen[str]":
    """Another process that says something in the session."""
    pipe, path = subprocess.PIPE, str(Path(__file__).parents[2])
    return subprocess.Popen(
        [sys.executable, "-c", WORKER, str(store), words, run_id],
        stdin=pipe, stdout=pipe, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def line(of: "subprocess.Popen[str]") -> str:
    assert of.stdout is not None
    return of.stdout.readline().strip()


async def queued(store: Path, run_id: str, count: int) -> None:
    """Wait until so many words wait in the inbox of the conversation."""
    opened = open_store(store)
    with anyio.fail_after(60):
        while len(await opened.inbox(run_id)) < count:
            await anyio.lowlevel.checkpoint()
    await opened.close()


@pytest.mark.share(4)
@pytest.mark.parametrize("kind", ["session", "run", "branch"])
@pytest.mark.parametrize("killed", [False, True])
async def test_words_of_several_processes_are_answered_in_order_each_once(
    tmp_path: Path, kind: str, *, killed: bool
) -> None:
    store = tmp_path / "runs.sqlite"
    run_id = await begun(kind, store)
    before = [] if kind == "session" else [*await told(run_id, store), "begin"]
    first = process(store, "begin", run_id)
    assert line(first) == "at work"
    second = process(store, "two", run_id)
    await queued(store, run_id, 1)
    third = process(store, "three", run_id)
    await queued(store, run_id, 2)
    if killed:  # whoever is left answers what the others left
        second.kill()
        first.kill()
        assert line(third) == "at work"
        assert third.communicate("go on\n")[0].strip() == "heard three"
    else:
        assert first.communicate("go on\n")[0].strip() == "heard begin"
        assert [line(second), line(third)] == ["heard two", "heard three"]
    for each in (first, second, third):
        each.communicate()
    assert await told(run_id, store) == [*before, "two", "three"]
    result = await resume(AGENT, run_id, say="two", request="two", store=store)
    assert result.answer == "heard two"
    assert await told(run_id, store) == [*before, "two", "three"]
