"""What a person or a client says twice, or while another process works on the run."""

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from clew import (
    Agent,
    AlreadyRuledError,
    ConfigError,
    File,
    Held,
    Image,
    Interrupted,
    Limits,
    MemoryStore,
    NotHeldError,
    Question,
    SqliteStore,
    StaleApprovalError,
    answer,
    batch,
    cancel,
    list_runs,
    open_run,
    pending_approvals,
    read,
    resume,
    rule,
    run,
    settle,
    start,
    submit,
    tool,
)
from clew.core.events import Stop
from clew.core.journal import Journal
from clew.core.stores import Base
from clew.guards import Provenance
from clew.stores import RunBusyError
from clew.stores.locks import claim, release_quietly
from clew.testing import ScriptedModel, act, say
from clew.tools import external

pytestmark = pytest.mark.both_loops

SCAN: Final = external("scan", "Scan the page.", result={"type": "string"})


@tool(approve=True)
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@tool
def lose() -> str:
    """Lose the line."""
    raise OSError("the line went dead")


def agent(name: str, **args: Any) -> Agent:
    script = [act(name, **args), say("Done."), say("Well."), say("Yes.")]
    return Agent(ScriptedModel(script), [pay, SCAN, lose], guards=[Provenance("off")])


Speak = Callable[..., Awaitable[object]]


def allow(value: object, **more: Any) -> Awaitable[object]:
    return rule("r:1.1", allow=value == "one", **more)


def bring(value: str, **more: Any) -> Awaitable[object]:
    return answer("r:1.1", value, **more)


def found(value: str, **more: Any) -> Awaitable[object]:
    return settle("r:1.1", done=True, result=value, **more)


WAYS: Final = [
    pytest.param(agent("pay", amount=5), allow, id="rule"),
    pytest.param(agent("scan"), bring, id="answer"),
    pytest.param(agent("lose"), found, id="settle"),
]


@pytest.mark.parametrize(("one", "speak"), WAYS)
async def test_the_same_again_is_no_error_before_and_after_the_run_went_on(
    one: Agent, speak: Speak
) -> None:
    why = "of run r has a result already" if speak is bring else "of run r was ruled on already"
    store = MemoryStore()
    await run(one, "Do it.", store=store, run_id="r")
    for _ in range(2):
        await speak("one", store=store)
        with pytest.raises(AlreadyRuledError, match=why):
            await speak("two", store=store)
    done = await resume(one, "r", store=store)
    length = len(await read("r", store=store))
    for _ in range(2):
        await speak("one", store=store)
        assert await speak("one", store=store, agent=one) == done
        with pytest.raises(AlreadyRuledError, match=why):
            await speak("two", store=store)
    assert len(await read("r", store=store)) == length


async def test_the_same_again_by_the_id_that_was_shown() -> None:
    store, one = MemoryStore(), agent("pay", amount=5)
    await run(one, "Pay.", store=store, run_id="r")
    (shown,) = await pending_approvals(store=store)
    for _ in range(2):
        assert (await rule(shown.id, allow=True, store=store, agent=one)).ok
    other = f"{shown.id[:-12]}{'0' * 12}"
    with pytest.raises((AlreadyRuledError, StaleApprovalError)):
        await rule(other, allow=True, store=store)


class Hasty(MemoryStore):
    """Behind it works another process, which takes each word as soon as it is posted."""

    before: Callable[[], Awaitable[object]] | None = None
    after: Callable[[], Awaitable[object]] | None = None

    async def post(self, run_id: str, body: bytes) -> None:
        before, after, self.before, self.after = self.before, self.after, None, None
        if before is not None:
            await before()
        await super().post(run_id, body)
        if after is not None:
            await after()


@pytest.mark.parametrize(("one", "speak"), WAYS)
async def test_who_was_slower_is_told_even_where_the_first_word_was_taken_meanwhile(
    one: Agent, speak: Speak
) -> None:
    store = Hasty()
    await run(one, "Do it.", store=store, run_id="r")
    store.before = lambda: speak("one", store=store)
    store.after = lambda: resume(one, "r", store=store)
    with pytest.raises(AlreadyRuledError):
        await speak("two", store=store)


@pytest.mark.parametrize(("one", "speak"), WAYS)
async def test_a_word_is_kept_while_another_process_works_on_the_run(
    one: Agent, speak: Speak
) -> None:
    store = Hasty()
    await run(one, "Do it.", store=store, run_id="r")

    locks = list[str]()

    async def work() -> None:
        """Another process takes the run, and the word with it."""
        await resume(one, "r", store=store)
        locks.append(await claim(store, "r") or "")

    store.after = work
    with pytest.raises(RunBusyError, match="is kept"):
        await speak("one", store=store, agent=one)
    await release_quietly(store, locks[0])
    assert (await read("r", store=store)).call("1.1").outcome == "done"


