"""What a request for a chat completion has: what of it counts, and what is refused."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from clew import ConfigError
from clew_serve.client_tools import ClientTool
from clew_serve.errors import RefusedError
from clew_serve.turns.messages import parts_of
from clew_serve.turns.results import CallResult, is_call_id

Message: TypeAlias = dict[str, Any]

SESSION: Final = "session"
RUN: Final = "run_id"


class StreamOptions(msgspec.Struct):
    """Whether the last piece of a stream has the usage."""

    include_usage: bool = False
    include_obfuscation: bool = False


class ChatBody(msgspec.Struct, forbid_unknown_fields=True):
    """A request as OpenAI's clients send it.

    `metadata` and `user` are labels of the run, but for `session`, the conversation in which the
    last message is said, and `run_id`, the run whose end is asked for. What steers the sampling is
    the agent's own: it is taken, and counts for nothing.
    """

    model: str
    messages: list[Message]
    stream: bool = False
    stream_options: StreamOptions | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None
    response_format: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    user: str | None = None
    n: int | None = None
    stop: Any = None
    logprobs: bool | None = None
    modalities: list[str] | None = None
    # What steers the sampling, and the provider's own bookkeeping:
    temperature: float | None = None
    top_p: float | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    logit_bias: dict[str, float] | None = None
    top_logprobs: int | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    seed: int | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    parallel_tool_calls: bool | None = None
    store: bool | None = None
    service_tier: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None


def check(body: ChatBody) -> None:
    """Raise `RefusedError` for what would change the answer, and no agent can be told."""
    refused = {
        "n": body.n not in {None, 1},
        "stop": bool(body.stop),
        "logprobs": bool(body.logprobs),
        "modalities": body.modalities not in (None, ["text"]),
        "tool_choice": body.tool_choice not in (None, "auto"),
    }
    check_refused(refused)


def check_refused(refused: Mapping[str, bool]) -> None:
    """Raise `RefusedError` for the first of these that is asked for."""
    for name, asked in refused.items():
        if asked:
            raise RefusedError(
                422,
                "unsupported_parameter",
                f"{name} cannot be chosen for an agent",
                "leave it out",
            )


def tools_from(tools: Sequence[Mapping[str, Any]] | None, inside: str = "") -> list[ClientTool]:
    """The client's tools; in Chat Completions each stands `inside` of its kind.

    Raises `RefusedError` for tools of the provider's own.
    """
    named: list[ClientTool] = []
    for each in tools or ():
        if each.get("type") != "function":
            kind = str(each.get("type"))[:64]
            message = f"a tool has the type {kind!r}"
            raise RefusedError(422, "unsupported_parameter", message, "give functions")
        function = each.get(inside) if inside else each
        try:
            read: Any = {
                name: value
                for name, value in (function or {}).items()
                if name in ClientTool.__struct_fields__ and value is not None
            }
            named.append(msgspec.convert(read, ClientTool))
        except (msgspec.ValidationError, AttributeError) as error:
            message = f"a tool cannot be read: {error}"
            raise RefusedError(422, "invalid", message) from error
    return named


def labels_from(metadata: Mapping[str, str] | None, user: str | None) -> dict[str, str]:
    """The labels of the run."""
    labels = {k: v for k, v in (metadata or {}).items() if k not in {SESSION, RUN}}
    return labels | ({"user": user} if user else {})


ToolEnd: TypeAlias = tuple[list[CallResult], list[Message]]


def results_at_end(messages: Sequence[Message]) -> ToolEnd:
    """The results of calls of a run here that end the messages, and what is said behind them.

    None of calls from elsewhere: those are history. Raises `RefusedError` for some of each.
    """
    end = len(messages)
    while end and messages[end - 1].get("role") == "user":
        end -= 1
    begin = end
    while begin and messages[begin - 1].get("role") == "tool":
        begin -= 1
    ours = [is_call_id(it.get("tool_call_id")) for it in messages[begin:end]]
    if not any(ours):
        return [], []
    if not all(ours):
        raise RefusedError(422, "invalid", "some results are of no call of a run here")
    results = [CallResult(it["tool_call_id"], text_of(it)) for it in messages[begin:end]]
    return results, list(messages[end:])


def text_of(message: Message) -> str:
    """The text of a result. Raises `ConfigError` for one of other parts."""
    texts: list[str] = []
    for part in parts_of(message.get("content")):
        match part:
            case {"text": str(text)}:
                texts.append(text)
            case _:
                raise ConfigError("the result of a tool has a part that is no text: give its text")
    return "\n".join(texts)


Finish: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter"]
