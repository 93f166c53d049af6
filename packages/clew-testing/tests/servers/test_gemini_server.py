"""The scripted Gemini server itself: it refuses what the real one refuses, in its form."""

from typing import Any

import httpx2
import pytest
from google.genai import Client, errors, types

from clew_testing.servers.gemini_rules import GeminiRefusal, check, sign
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Drop, Fail, Say, Turn

MODEL = "gemini-3-test"
USER: dict[str, Any] = {"role": "user", "parts": [{"text": "Go."}]}
TOOL: dict[str, Any] = {"functionDeclarations": [{"name": "search"}]}


def called(*names: str, signed: bool = True, **more: Any) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"functionCall": {"name": name} | more} for name in names]
    if signed and parts:
        parts[0]["thoughtSignature"] = sign(MODEL, parts[0])
    return {"role": "model", "parts": parts}


def answered(*names: str, **more: Any) -> dict[str, Any]:
    said = {"response": {"output": "found"}} | more
    return {
        "role": "user",
        "parts": [{"functionResponse": {"name": name} | said} for name in names],
    }


def body(*contents: Any, **more: Any) -> dict[str, Any]:
    return {"contents": [USER, *contents], "tools": [TOOL]} | more


def part(role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"contents": [{"role": role, "parts": [fields]}]}


def declared(**fields: Any) -> dict[str, Any]:
    return body(tools=[{"functionDeclarations": [fields]}])


def config(**fields: Any) -> dict[str, Any]:
    return {"contents": [USER], "generationConfig": fields}


SAID = {"role": "model", "parts": [{"text": "Hm."}]}
FORM = {"type": "object", "properties": {"const": {"type": "string"}}}

FINE = [
    body(),
    body(called("a", "b"), answered("a", "b")),
    body(called("a"), answered("a"), called("a"), answered("a"), SAID, USER),
    body(called("a", id="1"), answered("a", id="1")),
    body(called("a", signed=False), answered("a"), SAID, USER),  # another turn, long over
    body(SAID, USER, systemInstruction={"parts": [{"text": "S."}]}),
    body(toolConfig={"functionCallingConfig": {"mode": "NONE"}}),
    part(inlineData={"mimeType": "image/png", "data": "QUJD"}),
    config(stopSequences=list("abcde"), thinkingConfig={"includeThoughts": True}),
    config(responseMimeType="application/json", responseJsonSchema=FORM),
    {"contents": [USER], "safetySettings": []},
    declared(name="a.b:c-d", parametersJsonSchema={"type": "object"}),
]