@pytest.mark.parametrize(("one", "speak"), WAYS)
async def test_a_word_that_the_other_process_did_not_see_is_taken_up(
    one: Agent, speak: Speak
) -> None:
    store = MemoryStore()
    await run(one, "Do it.", store=store, run_id="r")
    lock = await claim(store, "r")
    assert lock

    async def end() -> None:
        """The other process looked into the inbox before, and ends."""
        while not await store.inbox("r"):
            await anyio.lowlevel.checkpoint()
        await release_quietly(store, lock)

    async with anyio.create_task_group() as both:
        both.start_soon(end)
        await speak("one", store=store, agent=one)
    assert (await read("r", store=store)).call("1.1").outcome == "done"


KEY: Final = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ"
PICTURE: Final = Image("image/png", bytes.fromhex("89504e470d0a1a0a"), text=f"a key: {KEY}")
NOTES: Final = File("text/plain", text="the tide was calm " * 5_000, name="log.txt")
MESSAGES: Final[list[Question]] = [
    "And then?", f"Use {KEY}.", ["Look.", PICTURE], [NOTES, "Read it."], "all of it " * 5_000,
]  # fmt: skip


@pytest.mark.parametrize("message", MESSAGES, ids=["text", "secret", "picture", "file", "long"])
async def test_a_request_is_safe_to_send_twice_whatever_it_says(
    message: Question, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    one = Agent(ScriptedModel([say("Yes."), say("No."), say("Well.")]))
    first = await submit(one, message, store=store, request="q")
    assert await submit(one, message, store=store, request="q") == first
    for answered in ("Yes.", "No."):
        events = await start(one, message, store=store, run_id="r")
        assert (await events.wait()).answer == answered
        assert (await resume(one, "r", say=message, request="q", store=store)).answer == "No."
    with pytest.raises(ConfigError, match="'q' asked something else"):
        await submit(one, "Something else.", store=store, request="q")
    length = len(await read("r", store=store))
    with pytest.raises(ConfigError, match="'q' asked something else"):
        await resume(one, "r", say="Something else.", request="q", store=store)
    assert len(await read("r", store=store)) == length
    await store.close()


async def test_a_request_that_two_processes_submit_at_once_is_one_run() -> None:
    class Slow(MemoryStore):
        """Another process submits the same between the first and the second write."""

        other: Coroutine[Any, Any, str] | None = None

        async def create(self, run_id: str, base: Base | None = None) -> int:
            epoch = await super().create(run_id, base)
            other, self.other = self.other, None
            if other is not None:
                await other
            return epoch

    store, one = Slow(), Agent(ScriptedModel([say("Yes.")]))
    store.other = submit(one, "Is it?", store=store, request="q")
    run_id = await submit(one, "Is it?", store=store, request="q")
    assert [each.run_id for each in await list_runs(store=store)] == [run_id]
    store = Slow()
    store.other = submit(one, "Is it?", store=store, request="q")
    with pytest.raises(ConfigError, match="asked something else"):
        await submit(one, "Is it not?", store=store, request="q")


HALF: Final = "half \ud800"


@pytest.mark.parametrize("wrong", [HALF, 5, None])
async def test_words_that_no_record_can_hold_are_refused_in_a_line(wrong: Any) -> None:
    store = MemoryStore()
    await run(agent("pay", amount=5), "Pay.", store=store, run_id="r")
    ways: list[Callable[[], Awaitable[object]]] = [
        lambda: rule("r:1.1", allow=True, why=wrong, store=store),
        lambda: rule("r:1.1", allow=True, by=wrong, store=store),
        lambda: settle("r:1.1", done=False, why=wrong, store=store),
        lambda: answer("r:1.1", "x", by=wrong, store=store),
        lambda: cancel("r", why=wrong, store=store),
    ]
    for said in ways:
        with pytest.raises(ConfigError):
            await said()
    with pytest.raises(ConfigError, match="is no id of an approval"):
        await rule(wrong, allow=True, store=store)
    assert await store.inbox("r") == []


async def test_a_request_sent_again_comes_to_what_its_run_went_on_to_after_a_ruling() -> None:
    store, payer = MemoryStore(), agent("pay", amount=3)

    async def first() -> object:
        return await run(payer, "Pay.", session="s", request="a", store=store)

    assert getattr(await first(), "status", "") == "held"
    assert getattr(await first(), "status", "") == "held"
    (waiting,) = await pending_approvals(store=store)
    await rule(waiting.id, allow=True, store=store, agent=payer)
    assert str(await first()) == "Done."
    assert str(await run(payer, "And?", session="s", request="b", store=store)) == "Well."
    assert str(await first()) == "Done."


async def test_a_request_sent_again_comes_to_what_its_run_went_on_to_with_more_steps() -> None:
    store = MemoryStore()
    short, long = (Limits(steps=n, landing=False) for n in (1, 5))
    payer = agent("lose")

    async def first(limits: Limits) -> str:
        ended = await run(
            payer.replace(limits=limits), "Pay.", session="s", request="a", store=store,
            accept_change=True,
        )  # fmt: skip
        return str(ended)

    assert (await first(short)).startswith("bound")
    (one,) = await list_runs(store=store)
    assert (
        str(await resume(payer.replace(limits=long), one.run_id, accept_change=True, store=store))
        == "Done."
    )
    assert await first(long) == "Done."


# ---------------------------------------------------------------------- a cancelled run stays ended


@pytest.mark.parametrize(("one", "speak"), WAYS[:2])
async def test_a_word_that_is_said_again_revives_no_cancelled_run(one: Agent, speak: Speak) -> None:
    store = MemoryStore()
    await run(one, "Do it.", store=store, run_id="r")
    await speak("one", store=store)
    await cancel("r", why="enough", store=store)
    ended = await speak("one", store=store, agent=one)
    assert isinstance(ended, Interrupted)
    length = len(await read("r", store=store))
    for _ in range(2):
        assert await speak("one", store=store, agent=one) == ended
    assert len(await read("r", store=store)) == length
    assert (await resume(one, "r", store=store)).status == "answered"  # who says so goes on


async def test_who_says_what_came_of_a_call_of_a_cancelled_run_revives_it_not() -> None:
    script = [act("lose"), act("pay", amount=5), say("Done.")]
    store, one = MemoryStore(), agent("lose").replace(model=ScriptedModel(script))
    assert (await run(one, "Do it.", store=store, run_id="r")).status == "held"
    await cancel("r", store=store)
    assert (await resume(one, "r", store=store)).status == "interrupted"
    for _ in range(2):
        ended = await settle("r:1.1", done=True, store=store, agent=one)
        assert (ended.status, ended.unknown) == ("interrupted", ())


async def test_a_start_or_a_request_that_is_sent_again_revives_no_cancelled_run() -> None:
    store, one = MemoryStore(), agent("pay", amount=5)

    async def started() -> object:
        return await (await start(one, "Pay.", run_id="r", store=store)).wait()

    async def asked() -> object:
        return await run(one, "Pay.", session="s", request="1", store=store)

    async def in_a_batch() -> object:
        return (await batch(one, ["Pay."], name="b", store=store))[0]

    for again in (started, asked, in_a_batch):
        held = await again()
        assert isinstance(held, Held)
        await cancel(held.run_id, why="enough", store=store)
        ended = await resume(one, held.run_id, store=store)
        assert isinstance(ended, Interrupted), again
        for _ in range(2):
            assert await again() == ended, again


async def test_a_start_that_is_sent_again_does_not_retry_what_broke_its_workers() -> None:
    """Whoever resumes it, or says something new, does."""
    store, one = MemoryStore(), agent("pay", amount=5)
    await run(one, "Pay.", store=store, run_id="r")
    async with open_run(one, run_id="r", store=store):
        pass
    journal = await Journal.open(store, "r")
    await journal.record(Stop("failed", "set aside: it broke", code="set_aside"))
    again = await start(one, "Pay.", run_id="r", store=store)
    assert (await again.wait()).status == "failed"
    assert (await resume(one, "r", store=store)).status == "held"


@pytest.mark.parametrize("what", ["ruled", "ended"])
async def test_a_request_that_comes_again_sees_what_waits_for_its_run(what: str) -> None:
    """A ruling or an end that nobody has taken up yet: it got a call that no longer waits."""
    store, made = MemoryStore(), agent("pay", amount=3)
    held = await run(made, "Pay.", request="r", session="s", store=store)
    assert isinstance(held, Held)
    if what == "ruled":
        await rule(held.pending_approvals[0].id, allow=True, store=store)
    else:
        await cancel(held.run_id, store=store)
    again = await run(made, "Pay.", request="r", session="s", store=store)
    assert (again.status, again.answer, again.pending_approvals) == (
        ("answered", "Done.", ()) if what == "ruled" else ("interrupted", None, ())
    )
    assert await pending_approvals(store=store) == ()


@pytest.mark.parametrize("allow", [True, False])
async def test_a_held_run_that_was_cancelled_waits_for_nobody(allow: bool) -> None:
    """It was still listed, and a ruling was taken of which nothing would come."""
    store, made = MemoryStore(), agent("pay", amount=3)
    held = await run(made, "Pay.", run_id="r", store=store)
    assert isinstance(held, Held)
    await cancel("r", store=store)
    assert await pending_approvals(store=store) == ()
    with pytest.raises(NotHeldError, match="run r was cancelled: it waits for no ruling"):
        await rule(held.pending_approvals[0].id, allow=allow, store=store)
    assert isinstance(await resume(made, "r", store=store), Interrupted)


async def test_words_of_a_session_with_other_labels_are_refused() -> None:
    """They were said, and the labels dropped."""
    store, made = MemoryStore(), Agent(ScriptedModel([say("a"), say("b"), say("c")]))
    await run(made, "One.", session="s", labels={"ticket": "1"}, store=store)
    with pytest.raises(ConfigError, match="was begun with another label 'ticket'"):
        await run(made, "Two.", session="s", labels={"ticket": "2"}, store=store)
    for labels in (None, {"ticket": "1"}):
        await run(made, "Two.", session="s", labels=labels, store=store)
