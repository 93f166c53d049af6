"""The scripted server's Responses API: it refuses what the real one refuses."""

from typing import Any

import httpx2
import pytest

from clew_testing.servers.openai_server import OpenAIServer, Say

USER: dict[str, Any] = {"role": "user", "content": "Go."}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"q": {"type": "string"}}}
CLOSED: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
TOOL: dict[str, Any] = {
    "type": "function",
    "name": "search",
    "parameters": SCHEMA,
    "strict": False,
}


def made(call_id: str = "a", **more: Any) -> dict[str, Any]:
    item = {"type": "function_call", "call_id": call_id, "name": "search", "arguments": "{}"}
    return item | more


def output(call_id: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": "found"} | more


def body(*items: Any, **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": [USER, *items], "tools": [TOOL], "store": False} | more


def form(**more: Any) -> dict[str, Any]:
    return {"format": {"type": "json_schema", "name": "reply", "strict": True} | more}


FINE = [
    body(),
    body(made("a"), made("b"), output("b"), output("a"), USER),
    body(made("a", id="fc_elsewhere"), output("a")),
    body(tool_choice="required"),
    body(tool_choice={"type": "function", "name": "search"}),
    body({"role": "developer", "content": [{"type": "input_text", "text": "x"}]}),
    body({"role": "assistant", "content": [{"type": "output_text", "text": "x"}]}),
    body({"role": "user", "content": "As JSON."}, text={"format": {"type": "json_object"}}),
    body(text=form(schema=CLOSED)),
    body(text=form(schema=SCHEMA, strict=False)),
    body(tools=[TOOL | {"parameters": CLOSED, "strict": True}]),
]

REFUSED: list[tuple[Any, str]] = [
    ([], "could not parse the JSON body"),
    (body(stop=["x"]), "Unknown parameter: 'stop'."),
    (body(messages=[]), "Unknown parameter: 'messages'."),
    ({"input": [USER]}, "'model'"),
    ({"model": "m", "input": []}, "'input'"),
    (body(store=True), "'store' as false"),
    (body(7), "roles"),
    (body({"type": "odd"}), "'odd' in 'input[1].type'"),
    (body({"role": "robot", "content": "x"}), "roles"),
    (body({"role": "user"}), "input[1].content"),
    (body(USER | {"name": "x"}), "Unknown parameter: 'input[1].name'"),
    (body({"role": "user", "content": [{"type": "text", "text": "x"}]}), "'text' in"),
    (body({"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}), "'input_text'"),
    (body(made(id="x1"), output()), "begins with 'fc'"),
    (body(made()), "No tool output found for function call a."),
    (body(output()), "No tool call found for function call output with call_id a."),
    (body(made(), output(), output()), "No tool call found"),
    (body(made(), made(), output()), "Duplicate function call"),
    (body(made("x" * 65), output("x" * 65)), "maximum length 64"),
    (body(made(name="a.b"), output()), "does not match pattern"),
    (body(made(arguments=None), output()), "input[1].arguments"),
    (body(made(), output(output=None)), "input[2].output"),
    (body(tools=[{"type": "function", "function": {}}]), "tools[0].name"),
    (body(tools=[{"type": "web"}]), "expected 'function'"),
    (body(tools=[TOOL, TOOL]), "must be unique"),
    (body(tools=[{key: TOOL[key] for key in ("type", "name", "parameters")}]), "Invalid schema"),
    (body(tools=[TOOL | {"parameters": {"type": "string"}}]), "must have type 'object'"),
    (body(tools=[TOOL | {"parameters": SCHEMA | {"anyOf": []}}]), "at the top level"),
    (body(tool_choice="maybe"), "tool_choice"),
    (body(tools=[], tool_choice="required"), "must be specified with 'tools'"),
    (body(text={"format": {"type": "yaml"}}), "text.format.type"),
    (body(text={"format": {"type": "json_object"}}), "must contain the word 'json'"),
    (body(text=form(schema=SCHEMA)), "Invalid schema for text.format 'reply'"),
    (body(text=form()), "text.format.schema"),
]


def test_it_takes_what_the_real_one_takes() -> None:
    with OpenAIServer(Say("Ok.") for _ in FINE) as server, httpx2.Client() as http:
        for sent in FINE:
            answer = http.post(f"{server.base_url}/responses", json=sent)
            assert (answer.status_code, sent, answer.json()) == (200, sent, answer.json())


def test_it_refuses_what_the_real_one_refuses() -> None:
    with OpenAIServer() as server, httpx2.Client() as http:
        for sent, said in REFUSED:
            answer = http.post(f"{server.base_url}/responses", json=sent)
            assert (answer.status_code, sent) == (400, sent)
            assert said in answer.json()["error"]["message"]


@pytest.fixture
def issued() -> Any:
    """A server, and the items it gave out: thought, text, call, thought, call; and the results."""
    said = Say("Hm.", calls=[("search", "{}")] * 2, reasoning="So.")
    asked = body(include=["reasoning.encrypted_content"])
    with OpenAIServer([said, Say("Ok.")]) as server, httpx2.Client() as http:

        def post(*items: Any) -> Any:
            return http.post(f"{server.base_url}/responses", json=body(*items)).json()

        given = http.post(f"{server.base_url}/responses", json=asked).json()["output"]
        results = [output(item["call_id"]) for item in given if "call_id" in item]
        yield post, given, results


def test_what_it_gave_out_comes_back_whole(issued: Any) -> None:
    post, given, results = issued
    assert [item["type"] for item in given] == [
        *("reasoning", "message", "function_call", "reasoning", "function_call"),
    ]
    assert post(*given, *results)["status"] == "completed"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda i: [*i[1:]], "'msg_0' of type 'message' was provided without its required 'reason"),
        (lambda i: [*i[:3], i[4]], "'fc_0_1' of type 'function_call' was provided without"),
        (lambda i: [i[0], *i[2:]], "'rs_0_0' of type 'reasoning' was provided without its requ"),
        (lambda i: [i[1], i[0], *i[2:]], "'msg_0' of type 'message' was provided without"),
        (lambda i: [i[0] | {"encrypted_content": "x"}, *i[1:]], "could not be verified"),
        (lambda i: [i[0] | {"id": "rs_9"}, *i[1:]], "could not be verified"),
        (lambda i: [i[0] | {"encrypted_content": None}, *i[1:]], "Items are not persisted"),
        (lambda i: [i[0] | {"summary": []}, *i[1:]], "not the one it came with"),
        (lambda i: [*i, i[0]], "without its required following item"),
    ],
    ids=range(9),
)
def test_what_it_gave_out_is_known_again(issued: Any, change: Any, said: str) -> None:
    post, given, results = issued
    changed = change(given)
    kept = {item.get("call_id") for item in changed}
    answer = post(*changed, *(result for result in results if result["call_id"] in kept))
    assert said in answer["error"]["message"]


def test_without_ids_nothing_has_to_come_back() -> None:
    with OpenAIServer([Say("Ok.", usage={"input_tokens": 1})]) as server, httpx2.Client() as http:
        answer = http.post(f"{server.base_url}/responses", json=body(made(), output())).json()
    assert answer["usage"] == {"input_tokens": 1}