TWICE = [{"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]
ODD = {"functionCallingConfig": {"mode": "SOME"}}
TYPED = {"parameters": {}, "parametersJsonSchema": {"type": "object"}}
EMPTY = {"role": "user", "parts": [{"functionResponse": {"name": "a"}}]}
PATTERN = {"type": "array", "items": [{"pattern": "x"}]}

REFUSED: list[tuple[Any, str]] = [
    ("no object", "an object is expected"),
    ({}, "contents is not specified"),
    ({"contents": []}, "contents is not specified"),
    ({"contents": [7]}, "an object is expected"),
    (body(messages=[]), 'Unknown name "messages": Cannot find field'),
    ({"contents": [USER | {"name": "x"}]}, "Unknown name \"name\" at 'contents[0]'"),
    ({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}, "valid role"),
    ({"contents": [{"role": "user", "parts": []}]}, "parts must not be empty"),
    (part(), "one initialized field"),
    (part(text="x", inlineData={}), "one initialized field"),
    (part(text="x", odd=1), 'Unknown name "odd"'),
    (part(text=""), "not empty"),
    (part(text=7), "not empty"),
    (part(inlineData={"mimeType": "image/png"}), "mime_type and data"),
    (part(inlineData=7), "an object is expected"),
    (part(functionCall={"name": "a"}), "only allowed in a turn of the model"),
    (part("model", functionResponse={"name": "a"}), "only allowed in a turn of the user"),
    (body(USER), "alternate"),
    (body(SAID), "end with a user role"),
    ({"contents": [SAID, USER]}, "immediately after a user turn"),
    (body(SAID, answered("a")), "immediately after a function call"),
    (body(called("a"), USER), "equal to the number"),
    (body(called("a", "b"), answered("a")), "equal to the number"),
    (body(called("a"), answered("a", "a")), "equal to the number"),
    (body(called("a"), answered("b")), "b does not answer a"),
    (body(called("a", id="1"), answered("a", id="2")), "does not answer"),
    (body(called("a", id="1"), answered("a")), "does not answer"),
    (body(called("a b"), answered("a b")), "invalid or missing name"),
    (body(called("a", args="{}"), answered("a")), "an object is expected"),
    (body(called("a", arguments={}), answered("a")), 'Unknown name "arguments"'),
    (body(called("a"), answered("a", response="found")), "an object is expected"),
    (body(called("a"), EMPTY), "response is required"),
    (body(called("a", signed=False), answered("a")), "missing a thought_signature"),
    (
        body(called("a"), answered("a"), called("a", signed=False), answered("a")),
        "`default_api:a`, position 3",
    ),
    (part(text="x", thoughtSignature="QUJD"), "Corrupted thought signature"),
    (part("model", text="x", thoughtSignature=sign("other", {})), "Corrupted thought signature"),
    (declared(name="2nd"), "Invalid function name"),
    (declared(name="x" * 129), "Invalid function name"),
    (declared(description="x"), "Invalid function name"),
    (declared(name="a", odd=1), 'Unknown name "odd"'),
    (declared(name="a", parametersJsonSchema={"type": "string"}), "should be an object"),
    (declared(name="a", **TYPED), "mutually exclusive"),
    (body(tools=TWICE), "Duplicate function declaration found: a"),
    (body(tools=[{"functions": []}]), 'Unknown name "functions"'),
    (body(toolConfig=ODD), "function_calling_config.mode"),
    ({"contents": [USER], "toolConfig": {}}, "without function_declarations"),
    (config(stop=["x"]), 'Unknown name "stop"'),
    (config(stopSequences=list("abcdef")), "at most 5"),
    (config(stopSequences=[""]), "none of them empty"),
    (config(responseJsonSchema=FORM), "only supported with application/json"),
    (config(responseMimeType="application/json", responseJsonSchema=PATTERN), "'pattern'"),
]  # fmt: skip


@pytest.mark.parametrize("asked", FINE)
def test_what_the_api_takes(asked: Any) -> None:
    check(asked, MODEL)


@pytest.mark.parametrize(("asked", "said"), REFUSED)
def test_what_the_api_refuses(asked: Any, said: str) -> None:
    with pytest.raises(GeminiRefusal) as refused:
        check(asked, MODEL)
    assert said in str(refused.value)


def test_a_signature_is_for_one_call_only() -> None:
    one, other = called("a", args={"n": 1}), called("a", args={"n": 1.0})
    altered = {"functionCall": other["parts"][0]["functionCall"]}
    altered["thoughtSignature"] = one["parts"][0]["thoughtSignature"]
    with pytest.raises(GeminiRefusal, match="Corrupted thought signature"):
        check(body({"role": "model", "parts": [altered]}, answered("a")), MODEL)


def test_a_note_beside_results_begins_no_turn() -> None:
    results = answered("a")
    results["parts"].append({"text": "Two steps left."})
    with pytest.raises(GeminiRefusal, match="missing a thought_signature"):
        check(body(called("a", signed=False), results), MODEL)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (body(generationConfig={"responseMimeType": "application/json"}), "is unsupported"),
        (config(thinkingConfig={"includeThoughts": True}), "Thinking is not enabled"),
    ],
)
def test_older_models_take_less(asked: Any, said: str) -> None:
    check(asked, MODEL)
    with pytest.raises(GeminiRefusal, match=said):
        check(asked, "gemini-2.0-flash")
    check(body(called("a", signed=False), answered("a")), "gemini-2.0-flash")


