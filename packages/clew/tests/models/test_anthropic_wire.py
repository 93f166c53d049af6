"""Thinking goes back whole to the model that thought it, behind what it was thought after.

The server signs each block of thinking for its text and for all that stood before it, and refuses
what was altered or moved.
"""

from typing import Any

import msgspec
import pytest

from clew import ModelSettings
from clew.core.contents import Reply, Wire
from clew.core.prompts import Part, Prompt
from clew_testing.servers.anthropic_server import Fail, Say, Send, Turn
from tests.models.messages import CALL, HEAD, SEARCH, over, results, step, talk, watcher
from tests.models.support import call, few, tool

THOUGHT = Say("I look.", calls=[CALL, CALL], reasoning="Six by seven.")
BLOCKS: list[dict[str, Any]] = [
    {"type": "thinking", "thinking": "First …"},
    {"type": "text", "text": "One. ", "citations": None},
    {"type": "redacted_thinking"},
    {"type": "tool_use", "name": "search", "input": {"query": "a"}, "caller": {"type": "direct"}},
    {"type": "text", "text": "\nTwo."},
    {"type": "thinking", "thinking": ""},
    {"type": "tool_use", "name": "search", "input": {}},
]
BOTH = pytest.mark.parametrize("streamed", [False, True])
LEFT = (Part("user", "Two steps left."),)


def again(reply: Reply) -> Reply:
    """The reply as the record gives it back."""
    return msgspec.json.decode(msgspec.json.encode(reply), type=Reply)


def assistants(body: Any) -> list[Any]:
    return [each["content"] for each in body["messages"] if each["role"] == "assistant"]


@BOTH
async def test_over_several_steps_each_reply_goes_back_as_it_came(streamed: bool) -> None:
    said = [THOUGHT, Say("", more={"blocks": BLOCKS}), THOUGHT, Say("Done.")]
    parts: list[Part] = []
    async with over(said, retries=few(0)) as (model, server, _):
        for _ in said:
            reply = again(await model.complete(talk(*parts), watcher(streamed=streamed)))
            parts += step(reply)
    sent = assistants(server.requests[-1].body)
    assert [block["type"] for block in sent[1]] == [block["type"] for block in BLOCKS]
    assert [block.get("text") for block in sent[1]] == [
        None,
        "One. ",
        None,
        None,
        "\nTwo.",
        None,
        None,
    ]
    assert sent[1][3]["caller"] == {"type": "direct"}
    assert sent[0][0]["thinking"] == "Six by seven."
    assert len(server.requests) == 4


@BOTH
async def test_what_the_provider_compacted_goes_back_whole(streamed: bool) -> None:
    compacted = {"type": "compaction", "content": "Six were seen.", "encrypted_content": "c1="}
    blocks = [compacted, {"type": "text", "text": "I go on."}, BLOCKS[3]]
    said = [Say("", more={"blocks": blocks}), Say("Done.")]
    parts: list[Part] = []
    asked = {"context_management": {"edits": [{"type": "compact_20260112"}]}}
    async with over(said, retries=few(0), settings=ModelSettings(extra=asked)) as (
        model,
        server,
        _,
    ):
        for _ in said:
            reply = again(await model.complete(talk(*parts), watcher(streamed=streamed)))
            parts += step(reply)
    (first, *_) = assistants(server.requests[-1].body)
    assert first[0] == compacted
    assert first[1]["text"] == "I go on."


@BOTH
async def test_what_people_read_of_it(streamed: bool) -> None:
    async with over([Say("", more={"blocks": BLOCKS})]) as (model, _, _):
        reply = await model.complete(talk(), watcher(streamed=streamed))
    assert reply.text == "One. \nTwo."
    assert reply.reasoning == "First …"
    assert [each.arguments and msgspec.json.decode(each.arguments) for each in reply.calls] == [
        {"query": "a"},
        {},
    ]


@BOTH
async def test_a_wire_says_nothing_twice(streamed: bool) -> None:
    async with over([THOUGHT, Say(" Padded. ", calls=[CALL]), Say("Plain.", calls=[CALL])]) as (
        model,
        _,
        _,
    ):
        replies = [await model.complete(talk(), watcher(streamed=streamed)) for _ in range(3)]
    signed, padded, plain = [reply.wire for reply in replies]
    assert signed is not None
    assert (signed.provider, signed.model) == ("anthropic", "scripted")
    (thinking, *rest) = signed.items["content"]
    assert thinking.keys() == {"type", "thinking", "signature"}
    assert rest == [{"type": "text"}, {"type": "tool_use"}, {"type": "tool_use"}]
    assert len(signed.items["after"]) == 18
    assert signed.items.keys() == {"content", "after"}
    assert padded is not None
    assert padded.items == {
        "content": [{"type": "text", "text": " Padded. "}, {"type": "tool_use"}]
    }
    assert plain is None


