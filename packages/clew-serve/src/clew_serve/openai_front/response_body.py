"""What a request for a response has, and its input as messages."""

from collections.abc import Sequence
from typing import Any, Final, cast

import msgspec

from clew_serve.errors import RefusedError
from clew_serve.openai_front.chat_body import check_refused, text_of
from clew_serve.turns.messages import parts_of
from clew_serve.turns.results import CallResult, is_call_id

Item = dict[str, Any]

_LEFT_OUT: Final = frozenset({"reasoning", "mcp_approval_request", "mcp_list_tools", "mcp_call"})
"""Items that a client sends back, and nobody said."""

_TEXTS: Final = frozenset({"input_text", "output_text", "text"})


class ResponseBody(msgspec.Struct, forbid_unknown_fields=True):
    """A request as OpenAI's clients send it.

    With a `previous_response_id` the input is said in the run of that response, with a
    `conversation` in that one. What steers the sampling is the agent's own: it is taken, and counts
    for nothing.
    """

    model: str
    input: str | list[Item] = ""
    instructions: str | None = None
    previous_response_id: str | None = None
    conversation: Any = None
    stream: bool = False
    background: bool = False
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    text: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    user: str | None = None
    prompt: Any = None
    # What steers the sampling, and the provider's own bookkeeping:
    include: Any = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    parallel_tool_calls: bool | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    reasoning: Any = None
    safety_identifier: str | None = None
    service_tier: str | None = None
    store: bool | None = None
    stream_options: Any = None
    temperature: float | None = None
    top_logprobs: int | None = None
    top_p: float | None = None
    truncation: str | None = None

    @property
    def session(self) -> str | None:
        """The name of the conversation."""
        match self.conversation:
            case {"id": str(named)} | str(named):
                return named
            case _:
                return None


class Approval(msgspec.Struct, frozen=True):
    """What somebody decided on a held call."""

    approval_request_id: str
    approve: bool
    reason: str | None = None


def check(body: ResponseBody) -> None:
    """Raise `RefusedError` for what would change the answer, and no agent can be told."""
    check_refused(
        {
            "prompt": body.prompt is not None,
            "tool_choice": body.tool_choice not in (None, "auto"),
            "conversation": body.conversation is not None and body.session is None,
        }
    )
    if body.previous_response_id and body.conversation:
        message = "previous_response_id and conversation are given"
        raise RefusedError(422, "invalid", message, "give one of them")


class Decided(msgspec.Struct):
    """What ends the input: results of calls, rulings, and what is said behind them."""

    results: list[CallResult] = []
    approvals: list[Approval] = []
    words: list[Item] = []


def decided_in(items: str | Sequence[Item]) -> Decided:
    """What is decided at the end of an input, on calls of runs here."""
    if isinstance(items, str):
        return Decided()
    end = len(items)
    while end and items[end - 1].get("role") == "user":
        end -= 1
    begin = end
    while begin and items[begin - 1].get("type") in {"function_call_output", _APPROVAL}:
        begin -= 1
    decided = Decided(words=[*items[end:]])
    for item in items[begin:end]:
        if item["type"] == _APPROVAL:
            decided.approvals.append(_approval(item))
        elif is_call_id(item.get("call_id")):
            decided.results.append(CallResult(item["call_id"], _output(item)))
    decided_calls = len(decided.approvals) + len(decided.results)
    if decided_calls not in {0, end - begin}:
        raise RefusedError(422, "invalid", "some results are of no call of a run here")
    return decided if decided_calls else Decided()


_APPROVAL: Final = "mcp_approval_response"


def _approval(item: Item) -> Approval:
    try:
        return msgspec.convert(item, Approval)
    except msgspec.ValidationError as error:
        raise RefusedError(422, "invalid", f"an approval cannot be read: {error}") from error


def _output(item: Item) -> str:
    return text_of({"content": [*map(_part, parts_of(item.get("output")))]})


def messages_in(body: ResponseBody) -> list[Item]:
    """The input in the form of Chat Completions. Raises `RefusedError` for other items."""
    messages: list[Item] = []
    if body.instructions:
        messages.append({"role": "system", "content": body.instructions})
    items: list[Item] = (
        [{"role": "user", "content": body.input}] if isinstance(body.input, str) else body.input
    )
    return [*messages, *chat_messages(items)]


def chat_messages(items: Sequence[Item]) -> list[Item]:
    """Items of an input in the form of Chat Completions. Raises `RefusedError` for other ones."""
    messages: list[Item] = []
    for item in items:
        kind = item.get("type", "message")
        if kind == "message":
            content = [*map(_part, parts_of(item.get("content")))]
            messages.append({"role": item.get("role"), "content": content})
        elif kind == "function_call":
            _add_call(messages, item)
        elif kind == "function_call_output":
            call = {"tool_call_id": item.get("call_id"), "content": _output(item)}
            messages.append({"role": "tool", **call})
        elif kind not in _LEFT_OUT:
            message = f"the input has an item of the type {str(kind)[:64]!r}"
            hint = "give messages, calls of functions, their outputs, and approvals"
            raise RefusedError(422, "invalid", message, hint)
    return messages


def _add_call(messages: list[Item], item: Item) -> None:
    """Add a call to the assistant's message that has the ones before it."""
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    call = {"id": item.get("call_id"), "type": "function", "function": function}
    if messages and messages[-1].get("tool_calls"):
        messages[-1]["tool_calls"].append(call)
    else:
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})


def _part(part: Any) -> Any:
    """A part of a message in the form of Chat Completions."""
    if not isinstance(part, dict):
        return part
    read = cast("dict[str, Any]", part)
    kind = read.get("type")
    if kind in _TEXTS:
        return {"type": "text", "text": read.get("text")}
    if kind == "input_image":
        return {"type": "image_url", "image_url": {"url": read.get("image_url")}}
    if kind == "input_file":
        names = {name: read[name] for name in ("file_data", "filename") if name in read}
        return {"type": "file", "file": names}
    return read
