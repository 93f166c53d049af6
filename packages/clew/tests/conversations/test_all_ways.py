"""A conversation, begun and gone on with by each way: it is one, and nothing is done twice.

Words with a picture, two at once, one that is sent again, one that is edited, messages in and out.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from clew import (
    ConfigError,
    Result,
    StoreError,
    batch,
    follow,
    list_runs,
    read,
    result_of,
    resume,
    run,
    start,
    stream,
    submit,
    sync,
)
from clew.conversations import answer_messages, branch, session_run, to_anthropic, to_openai
from clew.workers import WorkerConfig, work
from tests.conversations.clerk import NOTES, OWNER, PICTURED, clerk, words_of

ROOT: Final = Path(__file__).parents[2]
TALK: Final = "talk"


@dataclass
class Talk:
    """A conversation of a session, in a store on disk."""

    store: str
    notes: Path
    kill: Callable[..., int]
    lock: anyio.Lock

    def said(self, session: str, request: str) -> dict[str, Any]:
        """What every way is told beside the words."""
        return {"session": session, "owner": OWNER, "request": request, "store": self.store}

    async def result(self, session: str) -> Result[str]:
        """What the conversation came to."""
        return await result_of(clerk(), session_run(session, OWNER), store=self.store, owner=OWNER)


Way = Callable[[Talk, str, str, str], Coroutine[Any, Any, None]]


async def by_run(talk: Talk, session: str, text: str, request: str) -> None:
    await run(clerk(), words_of(text), **talk.said(session, request))


async def by_start(talk: Talk, session: str, text: str, request: str) -> None:
    events = await start(clerk(), words_of(text), **talk.said(session, request))
    assert (await events.wait()).ok


async def by_stream(talk: Talk, session: str, text: str, request: str) -> None:
    async with stream(clerk(), words_of(text), **talk.said(session, request)) as events:
        _ = [item async for item in events]
    assert events.result is not None


async def by_follow(talk: Talk, session: str, text: str, request: str) -> None:
    events = await start(clerk(), words_of(text), **talk.said(session, request))
    await events.aclose()
    other = follow(events.run_id, store=talk.store, owner=OWNER)
    assert [item async for item in other]
    await events.wait()


async def by_worker(talk: Talk, session: str, text: str, request: str) -> None:
    await submit(clerk(), words_of(text), **talk.said(session, request))
    await work(WorkerConfig(store=talk.store, agents=[clerk()], until_idle=True))


async def by_sync(talk: Talk, session: str, text: str, request: str) -> None:
    say = partial(sync.run, clerk(), words_of(text), **talk.said(session, request))
    await anyio.to_thread.run_sync(say)


async def by_resume(talk: Talk, session: str, text: str, request: str) -> None:
    where: dict[str, Any] = {"request": request, "store": talk.store, "owner": OWNER}
    await resume(clerk(), session_run(session, OWNER), say=words_of(text), **where)


async def killed(ends_at: int, talk: Talk, session: str, text: str, request: str) -> None:
    environment = {NOTES: str(talk.notes), "HOME": os.environ["HOME"]}  # a run is its user's
    words = [environment, talk.store, session, text, request, ends_at]
    async with talk.lock:
        status = await anyio.to_thread.run_sync(talk.kill, words)
    again = status == 0  # it was sent before: nothing is asked
    assert again or status == -signal.SIGKILL
    if not again and ends_at == 1:
        await resume(clerk(), session_run(session, OWNER), store=talk.store, owner=OWNER)
    else:
        await by_run(talk, session, text, request)


GO_ON: Final[Mapping[str, Way]] = {
    "run": by_run, "start": by_start, "stream": by_stream, "follow": by_follow,
    "worker": by_worker, "sync": by_sync, "resume": by_resume,
    "killed, resumed": partial(killed, 1), "killed, sent again": partial(killed, 2),
}  # fmt: skip
BEGIN: Final = [name for name in GO_ON if name != "resume"]


@pytest.fixture(scope="module")
def kill() -> Iterator[Callable[..., int]]:
    """Let a process say something that is killed meanwhile; its exit status."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.conversations.clerk"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as process:  # fmt: skip

        def one(words: list[Any]) -> int:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield one


