"""Calls that somebody else performs, and calls of unknown outcome: what came of them, once."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

import anyio
import msgspec
import pytest

from clew import (
    Agent,
    AlreadyRuledError,
    ConfigError,
    Limits,
    MemoryStore,
    NotHeldError,
    Result,
    StaleApprovalError,
    StoreError,
    Tool,
    answer,
    cancel,
    delegate,
    fork,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    settle,
    tool,
)
from clew.core.contents import Observation
from clew.core.entries import decode
from clew.core.events import Attempt, Judged, Settled, Stop
from clew.core.tools import AnyTool, Attempts, Retry
from clew.core.values import encode
from clew.guards import Provenance
from clew.testing import Move, ScriptedModel, act, acts, say
from clew.toolbox import process_tool
from clew.tools import External, external
from clew_testing.cut_store import CutStore
from tests.core.relay import RELAY

pytestmark = pytest.mark.both_loops

PAGE = {
    "type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"],
    "additionalProperties": False,
}  # fmt: skip
TEXT = {"type": "string"}


def scanner(**more: Any) -> Tool:
    """A tool that a person at a desk performs."""
    options: dict[str, Any] = {"result": TEXT, **more}
    return external("scan", "Scan a page.", PAGE, **options)


def agent(script: Sequence[Move], *tools: AnyTool, **more: Any) -> Agent:
    """An agent that scans as scripted."""
    guards = more.pop("guards", [Provenance("off")])
    model = ScriptedModel(script, tools=[t for t in tools if isinstance(t, Tool)])
    return Agent(model=model, tools=tools or [scanner()], guards=guards, **more)


SCRIPT = [act("scan", page=1), say("Scanned.")]


async def test_the_run_waits_for_a_result_and_goes_on_with_it() -> None:
    store, one = MemoryStore(), agent(SCRIPT)
    held = await run(one, "Scan it.", store=store, run_id="r")
    assert (held.status, held.reason) == ("held", "waiting for the result of 1.1")
    assert (held.unknown, held.work.unknown) == ((), {})  # it simply waits
    (waiting,) = await pending_approvals(store=store)
    assert (waiting.wants, waiting.asks, waiting.args) == ("result", TEXT, {"page": 1})
    result = await answer(waiting.id, "a page", by="desk", store=store, agent=one)
    assert result.answer == "Scanned."
    record = await read("r", store=store)
    seen = record.call("1.1").observation
    assert seen is not None
    assert (seen.content, seen.ok, seen.outcome, seen.trust) == (
        "a page", True, "done", "untrusted",
    )  # fmt: skip
    assert [type(entry.event) for entry in record.entries][2:5] == [Attempt, Judged, Stop]
    await replay(one, "r", store=store)


async def test_a_result_counts_once_and_only_if_it_fits() -> None:
    store, one = MemoryStore(), agent(SCRIPT)
    await run(one, "Scan it.", store=store, run_id="r")
    (waiting,) = await pending_approvals(store=store)
    for wrong, told in (
        (3, "does not fit scan"),
        (None, "the result is None"),
        ("x" * 2_000_000, "bytes"),
    ):
        with pytest.raises(ConfigError, match=told):
            await answer(waiting.id, wrong, store=store)
    with pytest.raises(ConfigError, match="waits for its result"):
        await rule(waiting.id, allow=True, store=store)
    with pytest.raises(StaleApprovalError):
        await answer(f"{waiting.id[:-12]}{'0' * 12}", "a page", store=store)
    with pytest.raises(NotHeldError):
        await answer("r:9.9", "a page", store=store)
    await answer(waiting.id, "a page", store=store)
    assert await pending_approvals(store=store) == ()
    await answer("r:1.1", "a page", store=store)  # the same again completes a delivery
    with pytest.raises(AlreadyRuledError):
        await answer(waiting.id, "another", store=store)
    assert (await resume(one, "r", store=store)).ok
    with pytest.raises(AlreadyRuledError):
        await answer(waiting.id, "another", store=store)
    for late in (encode(Settled("1.1", result="another")), encode(Settled("7.7"))):
        await store.post("r", late)  # by somebody who looked before
    assert (await resume(one, "r", store=store)).ok
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert seen.content == "a page"


async def test_of_two_that_perform_it_at_once_one_is_told() -> None:
    store = MemoryStore()
    await run(agent(SCRIPT), "Scan it.", store=store, run_id="r")
    lost: list[str] = []

    async def give(text: str) -> None:
        try:
            await answer("r:1.1", text, store=store)
        except AlreadyRuledError:
            lost.append(text)

    async with anyio.create_task_group() as both:
        for text in ("one", "two"):
            both.start_soon(give, text)
    assert len(lost) == 1
    assert (await resume(agent(SCRIPT), "r", store=store)).ok


async def test_it_may_be_refused_and_a_person_may_approve_it_first() -> None:
    for approve in (False, "so many pages"):
        store, one = MemoryStore(), agent(SCRIPT, scanner(approve=approve))
        await run(one, "Scan it.", store=store, run_id="r")
        if approve:
            (waiting,) = await pending_approvals(store=store)
            assert waiting.wants == "ruling"
            held = await rule(waiting.id, allow=True, store=store, agent=one)
            assert held.status == "held"
        (waiting,) = await pending_approvals(store=store)
        assert waiting.wants == "result"
        result = await rule(
            waiting.id, allow=False, why="the desk is empty", store=store, agent=one
        )
        assert result.ok
        seen = (await read("r", store=store)).call("1.1").observation
        assert seen is not None
        assert (seen.code, seen.outcome) == ("denied", "unknown")
        await replay(one, "r", store=store)


async def test_beside_other_calls_in_programs_and_in_sub_agents() -> None:
    @tool(effect="read")
    async def look() -> str:
        """Look."""
        return "seen"

    store = MemoryStore()
    calls = acts(act("scan", page=1), act("look"), act("scan", page=2))
    one = agent([calls, say("Scanned.")], scanner(), look)
    await run(one, "Scan both.", store=store, run_id="r")
    record = await read("r", store=store)
    assert record.call("1.2").observation is not None
    assert [each.call for each in await pending_approvals(store=store)] == ["1.1", "1.3"]
    held = await answer("r:1.3", "two", store=store, agent=one)
    assert held.status == "held"
    assert (await answer("r:1.1", "one", store=store, agent=one)).answer == "Scanned."
    await replay(one, "r", store=store)
    relay = act("relay", calls=[{"tool": "scan", "args": {"page": 3}}])
    two = agent([relay, say("Relayed.")], scanner(), RELAY)
    await run(two, "Scan.", store=store, run_id="p")
    assert (await answer("p:1.2", "three", store=store, agent=two)).answer == "Relayed."
    await replay(two, "p", store=store)
    clerk = delegate(agent(SCRIPT), name="clerk", description="Scans.")
    head = agent([act("clerk", task="scan"), say("Done.")], clerk)
    await run(head, "Scan.", store=store, run_id="h")
    (waiting,) = await pending_approvals(store=store)
    assert (waiting.run_id, waiting.root) == ("h-1.1", "h")
    assert (await answer(waiting.id, "four", store=store, agent=head)).answer == "Done."
    await replay(head, "h", store=store)


@pytest.mark.parametrize("effect", ["unsafe", "read"])
async def test_cut_between_any_two_entries_it_is_handed_out_once_and_answered_once(
    effect: Any,
) -> None:
    one = agent(SCRIPT, scanner(effect=effect))

    async def until_stop(store: CutStore) -> Result[Any]:
        """Begin the run or take it up, as a worker after the crash of another does."""
        if await store.ids("r") and await store.read("r"):
            return await resume(one, "r", store=store)
        return await run(one, "Scan it.", store=store, run_id="r")

    for cut in range(1, 14):
        store = CutStore(cut)
        with suppress(StoreError):
            await until_stop(store)
            await answer("r:1.1", "a page", store=store)
            await until_stop(store)
        store.left = 99
        result = await until_stop(store)
        if result.status == "held":
            with suppress(AlreadyRuledError):
                await answer("r:1.1", "a page", store=store)
            result = await until_stop(store)
        assert result.answer == "Scanned."
        record = await read("r", store=store)
        kinds = [type(entry.event) for entry in record.entries]
        assert kinds.count(Judged) == kinds.count(Settled) == 1
        assert kinds.count(Attempt) == (effect == "unsafe")
        await replay(one, "r", store=store)


async def test_after_its_time_it_ends_without_a_result_or_with_the_fallback() -> None:
    for fallback, told in ((None, "nobody gave a result"), ("nobody is there", "nobody is there")):
        one = agent(SCRIPT, scanner(timeout=0.001, fallback=fallback))
        store = MemoryStore()
        result = await run(one, "Scan it.", store=store, run_id="r")
        while result.status == "held":
            await anyio.lowlevel.checkpoint()
            result = await resume(one, "r", store=store)
        assert result.answer == "Scanned."
        seen = (await read("r", store=store)).call("1.1").observation
        assert seen is not None
        assert told in seen.text
        assert seen.outcome == "unknown", "whoever began it may still do it"
        with pytest.raises(NotHeldError):
            await answer("r:1.1", "late", store=store)
        await settle("r:1.1", done=True, result="late", store=store)
        await resume(one, "r", store=store)
        assert (await read("r", store=store)).call("1.1").outcome == "done"
        await replay(one, "r", store=store)


async def test_a_cancelled_run_says_that_it_may_have_happened() -> None:
    store, one = MemoryStore(), agent(SCRIPT)
    await run(one, "Scan it.", store=store, run_id="r")
    await cancel("r", store=store)
    assert (await resume(one, "r", store=store)).status == "interrupted"
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert seen.outcome == "unknown"


@pytest.mark.parametrize("done", [True, False])
async def test_a_result_that_came_before_the_run_was_cancelled_counts(done: bool) -> None:
    store, one = MemoryStore(), agent(SCRIPT)
    await run(one, "Scan it.", store=store, run_id="r")
    await cancel("r", store=store)
    if done:
        await answer("r:1.1", "a page", store=store)
    else:
        await settle("r:1.1", done=False, store=store)
    result = await resume(one, "r", store=store)
    assert (result.status, result.unknown) == ("interrupted", ())
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert seen.outcome == ("done" if done else "not_done")
    assert (seen.content == "a page") is done
    assert ("changed: scan 1 time" in result.work.line) is done
    await replay(one, "r", store=store)


def stub(**options: Any) -> Tool:
    """The same tool, of a function that is never called."""

    @tool(**options)
    def scan(page: int) -> str:
        """Scan a page.

        Args:
            page: Which one.
        """
        raise NotImplementedError(page)

    return scan


def written_out(**options: Any) -> Tool:
    """The same tool without a decorator; an agent that gets it checks it."""
    made = replace(scanner(), external=External(**options))
    Agent(ScriptedModel([]), tools=[made])
    return made


WRONG_WAITS: list[dict[str, Any]] = [
    {"fallback": "x"}, {"timeout": 0}, {"timeout": -1.0}, {"timeout": 5, "fallback": 3},
    {"timeout": float("inf")}, {"timeout": float("nan")}, {"timeout": 1e300}, {"timeout": "5"},
    {"timeout": True},
]  # fmt: skip


@pytest.mark.parametrize("wait", WRONG_WAITS, ids=str)
def test_a_wait_that_cannot_be_is_refused_however_the_tool_is_made(wait: dict[str, Any]) -> None:
    for make in (scanner, written_out, lambda **it: stub(external=External(**it))):
        with pytest.raises(ConfigError, match=r"timeout|fallback"):
            make(**wait)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"retry": Retry(2)}, "nothing can retry"),
        ({"probe": lambda args, key: None}, "nothing can retry"),
        ({"inline": True, "effect": "pure"}, "nothing is inline"),
        ({"timeout": 0}, "seconds above 0"),
        ({"timeout": "5"}, "give a number"),
        ({"timeout": 5, "external": External(timeout=5)}, "given twice"),
        ({"external": "yes"}, "give External"),
    ],
)
def test_what_only_holds_for_calls_made_here_is_refused_of_a_stub(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        stub(**({"external": True} | options))


def test_a_tool_without_a_decorator_has_no_attempts_elsewhere() -> None:
    made = replace(scanner(), attempts=Attempts(timeout=5))
    with pytest.raises(ConfigError, match="External"):
        Agent(ScriptedModel([]), tools=[made])


def test_other_options_and_processes_are_refused() -> None:
    with pytest.raises(ConfigError, match="colour"):
        scanner(colour="red")
    with pytest.raises(ConfigError, match="leave external out"):
        process_tool("clew.toolbox.calc:calculate", external=True)


@pytest.mark.parametrize(
    ("options", "wait"),
    [
        ({"external": True}, External()),
        ({"external": True, "timeout": 60}, External(60)),
        ({"external": External(fallback="none"), "timeout": 60}, External(60, "none")),
        (
            {"external": External(60, {"text": "none"}), "result": {}},
            External(60, {"text": "none"}),
        ),
        ({"external": False, "timeout": 60}, None),
    ],
)
def test_a_timeout_beside_external_is_how_long_a_call_waits(
    options: dict[str, Any], wait: External | None
) -> None:
    assert stub(**options).external == wait


async def test_the_timeout_of_a_stub_ends_the_wait() -> None:
    one, store = agent(SCRIPT, stub(external=True, timeout=0.001)), MemoryStore()
    result = await run(one, "Scan it.", store=store, run_id="r")
    while result.status == "held":
        await anyio.lowlevel.checkpoint()
        result = await resume(one, "r", store=store)
    assert result.answer == "Scanned."


def wave() -> None:
    """Do nothing that is known here."""


def text() -> str:
    """Give a text."""
    raise NotImplementedError


def text_or_more() -> str | Observation:
    """Give a text."""
    raise NotImplementedError


def code() -> Annotated[str, msgspec.Meta(pattern="^[A-Z]+$")]:
    """Give a code."""
    raise NotImplementedError


def number() -> int:
    """Give a number."""
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "fit", "unfit"),
    [
        (wave, [5, "5"], []),
        (text, ["5"], [5]),
        (text_or_more, ["5"], [5]),
        (code, ["AB"], ["ab", 5]),
        (number, [5], ["5"]),
    ],
)
async def test_the_result_fits_the_return_annotation_of_a_stub(
    function: Callable[[], Any], fit: list[Any], unfit: list[Any]
) -> None:
    made = tool(external=True)(function)
    for value in unfit + fit:
        store = MemoryStore()
        script = [act(made.name), say("Done.")]
        await run(agent(script, made), "Go.", store=store, run_id="r")
        (waiting,) = await pending_approvals(store=store)
        if value in fit:
            await answer(waiting.id, value, store=store)
            continue
        with pytest.raises(ConfigError, match="does not fit"):
            await answer(waiting.id, value, store=store)


async def test_a_stub_declares_it_too() -> None:
    @tool(external=External(timeout=60))
    def scan(page: int) -> str:
        """Scan a page.

        Args:
            page: Which one.
        """
        raise AssertionError(page)

    store = MemoryStore()
    one = agent(SCRIPT, scan)
    await run(one, "Scan it.", store=store, run_id="r")
    (waiting,) = await pending_approvals(store=store)
    assert waiting.until > waiting.at
    assert (await answer(waiting.id, "a page", store=store, agent=one)).ok
    other = agent(SCRIPT, external("scan", "Scan a page.", PAGE, result=TEXT))
    with pytest.raises(ConfigError):
        await resume(other, "r", store=store)


SENT: list[str] = []


def sender(*, fail: bool = True, **more: Any) -> Tool:
    """A tool whose first call ends as nobody knows."""

    @tool(effect="unsafe", **more)
    async def send(to: str) -> str:
        """Send a letter.

        Args:
            to: To whom.
        """
        SENT.append(to)
        if fail:
            message = "the line went dead"
            raise RuntimeError(message)
        return "sent"

    return send


LETTER = [act("send", to="Ada"), say("Sent.")]


@pytest.mark.parametrize("done", [True, False])
async def test_an_unknown_outcome_is_settled_once_after_the_run(done: bool) -> None:
    SENT.clear()
    store, one = MemoryStore(), agent([*LETTER, say("I see.")], sender())
    result = await run(one, "Write.", store=store, run_id="r")
    assert [call.id for call in result.unknown] == ["r:1.1"]
    with pytest.raises(ConfigError, match="has no result"):
        await settle("r:1.1", done=False, result="x", store=store)
    await settle("r:1.1", done=done, why="Ada says so", by="Eve", store=store)
    with pytest.raises(AlreadyRuledError):
        await settle("r:1.1", done=not done, store=store)
    again = await resume(one, "r", store=store)
    assert again.unknown == ()
    told = "changed: send 1 time" if done else "nothing was changed: send failed 1 of 1 time"
    assert again.work.line == told
    record = await read("r", store=store)
    assert isinstance(record.entries[-1].event, Stop), "the last entry says how a run stands"
    assert record.call("1.1").outcome == ("done" if done else "not_done")
    assert [call.key for call in record.effects] == (["1.1"] if done else [])
    with pytest.raises(AlreadyRuledError):
        await settle("r:1.1", done=not done, store=store)
    result = await resume(one, "r", say="Well?", store=store)
    assert result.answer == "I see."
    await replay(one, "r", store=store)
    forked = await fork(agent([say("no")], sender()), "r", at=0, store=store, new_id="f")
    assert forked.ok
    assert bool((await read("f", store=store)).done_elsewhere) is done


@pytest.mark.parametrize("done", [True, False])
async def test_a_call_held_in_doubt_is_settled_and_the_run_goes_on(done: bool) -> None:
    SENT.clear()
    store = MemoryStore()
    one = agent(LETTER, sender(), limits=Limits(unknown="hold"))
    await run(one, "Write.", store=store, run_id="r")
    (waiting,) = await pending_approvals(store=store)
    assert waiting.wants == "outcome"
    result = await settle(
        waiting.id, done=done, result="sent" if done else None, store=store, agent=one
    )
    assert result.answer == "Sent."
    assert SENT == ["Ada"]
    record = await read("r", store=store)
    seen = record.call("1.1").observation
    assert seen is not None
    assert (seen.ok, seen.outcome) == (done, "done" if done else "not_done")
    assert result.unknown == ()
    assert [call.key for call in record.effects] == (["1.1"] if done else [])
    await replay(one, "r", store=store)


async def pending_in_doubt(store: MemoryStore) -> bool:
    """Whether nobody has said yet what came of the call."""
    await anyio.lowlevel.checkpoint()
    return await store.inbox("r") == []


async def test_a_call_whose_worker_died_is_settled_before_the_run_goes_on() -> None:
    SENT.clear()
    cut = CutStore()
    one = agent(LETTER, sender(fail=False, timeout=0.001))
    cut.left = 4  # created, begun, thought, attempted
    with pytest.raises(StoreError):
        await run(one, "Write.", store=cut, run_id="r")
    assert SENT == ["Ada"]
    store = cut.inner
    while await pending_in_doubt(store):
        with suppress(NotHeldError):  # until its deadline it may be at work
            await settle("r:1.1", done=True, result="sent", store=store)
    assert (await resume(one, "r", store=store)).answer == "Sent."
    assert SENT == ["Ada"]
    record = await read("r", store=store)
    assert record.call("1.1").outcome == "done"
    await replay(one, "r", store=store)


@pytest.mark.parametrize("done", [True, False])
async def test_a_fork_knows_what_came_of_the_calls_that_it_shares(done: bool) -> None:
    store, one = MemoryStore(), agent([*LETTER, say("I see.")], sender())
    await run(one, "Write.", store=store, run_id="r")
    await settle("r:1.1", done=done, store=store, agent=one)
    for at, words in ((1, ""), (1, "Well?"), (2, "Well?")):
        other = await fork(one, "r", at=at, say=words, store=store, new_id=f"f{at}{words[:1]}")
        assert other.unknown == ()
        record = await read(other.run_id, store=store)
        assert record.call("1.1").outcome == ("done" if done else "not_done")
        with pytest.raises(AlreadyRuledError):
            await settle(f"{other.run_id}:1.1", done=not done, store=store)
        await replay(one, other.run_id, store=store)
    replaced = await fork(one, "r", at=1, observations={"1.1": "sent"}, store=store, new_id="o")
    assert (await read(replaced.run_id, store=store)).call("1.1").settled is None


async def test_what_is_known_cannot_be_settled() -> None:
    store = MemoryStore()
    await run(agent(LETTER, sender(fail=False)), "Write.", store=store, run_id="r")
    with pytest.raises(NotHeldError, match="nothing is unknown"):
        await settle("r:1.1", done=False, store=store)
    await store.post("r", encode(Settled("1.1", done=False)))
    await resume(agent(LETTER, sender(fail=False)), "r", store=store)
    record = await read("r", store=store)
    assert record.call("1.1").outcome == "done"


def test_a_record_without_the_new_fields_reads_as_before() -> None:
    old = b'{"event":"stop","status":"held","reason":"waiting for a ruling on 1.1"}'
    assert decode(old) == Stop("held", "waiting for a ruling on 1.1")
