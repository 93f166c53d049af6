"""The scripted server itself: it refuses what the real one refuses, and answers in its form."""

from typing import Any

import httpx2
import openai
import pytest

from clew_testing.servers.openai_server import Drop, Fail, OpenAIServer, Say, Turn

USER: dict[str, Any] = {"role": "user", "content": "Go."}
TOOL: dict[str, Any] = {"type": "function", "function": {"name": "search"}}


def called(*ids: str, **more: Any) -> dict[str, Any]:
    calls = [
        {"id": each, "type": "function", "function": {"name": "search", "arguments": "{}"} | more}
        for each in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "found"} | more


def body(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [USER, *messages], "tools": [TOOL]} | more


def schema(**parameters: Any) -> list[Any]:
    return [{"type": "function", "function": {"name": "search", "parameters": parameters}}]


def form(**schema: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True} | schema}


CLOSED: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
OPEN: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}

FINE = [
    body(),
    body(called("a", "b"), result("b"), result("a"), USER),
    body(called("a"), result("a"), called("a"), result("a")),
    body(tool_choice="required"),
    body(tool_choice={"type": "function", "function": {"name": "search"}}),
    body({"role": "assistant", "content": "Hm.", "reasoning_content": "x"}, tools=None),
    body(stop=["a", "b", "c", "d"], stream=True, stream_options={"include_usage": False}),
    body({"role": "developer", "content": [{"type": "text", "text": "x"}]}),
    body(tools=schema(type="object", properties={"a": {"type": ["string", "null"]}, "b": {}})),
    body(response_format={"type": "text"}),
    body({"role": "user", "content": "As JSON."}, response_format={"type": "json_object"}),
    body(response_format=form(schema=CLOSED)),
    body(response_format=form(schema=OPEN, strict=False)),
]

REFUSED: list[tuple[Any, str]] = [
    ("no object", "could not parse the JSON body"),
    ({"messages": [USER]}, "must provide a model"),
    ({"model": "m"}, "'messages'"),
    ({"model": "m", "messages": []}, "'messages'"),
    (body(7), "roles"),
    (body({"role": "robot", "content": "x"}), "roles"),
    (body({"role": "user"}), "'content'"),
    (body({"role": "assistant", "content": None}), "'content'"),
    (body({"role": "user", "content": "x", "odd": 1}), "Unrecognized request argument"),
    (body(result("a")), "must be a response to a preceding message"),
    (body(called("a"), result("a"), result("a")), "must be a response to a preceding message"),
    (body(called("a"), result("b")), "must be a response to a preceding message"),
    (body(called("a")), "did not have response messages: a"),
    (body(called("a", "b"), result("b"), USER, result("a")), "did not have response messages: a"),
    (body(called("a"), {"role": "tool", "content": "x"}), "tool_call_id"),
    (body(called("a"), result("a", content=None)), "expected a string"),
    (body(called()), "empty array"),
    (body(called("")), "Missing required parameter"),
    (body({"role": "assistant", "content": None, "tool_calls": [7]}), "Missing required"),
    (body({"role": "assistant", "tool_calls": [{"id": "a"}]}), "'messages.[1].tool_calls[0].type'"),
    (body(called("a", "a"), result("a"), result("a")), "Duplicate ids"),
    (body(called("a", name="web.search"), result("a")), "does not match pattern"),
    (body(called("a", name=""), result("a")), "Missing required parameter"),
    (body(called("a", arguments=None), result("a")), "function.arguments"),
    (body(tools=[]), "empty array"),
    (body(tools=[7]), "expected 'function'"),
    (body(tools=[{"type": "function"}]), "tools[0].function"),
    (body(tools=[TOOL, TOOL]), "must be unique"),
    (body(tools=[{"type": "function", "function": {"name": "a.b"}}]), "does not match pattern"),
    (body(tools=schema(type="dict")), "Invalid schema"),
    (body(tools=schema(type="object", properties={"a": {"type": "float"}})), "not a valid type"),
    (body(tool_choice="maybe"), "tool_choice"),
    (body(tool_choice={"type": "function", "function": {"name": "other"}}), "tool_choice"),
    ({"model": "m", "messages": [USER], "tool_choice": "none"}, "only allowed when 'tools'"),
    (body(stop=["a", "b", "c", "d", "e"]), "'stop'"),
    (body(stream_options={"include_usage": True}), "only allowed when 'stream'"),
    (body(response_format={"type": "yaml"}), "response_format.type"),
    (body(response_format={"type": "json_object"}), "must contain the word 'json'"),
    (body(response_format=form(schema=CLOSED, name="a.b")), "does not match pattern"),
    (body(response_format=form()), "response_format.json_schema.schema"),
    (body(response_format=form(schema={"type": "array"}, strict=False)), 'type: "object"'),
    (body(response_format=form(schema=OPEN)), "Invalid schema for response_format 'reply'"),
]


