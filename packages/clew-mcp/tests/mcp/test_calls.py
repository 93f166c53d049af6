"""Calls of tools of servers: what comes back, what is known afterwards, what a server may ask."""

import contextlib
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import Agent, MemoryStore, Result, Tool, Trajectory, read, resume, rule, run
from clew.core.contents import Observation
from clew.core.entries import Entry
from clew.core.events import Attempt
from clew.support.resources import resources
from clew.testing.models import Move, ScriptedModel, act, acts, finish, say
from clew_mcp import mcp_tools
from tests.core.play import copy
from tests.mcp.servers import Plain, plain_server

pytestmark = pytest.mark.anyio


async def seen(tools: Sequence[Tool], *moves: Move, **more: Any) -> list[Observation]:
    """What a run with these calls observed, without the end."""
    store = MemoryStore()
    model = ScriptedModel([*moves, finish("done")])
    result = await run(Agent(model, tools=tools, **more), "go", store=store)
    assert result.status == "answered"
    return observations(await read(result.run_id, store=store))


def observations(record: Trajectory) -> list[Observation]:
    return [call.observation for call in record.calls if call.observation][:-1]


@pytest.fixture
def plain(tmp_path: Path) -> Plain:
    return plain_server(tmp_path / "plain")


async def test_a_call_is_answered_and_untrusted_until_somebody_says_otherwise(plain: Plain) -> None:
    tools = await mcp_tools(
        plain.server(effects={"sum": "read"}, trusted=("sum",)), pins=plain.pins
    )
    echo, total = await seen(
        tools, acts(act("plain_echo", text="hello"), act("plain_sum", numbers=[1, 2]))
    )
    assert (echo.text, echo.ok, echo.effect, echo.trust) == ("hello", True, "unsafe", "untrusted")
    assert (total.content, total.effect) == ({"total": 3}, "read")
    assert total.trust == "untrusted"  # what the server says of its other tools was read before


async def test_a_server_of_trusted_tools_alone_is_trusted(plain: Plain) -> None:
    own = plain.server(effects={"sum": "read"}, trusted=("sum",), only=("sum",))
    (total,) = await seen(await mcp_tools(own, pins=plain.pins), act("plain_sum", numbers=[1, 2]))
    assert (total.content, total.trust, total.outside) == ({"total": 3}, "trusted", False)


