"""What the Chat Completions API refuses: the checks of `OpenAIServer`.

Format and messages follow https://platform.openai.com/docs/api-reference/chat and what the service
is known to answer; strictness is the point, since most compatible servers let more pass.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from clew_testing.servers.http_server import array_of, object_of
from clew_testing.servers.openai_schemas import complaint, tool_complaint

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
_CHOICES: Final = frozenset({"none", "auto", "required"})
_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"role", "content", "name"}),
    "developer": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}


class OpenAIRefusal(Exception):  # noqa: N818 - the server's answer, not a fault of the program
    """The request is refused with status 400; `param` names the place."""

    def __init__(self, message: str, param: str = "") -> None:
        super().__init__(message)
        self.param = param


def check(body: Any) -> None:
    """Raise `OpenAIRefusal` for a body that the API would refuse."""
    if (known := object_of(body)) is None:
        raise OpenAIRefusal("We could not parse the JSON body of your request.")
    if not isinstance(known.get("model"), str) or not known["model"]:
        raise OpenAIRefusal("you must provide a model parameter", "model")
    if not (messages := array_of(known.get("messages"))):
        raise OpenAIRefusal("Invalid 'messages': expected a non-empty array.", "messages")
    _check_tools(known)
    _check_rest(known)
    _check_messages(messages)


def _check_tools(body: dict[str, Any]) -> None:
    if body.get("tools") is None:
        if "tool_choice" in body:
            raise OpenAIRefusal(
                "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are "
                "specified.",
                "tool_choice",
            )
        return
    if not (tools := array_of(body["tools"])):
        raise OpenAIRefusal("Invalid 'tools': empty array. Expected at least one element.", "tools")
    names = [_check_tool(tool, f"tools[{index}]") for index, tool in enumerate(tools)]
    if len(set(names)) < len(names):
        raise OpenAIRefusal("Invalid 'tools': tool names must be unique.", "tools")
    choice = body.get("tool_choice", "auto")
    one = object_of((object_of(choice) or {}).get("function")) or {}
    if one.get("name") not in names and (one or choice not in _CHOICES):
        raise OpenAIRefusal(f"Invalid value for 'tool_choice': {choice!r}.", "tool_choice")


def _check_tool(tool: Any, where: str) -> str:
    known = object_of(tool) or {}
    if known.get("type") != "function":
        raise OpenAIRefusal(
            f"Missing or invalid '{where}.type': expected 'function'.", f"{where}.type"
        )
    if (function := object_of(known.get("function"))) is None:
        raise OpenAIRefusal(f"Missing required parameter: '{where}.function'.", f"{where}.function")
    name = function.get("name")
    check_name(name, f"{where}.function.name")
    _check_schema(function.get("parameters", {"type": "object"}), name)
    return str(name)


def check_name(name: Any, where: str) -> None:
    """Raise `OpenAIRefusal` for what can name no tool."""
    if not isinstance(name, str) or not name:
        raise OpenAIRefusal(f"Missing required parameter: '{where}'.", where)
    if not _NAME.fullmatch(name):
        raise OpenAIRefusal(
            f"Invalid '{where}': string does not match pattern. Expected a string that matches "
            "the pattern '^[a-zA-Z0-9_-]+$' of at most 64 characters.",
            where,
        )


def _check_schema(schema: Any, name: Any) -> None:
    where = f"Invalid schema for function {name!r}"
    known = object_of(schema) or {}
    if problem := tool_complaint(known):
        raise OpenAIRefusal(f"{where}: {problem}")
    properties: dict[str, Any] = known.get("properties", {})
    for key, inner in properties.items():
        types = (object_of(inner) or {}).get("type", "object")
        if not set(array_of(types) or [types]) <= _TYPES:
            raise OpenAIRefusal(f"{where}: {types!r} is not a valid type of {key!r}.")


def _check_rest(body: dict[str, Any]) -> None:
    stop = array_of(body.get("stop"))
    if stop is not None and not 1 <= len(stop) <= 4:
        raise OpenAIRefusal("Invalid 'stop': expected an array of 1 to 4 strings.", "stop")
    if "stream_options" in body and not body.get("stream"):
        raise OpenAIRefusal(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        )
    if "response_format" in body:
        _check_form(body["response_format"], body["messages"])


def _check_form(form: Any, messages: list[Any]) -> None:
    known = object_of(form) or {}
    kind, where = known.get("type"), "response_format"
    if kind not in {"text", "json_object", "json_schema"}:
        raise OpenAIRefusal(f"Invalid value: {kind!r} in '{where}.type'.", f"{where}.type")
    if kind == "json_object" and "json" not in str(messages).lower():
        raise OpenAIRefusal(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of "
            "type 'json_object'.",
            "messages",
        )
    if kind == "json_schema":
        check_schema_form(object_of(known.get("json_schema")) or {}, where, f"{where}.json_schema")


def check_schema_form(form: dict[str, Any], where: str, label: str) -> None:
    """The name, and the schema, held to its rules where it is to be strict."""
    check_name(form.get("name"), f"{label}.name")
    if (schema := object_of(form.get("schema"))) is None:
        raise OpenAIRefusal(f"Missing required parameter: '{label}.schema'.", f"{label}.schema")
    if problem := complaint(schema, strict=bool(form.get("strict"))):
        raise OpenAIRefusal(f"Invalid schema for {where} {form['name']!r}: {problem}", where)


def _check_messages(messages: list[Any]) -> None:
    """Every message by itself, and that each call has its result right behind it, once."""
    waiting: list[str] = []
    for index, item in enumerate(messages):
        where = f"messages.[{index}]"
        message = object_of(item) or {}
        role = message.get("role")
        if role not in _ROLES:
            raise OpenAIRefusal(
                f"Invalid value: {role!r}. Supported values are roles.", f"{where}.role"
            )
        if role == "tool":
            _check_result(message, where, waiting)
            continue
        if waiting:
            break
        _check_message(message, where)
        calls: list[dict[str, Any]] = message.get("tool_calls") or []
        waiting = [call["id"] for call in calls]
    if waiting:
        raise OpenAIRefusal(
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            + ", ".join(waiting),
            "messages",
        )


def _check_result(message: dict[str, Any], where: str, waiting: list[str]) -> None:
    _check_keys(message, where)
    if not isinstance(message.get("content"), str):
        raise OpenAIRefusal(f"Invalid '{where}.content': expected a string.", f"{where}.content")
    if not isinstance(id_ := message.get("tool_call_id"), str):
        raise OpenAIRefusal(f"Missing parameter '{where}.tool_call_id'.", f"{where}.tool_call_id")
    if id_ not in waiting:
        raise OpenAIRefusal(
            "Invalid parameter: messages with role 'tool' must be a response to a preceding "
            "message with 'tool_calls'.",
            f"{where}.role",
        )
    waiting.remove(id_)


def _check_message(message: dict[str, Any], where: str) -> None:
    _check_keys(message, where)
    content = message.get("content")
    if "tool_calls" in message:
        if not (calls := array_of(message["tool_calls"])):
            raise OpenAIRefusal(
                f"Invalid '{where}.tool_calls': empty array. Expected an array with minimum "
                "length 1.",
                f"{where}.tool_calls",
            )
        for number, call in enumerate(calls):
            _check_call(call, f"{where}.tool_calls[{number}]")
        if len({call["id"] for call in calls}) < len(calls):
            raise OpenAIRefusal(f"Duplicate ids in '{where}.tool_calls'.", f"{where}.tool_calls")
        if content is None:
            return
    for number, block in enumerate(array_of(content) or []):
        _check_block(block, f"{where}.content[{number}]")
    if not isinstance(content, (str, list)):
        raise OpenAIRefusal(
            f"Invalid value for 'content': expected a string, got {content!r}.", f"{where}.content"
        )


_BLOCKS: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    "image_url": lambda inner: isinstance(inner.get("url"), str),
    "input_audio": lambda inner: bool(inner.get("data")) and inner.get("format") in {"wav", "mp3"},
    "file": lambda inner: (
        str(inner.get("file_data")).startswith("data:application/pdf;base64,")
        and bool(inner.get("filename"))
    ),
}
"""What each kind of block but text has to have."""


def _check_block(block: Any, where: str) -> None:
    """A block of content: text, a picture by its URL, a recording or a PDF."""
    known = object_of(block) or {}
    kind = known.get("type")
    if kind == "text" and isinstance(known.get("text"), str):
        return
    inner = object_of(known.get(kind)) if isinstance(kind, str) else None
    fits = _BLOCKS.get(str(kind))
    if fits is None or not fits(inner or {}):
        raise OpenAIRefusal(f"Invalid value: '{kind}' in '{where}.type'.", f"{where}.type")


def _check_keys(message: dict[str, Any], where: str) -> None:
    known = _KEYS.get(message["role"])
    if known is not None and (odd := sorted(message.keys() - known)):
        raise OpenAIRefusal(
            f"Unrecognized request argument: '{where}.{odd[0]}'.", f"{where}.{odd[0]}"
        )


def _check_call(call: Any, where: str) -> None:
    known = object_of(call) or {}
    if not isinstance(known.get("id"), str) or not known["id"]:
        raise OpenAIRefusal(f"Missing required parameter: '{where}.id'.", f"{where}.id")
    if known.get("type") != "function":
        raise OpenAIRefusal(f"Missing required parameter: '{where}.type'.", f"{where}.type")
    function = object_of(known.get("function")) or {}
    check_name(function.get("name"), f"{where}.function.name")
    if not isinstance(function.get("arguments"), str):
        raise OpenAIRefusal(
            f"Missing required parameter: '{where}.function.arguments'.",
            f"{where}.function.arguments",
        )
