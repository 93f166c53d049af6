"""What OpenAI's Responses API refuses, used statelessly: the checks of its form in the server.

Format and messages follow https://developers.openai.com/api/reference/resources/responses and what
the service is known to answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from clew_testing.servers.http_server import array_of, object_of
from clew_testing.servers.openai_rules import OpenAIRefusal, check_name, check_schema_form
from clew_testing.servers.openai_schemas import complaint, tool_complaint

_TOP: Final = frozenset(
    {"model", "input", "instructions", "tools", "tool_choice", "stream", "store", "include", "text"}
    | {"reasoning", "temperature", "top_p", "max_output_tokens", "parallel_tool_calls", "metadata"}
    | {"truncation", "prompt_cache_key", "service_tier", "max_tool_calls", "stream_options"}
    | {"prompt_cache_retention"}
)
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "message": frozenset({"type", "id", "role", "status", "content", "phase"}),
    "function_call": frozenset(
        {"type", "id", "call_id", "name", "arguments", "status", "namespace", "caller"}
    ),
    "function_call_output": frozenset({"type", "id", "call_id", "output", "status"}),
    "reasoning": frozenset({"type", "id", "summary", "content", "encrypted_content"}),
}
_PREFIX: Final[Mapping[str, str]] = {"message": "msg", "function_call": "fc", "reasoning": "rs"}
_SEEN: Final = {"input_text": "text", "input_image": "image_url", "input_file": "file_data"}
_TEXT_FIELDS: Final = {"output_text": "text", "refusal": "refusal"}
_LONGEST: Final = 64


@dataclass(frozen=True)
class Issued:
    """An item that the server gave out: what goes with it in the same reply.

    `reasoning` are the ids of all reasoning before it, `following` that of the item right after it.
    """

    item: Mapping[str, Any]
    reasoning: tuple[str, ...]
    following: str


def check(body: Any, issued: Mapping[str, Issued]) -> None:
    """Raise `OpenAIRefusal` for a body that the API would refuse."""
    if (known := object_of(body)) is None:
        raise OpenAIRefusal("We could not parse the JSON body of your request.")
    if odd := sorted(known.keys() - _TOP):
        raise OpenAIRefusal(f"Unknown parameter: '{odd[0]}'.", odd[0])
    if not isinstance(known.get("model"), str) or not known["model"]:
        raise OpenAIRefusal("Missing required parameter: 'model'.", "model")
    if not (items := array_of(known.get("input"))):
        raise OpenAIRefusal("Missing required parameter: 'input'.", "input")
    _check_tools(known)
    for index, item in enumerate(items):
        _check_item(item, f"input[{index}]")
    _check_calls(items)
    if known.get("store") is not False:
        raise OpenAIRefusal("This server keeps nothing: send 'store' as false.", "store")
    _check_issued(items, issued)
    _check_form(known)


def _check_tools(body: dict[str, Any]) -> None:
    tools = array_of(body.get("tools")) or []
    names = [_check_tool(tool, f"tools[{index}]") for index, tool in enumerate(tools)]
    if len(set(names)) < len(names):
        raise OpenAIRefusal("Invalid 'tools': tool names must be unique.", "tools")
    choice = body.get("tool_choice", "auto")
    named = (object_of(choice) or {}).get("name")
    if named not in names and (named or choice not in {"none", "auto", "required"}):
        raise OpenAIRefusal(f"Invalid value for 'tool_choice': {choice!r}.", "tool_choice")
    if not tools and choice not in {"none", "auto"}:
        raise OpenAIRefusal(
            f"Tool choice '{choice}' must be specified with 'tools' parameter.", "tool_choice"
        )


def _check_tool(tool: Any, where: str) -> str:
    known = object_of(tool) or {}
    if known.get("type") != "function":
        raise OpenAIRefusal(
            f"Missing or invalid '{where}.type': expected 'function'.", f"{where}.type"
        )
    check_name(known.get("name"), f"{where}.name")
    schema = object_of(known.get("parameters")) or {}
    strict = known.get("strict") is not False
    if problem := tool_complaint(schema) or (strict and complaint(schema, strict=True)):
        raise OpenAIRefusal(f"Invalid schema for function '{known['name']}': {problem}", where)
    return str(known["name"])


def _check_item(item: Any, where: str) -> None:
    known = object_of(item) or {}
    kind = known.get("type", "message")
    if (keys := _KEYS.get(kind)) is None:
        raise OpenAIRefusal(f"Invalid value: '{kind}' in '{where}.type'.", f"{where}.type")
    if odd := sorted(known.keys() - keys):
        raise OpenAIRefusal(f"Unknown parameter: '{where}.{odd[0]}'.", f"{where}.{odd[0]}")
    prefix = _PREFIX.get(kind, "")
    if not str(known.get("id", prefix)).startswith(prefix):
        raise OpenAIRefusal(
            f"Invalid '{where}.id': '{known['id']}'. Expected an ID that begins with '{prefix}'.",
            f"{where}.id",
        )
    if kind == "message":
        _check_message(known, where)
    if kind.startswith("function_call"):
        _check_text(known, where, "call_id")
        if len(known["call_id"]) > _LONGEST:
            raise OpenAIRefusal(
                f"Invalid '{where}.call_id': string too long. Expected a string with maximum "
                f"length {_LONGEST}, but got a string with length {len(known['call_id'])} instead.",
                f"{where}.call_id",
            )
    if kind == "function_call":
        check_name(known.get("name"), f"{where}.name")
        _check_text(known, where, "arguments")
    if kind == "function_call_output":
        _check_output(known, where)


def _check_text(item: dict[str, Any], where: str, key: str) -> None:
    if not isinstance(item.get(key), str):
        raise OpenAIRefusal(f"Missing required parameter: '{where}.{key}'.", f"{where}.{key}")


def _check_message(message: dict[str, Any], where: str) -> None:
    role, content = message.get("role"), message.get("content")
    if role not in {"system", "developer", "user", "assistant"}:
        raise OpenAIRefusal(
            f"Invalid value: {role!r}. Supported values are roles.", f"{where}.role"
        )
    if isinstance(content, str):
        return
    if (blocks := array_of(content)) is None:
        raise OpenAIRefusal(f"Missing required parameter: '{where}.content'.", f"{where}.content")
    _check_blocks(blocks, _TEXT_FIELDS if role == "assistant" else _SEEN, f"{where}.content")


def _check_output(item: dict[str, Any], where: str) -> None:
    """The result of a call is a text, or a list of what a user's message may have."""
    if (blocks := array_of(item.get("output"))) is None:
        _check_text(item, where, "output")
    else:
        _check_blocks(blocks, _SEEN, f"{where}.output")