@pytest.fixture
def talk(tmp_path: Path, kill: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> Talk:
    monkeypatch.setenv(NOTES, str(tmp_path / "notes"))
    return Talk(str(tmp_path / "runs.sqlite"), tmp_path / "notes", kill, anyio.Lock())


async def spoken(talk: Talk, session: str) -> list[str]:
    """What a person said in a conversation, in order."""
    messages = to_openai(await read(session_run(session, OWNER), store=talk.store, owner=OWNER))
    told = list[str]()
    for each in messages:
        if each["role"] == "user":
            content = each["content"]
            told.append(content if isinstance(content, str) else content[0]["text"])
    return told


async def hold(talk: Talk, begin: str, go_on: str) -> None:
    """Hold a conversation from its first word on."""
    first, then = GO_ON[begin], GO_ON[go_on]
    await first(talk, TALK, "Please note one.", "1")
    await then(talk, TALK, f"Please note two, {PICTURED}.", "2")
    async with anyio.create_task_group() as group:
        for word, request in (("three", "3"), ("four", "4")):
            group.start_soon(then, talk, TALK, f"Please note {word}.", request)
    await then(talk, TALK, f"Please note two, {PICTURED}.", "2")  # the client sends it again
    assert (await talk.result(TALK)).ok


@pytest.mark.slow
@pytest.mark.share(4)
@pytest.mark.parametrize("go_on", GO_ON)
@pytest.mark.parametrize("begin", BEGIN)
async def test_a_conversation_is_one_whoever_carries_its_words(
    begin: str, go_on: str, talk: Talk
) -> None:
    if go_on == "worker" and begin != "worker":
        await GO_ON[begin](talk, TALK, "Please note one.", "1")
        with pytest.raises(ConfigError, match="was not begun by submit, so workers"):
            await by_worker(talk, TALK, "Please note two.", "2")
        return
    await hold(talk, begin, go_on)
    one, two, *both = await spoken(talk, TALK)
    assert (one, two) == ("Please note one.", f"Please note two, {PICTURED}.")
    assert sorted(both) == ["Please note four.", "Please note three."]
    run_id = session_run(TALK, OWNER)
    record = await read(run_id, store=talk.store, owner=OWNER)
    before = len(record)
    then = by_run if go_on == "worker" else GO_ON[go_on]  # these are not begun by submit
    where: dict[str, Any] = {"store": talk.store, "owner": OWNER}

    edited = "Please note five."
    assert (await branch(clerk(), run_id, 2, edited, session="edited", **where)).ok
    await then(talk, "edited", "Please note six.", "6")
    assert await spoken(talk, "edited") == [one, edited, "Please note six."]

    for number, write in enumerate((to_openai, to_anthropic)):
        session = f"moved-{number}"
        messages = [*write(record), {"role": "user", "content": f"Please note m{number}."}]
        moved: dict[str, Any] = {"session": session, "trust": "trusted", **where}
        assert (await answer_messages(clerk(), messages, **moved)).ok
        await then(talk, session, f"Please note n{number}.", "7")
        assert len(await spoken(talk, session)) == 6
        assert str(await talk.result(session)).endswith(f"m{number}, n{number}.")

    assert len(await read(run_id, **where)) == before  # branches and messages left it alone
    noted = Counter(talk.notes.read_text().split())
    assert noted == Counter(["one", "two", "three", "four", "five", "six", "m0", "n0", "m1", "n1"])
    listed = await list_runs(0, store=talk.store, owner=OWNER)
    assert {each.session for each in listed} == {TALK, "edited", "moved-0", "moved-1"}
    assert not await list_runs(0, store=talk.store, owner="bob")
    with pytest.raises(StoreError, match="there is no run"):
        await read(run_id, store=talk.store, owner="bob")


@pytest.mark.parametrize("go_on", ["resume", "start", "sync"])
async def test_conversations_that_a_batch_began_go_on(go_on: str, talk: Talk) -> None:
    """They have ids and no session: words are said to each, by its id."""
    texts = ["Please note one.", f"Please note two, {PICTURED}."]
    where: dict[str, Any] = {"store": talk.store, "owner": OWNER}
    begun = await batch(clerk(), [words_of(text) for text in texts], name="b", **where)
    for number, each in enumerate(begun):
        words = f"Please note more{number}."
        match go_on:
            case "resume":
                await resume(clerk(), each.run_id, say=words, request="2", **where)
            case "start":
                events = await start(clerk(), run_id=each.run_id, say=words, request="2", **where)
                await events.wait()
            case _:
                say = partial(sync.resume, clerk(), each.run_id, say=words, request="2", **where)
                await anyio.to_thread.run_sync(say)
        done = await result_of(clerk(), each.run_id, **where)
        assert str(done.answer).endswith(f"more{number}.")
    again = await batch(clerk(), [words_of(text) for text in texts], name="b", **where)
    assert [each.run_id for each in again] == [each.run_id for each in begun]
    assert sorted(talk.notes.read_text().split()) == ["more0", "more1", "one", "two"]
