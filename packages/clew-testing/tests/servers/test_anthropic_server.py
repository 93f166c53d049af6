"""The scripted Anthropic server itself: it refuses what the real one refuses, in its form."""

from typing import Any

import anthropic
import httpx2
import pytest

from clew_testing.servers.anthropic_rules import AnthropicRefusal, check
from clew_testing.servers.anthropic_server import AnthropicServer, Drop, Fail, Say, Turn

USER: dict[str, Any] = {"role": "user", "content": "Go."}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"query": {"type": "string"}}}
TOOL: dict[str, Any] = {"name": "search", "input_schema": SCHEMA}
MARK = {"cache_control": {"type": "ephemeral"}}
TEXT: dict[str, Any] = {"type": "text", "text": "Hm."}
PICTURE: dict[str, Any] = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "eA=="},
}
FORM: dict[str, Any] = {"type": "object", "additionalProperties": False}


def called(*ids: str, **more: Any) -> dict[str, Any]:
    calls = [{"type": "tool_use", "id": each, "name": "search", "input": {}} | more for each in ids]
    return {"role": "assistant", "content": calls}


def said(*blocks: Any, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def result(*ids: str, **more: Any) -> dict[str, Any]:
    results = [{"type": "tool_result", "tool_use_id": each} | more for each in ids]
    return {"role": "user", "content": results}


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    asked = {"model": "m", "max_tokens": 4096, "messages": [USER, *messages], "tools": [TOOL]}
    return asked | more


def tool(**more: Any) -> list[Any]:
    return [TOOL | more]


def schema(**more: Any) -> list[Any]:
    return tool(input_schema=more)


def form(schema: Any, kind: str = "json_schema") -> dict[str, Any]:
    return {"output_config": {"effort": "low", "format": {"type": kind, "schema": schema}}}


def thinks(kind: str, **more: Any) -> dict[str, Any]:
    return {"thinking": {"type": kind} | more}


FINE = [
    body(),
    body(called("a", "b"), result("b", "a"), USER, USER),
    body(called("a"), result("a", content="x"), called("b"), result("b", content=[TEXT, PICTURE])),
    body(called("a"), called("b"), result("a"), result("b")),  # neighbours are one turn
    body(said(TEXT, PICTURE, role="user"), said(TEXT), USER, tools=None),
    body(said(TEXT, said(TEXT)["content"][0], role="user"), system="Be brief."),
    body(system=[TEXT | MARK], tools=tool(**MARK)),
    body(tool_choice={"type": "tool", "name": "search"}),
    body(tool_choice={"type": "any"}),
    body(stop_sequences=["END"], temperature=0.5, stream=True),
    body(**form(FORM | {"properties": {"x": {"type": "integer"}}})),
    body(**form({"anyOf": [{"type": "array", "items": {"type": "string"}}], "$defs": {"a": FORM}})),
    body(**thinks("enabled", budget_tokens=1024), tool_choice={"type": "auto"}),
    body(**thinks("adaptive", display="summarized")),
]

REFUSED: list[tuple[Any, str]] = [
    (None, "not valid JSON"),
    (body(odd=1), "odd: Extra inputs are not permitted"),
    ({"max_tokens": 1, "messages": [USER]}, "model: Field required"),
    ({"model": "m", "messages": [USER]}, "max_tokens: Field required"),
    ({"model": "m", "max_tokens": 1}, "messages: Field required"),
    (body(max_tokens=0), "greater than or equal to 1"),
    (body(max_tokens="9"), "greater than or equal to 1"),
    (body(max_tokens=4097), "4097 > 4096, which is the maximum allowed number"),
    ({"model": "m", "max_tokens": 1, "messages": []}, "at least one message"),
    (body(7), "messages.1.role: Input should be"),
    (body({"role": "system", "content": "x"}), "messages.1.role: Input should be"),
    (body({"role": "user", "content": "x", "name": "y"}), "messages.1.name: Extra inputs"),
    (body({"role": "user", "content": []}), "messages.1: all messages must have non-empty"),
    (body({"role": "user"}), "non-empty content"),
    (body(messages=[said(TEXT), USER]), 'first message must use the "user" role'),
    (body(said(TEXT)), "does not support assistant message prefill"),
    (body({"role": "user", "content": " "}), "must contain non-whitespace text"),
    (body(said({"type": "text", "text": ""}, role="user")), "must contain non-whitespace text"),
    (body(system=[{"type": "text", "text": "\n"}]), "system.0: text content blocks"),
    (body(said({"type": "video"}, role="user")), "Input tag 'video' found"),
    (body(said(7, role="user")), "Input tag None found"),
    (body(said({"type": "thinking"}, role="user")), "Input tag 'thinking' found"),
    (body(said(TEXT | {"odd": 1}, role="user")), "text.odd: Extra inputs"),
    (body(said({"type": "image", "source": {"type": "base64"}}, role="user")), "media_type"),
    (body(said({"type": "image"}, role="user")), "media_type"),
    (body(result("a")), "unexpected `tool_use_id` found in `tool_result` blocks: a"),
    (body(called("a"), result("b")), "unexpected `tool_use_id`"),
    (body(called("a"), result("a", "a")), "must have a single result"),
    (body(called("a", "b"), result("a")), "without `tool_result` blocks immediately after: b"),
    (body(called("a"), USER, result("a")), "without `tool_result` blocks immediately after: a"),
    (body(called("a"), said(TEXT), USER), "without `tool_result` blocks"),
    (body(called("a"), result("a"), called("a"), result("a")), "ids must be unique"),
    (body(called("a", "a"), result("a")), "ids must be unique"),
    (body(called("a.b"), result("a.b")), "tool_use.id: String should match pattern"),
    (body(called("a", name="a.b"), result("a")), "tool_use.name: String should match pattern"),
    (body(called("a", input="{}"), result("a")), "tool_use.input: Input should be a valid"),
    (body(called("a"), result("a", content=[{"type": "text", "text": ""}])), "content.0: text"),
    (body(called("a"), result("a"), tools=None), "must define tools"),
    (body(tools=[7]), "tools.0.custom.name"),
    (body(tools=tool(name="a.b")), "tools.0.custom.name: String should match pattern"),
    (body(tools=tool(odd=1)), "tools.0.custom.odd: Extra inputs"),
    (body(tools=tool(input_schema=None)), "input_schema: Field required"),
    (body(tools=schema(type="dict")), "input_schema.type: Input should be 'object'"),
    (body(tools=schema(type="object", anyOf=[])), "oneOf, allOf, or anyOf at the top level"),
    (body(tools=schema(type="object", properties={"ä": {}})), "Property keys should match"),
    (body(tools=[TOOL, TOOL]), "Tool names must be unique"),
    (body(tools=None, tool_choice={"type": "auto"}), "only be specified while providing tools"),
    (body(tool_choice={"type": "required"}), "tool_choice: Input tag 'required'"),
    (body(tool_choice={"type": "tool", "name": "other"}), "tool_choice: Input tag 'tool'"),
    (body(tool_choice="auto"), "tool_choice: Input tag None"),
    (body(stop_sequences=["\n"]), "must contain non-whitespace"),
    (body(temperature=1.5), "temperature: range"),
    (body(output_config={"odd": 1}), "output_config.odd: Extra inputs"),
    (body(**form(FORM, "json")), "should be 'json_schema'"),
    (body(**form(None)), "should be a valid dictionary"),
    (body(**form({"type": "object"})), "'additionalProperties' must be explicitly set to false"),
    (body(**form({"type": "array", "items": {"type": "object"}})), "must be explicitly set"),
    (body(**form(FORM | {"properties": {"x": {"type": "integer", "minimum": 1}}})), "minimum"),
    (body(**thinks("perhaps")), "thinking: Input tag 'perhaps'"),
    (body(**thinks("adaptive"), tool_choice={"type": "any"}), "when tool_choice forces tool use"),
    (body(**thinks("enabled", budget_tokens=9)), "greater than or equal to 1024"),
    (body(**thinks("enabled", budget_tokens=4096)), "must be greater than `thinking.budget"),
    (
        body(called("a"), result("a"), **thinks("enabled", budget_tokens=1024)),
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found",
    ),
    (body(said(*[TEXT | MARK] * 5, role="user")), "A maximum of 4 blocks with cache_control"),
    (body(said(TEXT | {"cache_control": {"type": "x"}}, role="user")), "match 'ephemeral'"),
    (
        body(said({"type": "thinking", "thinking": "x", "signature": "y"} | MARK), USER),
        "thinking.cache_control: Extra inputs",
    ),
    (
        body(said({"type": "thinking", "thinking": "x", "signature": "y"}, TEXT), USER),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    (
        body(said({"type": "redacted_thinking", "data": "y"}, TEXT), USER),
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
    ),
]


@pytest.mark.parametrize("asked", FINE, ids=range(len(FINE)))
def test_what_the_api_takes(asked: Any) -> None:
    check(asked)


@pytest.mark.parametrize(("asked", "why"), REFUSED, ids=range(len(REFUSED)))
def test_what_the_api_refuses(asked: Any, why: str) -> None:
    with pytest.raises(AnthropicRefusal) as refused:
        check(asked, max_tokens=4096)
    assert why in str(refused.value)


def signed(*, model: str = "m") -> tuple[dict[str, Any], list[Any]]:
    """A request, and the blocks of the reply to it, with thinking in them."""
    asked = body(model=model)
    with AnthropicServer([Say("Hm.", [("search", "{}")], reasoning="Well.")]) as server:
        headers = {"anthropic-version": "2026-10-21"}
        reply = httpx2.post(f"{server.base_url}/v1/messages", json=asked, headers=headers)
    return asked, reply.json()["content"]


def test_signatures_are_known_again() -> None:
    asked, content = signed()
    messages = [*asked["messages"], said(*content), result(content[-1]["id"])]
    check(asked | {"messages": messages})
    marked = [{"role": "user", "content": [{"type": "text", "text": "Go."} | MARK]}, *messages[1:]]
    check(asked | {"messages": marked})  # marks may move, and text may be written either way


@pytest.mark.parametrize(
    ("change", "bound"),
    [
        ({"model": "n"}, False),
        ({"system": "Be brief."}, True),
        ({"tools": tool(description="x")}, True),
        ({"first": "Stop."}, True),
        ({"thinking": "Better."}, False),
        ({"signature": "0" * 48}, False),
        ({"signature": ""}, False),
    ],
)
def test_thinking_that_was_altered_or_moved_is_refused(change: Any, bound: bool) -> None:
    asked, content = signed()
    content[0] |= {key: change[key] for key in ("thinking", "signature") if key in change}
    first = {"role": "user", "content": change.get("first", "Go.")}
    messages = [first, said(*content), result(content[-1]["id"])]
    top = {key: change[key] for key in ("model", "system", "tools") if key in change}
    with pytest.raises(
        AnthropicRefusal, match="Invalid `signature` in `thinking` block"
    ) as refused:
        check(asked | top | {"messages": messages})
    assert ("bound to a different conversation" in str(refused.value)) == bound
    if bound:
        check(asked | top | {"messages": messages}, bound=False)


async def test_the_official_client_reads_what_it_says() -> None:
    said = Say("It is 42.", [("search", '{"query": "x"}')], reasoning="Well.")
    asked: Any = {"model": "m", "max_tokens": 9, "messages": [USER], "tools": [TOOL]}
    with AnthropicServer([said, said], key="k") as server:
        async with anthropic.AsyncAnthropic(api_key="k", base_url=server.base_url) as client:
            plain = await client.messages.create(**asked)
            async with client.messages.stream(**asked) as stream:
                streamed = await stream.get_final_message()
    for message in (plain, streamed):
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
        assert message.stop_reason == "tool_use"
        assert message.usage.output_tokens > 0
    ids = [getattr(message.content[2], "id", "") for message in (plain, streamed)]
    assert len(set(ids)) == 2


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, anthropic.AuthenticationError),
        (403, anthropic.PermissionDeniedError),
        (404, anthropic.NotFoundError),
        (413, anthropic.RequestTooLargeError),
        (429, anthropic.RateLimitError),
        (529, anthropic.OverloadedError),
    ],
)
async def test_errors_have_the_services_form(
    status: int, kind: type[anthropic.APIStatusError]
) -> None:
    asked: Any = {"model": "m", "max_tokens": 9, "messages": [USER]}
    script: list[Turn] = [Fail(status, "so it is")]
    with AnthropicServer(script) as server:
        address = server.base_url
        async with anthropic.AsyncAnthropic(api_key="k", base_url=address, max_retries=0) as client:
            with pytest.raises(kind) as caught:
                await client.messages.create(**asked)
            assert caught.value.api_message == "so it is"
            assert caught.value.type is not None


