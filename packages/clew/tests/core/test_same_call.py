"""A provider sends one call twice: within a reply, and in a later step."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    Result,
    ToolError,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.core.codes import FINISH
from clew.core.contents import RawCall, Reply
from clew.core.trajectory import Call, Trajectory
from clew.core.verdicts import Verdict
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew.testing.models import ScriptedModel, say
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Send
from clew_testing.servers.openai_server import OpenAIServer
from tests.guards.verdicts import verdict_on

Asked = Sequence[tuple[str, str, dict[str, Any]]]
"""The calls of a reply: id, tool, arguments."""

PAY = {"to": "Ada", "amount": 5}


class Line(msgspec.Struct):
    """What is paid for."""

    text: str = ""
    size: float = 1


class Bank:
    """What was done."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, int]] = []
        self.looked: list[str] = []

    def tools(self) -> list[Any]:
        @tool(effect="unsafe")
        def pay(to: str, amount: int) -> str:
            """Pay somebody."""
            self.paid.append((to, amount))
            return f"payment {len(self.paid)}"

        @tool(effect="read")
        def look(name: str) -> str:
            """Look at an account."""
            self.looked.append(name)
            return f"look {len(self.looked)}"

        return [pay, look]


def replies(*steps: Asked) -> list[Any]:
    """A reply for each step, then an answer."""
    return [
        *(
            Reply(
                calls=tuple(
                    RawCall(name=name, arguments=msgspec.json.encode(args).decode(), id=id_)
                    for id_, name, args in calls
                ),
                finish="calls",
            )
            for calls in steps
        ),
        say("done"),
    ]


async def play(*steps: Asked, **more: Any) -> tuple[Bank, Result[Any], Trajectory]:
    bank, store = Bank(), MemoryStore()
    limits = Limits(steps=12, faults=9)
    agent = Agent(model=ScriptedModel(replies(*steps)), tools=bank.tools(), limits=limits, **more)
    result = await run(agent, "Pay Ada.", store=store)
    record = await read(result.run_id, store=store)
    await replay(agent, result.run_id, store=store)
    return bank, result, record


def pay(id_: str, **args: Any) -> tuple[str, str, dict[str, Any]]:
    return id_, "pay", PAY | args


def look(id_: str, name: str = "Ada") -> tuple[str, str, dict[str, Any]]:
    return id_, "look", {"name": name}


DRAWN = [
    "call_9fK2abQ", "toolu_01A09q90qw90lq917835lq9", "D681PevKs", "365174485", "abc", "x",
          "chatcmpl-tool-3f2a9c", "function-call-1234567890", "fc_0a1b2c", "call_12345",
    "call_a1b2c3d4", "7f9c1e2a-1111-4a2b-9c3d-000000000001", "ZsSt4SkIFMRz0HtqT7MTlimNvzlKM896",
]  # fmt: skip
"""Ids that look drawn. Some servers draw one for all calls, or hash the arguments."""
CONSTANT = ["string", "null", "undefined", "None", "assistant"]
COUNTERS = ["call_1", "c1", "7", "functions.pay:3", "tool_call_2", "call_2_0", "id-9"]
PER_REPLY = ["call_0", "0", "functions.pay:0", "c0", "tool-call-0"]
NAMES = ["pay", "call_pay", "functions.pay", "pay-call", "tool_call", "call", "function", "tool"]


@pytest.mark.parametrize("id_", [*DRAWN, *COUNTERS, *PER_REPLY])
async def test_within_a_reply_an_equal_id_and_request_is_one_call(id_: str) -> None:
    bank, result, record = await play([pay(id_), pay(id_)])
    assert bank.paid == [("Ada", 5)]
    assert result.answer == "done"
    first, second = record.steps[0].calls
    assert (first.observation and first.observation.text) == "payment 1"
    assert second.observation is not None
    assert (second.observation.code, second.observation.ok) == ("same_call", True)
    assert "its result counts for both" in second.observation.text
    assert record.total.tool_calls == 1