def official(server: GeminiServer, key: str = "k") -> Client:
    options = types.HttpOptions(base_url=server.base_url)
    return Client(vertexai=False, api_key=key, http_options=options)


def test_the_official_client_reads_what_is_said_plain_and_streamed() -> None:
    said = Say("One two.", calls=[("search", '{"q": 1}')], reasoning="Hm.", usage={})
    thinking = types.GenerateContentConfig(
        thinking_config=types.ThinkingConfig(include_thoughts=True)
    )
    with GeminiServer([said, said]) as server, official(server) as client:
        plain = client.models.generate_content(model=MODEL, contents="Go.", config=thinking)
        stream = list(
            client.models.generate_content_stream(model=MODEL, contents="Go.", config=thinking)
        )
    calls = plain.function_calls or []
    assert [(call.name, call.args, call.id) for call in calls] == [("search", {"q": 1}, "call_0")]
    assert plain.candidates is not None
    assert plain.candidates[0].finish_reason == types.FinishReason.STOP
    content = plain.candidates[0].content
    assert content is not None
    assert [(each.text, each.thought) for each in content.parts or []][:2] == [
        ("Hm.", True),
        ("One two.", None),
    ]
    words = [
        each.text
        for chunk in stream
        for candidate in chunk.candidates or []
        for each in (candidate.content and candidate.content.parts) or []
    ]
    assert words == ["Hm.", "One ", "two.", None]


def test_the_official_clients_own_history_is_accepted() -> None:
    """What the client sends back by itself has each signature where it was."""
    script = [Say("", calls=[("search", '{"q": 1}'), ("search", "{}")]), Say("Ok.")]
    with GeminiServer(script) as server, official(server) as client:
        chat = client.chats.create(model=MODEL)
        chat.send_message("Go.")
        results: list[Any] = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=f"call_{place}", name="search", response={"output": "x"}
                )
            )
            for place in range(2)
        ]
        assert chat.send_message(results).text == "Ok."
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("fail", "kind", "status"),
    [
        (Fail(400, "odd"), errors.ClientError, "INVALID_ARGUMENT"),
        (Fail(429, "slow", "RATE", headers={"retry-after": "3"}), errors.ClientError, "RESOURCE_E"),
        (Fail(503), errors.ServerError, "UNAVAILABLE"),
    ],
)
def test_the_official_client_reads_errors(
    fail: Fail, kind: type[errors.APIError], status: str
) -> None:
    with GeminiServer([fail]) as server, official(server) as client:
        with pytest.raises(kind) as caught:
            client.models.generate_content(model=MODEL, contents="Go.")
    assert caught.value.code == fail.status
    assert (caught.value.status or "").startswith(status)
    told: Any = caught.value.details
    details = told["error"].get("details", [])
    assert [each.get("retryDelay") for each in details] == ([None, "3s"] if fail.code else [])


def test_a_wrong_key_or_model_is_refused() -> None:
    with GeminiServer([Say("Ok.")], key="k", models=[MODEL]) as server:
        with official(server, "wrong") as client, pytest.raises(errors.ClientError) as caught:
            client.models.generate_content(model=MODEL, contents="Go.")
        told: Any = caught.value.details
        assert told["error"]["details"][0]["reason"] == "API_KEY_INVALID"
        with official(server) as client, pytest.raises(errors.ClientError, match="404"):
            client.models.generate_content(model="other", contents="Go.")
        assert len(server.requests) == 2


def test_other_paths_are_not_found_and_streams_are_events() -> None:
    script: list[Turn] = [Drop()]
    with GeminiServer(script) as server:
        for path in ("/", "/v1/models", f"/v1/models/{MODEL}:countTokens"):
            assert httpx2.post(server.base_url + path, json={}).status_code == 404
        url = f"{server.base_url}/v1/models/{MODEL}:streamGenerateContent"
        assert "alt=sse" in httpx2.post(url, json={"contents": [USER]}).text
        with pytest.raises(httpx2.HTTPError):
            httpx2.post(f"{url}?alt=sse", json={"contents": [USER]})