def test_whoever_may_not_come_in() -> None:
    asked = {"model": "m", "max_tokens": 9, "messages": [USER]}
    version = {"anthropic-version": "2026-10-21"}
    with AnthropicServer([Drop()], key="k", models=["claude"]) as server:
        address = f"{server.base_url}/v1/messages"

        def post(address: str, body: Any = asked, **headers: str) -> httpx2.Response:
            return httpx2.post(address, json=body, headers=headers)

        assert post(address, **version).status_code == 401
        assert post(address, authorization="Bearer k").status_code == 400
        known = {"x-api-key": "k"} | version
        assert post(address, **known).json()["error"]["message"] == "model: m"
        assert post(f"{server.base_url}/v1/other", **known).status_code == 404
        listed = httpx2.get(f"{server.base_url}/v1/models").json()["data"]
        assert [each["id"] for each in listed] == ["claude"]
        with pytest.raises(httpx2.RemoteProtocolError):
            post(address, asked | {"model": "claude"}, **known)


def test_usage_and_ends_are_written_as_the_service_does() -> None:
    asked = {"model": "m", "max_tokens": 9, "messages": [USER]}
    version = {"anthropic-version": "2026-10-21"}
    script = [Say("Hm.", usage={"input_tokens": 5}), Say("No.", finish="filter", usage={})]
    with AnthropicServer(script) as server:
        address = f"{server.base_url}/v1/messages"
        first, second = (httpx2.post(address, json=asked, headers=version).json() for _ in range(2))
    assert first["usage"] == {"input_tokens": 5}
    assert "usage" not in second
    assert (first["stop_reason"], second["stop_reason"]) == ("end_turn", "refusal")