def test_it_takes_what_the_real_one_takes() -> None:
    with OpenAIServer(Say("Ok.") for _ in FINE) as server, httpx2.Client() as http:
        for sent in FINE:
            answer = http.post(f"{server.base_url}/chat/completions", json=sent)
            assert (answer.status_code, sent) == (200, sent)


def test_it_refuses_what_the_real_one_refuses_and_keeps_its_script() -> None:
    with OpenAIServer([Say("Still here.")]) as server, httpx2.Client() as http:
        url = f"{server.base_url}/chat/completions"
        for sent, said in REFUSED:
            answer = http.post(url, json=sent)
            assert (answer.status_code, sent) == (400, sent)
            error = answer.json()["error"]
            assert said in error["message"]
            assert error["type"] == "invalid_request_error"
        assert http.post(url, content=b"{nonsense").status_code == 400
        assert http.post(url, json=body()).json()["choices"][0]["message"]["content"] == (
            "Still here."
        )
        assert len(server.requests) == len(REFUSED) + 2
        used_up = http.post(url, json=body())
        assert "no further entry" in used_up.json()["error"]["message"]
        assert http.get(f"{server.base_url}/elsewhere").status_code == 404


def test_the_official_client_reads_it_both_ways() -> None:
    said = Say("Two words", calls=[("search", '{"query": "x"}')])
    with OpenAIServer([said, said], key="k", models=["m"]) as server:
        with openai.OpenAI(base_url=server.base_url, api_key="k") as client:
            assert [model.id for model in client.models.list().data] == ["m"]
            whole = client.chat.completions.create(**body())
            assert whole.choices[0].message.content == "Two words"
            call = whole.choices[0].message.tool_calls[0]
            assert call.function.arguments == '{"query": "x"}'
            chunks = list(client.chat.completions.create(**body(stream=True)))
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            assert text == "Two words"
            assert chunks[-1].choices[0].finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("key", "model", "status"), [("wrong", "m", 401), ("k", "other", 404), ("k", "m", 200)]
)
def test_key_and_model_are_asked_for(key: str, model: str, status: int) -> None:
    with OpenAIServer([Say("Ok.")], key="k", models=["m"]) as server, httpx2.Client() as http:
        answer = http.post(
            f"{server.base_url}/chat/completions",
            json=body(model=model),
            headers={"authorization": f"Bearer {key}"},
        )
        assert answer.status_code == status


def test_a_script_may_be_a_function_of_the_request() -> None:
    def script(request: dict[str, Any]) -> Turn:
        asked = request["messages"][-1]["content"]
        special: dict[str, Turn] = {"fail": Fail(503, headers={"x": "y"}), "drop": Drop()}
        return special.get(asked, Say(asked.upper()))

    with OpenAIServer(script) as server, httpx2.Client() as http:
        url = f"{server.base_url}/chat/completions"

        def post(text: str) -> httpx2.Response:
            return http.post(url, json=body({"role": "user", "content": text}))

        assert post("hello").json()["choices"][0]["message"]["content"] == "HELLO"
        assert (post("fail").status_code, post("fail").headers["x"]) == (503, "y")
        with pytest.raises(httpx2.RemoteProtocolError):
            post("drop")
