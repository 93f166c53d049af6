"""`Limits(unknown="hold")`: an effect of unknown outcome waits for a person, whatever the cause."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

import anyio
import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    Observation,
    Result,
    Retry,
    ToolError,
    Trajectory,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.core.tools import Tool
from clew.core.trajectory import Call
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.testing.models import ScriptedModel, act, acts, say
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops

HOLD = Limits(unknown="hold")
Causes = dict[str, Callable[[], Any]]


async def _hang() -> None:
    await anyio.sleep_forever()


async def _deaf() -> str:
    with suppress(BaseException):
        await anyio.sleep_forever()
    return "after all"


def _raise(error: BaseException) -> Callable[[], Any]:
    def work() -> Any:
        raise error

    return work


def _raise_later(error: BaseException) -> Callable[[], Any]:
    async def work() -> Any:
        await anyio.lowlevel.checkpoint()
        raise error

    return work


def _tell(**fields: Any) -> Callable[[], Any]:
    return lambda: Observation(ok=False, outcome="unknown", **fields)


CAUSES: Causes = {
    "raises": _raise(ValueError("half of it is sent")),
    "raises later": _raise_later(ConnectionResetError("reset by peer")),
    "loses a key": _raise(KeyError("receipt")),
    "has no words": _raise(RuntimeError()),
    "leaves": _raise(SystemExit(3)),
    "writes an escape": _raise(OSError("\x1b[2Jdisk full")),
    "says much": _raise(RuntimeError("x" * 100_000)),
    "hangs": _hang,
    "ignores the end": _deaf,
    "says so": _tell(content="the bank did not answer", code="unknown"),
    "was stopped": _tell(content="ERROR: timeout: stopped at 5 s", code="timeout"),
    "crashed": _tell(content="ERROR: crashed: the worker died", code="crashed"),
}


class Sends:
    """A tool that ends as told the first time and then works."""

    def __init__(self, cause: Callable[[], Any], **options: Any) -> None:
        self.cause = cause
        self.sent: list[str] = []
        late = 0.05 if cause in {_hang, _deaf} else PATIENCE
        given = {"effect": "unsafe", "timeout": late, "retry": Retry(0), **options}

        @tool(name="send", **given)
        async def send(to: str) -> Any:
            """Send a letter."""
            self.sent.append(to)
            if len(self.sent) > 1:
                return f"sent to {to}"
            came = self.cause()
            return await came if hasattr(came, "__await__") else came

        self.tool: Tool = send

    def agent(self, limits: Limits = HOLD, **more: Any) -> Agent[Any]:
        model = ScriptedModel([act("send", to="Ann"), say("done")])
        return Agent(model=model, tools=[self.tool], limits=limits, **more)


async def held(agent: Agent[Any]) -> tuple[MemoryStore, Result[Any], Call]:
    """The first call of the run, which waits."""
    store = MemoryStore()
    result = await run(agent, "Send!", store=store, run_id="r")
    return store, result, (await read("r", store=store)).call("1.1")


async def ended(agent: Agent[Any], store: MemoryStore, **ruling: Any) -> Trajectory:
    """The run after a person's ruling, replayed."""
    [asked] = await pending_approvals(store=store)
    await rule(f"r:{asked.call}", store=store, **ruling)
    assert (await resume(agent, "r", store=store)).status == "answered"
    await replay(agent, "r", store=store)
    return await read("r", store=store)


@pytest.mark.parametrize("cause", CAUSES)
async def test_whatever_the_cause_a_person_is_asked_and_may_have_it_made_again(cause: str) -> None:
    sends = Sends(CAUSES[cause])
    store, result, call = await held(agent := sends.agent())
    assert (result.status, call.observation, sends.sent) == ("held", None, ["Ann"])
    assert (await resume(agent, "r", store=store)).status == "held"
    record = await ended(agent, store, allow=True)
    assert sends.sent == ["Ann", "Ann"]
    [call] = record.calls
    assert call.observation is not None
    assert (call.observation.text, call.observation.outcome) == ("sent to Ann", "done")
    assert [attempt.number for attempt in call.attempts] == [1, 2]


AGAIN = "To allow it is to make it again: look first whether it happened."


@pytest.mark.parametrize("cause", CAUSES)
async def test_the_person_is_told_that_to_allow_it_is_to_make_it_again(cause: str) -> None:
    def look_at_it(call: Call, trajectory: Trajectory) -> Verdict | None:
        return None if call.attempts else Verdict("hold", "may it be sent?")

    agent = Sends(CAUSES[cause]).agent(guards=[look_at_it])
    store, result, _ = await held(agent)
    assert [one.why for one in result.pending_approvals] == ["may it be sent?"], "never begun"
    await rule("r:1.1", allow=True, store=store)
    (asked,) = (await resume(agent, "r", store=store)).pending_approvals
    assert asked.why.endswith(AGAIN)
    assert await pending_approvals(store=store) == (asked,)
    record = await ended(agent, store, allow=False)
    seen = record.call("1.1").observation
    assert seen is not None
    assert AGAIN not in seen.text, "the model decides nothing there"