@pytest.mark.parametrize("other", [{"amount": 6}, {"to": "Ben"}, {"amount": 6, "to": "Ben"}])
async def test_within_a_reply_other_arguments_are_another_call(other: dict[str, Any]) -> None:
    bank, _, _ = await play([pay("call_9fK2abQ"), pay("call_9fK2abQ", **other)])
    assert len(bank.paid) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"to": "Ada", "amount": 5}, {"to": "Ada", "amount": 5.0}),
        ({"to": "Ada", "amount": 5, "note": ""}, {"to": "Ada", "amount": 5}),
        ({"to": "Ada", "amount": 5}, {"amount": 5, "to": "Ada"}),
        ({"to": "Zo\u00eb", "amount": 5}, {"to": "Zoe\u0308", "amount": 5}),
        (
            {"to": "Ada", "amount": 5, "more": {"x": 1, "y": 2}},
            {"to": "Ada", "amount": 5, "more": {"y": 2.0, "x": 1}},
        ),
        ({"to": "Ada", "amount": 5}, {"to": "Ada", "amount": 5, "more": None, "tags": []}),
        (
            {"to": "Ada", "amount": 5, "tags": ["a", "b"]},
            {"to": "Ada", "amount": 5, "tags": ["b", "a"]},
        ),
        (
            {"to": "Ada", "amount": 5, "within": "PT60S"},
            {"to": "Ada", "amount": 5, "within": "PT1M"},
        ),
        (
            {"to": "Ada", "amount": 5, "id": "12345678123456781234567812345678"},
            {"to": "Ada", "amount": 5, "id": "12345678-1234-5678-1234-567812345678"},
        ),
        (
            {"to": "Ada", "amount": 5, "lines": [{}]},
            {"to": "Ada", "amount": 5, "lines": [{"text": "", "size": 1.0}]},
        ),
    ],
)
async def test_what_the_tool_receives_is_compared_however_it_is_written(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    got: list[str] = []

    @tool(effect="unsafe")
    def pay(
        to: str,
        amount: int,
        note: str = "",
        more: dict[str, Any] | None = None,
        tags: set[str] = set(),  # noqa: B006 - as people write it, and it is never changed
        within: timedelta | None = None,
        id: UUID | None = None,  # noqa: A002 - a name that models like
        lines: Sequence[Line] = (),
    ) -> str:
        """Pay somebody."""
        got.append(to)
        return "paid"

    for steps in (
        [[("a", "pay", one), ("a", "pay", other)]],
        [[("z", "pay", one)], [("z", "pay", other)]],
    ):
        got.clear()
        agent = Agent(model=ScriptedModel(replies(*steps)), tools=[pay])
        result = await run(agent, "?", store=MemoryStore())
        assert (result.status, len(got)) == ("answered", 1)


SECRET = "s3cr3t-of-the-bank-1234"


@pytest.mark.parametrize("id_", ["z", "call_9f2k1x", "toolu_01A", "7"])
@pytest.mark.parametrize("text", ["{}", "to {} now", "{0} {0}", "a\n{}"])
@pytest.mark.parametrize("apart", [False, True])
async def test_a_secret_in_the_arguments_hides_no_repetition(
    monkeypatch: pytest.MonkeyPatch, id_: str, text: str, apart: bool
) -> None:
    monkeypatch.setenv("BANK_TOKEN", SECRET)
    call = pay(id_, to=text.format(SECRET))
    bank, _, _ = await play(*([[call]] * 2 if apart else [[call] * 2]))
    assert bank.paid == [(text.format(SECRET), 5)]


async def test_calls_without_ids_are_calls_of_their_own() -> None:
    bank, _, _ = await play([pay(""), pay("")], [pay("")])
    assert len(bank.paid) == 3


@pytest.mark.parametrize("id_", [*DRAWN, *CONSTANT])
async def test_in_a_later_step_an_effect_under_its_id_is_told_and_not_made(id_: str) -> None:
    bank, result, record = await play(
        [pay(id_), look("l1")], [look("l2", "Ben")], [pay(id_), pay(id_)], [look("l3", "Cid")]
    )
    assert bank.paid == [("Ada", 5)]
    assert result.answer == "done"
    for call in record.steps[2].calls:
        assert call.observation is not None
        assert call.observation.code == "same_call"
        assert call.observation.text.endswith(
            "to have it made once more, ask again. Its result was: payment 1"
        )
        assert call.observation.trust == "untrusted"


@pytest.mark.parametrize("id_", [*DRAWN, *COUNTERS, *CONSTANT, *PER_REPLY, *NAMES])
async def test_a_look_up_in_a_later_step_is_another_call(id_: str) -> None:
    bank, result, record = await play([look(id_)], [look(id_)], [look(id_)])
    assert len(bank.looked) == 3
    assert result.answer == "done"
    assert [call.observation and call.observation.text for call in record.calls] == [
        "look 1", "look 2", "look 3",
    ]  # fmt: skip


@pytest.mark.parametrize("id_", [*DRAWN, *COUNTERS, *CONSTANT])
async def test_an_effect_is_asked_about_once_in_a_run_and_made_if_the_model_insists(
    id_: str,
) -> None:
    bank, result, record = await play(*[[pay(id_)]] * 7)
    assert len(bank.paid) == 6
    assert result.answer == "done"
    codes = [call.observation and call.observation.code for call in record.calls]
    assert codes == ["", "same_call", "", "", "", "", ""]


@pytest.mark.parametrize("id_", [*DRAWN, *COUNTERS, *CONSTANT])
async def test_what_stood_twice_in_a_reply_was_not_told_as_a_later_call(id_: str) -> None:
    bank, _, _ = await play([pay(id_)] * 3, [pay(id_)])
    assert len(bank.paid) == 1
    bank, _, record = await play([pay(id_)] * 3, [pay(id_)], [pay(id_)] * 2)
    assert len(bank.paid) == 2
    assert [call.key for call in record.calls if call.attempts] == ["1.1", "3.1"]


@pytest.mark.parametrize("id_", [*PER_REPLY, *NAMES])
async def test_ids_that_count_the_calls_of_each_reply_or_name_the_tool_say_nothing(
    id_: str,
) -> None:
    bank, _, _ = await play([pay(id_)], [pay(id_)], [pay(id_)])
    assert len(bank.paid) == 3


async def test_what_one_request_taught_about_its_id_holds_for_no_other() -> None:
    other = pay("call_0bb1", to="Ben")
    bank, _, _ = await play(*[[pay("call_9fK2abQ")]] * 3, [other], [other])
    assert [to for to, _ in bank.paid] == ["Ada", "Ada", "Ben"]


@pytest.mark.parametrize("id_", ["call_9fK2abQ", "call_a1b2c3d4", "call_3", "string"])
async def test_what_did_not_happen_may_be_asked_for_again(id_: str) -> None:
    busy = iter([True, True, False])

    @tool(effect="unsafe")
    def order(what: str) -> str:
        """Order something."""
        if next(busy):
            raise ToolError("busy")
        return f"ordered {what}"

    steps = [[(id_, "order", {"what": "tea"})]] * 3
    store = MemoryStore()
    result = await run(
        Agent(model=ScriptedModel(replies(*steps)), tools=[order]), "Order.", store=store
    )
    [*_, last] = (await read(result.run_id, store=store)).calls
    assert last.observation is not None
    assert last.observation.text == "ordered tea"


async def test_what_a_guard_denied_is_judged_anew() -> None:
    async def not_at_once(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("deny", "look first") if len(trajectory.steps) == 1 else None

    bank, _, _ = await play([pay("a9X4")], [pay("a9X4")], guards=[not_at_once])
    assert bank.paid == [("Ada", 5)]


async def test_what_a_person_rejected_is_told_once_and_then_waits_again() -> None:
    ask = verdict_on("pay", "hold", "a person decides")

    bank, store = Bank(), MemoryStore()
    model = ScriptedModel(replies([pay("a9X4"), pay("a9X4")], [pay("a9X4")], [pay("a9X4")]))
    agent = Agent(model=model, tools=bank.tools(), guards=[ask])
    result = await run(agent, "Pay.", store=store)
    await rule(f"{result.run_id}:1.1", allow=False, store=store)
    result = await resume(agent, result.run_id, store=store)
    record = await read(result.run_id, store=store)
    assert (result.status, [call.key for call in record.held]) == ("held", ["3.1"])
    copy, later = record.call("1.2").observation, record.call("2.1").observation
    assert copy is not None
    assert later is not None
    assert "made" not in copy.text
    assert (later.code, later.ok) == ("same_call", False)
    assert "a person said no" in later.text
    assert bank.paid == []


@pytest.mark.parametrize("id_", ["call_1", "c1", "same"])
async def test_an_id_that_was_given_to_another_call_says_nothing(id_: str) -> None:
    bank, _, _ = await play([pay(id_)], [pay(id_, to="Ben")], [pay(id_)])
    assert [to for to, _ in bank.paid] == ["Ada", "Ben", "Ada"]


async def test_an_answer_that_was_rejected_may_be_given_again() -> None:
    wrong = iter(["too short", None])
    finish = ("call_9fK2abQ", FINISH, {"answer": "It is so."})
    agent = Agent(model=ScriptedModel(replies([finish], [finish])), checks=[lambda *_: next(wrong)])
    result = await run(agent, "What?", store=MemoryStore())
    assert (result.status, result.answer) == ("answered", "It is so.")


async def test_arguments_that_cannot_be_read_are_told_again() -> None:
    bad = Reply(calls=(RawCall(name="pay", arguments="{", id="call_9fK2abQ"),), finish="calls")
    bank, store = Bank(), MemoryStore()
    agent = Agent(model=ScriptedModel([bad, bad, say("done")]), tools=bank.tools())
    result = await run(agent, "Pay.", store=store)
    codes = [call.observation.code for call in (await read(result.run_id, store=store)).calls
             if call.observation]  # fmt: skip
    assert codes == ["invalid_arguments", "invalid_arguments"]


async def test_an_unknown_tool_is_not_looked_for_again() -> None:
    _, _, record = await play([("c1", "fly", {})], [("c1", "fly", {})])
    assert [call.observation and call.observation.code for call in record.calls] == [
        "unknown_tool", "unknown_tool",
    ]  # fmt: skip


async def test_a_failure_is_told_again_as_one() -> None:
    @tool(effect="unsafe")
    def fail(to: str) -> str:
        """Fail."""
        raise RuntimeError(to)

    twice = [("call_9fK2abQ", "fail", {"to": "Ada"})]
    store = MemoryStore()
    agent = Agent(model=ScriptedModel(replies(twice, twice)), tools=[fail])
    result = await run(agent, "Pay.", store=store)
    first, second = (await read(result.run_id, store=store)).calls
    assert first.observation is not None
    assert second.observation is not None
    assert (first.observation.outcome, second.observation.ok) == ("unknown", False)
    assert len(first.attempts) == 1
    assert not second.attempts


async def test_a_call_that_waits_for_a_person_is_ruled_on_once() -> None:
    ask = verdict_on("pay", "hold", "a person decides")

    bank, store = Bank(), MemoryStore()
    model = ScriptedModel(replies([pay("call_9fK2abQ"), pay("call_9fK2abQ")]))
    agent = Agent(model=model, tools=bank.tools(), guards=[ask])
    result = await run(agent, "Pay.", store=store)
    assert result.status == "held"
    record = await read(result.run_id, store=store)
    assert [call.held for call in record.calls] == [True, False]
    assert bank.paid == []
    await resume(agent, result.run_id, store=store)


FAMILIES = ["chat", "responses", "anthropic", "gemini"]
MAKE: dict[str, tuple[Any, Any]] = {
    "chat": (OpenAIServer, openai_chat),
    "responses": (OpenAIServer, openai_responses),
    "anthropic": (AnthropicServer, anthropic_messages),
    "gemini": (GeminiServer, google_gemini),
}


def turn(family: str, ids: Sequence[str]) -> Send:
    """A reply of one payment under each id; without ids it answers."""
    args = msgspec.json.encode(PAY).decode()
    body: dict[str, Any]
    if family == "chat":
        calls = [
            {"id": i, "type": "function", "function": {"name": "pay", "arguments": args}}
            for i in ids
        ]
        message = {"content": None, "tool_calls": calls} if ids else {"content": "done"}
        body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    elif family == "responses":
        text = {"type": "message", "content": [{"type": "output_text", "text": "done"}]}
        made = [
            {"type": "function_call", "call_id": i, "name": "pay", "arguments": args} for i in ids
        ]
        body = {"status": "completed", "output": made or [text]}
    elif family == "anthropic":
        used = [{"type": "tool_use", "id": i, "name": "pay", "input": PAY} for i in ids]
        body = {"content": used or [{"type": "text", "text": "done"}], "stop_reason": "end_turn"}
    else:
        parts: list[Any] = [{"functionCall": {"name": "pay", "args": PAY, "id": i}} for i in ids]
        content = {"role": "model", "parts": parts or [{"text": "done"}]}
        body = {"candidates": [{"content": content, "finishReason": "STOP"}]}
    return Send(msgspec.json.encode(body))


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "steps", [[["a9X4"], ["a9X4"]], [["a9X4", "a9X4"]], [["a9X4"] * 3, ["a9X4"]]]
)
async def test_every_provider_is_paid_once(family: str, steps: list[list[str]]) -> None:
    bank = Bank()
    script = [turn(family, ids) for ids in [*steps, []]]
    make_server, make = MAKE[family]
    with make_server(lambda _: script.pop(0)) as server:
        model = make("scripted", base_url=server.base_url, api_key="any")
        agent = Agent(model=model, tools=bank.tools())
        result = await run(agent, "Pay.", store=MemoryStore())
        await model.close()
    assert bank.paid == [("Ada", 5)]
    assert result.answer == "done"