async def test_where_no_tools_are_declared_only_thinking_is_kept() -> None:
    async with over([Say(" Padded. "), Say("Hm.", reasoning="Well.")]) as (model, _, _):
        padded = await model.complete(talk(tools=()))
        thought = await model.complete(talk(tools=()))
    assert padded.wire is None
    assert thought.wire is not None


async def test_what_was_said_anew_stands_before_its_thinking_again() -> None:
    parts: list[Part] = []
    async with over([THOUGHT, THOUGHT, Say("Done.")], retries=few(0)) as (model, server, _):
        for number in range(3):
            tail = (Part("user", f"{3 - number} steps left."), Part("user", " "))
            parts += step(again(await model.complete(talk(*parts, tail=tail))))
    assert [
        block["text"]
        for message in server.requests[-1].body["messages"]
        for block in message["content"]
        if message["role"] == "user" and block["type"] == "text"
    ] == ["What is it?", "3 steps left.", "2 steps left.", "1 steps left."]
    assert len(server.requests) == 3
    first, second, third = (seen.body["messages"] for seen in server.requests)
    assert len(first) < len(second) < len(third)


async def test_another_model_gets_text_and_calls_only() -> None:
    async with over([THOUGHT]) as (model, _, _):
        reply = await model.complete(talk(tail=LEFT))
    wires = [
        msgspec.structs.replace(reply.wire or Wire("", ""), model="other"),
        msgspec.structs.replace(reply.wire or Wire("", ""), provider="openai"),
        Wire("anthropic", "scripted", "of another kind"),
        Wire("anthropic", "scripted", {"content": [{"type": "tool_use"}]}),  # one call of two
    ]
    for wire in wires:
        said = Part("assistant", "I look.", calls=reply.calls, wire=wire)
        async with over([Say("Ok.")]) as (model, server, _):
            await model.complete(talk(said, *results(reply.calls)))
        (sent,) = assistants(server.requests[0].body)
        assert [block["type"] for block in sent] == ["text", "tool_use", "tool_use"]
        assert len(server.requests[0].body["messages"][0]["content"]) == 1


async def test_after_a_change_what_was_thought_before_it_is_left_out_for_good() -> None:
    """A summary takes the place of the first step, as a compacted view has it."""
    said = [THOUGHT, THOUGHT, THOUGHT, THOUGHT, Say("Done.")]
    parts: list[Part] = []
    async with over(said, retries=few(0)) as (model, server, waits):
        for number in range(5):
            if number == 2:
                parts = [Part("user", "So far: nothing."), *parts[3:]]
            parts += step(again(await model.complete(talk(*parts, tail=LEFT))))
        thinks = [
            [content[0]["type"] == "thinking" for content in assistants(seen.body)]
            for seen in server.requests
        ]
    assert thinks == [
        [],
        [True],
        [True],  # refused, since the first step is gone
        [False],
        [False, True],
        [False, True, True],
    ]
    assert waits == []


async def test_other_conversations_of_the_model_stay_whole_after_it() -> None:
    async with over([THOUGHT, Say("Moved."), Say("Whole.")], retries=few(0)) as (model, server, _):
        kept = step(again(await model.complete(talk())))
        moved = Prompt((Part("user", "What else?"),), kept, (), (SEARCH,))
        assert (await model.complete(moved)).text == "Moved."
        assert (await model.complete(talk(*kept))).text == "Whole."
    assert [len(assistants(seen.body)[0]) for seen in server.requests[1:]] == [4, 3, 4]


async def test_a_model_that_does_not_check_gets_its_thinking_wherever_it_stands() -> None:
    async with over([THOUGHT, Say("Ok.")], bound=False) as (model, server, _):
        kept = step(again(await model.complete(talk())))
        await model.complete(Prompt((Part("user", "What else?"),), kept, (), (SEARCH,)))
    assert len(server.requests) == 2
    assert assistants(server.requests[1].body)[0][0]["type"] == "thinking"


async def test_signatures_that_are_refused_are_left_out_from_then_on() -> None:
    async with over([THOUGHT]) as (model, _, _):
        reply = await model.complete(talk())
    items: Any = reply.wire and reply.wire.items
    items["content"][0]["thinking"] = "Six by eight."
    async with over([Say("Ok."), Say("Ok.")]) as (model, server, waits):
        for _ in range(2):
            await model.complete(talk(*step(reply)))
    assert [len(assistants(seen.body)[0]) for seen in server.requests] == [4, 3, 3]
    assert waits == []