async def test_all_kinds_of_content_are_shown(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    (picture,) = await seen(tools, act("plain_picture"))
    assert picture.text.splitlines() == [
        "[a picture: image/png, 8 bytes]",
        "[a sound: audio/wav, 16 bytes]",
        "[resource file:///a (a)]",
        "[resource file:///b, of an unknown kind]",
        "B",
        "[resource file:///c, of an unknown kind: 5 bytes]",
        "[resource file:///a/bill.pdf, application/pdf: 15 bytes]",
        "[resource x:d, image/png: 8 bytes]",
    ]
    assert [(each.media_type, len(each.blob)) for each in picture.attachments] == [
        ("image/png", 64),
        ("audio/wav", 64),
        ("application/pdf", 64),
        ("image/png", 64),
    ]


async def test_a_picture_that_lies_takes_nothing_else_with_it(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    (seen_,) = await seen(tools, act("plain_lie"))
    assert (seen_.ok, seen_.outcome, seen_.attachments) == (False, "done", ())
    assert seen_.text.splitlines() == [
        (
            "ERROR: bad_output: plain_lie returned what cannot be shown: the image is said to be "
            "image/gif, and is image/png"
        ),
        "Booked.",
        "[a picture: image/gif, 8 bytes]",
    ]


async def test_what_a_server_calls_an_error_is_a_failed_observation(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    fail, unfit = await seen(tools, act("plain_fail"), act("plain_unfit"))
    assert (fail.ok, fail.code, fail.outcome) == (False, "tool_error", "done")
    assert fail.text == "ERROR: tool_error: it went wrong"
    assert (unfit.ok, unfit.code, unfit.outcome) == (False, "bad_output", "done")
    assert 'total: "no number" is a string, a number is required' in unfit.text


async def test_after_a_connection_broke_a_call_is_unknown_and_the_next_one_connects_anew(
    plain: Plain,
) -> None:
    tools = await mcp_tools(plain.server(effects={"pid": "read"}), pins=plain.pins)
    first, dead, again = await seen(
        tools, act("plain_pid"), act("plain_die"), act("plain_pid", text="again")
    )
    assert (dead.ok, dead.code, dead.outcome) == (False, "crashed", "unknown")
    assert "went away in mid-call: it ended with exit code 3" in dead.text
    assert again.ok
    assert again.text != first.text
    assert plain.calls.count("die {}") == 1


async def test_a_message_that_is_too_long_breaks_the_connection_and_not_the_run(
    plain: Plain,
) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    huge, echo = await seen(tools, act("plain_huge"), act("plain_echo", text="x"))
    assert huge.outcome == "unknown"
    assert "more than 32 MB" in huge.text
    assert echo.text == "x"


async def test_a_call_that_is_too_slow_is_cancelled_at_the_server(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(timeout=0.3), pins=plain.pins)
    never, echo = await seen(tools, act("plain_never"), act("plain_echo", text="x"))
    assert (never.code, never.outcome) == ("timeout", "unknown")
    assert echo.text == "x"  # over the same connection
    assert "cancelled" in plain.calls


async def test_many_calls_share_a_connection(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(effects={"pid": "read"}), pins=plain.pins)
    store = MemoryStore()
    found: list[str] = []

    async def one(number: int) -> None:
        model = ScriptedModel([act("plain_pid", text=str(number)), finish("done")])
        agent = Agent(model, tools=tools)
        result = await run(agent, "go", store=store)
        found.extend(one.text for one in observations(await read(result.run_id, store=store)))

    calls = [act("plain_pid", text=str(number)) for number in range(10)]
    same = {one.text for one in await seen(tools, acts(*calls))}
    assert len(same) == 1
    async with anyio.create_task_group() as group:
        for number in range(2):
            group.start_soon(one, number)
    assert len(set(found)) == 2  # each owner has a connection of its own
    for pid in (*same, *found):
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


class Watching:
    """A listener that keeps what it hears of progress."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def token(self, text: str) -> None:
        del text

    def entry(self, entry: Entry) -> None:
        del entry

    def progress(self, call: str, text: str) -> None:
        self.heard.append(f"{call}: {text}")


async def test_progress_is_told(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    watching = Watching()
    agent = Agent(ScriptedModel([act("plain_slow"), finish("done")]), tools=tools)
    await run(agent, "go", store=MemoryStore(), listener=watching)
    assert watching.heard == [f"1.1: at it ({step} of 3)" for step in (1, 2, 3)]


async def test_a_server_gets_a_small_environment(
    plain: Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "very secret")
    monkeypatch.setenv("WANTED", "here")
    server = plain.server(env={"GIVEN": "${WANTED}"})
    (env,) = await seen(await mcp_tools(server, pins=plain.pins), act("plain_env"))
    known = json.loads(env.text)
    assert "SOME_TOKEN" not in known
    assert known["GIVEN"] == "here"
    assert known["PATH"]


# ---------------------------------------------------------------- what a server asks


async def held(agent: Agent[str], store: MemoryStore) -> Result[str]:
    result = await run(agent, "go", store=store)
    assert result.status == "held"
    return result


@pytest.mark.parametrize(("owner", "calls"), [(resources, 1), (contextlib.AsyncExitStack, 2)])
async def test_a_question_in_mid_call_holds_the_call_until_somebody_answers(
    plain: Plain, owner: Any, calls: int
) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("plain_order"), finish("done")]), tools=tools)
    async with owner():  # as a chat owns its connections; else each of the two runs does
        result = await held(agent, store)
        (waiting,) = result.pending_approvals
        assert "the MCP server plain asks: which size?" in waiting.why
        assert (waiting.asks or {})["required"] == ["size"]
        await rule(f"{result.run_id}:{waiting.call}", allow=True, answer={"size": 3}, store=store)
        result = await resume(agent, result.run_id, store=store)
    assert result.status == "answered"
    (order,) = observations(await read(result.run_id, store=store))
    answer = {"action": "accept", "content": {"size": 3}}
    assert json.loads(order.text.removeprefix("ordered ")) == answer
    assert plain.calls == ["order {}"] * calls


async def test_an_answer_is_given_only_to_the_question_that_was_shown(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("plain_order"), finish("done")]), tools=tools)
    result = await held(agent, store)
    plain.says(asks="whose money?")
    await rule(f"{result.run_id}:1.1", allow=True, answer={"size": 3}, store=store)
    result = await resume(agent, result.run_id, store=store)
    assert result.status == "held"
    assert "whose money?" in result.pending_approvals[0].why


async def test_what_is_no_message_is_passed_over(
    plain: Plain, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "clew")
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    noise, echo = await seen(tools, act("plain_noise"), act("plain_echo", text="x"))
    assert (noise.text, echo.text) == ("said", "x")
    assert "MCP server: info: at work" in caplog.text
    assert "MCP server plain sent an invalid message" in caplog.text


async def test_lists_come_in_pages(plain: Plain) -> None:
    plain.says(paged=True)
    tools = await mcp_tools(
        plain.server(resources=True, prompts=True, only=("echo",)), pins=plain.pins
    )
    first, last, prompts, end = await seen(
        tools,
        act("plain_list_resources"),
        act("plain_list_resources", cursor="2"),
        act("plain_list_prompts"),
        act("plain_list_prompts", cursor="2"),
    )
    more = 'there are more: call it again with the cursor "2"'
    assert first.text.splitlines() == ["file:///a – a: An a.", more]
    assert last.text == "file:///a – a: An a."
    assert (prompts.text, end.text) == (f"greet(who?) – greet\n{more}", "greet(who?) – greet")


async def test_an_address_to_visit_is_shown_and_not_opened(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("plain_visit"), finish("done")]), tools=tools)
    result = await held(agent, store)
    (waiting,) = result.pending_approvals
    assert "sign in (open https://example.org/in yourself" in waiting.why
    assert waiting.asks is None
    await rule(f"{result.run_id}:{waiting.call}", allow=True, store=store)
    result = await resume(agent, result.run_id, store=store)
    (visit,) = observations(await read(result.run_id, store=store))
    assert visit.text == "visited accept"


async def test_a_question_that_is_refused_leaves_the_call_denied(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("plain_order"), finish("done")]), tools=tools)
    result = await held(agent, store)
    await rule(f"{result.run_id}:1.1", allow=False, store=store)
    result = await resume(agent, result.run_id, store=store)
    (order,) = observations(await read(result.run_id, store=store))
    assert (order.ok, order.code) == (False, "denied")
    assert plain.calls == ["order {}"]


async def test_the_servers_own_questions_are_answered_by_the_model_within_their_tokens(
    plain: Plain,
) -> None:
    helper = ScriptedModel([say("fine, thanks")])
    tools = await mcp_tools(plain.server(sampling=500), pins=plain.pins, model=helper)
    asked, refused = await seen(tools, act("plain_think"), act("plain_think", tokens=1_000))
    assert json.loads(asked.text)["content"]["text"] == "fine, thanks"
    assert asked.spent is not None
    assert asked.spent.usage.tokens > 0
    assert "tokens are asked for, and 500 are left" in refused.text
    assert refused.spent is None


async def test_without_tokens_a_servers_questions_are_refused(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    (refused,) = await seen(tools, act("plain_think"))
    assert "content" not in json.loads(refused.text)


async def test_roots_are_those_of_the_settings(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(roots=(str(plain.folder),)), pins=plain.pins)
    (where,) = await seen(tools, act("plain_where"))
    assert json.loads(where.text)["roots"][0]["uri"] == plain.folder.as_uri()


async def test_resources_and_prompts_are_tools_where_they_are_asked_for(plain: Plain) -> None:
    server = plain.server(resources=True, prompts=True, only=("echo",))
    tools = await mcp_tools(server, pins=plain.pins)
    assert [tool.name for tool in tools] == [
        "plain_echo", "plain_list_resources", "plain_read_resource", "plain_list_prompts",
        "plain_get_prompt",
    ]  # fmt: skip
    listed, text, prompts, prompt = await seen(
        tools,
        act("plain_list_resources"),
        act("plain_read_resource", uri="file:///a"),
        act("plain_list_prompts"),
        act("plain_get_prompt", name="greet", arguments={"who": "Ada"}),
    )
    assert listed.text.splitlines() == ["file:///a – a: An a.", "file:///{name} – any"]
    assert text.text == "[resource file:///a, text/plain]\nAAA"
    assert (prompts.text, prompt.text) == ("greet(who?) – greet", "user: Greet Ada.")
    assert {one.effect for one in (listed, text, prompts, prompt)} == {"read"}
    assert {one.trust for one in (listed, text, prompts, prompt)} == {"untrusted"}


async def test_resources_and_prompts_with_broken_base64_fail_and_say_so(plain: Plain) -> None:
    server = plain.server(resources=True, prompts=True, only=("echo",))
    tools = await mcp_tools(server, pins=plain.pins)
    text, prompt = await seen(
        tools,
        act("plain_read_resource", uri="file:///broken"),
        act("plain_get_prompt", name="broken"),
    )
    assert [(one.ok, one.code) for one in (text, prompt)] == [(False, "bad_output")] * 2
    assert text.text.splitlines() == [
        "ERROR: bad_output: what came is unfit: resource file:///broken is no base64",
        "[resource file:///a, of an unknown kind]",
        "AAA",
        "[resource file:///broken, image/png: no base64]",
    ]
    assert prompt.text.splitlines() == [
        "ERROR: bad_output: what came is unfit: a picture is no base64",
        "user: [a picture: image/png, no base64]",
    ]


@pytest.mark.parametrize(
    ("who", "why"),
    [
        ("Ada", "sign in (open https://example.org/in yourself, then allow the call)"),
        ("Bob", "asks: somebody must sign in"),
        ("Eve", "asks: somebody must sign in"),
    ],
)
async def test_a_server_that_wants_a_visit_first_is_asked_again_afterwards(
    plain: Plain, who: str, why: str
) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("plain_sign_in", text=who), finish("done")]), tools=tools)
    async with resources():
        result = await held(agent, store)
        (waiting,) = result.pending_approvals
        assert why in waiting.why
        await rule(f"{result.run_id}:{waiting.call}", allow=True, store=store)
        result = await resume(agent, result.run_id, store=store)
    (seen_text,) = observations(await read(result.run_id, store=store))
    assert seen_text.text == f"welcome, {who}"


async def test_what_is_no_result_leaves_the_call_unknown(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    garbled, echo = await seen(tools, act("plain_garbled"), act("plain_echo", text="x"))
    assert garbled.outcome == "unknown"
    assert "the MCP server plain sent an invalid answer: content: Field required" in garbled.text
    assert echo.text == "x"


async def test_an_error_of_the_server_leaves_the_call_unknown(plain: Plain) -> None:
    plain.says(capabilities={"tools": {}})  # it has no tasks, and still wants one
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    (build,) = await seen(tools, act("plain_build"))
    assert build.outcome == "unknown"
    assert "ServerFailed: the MCP server plain says: build must be a task" in build.text


async def test_a_question_of_one_run_is_not_put_to_another(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(effects={"never": "read"}), pins=plain.pins)
    store = MemoryStore()
    waits = Agent(ScriptedModel([act("plain_never"), finish("done")]), tools=tools)
    asks = Agent(ScriptedModel([act("plain_order"), finish("done")]), tools=tools)
    async with resources(), anyio.create_task_group() as group:

        async def wait() -> None:
            await run(waits, "go", store=store)

        group.start_soon(wait)
        while "never {}" not in plain.calls:
            await anyio.sleep(0.01)
        result = await run(asks, "go", store=store, run_id="asks")
        assert result.status == "answered"
        group.cancel_scope.cancel()
    (order,) = observations(await read("asks", store=store))
    assert "several runs share this connection" in order.text


# ---------------------------------------------------------------- tasks


async def test_a_tool_that_requires_a_task_is_called_as_one(plain: Plain) -> None:
    plain.task_goes_on()
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("plain_build"), finish("done")]), tools=tools)
    result = await run(agent, "go", store=store)
    record = await read(result.run_id, store=store)
    tried = [entry.event for entry in record.entries if isinstance(entry.event, Attempt)]
    assert [bool(one.task) for one in tried] == [False, True]
    assert observations(record)[0].text.startswith("built")


async def test_a_task_whose_result_is_an_error_has_failed(plain: Plain) -> None:
    plain.says(builds_badly=True)
    plain.task_goes_on()
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    (build,) = await seen(tools, act("plain_build"))
    assert (build.ok, build.code, build.outcome) == (False, "tool_error", "done")
    assert "it fell over" in build.text


async def test_a_task_outlives_the_process_that_began_it(plain: Plain) -> None:
    server = plain.server(effects={"build": "read"})  # a cancellation cuts it, as a crash would
    tools = await mcp_tools(server, pins=plain.pins)
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("plain_build"), finish("done")]), tools=tools)

    async def begin() -> None:
        await run(agent, "go", store=store, run_id="r1")

    async with anyio.create_task_group() as group:
        group.start_soon(begin)
        while not any(line.startswith("asked for") for line in plain.calls):
            await anyio.sleep(0.01)
        group.cancel_scope.cancel()  # as a crash: nothing is written
    plain.task_goes_on()
    result = await resume(agent, "r1", store=store)
    assert result.status == "answered"
    assert plain.calls.count("build {}") == 1
    (built,) = observations(await read("r1", store=store))
    assert built.ok
    assert built.text.startswith("built")


async def test_a_task_that_its_server_forgot_is_unknown(plain: Plain) -> None:
    tools = await mcp_tools(plain.server(), pins=plain.pins)
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("plain_build"), finish("done")]), tools=tools)

    async def begin() -> None:
        await run(agent, "go", store=store, run_id="run")

    lines: list[Any] = []
    async with anyio.create_task_group() as group:
        group.start_soon(begin)
        while not any(line.startswith("asked for") for line in plain.calls):
            await anyio.sleep(0.01)
        lines = await store.read("run")  # as a crash here would leave it
        plain.task_goes_on()
    for place in plain.folder.glob("task-*"):
        place.unlink()
    cut = await copy(lines)
    await resume(agent, "run", store=cut)
    (built,) = observations(await read("run", store=cut))
    assert (built.ok, built.outcome) == (False, "unknown")
    assert plain.calls.count("build {}") == 1