def _check_blocks(blocks: list[Any], taken: Mapping[str, str], where: str) -> None:
    for number, block in enumerate(blocks):
        known = object_of(block) or {}
        kind = known.get("type")
        if not isinstance(known.get(taken.get(str(kind), "")), str):
            label = f"{where}[{number}]"
            raise OpenAIRefusal(f"Invalid value: '{kind}' in '{label}.type'.", f"{label}.type")


def _check_calls(items: list[dict[str, Any]]) -> None:
    """Each call has its result, once, and after it; no id comes twice (hermes-agent#102629)."""
    waiting: list[str] = []
    answered: set[str] = set()
    for item in items:
        kind, call_id = item.get("type"), item.get("call_id", "")
        if kind == "function_call":
            if call_id in waiting:
                raise OpenAIRefusal(f"Duplicate function call with call_id {call_id}.", "input")
            waiting.append(call_id)
        elif kind == "function_call_output":
            if call_id not in waiting:
                raise OpenAIRefusal(
                    f"No tool call found for function call output with call_id {call_id}.", "input"
                )
            if call_id in answered:
                raise OpenAIRefusal(
                    f"Duplicate function_call_output for call_id '{call_id}'. Each function_call "
                    "must have exactly one matching function_call_output",
                    "input",
                )
            waiting.remove(call_id)
            answered.add(call_id)
    if waiting:
        raise OpenAIRefusal(f"No tool output found for function call {waiting[0]}.", "input")


def _check_issued(items: list[dict[str, Any]], issued: Mapping[str, Issued]) -> None:
    """What a model thought comes back whole and in its place, or not at all."""
    before: set[str] = set()
    for index, item in enumerate(items):
        kind, id_ = item.get("type", "message"), item.get("id", "")
        if kind == "reasoning":
            following = items[index + 1].get("id") if index + 1 < len(items) else None
            _check_reasoning(item, issued.get(id_), following)
            before.add(id_)
        elif id_ in issued:
            for needed in issued[id_].reasoning:
                if needed not in before:
                    raise OpenAIRefusal(
                        f"Item '{id_}' of type '{kind}' was provided without its required "
                        f"'reasoning' item: '{needed}'.",
                        "input",
                    )


def _check_reasoning(item: dict[str, Any], known: Issued | None, following: Any) -> None:
    id_ = item.get("id")
    if not item.get("encrypted_content"):
        raise OpenAIRefusal(
            f"Item with id '{id_}' not found. Items are not persisted when `store` is set to "
            "false. Try again with `store` set to true, or remove this item from your input.",
            "input",
        )
    if known is None or item["encrypted_content"] != known.item["encrypted_content"]:
        raise OpenAIRefusal(f"The encrypted content for item {id_} could not be verified.", "input")
    if item.get("summary") != known.item["summary"]:
        raise OpenAIRefusal(f"The summary of item {id_} is not the one it came with.", "input")
    if known.following != following:
        raise OpenAIRefusal(
            f"Item '{id_}' of type 'reasoning' was provided without its required following item.",
            "input",
        )


def _check_form(body: dict[str, Any]) -> None:
    form = object_of((object_of(body.get("text")) or {}).get("format")) or {"type": "text"}
    kind, where = form.get("type"), "text.format"
    if kind not in {"text", "json_object", "json_schema"}:
        raise OpenAIRefusal(f"Invalid value: {kind!r} in '{where}.type'.", f"{where}.type")
    if kind == "json_object" and "json" not in str(body["input"]).lower():
        raise OpenAIRefusal(
            "Response input messages must contain the word 'json' in some form to use "
            "'text.format' of type 'json_object'.",
            "input",
        )
    if kind == "json_schema":
        check_schema_form(form, where, where)
