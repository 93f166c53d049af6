"""Held calls as elicitations: the person at the client rules on them with a form.

The form of a held call has one required field, `allow`; that of a question of the agent
(`ask_person`) has `answer`. Declining the form refuses the call; dismissing it leaves it held.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import mcp_types as types
import msgspec

from clew import ConfigError, PendingApproval
from clew.agent.approvals import rule
from clew.interfaces import Json, Store
from clew.toolbox import ASK_PERSON

_PLAIN: Final = {"string", "number", "integer", "boolean"}
_BY: Final = "the person at the MCP client"

_ALLOW: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "allow": {"type": "boolean", "title": "Allow this call?"},
        "why": {"type": "string", "title": "Reason", "description": "For the record."},
    },
    "required": ["allow"],
}
_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "title": "Answer", "minLength": 1}},
    "required": ["answer"],
}


def can_ask(capabilities: types.ClientCapabilities | None) -> bool:
    """Whether the client can show a person a form."""
    asks = capabilities.elicitation if capabilities is not None else None
    return asks is not None and (asks.form is not None or asks.url is None)


def approval_form(each: PendingApproval) -> types.ElicitRequestFormParams:
    """The form for a held call: tool, arguments, reason, and the fields to answer."""
    if each.tool == ASK_PERSON:
        question = str(each.args.get("question", each.why))
        return types.ElicitRequestFormParams(message=question, requested_schema=_ANSWER)
    args = msgspec.json.format(msgspec.json.encode(each.args), indent=2).decode()
    message = f"The agent wants to call {each.tool} with\n{args}\nIt is held: {each.why}"
    schema = _ALLOW if each.asks is None else _form_schema(each.asks)
    return types.ElicitRequestFormParams(message=message, requested_schema=schema)


def _is_flat(schema: Mapping[str, Any]) -> bool:
    """Whether a form can show a schema: an object of plain fields and choices."""
    fields: Mapping[str, Any] = schema.get("properties", {})
    return schema.get("type") == "object" and all(map(_is_field, fields.values()))


def _is_field(schema: Json) -> bool:
    match schema:
        case {"type": "array", "items": {"enum": _} | {"anyOf": _}}:
            return True
        case {"type": str(kind)}:
            return kind in _PLAIN
        case _:
            return False


def _form_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The form for a call's question; asks for JSON text if no form can show the schema."""
    if _is_flat(schema):
        return dict(schema)
    plain = schema.get("type") in _PLAIN
    field = dict(schema) if plain else {"type": "string", "description": _as_json(schema)}
    return {"type": "object", "properties": {"answer": field}, "required": ["answer"]}


def _as_json(schema: Mapping[str, Any]) -> str:
    return f"JSON that fits {msgspec.json.encode(schema).decode()}"


def _answer(schema: Mapping[str, Any], content: Mapping[str, Any]) -> Json:
    """The answer in the form's content. Raises `ConfigError` if it is no JSON."""
    if _is_flat(schema):
        return dict(content)
    if schema.get("type") in _PLAIN:
        return content.get("answer")
    try:
        answer: Json = msgspec.json.decode(_field(content, "answer", str))
    except ValueError as error:
        message = f"the answer is no JSON: {error}"
        raise ConfigError(message) from error
    return answer


def request_key(each: PendingApproval) -> str:
    """The key of a held call; it changes with the call's arguments and attempts."""
    return each.id


def input_requests(waiting: Sequence[PendingApproval]) -> dict[str, types.ElicitRequest]:
    """The forms for all held calls, by key."""
    return {request_key(each): types.ElicitRequest(params=approval_form(each)) for each in waiting}


async def apply_response(store: Store, each: PendingApproval, response: types.ElicitResult) -> bool:
    """Record the answer to a form as the ruling on its call; False if the form was dismissed.

    The ruling covers only the arguments shown. Raises `ConfigError` if the answer does not match
    the form, or the call has a different ruling already.
    """
    if response.action == "cancel":
        return False
    content: Mapping[str, Any] = response.content or {}
    allow, args, answer = response.action == "accept", None, None
    if allow and each.tool == ASK_PERSON:
        args = {**each.args, "answer": _field(content, "answer", str)}
    elif allow and each.asks is not None:
        answer = _answer(each.asks, content)
    elif allow:
        allow = _field(content, "allow", bool)
    why = _why(each, content)
    await rule(each.id, allow=allow, args=args, answer=answer, why=why, by=_BY, store=store)
    return True


def _why(each: PendingApproval, content: Mapping[str, Any]) -> str:
    return "" if each.asks is not None else str(content.get("why") or "")


async def apply_responses(
    store: Store,
    waiting: Sequence[PendingApproval],
    responses: Mapping[str, types.InputResponse],
) -> None:
    """Apply the responses for calls that are still held; ignore others."""
    for each in waiting:
        response = responses.get(request_key(each))
        if isinstance(response, types.ElicitResult):
            await apply_response(store, each, response)


def _field(content: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
    value = content.get(name)
    if not isinstance(value, kind):
        message = f"the answer to the form has no {name}: it is required"
        raise ConfigError(message)
    return value