@pytest.mark.parametrize("cause", CAUSES)
async def test_who_does_not_want_it_again_says_what_happened(cause: str) -> None:
    sends = Sends(CAUSES[cause])
    store, _, _ = await held(agent := sends.agent())
    record = await ended(agent, store, allow=False, why="I looked: it arrived")
    assert sends.sent == ["Ann"]
    seen = record.call("1.1").observation
    assert seen is not None
    assert (seen.ok, seen.code, seen.outcome) == (False, "unknown", "unknown")
    assert seen.trust == "untrusted"
    assert seen.text.endswith("A person said: I looked: it arrived")


@pytest.mark.parametrize("cause", CAUSES)
async def test_by_default_the_model_is_told(cause: str) -> None:
    sends = Sends(CAUSES[cause])
    _, result, call = await held(sends.agent(Limits()))
    assert result.status == "answered"
    assert call.observation is not None
    assert call.observation.outcome == "unknown"


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        ("raises", "ERROR: crashed: ValueError: half of it is sent. send was begun, but nobody"),
        ("hangs", "ERROR: timeout: send did not end in 0.05 s. It was begun, but nobody saw"),
        ("says so", "the bank did not answer. send was begun, but nobody saw how it ended"),
        ("was stopped", "ERROR: timeout: stopped at 5 s"),
    ],
)
async def test_the_person_reads_what_came_of_it(cause: str, told: str) -> None:
    store, _, _ = await held(Sends(CAUSES[cause]).agent())
    [asked] = await pending_approvals(store=store)
    assert asked.why.startswith(told)
    assert asked.why.count("may or may not") == (cause != "was stopped")


async def test_what_the_person_reads_has_a_length() -> None:
    store, _, _ = await held(Sends(CAUSES["says much"]).agent())
    [asked] = await pending_approvals(store=store)
    assert len(asked.why) <= 8_000


@pytest.mark.parametrize("effect", ["pure", "read", "idempotent"])
async def test_only_an_unsafe_call_is_held(effect: Literal["pure", "read", "idempotent"]) -> None:
    _, result, _ = await held(Sends(CAUSES["raises"], effect=effect).agent())
    assert result.status == "answered"


async def test_what_is_known_not_to_have_happened_is_not_held() -> None:
    _, result, _ = await held(Sends(_raise(ToolError("busy"))).agent())
    assert result.status == "answered"


async def test_a_probe_that_knows_asks_no_person() -> None:
    async def probe(args: dict[str, Json], key: str) -> str:
        return "it is there"

    _, result, call = await held(Sends(CAUSES["hangs"], probe=probe).agent())
    assert result.status == "answered"
    assert call.observation is not None
    assert call.observation.content == "it is there"


async def test_a_second_attempt_of_unknown_outcome_is_held_again() -> None:
    sends = Sends(CAUSES["raises"])
    again = _raise(ValueError("again"))

    @tool(name="send", effect="unsafe", retry=Retry(0))
    def send(to: str) -> str:
        """Send a letter."""
        sends.sent.append(to)
        return again() if len(sends.sent) < 3 else "sent"

    sends.tool = send
    store, _, _ = await held(agent := sends.agent())
    await rule("r:1.1", allow=True, store=store)
    assert (await resume(agent, "r", store=store)).status == "held"
    record = await ended(agent, store, allow=True)
    assert sends.sent == ["Ann"] * 3
    assert len(record.call("1.1").attempts) == 3


async def test_the_other_calls_of_the_reply_are_made() -> None:
    looked = threading.Event()

    @tool(effect="read")
    def look() -> str:
        """Look."""
        looked.set()
        return "looked"

    sends = Sends(CAUSES["raises"])
    agent = sends.agent().replace(
        model=ScriptedModel([acts(act("send", to="Ann"), act("look")), say("done")]),
        tools=[sends.tool, look],
    )
    _, result, _ = await held(agent)
    assert result.status == "held"
    assert looked.is_set()


async def test_a_call_that_a_guard_held_before_it_was_made_is_asked_about_anew() -> None:
    async def ask(call: Call, trajectory: Trajectory) -> Verdict:
        return Verdict("hold", "may it?")

    sends = Sends(CAUSES["raises"])
    store, result, _ = await held(agent := sends.agent(guards=[ask]))
    assert (result.status, sends.sent) == ("held", [])
    await rule("r:1.1", allow=True, store=store)
    assert (await resume(agent, "r", store=store)).status == "held"
    assert sends.sent == ["Ann"]
    record = await ended(agent, store, allow=True)
    assert sends.sent == ["Ann", "Ann"]
    assert record.call("1.1").observation is not None


async def test_a_secret_among_the_arguments_is_not_made_again_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-indeed")
    sends = Sends(CAUSES["raises"])
    model = ScriptedModel([act("send", to="sk-very-secret-indeed"), say("done")])
    store, _, _ = await held(agent := sends.agent().replace(model=model))
    await rule("r:1.1", allow=True, store=store)
    await resume(agent, "r", store=store)
    assert sends.sent == ["sk-very-secret-indeed"]
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert "the arguments held a secret" in seen.text