async def test_signatures_are_left_out_where_leaving_out_the_moved_ones_did_not_help() -> None:
    moved = Fail(400, "Invalid `signature`. The block is bound to a different conversation.")
    async with over([THOUGHT, moved, moved, Say("Ok.")]) as (model, server, _):
        kept = step(await model.complete(talk()))
        await model.complete(talk(*kept))
    assert [len(assistants(seen.body)[0]) for seen in server.requests[1:]] == [4, 4, 3]


async def test_steps_of_another_model_before_one_that_must_think() -> None:
    """Manual thinking demands that the last step begins with some; so it is not asked for."""
    thinking = {"type": "enabled", "budget_tokens": 2048}
    said = Part("assistant", "", calls=(call("search", id="a"),))
    parts = (said, *results(said.calls))
    async with over([Say("Ok."), Say("Ok.")], settings=ModelSettings(reasoning_tokens=2048)) as (
        model,
        server,
        _,
    ):
        for _ in range(2):
            await model.complete(talk(*parts))
    assert [seen.body.get("thinking") for seen in server.requests] == [thinking, None, None]


async def test_what_one_run_is_refused_another_still_has(caplog: pytest.LogCaptureFixture) -> None:
    """One model serves many runs, and their requests may be under way at the same time."""
    thinking = {"type": "enabled", "budget_tokens": 2048}
    said = Part("assistant", "", calls=(call("search", id="a"),))
    other = (Part("system", "Be brief."), Part("user", "And that?"))
    script = [Say("Ok.")] * 4
    async with over(script, settings=ModelSettings(reasoning_tokens=2048)) as (model, server, _):
        for _ in range(2):
            await model.complete(talk(said, *results(said.calls)))
            await model.complete(Prompt(other, (), (), (SEARCH,)))
    asked = [seen.body.get("thinking") for seen in server.requests]
    assert asked == [thinking, None, thinking, None, thinking]
    assert "anthropic:scripted refused thinking: that is left out in this run" in caplog.messages


async def test_without_a_head_nothing_tells_conversations_apart() -> None:
    thinking = {"type": "enabled", "budget_tokens": 2048}
    said = Part("assistant", "", calls=(call("search", id="a"),))
    parts = (HEAD[1], said, *results(said.calls))
    async with over([Say("Ok."), Say("Ok.")], settings=ModelSettings(reasoning_tokens=2048)) as (
        model,
        server,
        _,
    ):
        for _ in range(2):
            await model.complete(Prompt((), parts, (), (SEARCH,)))
    assert [seen.body.get("thinking") for seen in server.requests] == [thinking, None, None]


@pytest.mark.parametrize("kind", ["enabled", "adaptive", "between_tools"])
async def test_manual_and_adaptive_thinking_go_on_after_their_own_steps(kind: str) -> None:
    adaptive = ModelSettings(extra={"thinking": {"type": kind}})
    settings = ModelSettings(reasoning_tokens=1024) if kind == "enabled" else adaptive
    parts: list[Part] = []
    script: list[Turn] = [THOUGHT, THOUGHT, Say("Done.", reasoning="Yes.")]
    async with over(script, settings=settings, retries=few(0)) as (model, server, _):
        for _ in range(3):
            parts += step(again(await model.complete(talk(*parts, calls="required"))))
    assert len(server.requests) == 3


@BOTH
async def test_thinking_that_was_cut_before_its_signature_is_not_kept(streamed: bool) -> None:
    block = {"type": "thinking", "thinking": "Six by"}
    body = {"type": "message", "content": [block], "stop_reason": "max_tokens"}
    async with over([Send(msgspec.json.encode(body))]) as (model, _, _):
        reply = await model.complete(talk(), watcher(streamed=streamed))
    assert (reply.wire, reply.reasoning, reply.finish) == (None, "Six by", "length")


async def test_tools_that_came_later_change_what_stood_before() -> None:
    async with over([THOUGHT, Say("Ok.")], retries=few(0)) as (model, server, _):
        kept = step(again(await model.complete(talk())))
        await model.complete(talk(*kept, tools=(SEARCH, tool("more"))))
    assert [len(assistants(seen.body)[0]) for seen in server.requests[1:]] == [4, 3]


async def test_a_part_that_lost_its_text_goes_back_without_it() -> None:
    async with over([THOUGHT]) as (model, _, _):
        reply = await model.complete(talk())
    said = Part("assistant", "", calls=reply.calls, wire=reply.wire)
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(Prompt(HEAD, [said, *results(reply.calls)], (), (SEARCH,)))
    (sent,) = assistants(server.requests[0].body)
    assert [block["type"] for block in sent] == ["thinking", "tool_use", "tool_use"]
