"""One call of one tool: retries, deadlines, doubt, probes, results that JSON cannot carry."""

import threading
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Any

import anyio
import pytest
import trio
from trio.testing import MockClock

from clew import (
    Agent,
    Limits,
    Observation,
    Retry,
    StoreError,
    Tool,
    ToolError,
    Trajectory,
    rule,
    tool,
)
from clew.agent.api import resume
from clew.agent.runner import start
from clew.core.call_context import CALL
from clew.core.contents import Reply
from clew.core.events import Attempt, Note
from clew.core.execute import IN_DOUBT
from clew.core.journal import Journal, load
from clew.core.loop import run
from clew.core.models import OnText
from clew.core.observations import DETAIL_CHARS
from clew.core.prompts import Prompt
from clew.core.replay import replay
from clew.core.stores import Append
from clew.core.values import Json
from clew.stores import FencedError
from clew.stores.memory import MemoryStore
from clew.testing.models import ScriptedModel, act, acts, say
from clew.tools import Attempts
from tests.core.play import copy
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops


IGNORED = ", and ignored that it was stopped: how it ended is told apart"


class Flaky:
    """Work that fails some times before it succeeds."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self, args: dict[str, Json], key: str) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return f"done with {key}"


AGAIN = Retry(2, delay=0.0)


def made(work: Any, **options: Any) -> Tool:
    """A tool `work` without arguments."""
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    options = {"attempts": Attempts(retry=AGAIN), "effect": "read", **options}
    return Tool("work", "Do the work.", schema, work, **options)


async def once(work: Tool, **options: Any) -> Trajectory:
    """A run that calls the tool once and then answers."""
    agent = Agent(model=ScriptedModel([act("work"), say("ok")]), tools=[work], **options)
    return await run(agent.engine, await start(agent, "Work!", MemoryStore(), run_id="run"))


def seen(trajectory: Trajectory) -> Observation:
    """What came of the call."""
    observation = trajectory.call("1.1").observation
    assert observation is not None
    return observation


def attempts(trajectory: Trajectory) -> tuple[Attempt, ...]:
    return trajectory.call("1.1").attempts


async def test_a_read_is_made_again_and_each_further_attempt_is_recorded() -> None:
    work = Flaky(ToolError("busy"), RuntimeError("lost"))
    trajectory = await once(made(work))
    assert seen(trajectory).text == "done with run:1.1"
    assert [attempt.number for attempt in attempts(trajectory)] == [2, 3]
    assert "busy" in attempts(trajectory)[0].after
    assert "RuntimeError: lost" in attempts(trajectory)[1].after


async def test_retries_end_and_the_last_failure_counts() -> None:
    work = Flaky(*[ToolError(f"busy {n}") for n in range(5)])
    trajectory = await once(made(work))
    assert (work.calls, seen(trajectory).code, seen(trajectory).ok) == (3, "tool_error", False)
    assert "busy 2" in seen(trajectory).text


async def test_an_unsafe_call_is_made_again_only_when_it_says_it_was_not_done() -> None:
    work = Flaky(ToolError("busy"))
    assert seen(await once(made(work, effect="unsafe"))).ok
    work = Flaky(RuntimeError("lost"))
    trajectory = await once(made(work, effect="unsafe"))
    assert (work.calls, seen(trajectory).code, seen(trajectory).outcome) == (
        1,
        "crashed",
        "unknown",
    )
    assert "Traceback" in seen(trajectory).detail
    assert "Traceback" not in seen(trajectory).text


async def test_an_idempotent_call_is_made_again_under_the_same_key() -> None:
    work = Flaky(RuntimeError("lost"))
    trajectory = await once(made(work, effect="idempotent"))
    assert seen(trajectory).text == "done with run:1.1"
    assert [attempt.number for attempt in attempts(trajectory)] == [1, 2]


def test_the_wait_between_attempts_grows_to_its_most() -> None:
    """On a clock that jumps to the next thing that is waited for: nothing is timed."""
    work, begun = Flaky(*[ToolError("busy")] * 4), list[float]()

    async def noted(args: dict[str, Json], key: str) -> str:
        begun.append(trio.current_time())
        return await work(args, key)

    async def main() -> Trajectory:
        return await once(made(noted, attempts=Attempts(retry=Retry(4, delay=1.0, max_delay=3.0))))

    trajectory = trio.run(main, clock=MockClock(autojump_threshold=0))
    assert seen(trajectory).ok
    assert [after - before for before, after in pairwise(begun)] == pytest.approx([1, 2, 3, 3])


async def sleepy() -> str:
    """Sleep, and end when stopped."""
    await anyio.sleep_forever()
    return "never"


async def deaf() -> str:
    """Sleep, and end with a result when stopped."""
    with suppress(BaseException):
        await anyio.sleep_forever()
    return "after all"


@pytest.mark.parametrize(
    ("work", "effect", "outcome", "told"),
    [
        (sleepy, "read", "not_done", " and was stopped: ask for less"),
        (sleepy, "unsafe", "unknown", ". " + IN_DOUBT.format(tool="It")),
        (deaf, "read", "not_done", f"{IGNORED}. Ask for less"),
        (deaf, "unsafe", "unknown", f"{IGNORED}. " + IN_DOUBT.format(tool="It")),
    ],
)
async def test_an_async_call_over_its_deadline(
    work: Any, effect: Any, outcome: str, told: str
) -> None:
    trajectory = await once(tool(name="work", effect=effect, timeout=0.01)(work))
    observation = seen(trajectory)
    assert (observation.code, observation.outcome) == ("timeout", outcome)
    assert observation.text == f"ERROR: timeout: work did not end in 0.01 s{told}"
    notes = [e.event.text for e in trajectory.entries if isinstance(e.event, Note)]
    late = ["work (call 1.1) ended after its deadline: after all"]
    assert notes == (late if work is deaf else [])


@pytest.mark.parametrize(
    ("effect", "told"),
    [
        ("read", "It may still be at work: ask for less"),
        ("unsafe", IN_DOUBT.format(tool="It")),
    ],
)
async def test_a_sync_call_over_its_deadline_may_still_be_at_work(effect: Any, told: str) -> None:
    end = threading.Event()

    @tool(name="work", effect=effect, timeout=0.01)
    def stuck() -> str:
        """Wait."""
        end.wait()
        return "late"

    observation = seen(await once(stuck))
    end.set()
    assert (observation.code, observation.outcome) == ("timeout", "unknown")
    assert observation.text == f"ERROR: timeout: work did not end in 0.01 s. {told}"


@pytest.mark.parametrize("fails", [False, True])
async def test_a_late_result_is_a_note(*, fails: bool) -> None:
    begun, end = threading.Event(), threading.Event()

    @tool(name="work", effect="unsafe", timeout=0.5)
    def sleepy() -> str:
        """Send something, slowly."""
        begun.set()
        end.wait(PATIENCE)
        if fails:
            message = "the line is dead"
            raise OSError(message)
        return "sent after all"

    class Patient(ScriptedModel):
        """A model whose second thought waits until the work has ended."""

        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            if len(prompt.parts) == 2:
                assert begun.is_set()  # or nothing ever ends
                end.set()
                while not journal.words:
                    await anyio.lowlevel.checkpoint()
            return await super().complete(prompt, on_text)

    script = [act("work"), act("work"), say("Now I know")]
    agent = Agent(model=Patient(script), tools=[sleepy])
    journal = await start(agent, "Work!", MemoryStore(), run_id="run")
    trajectory = await run(agent.engine, journal)
    assert seen(trajectory).outcome == "unknown"
    notes = [e.event.text for e in trajectory.entries if isinstance(e.event, Note)]
    word = "OSError: the line is dead" if fails else "sent after all"
    assert notes == [f"work (call 1.1) ended after its deadline: {word}"]
    assert (
        await replay(agent.engine, trajectory, MemoryStore())
    ).trajectory.entries == trajectory.entries


async def test_a_late_word_that_the_store_refuses_is_kept_for_the_next_time() -> None:
    class Refusing(MemoryStore):
        """A store whose disk is full once a late word comes."""

        full = True

        async def append(self, append: Append) -> bool:
            if self.full and any(b"ended after" in line.body for line in append.lines):
                message = "the disk is full"
                raise StoreError(message)
            return await super().append(append)

    agent = Agent(model=ScriptedModel([act("work"), say("ok")]), tools=[made(Flaky())])
    journal = await start(agent, "Work!", (store := Refusing()), run_id="run")
    journal.words.append("work (call 0.1) ended after its deadline: sent")
    with pytest.raises(StoreError, match="disk is full"):
        await run(agent.engine, journal)
    store.full = False
    trajectory = await run(agent.engine, journal)
    notes = [e.event.text for e in trajectory.entries if isinstance(e.event, Note)]
    assert notes == ["work (call 0.1) ended after its deadline: sent"]


async def test_what_a_call_may_know_is_set_only_during_it() -> None:
    heard: list[Any] = []

    async def call(args: dict[str, Json], key: str) -> str:
        heard.append(CALL.get())
        return "done"

    before = CALL.get()
    await once(made(call))
    assert CALL.get() is before
    assert heard != [before]


@pytest.mark.parametrize("own", [False, True])
async def test_what_is_for_people_has_a_length(*, own: bool) -> None:
    async def call(args: dict[str, Json], key: str) -> Observation:
        if own:
            return Observation(content="no", ok=False, code="crashed", detail="a" + "é" * 999_999)
        raise RuntimeError("a" + "é" * 999_999)

    trajectory = await once(made(call, attempts=Attempts(retry=Retry(0))))
    detail = seen(trajectory).detail
    assert len(detail) == DETAIL_CHARS
    assert detail.startswith("a" if own else "Traceback")
    assert detail.rstrip().endswith("éé")
    assert "characters the middle is left out …]" in detail
    tool_ = made(call, attempts=Attempts(retry=Retry(0)))
    agent = Agent(model=ScriptedModel([act("work"), say("ok")]), tools=[tool_])
    assert (
        await replay(agent.engine, trajectory, MemoryStore())
    ).trajectory.entries == trajectory.entries


async def test_a_result_that_json_cannot_carry_is_a_bad_output() -> None:
    async def call(args: dict[str, Json], key: str) -> object:
        return object()

    observation = seen(await once(made(call)))
    assert (observation.code, observation.ok, observation.outcome) == ("bad_output", False, "done")


async def test_what_a_tool_says_itself_is_held_to_the_same_rules() -> None:
    async def call(args: dict[str, Json], key: str) -> object:
        return Observation(content=object(), trust="trusted")

    assert seen(await once(made(call))).code == "bad_output"

    async def good(args: dict[str, Json], key: str) -> object:
        return Observation(content="mine", trust="trusted", effect="unsafe")

    observation = seen(await once(made(good)))
    assert (observation.trust, observation.effect) == ("trusted", "read")


async def test_a_result_that_breaks_its_schema_is_a_bad_output_and_not_repeated() -> None:
    calls: list[str] = []

    async def call(args: dict[str, Json], key: str) -> object:
        calls.append(key)
        return {"n": "five"}

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    observation = seen(await once(made(call, result=schema)))
    assert observation.code == "bad_output"
    assert "n" in observation.text
    assert calls == ["run:1.1"]

    async def good(args: dict[str, Json], key: str) -> object:
        return {"n": 5}

    assert seen(await once(made(good, result=schema))).content == {"n": 5}


async def test_an_error_without_words_is_named_by_its_class() -> None:
    observation = seen(await once(made(Flaky(*[KeyError()] * 3))))
    assert "KeyError" in observation.text


async def test_trust_needs_a_trusted_tool_and_nothing_untrusted_before_it() -> None:
    trusted = made(Flaky(), trust="trusted")
    other = replace(made(Flaky()), name="other")
    script = [act("work"), act("other"), act("work"), say("ok")]
    agent = Agent(model=ScriptedModel(script), tools=[trusted, other])
    trajectory = await run(agent.engine, await start(agent, "Work!", MemoryStore()))
    said = [call.observation.trust for call in trajectory.calls if call.observation]
    assert said == ["trusted", "untrusted", "untrusted"]


class Doubt:
    """A run that was cut right after the attempt of an effect."""

    def __init__(self, work: Tool, **options: Any) -> None:
        self.agent = Agent(model=ScriptedModel([act("work"), say("ok")]), tools=[work], **options)

    async def cut(self) -> MemoryStore:
        """The record up to the attempt."""
        store = MemoryStore()
        await run(self.agent.engine, await start(self.agent, "Work!", store, run_id="run"))
        lines = await store.read("run")
        place = next(n for n, line in enumerate(lines) if b'"attempt"' in line.body)
        return await copy(lines[: place + 1])


async def test_an_unsafe_call_in_doubt_is_told_and_not_made_again() -> None:
    work = Flaky()
    store = await (doubt := Doubt(made(work, effect="unsafe"))).cut()
    await resume(doubt.agent, "run", store=store)
    observation = seen(await load(store, "run"))
    assert (work.calls, observation.code, observation.outcome) == (1, "unknown", "unknown")


async def test_a_call_in_doubt_whose_tool_is_gone_is_unknown() -> None:
    doubt = Doubt(made(Flaky(), effect="unsafe"))
    store = await doubt.cut()
    other = doubt.agent.replace(tools=[])
    assert (await resume(other, "run", store=store, accept_change=True)).status == "answered"
    assert seen(await load(store, "run")).outcome == "unknown"


@pytest.mark.parametrize("value", [float("nan"), "half a \ud83d", {1: [float("inf")]}])
async def test_what_json_would_change_is_a_bad_output(value: object) -> None:
    async def call(args: dict[str, Json], key: str) -> object:
        return value

    assert seen(await once(made(call))).code == "bad_output"


@pytest.mark.parametrize("allow", [True, False])
async def test_by_choice_a_call_in_doubt_is_held_for_a_person(*, allow: bool) -> None:
    work = Flaky()
    doubt = Doubt(made(work, effect="unsafe"), limits=Limits(unknown="hold"))
    store = await doubt.cut()
    held = await resume(doubt.agent, "run", store=store)
    assert (held.status, work.calls) == ("held", 1)
    assert (await resume(doubt.agent, "run", store=store)).status == "held"
    await rule("run:1.1", allow=allow, store=store)
    assert (await resume(doubt.agent, "run", store=store)).status == "answered"
    observation = seen(await load(store, "run"))
    if allow:
        assert (work.calls, observation.text) == (2, "done with run:1.1")
        assert attempts(await load(store, "run"))[-1].number == 2
    else:
        assert (work.calls, observation.ok) == (1, False)


async def test_a_second_attempt_that_is_lost_too_is_held_again() -> None:
    work = Flaky()
    doubt = Doubt(made(work, effect="unsafe"), limits=Limits(unknown="hold"))
    store = await doubt.cut()
    await resume(doubt.agent, "run", store=store)
    await rule("run:1.1", allow=True, args={}, store=store)
    await resume(doubt.agent, "run", store=store)
    lines = await store.read("run")
    place = max(n for n, line in enumerate(lines) if b'"attempt"' in line.body)
    again = await copy(lines[: place + 1])
    held = await resume(doubt.agent, "run", store=again)
    assert (held.status, work.calls) == ("held", 2)


@pytest.mark.parametrize("happened", [True, False])
async def test_a_probe_says_what_became_of_a_call_in_doubt(*, happened: bool) -> None:
    work = Flaky()

    async def probe(args: dict[str, Json], key: str) -> str | None:
        return f"found {key}" if happened else None

    doubt = Doubt(made(work, effect="unsafe", attempts=Attempts(0.05, AGAIN, probe)))
    store = await doubt.cut()
    await resume(doubt.agent, "run", store=store)
    observation = seen(await load(store, "run"))
    assert (work.calls, observation.text) == (
        (1, "found run:1.1") if happened else (2, "done with run:1.1")
    )


@pytest.mark.parametrize("says", ["found", None, OSError("the bank is closed")], ids=str)
async def test_a_probe_says_what_became_of_a_call_that_was_late(says: Any) -> None:
    async def never(args: dict[str, Json], key: str) -> str:
        await anyio.sleep_forever()
        return ""

    async def probe(args: dict[str, Json], key: str) -> str | None:
        if isinstance(says, OSError):
            raise says
        return None if says is None else str(says)

    work = made(never, effect="unsafe", attempts=Attempts(0.01, AGAIN, probe))
    agent = Agent(model=ScriptedModel([act("work"), say("ok")]), tools=[work])
    store = MemoryStore()
    trajectory = await run(agent.engine, await start(agent, "Work!", store, run_id="run"))
    observation = seen(trajectory)
    if says == "found":
        assert (observation.text, observation.outcome) == ("found", "done")
    else:
        assert (observation.code, observation.outcome) == ("timeout", "unknown")
    await replay(agent.engine, trajectory, MemoryStore())


async def test_a_probe_that_fails_leaves_the_call_in_doubt() -> None:
    work = Flaky()

    async def probe(args: dict[str, Json], key: str) -> str | None:
        message = "the bank is closed"
        raise RuntimeError(message)

    doubt = Doubt(made(work, effect="unsafe", attempts=Attempts(0.01, AGAIN, probe)))
    store = await doubt.cut()
    await resume(doubt.agent, "run", store=store)
    observation = seen(await load(store, "run"))
    assert (work.calls, observation.outcome) == (1, "unknown")


async def test_a_probe_waits_until_the_deadline_of_the_attempt() -> None:
    asked: list[int] = []

    async def probe(args: dict[str, Json], key: str) -> str | None:
        asked.append(journal.now())
        return "found"

    doubt = Doubt(made(Flaky(), effect="unsafe", attempts=Attempts(0.2, AGAIN, probe)))
    store = await doubt.cut()
    journal = await Journal.open(store, "run")
    trajectory = await run(doubt.agent.engine, journal)
    assert asked[0] >= trajectory.call("1.1").deadline


async def test_a_fenced_worker_stops_with_one_error_even_from_parallel_calls() -> None:
    store = MemoryStore()

    async def steal(args: dict[str, Json], key: str) -> str:
        await store.open("run")
        return "stolen"

    agent = Agent(
        model=ScriptedModel([acts(act("work"), act("work")), say("ok")]), tools=[made(steal)]
    )
    with pytest.raises(FencedError):
        await run(agent.engine, await start(agent, "Work!", store, run_id="run"))


async def test_wrong_arguments_are_answered_with_the_first_example_of_right_ones() -> None:
    right: tuple[dict[str, Json], ...] = ({"n": 7}, {"n": 8})
    schema: dict[str, Json] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    work = replace(made(Flaky()), parameters=schema, examples=right)
    agent = Agent(model=ScriptedModel([act("work", n="one"), say("ok")]), tools=[work])
    trajectory = await run(agent.engine, await start(agent, "Work!", MemoryStore(), run_id="run"))
    assert seen(trajectory).text.startswith("ERROR: invalid_arguments: n: ")
    assert seen(trajectory).text.endswith('. The right form: {"n":7}')
