"""Servers of Chat Completions that refuse what the doors people use refuse, each in its own words.

A `Door` is OpenAI's rules with those of one service or chat template on top, and the shape of its
errors. Threads are named as owner/repository#number; what stands here are the rules that they
report, and the messages that clients see.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from clew_testing.servers.anthropic_rules import check as check_messages
from clew_testing.servers.anthropic_rules import turns
from clew_testing.servers.anthropic_server import AnthropicService, Messages
from clew_testing.servers.http_server import (
    CompletionKind,
    Fail,
    HttpServer,
    ReceivedRequest,
    Say,
    Script,
    Send,
    to_json,
)
from clew_testing.servers.openai_rules import OpenAIRefusal, check
from clew_testing.servers.openai_server import Chat
from clew_testing.servers.openai_service import Access, OpenAIService

Message: TypeAlias = dict[str, Any]
Rule: TypeAlias = Callable[[dict[str, Any]], None]
"""Raises `OpenAIRefusal` for a body that the door does not take."""

SIGNATURE: Final = "c2lnbmVk"
STAND_IN: Final = "skip_thought_signature_validator"


def _plain_error(message: str) -> Any:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None}}


@dataclass(frozen=True)
class Door:
    """One door: what it refuses beside OpenAI's rules, with which status and in which shape.

    With `signs` the first call of each reply carries a signature, as Gemini's do.
    """

    name: str
    rules: tuple[Rule, ...]
    status: int = 400
    error: Callable[[str], Any] = _plain_error
    signs: bool = False


# ---------------------------------------------------------------- Mistral

_AFTER: Final[Mapping[str, frozenset[str]]] = {
    "system": frozenset({"system", "user", "assistant"}),
    "user": frozenset({"system", "user", "assistant"}),
    "assistant": frozenset({"user", "assistant", "tool"}),
    "tool": frozenset({"assistant", "tool"}),
}


def mistral_roles(body: dict[str, Any]) -> None:
    """Order of roles: zed#37021, crush#279, avante.nvim#2562, mistral-vibe#578, hermes-agent#20154.

    The table is that of the validator in the package mistral-common.
    """
    messages: list[Message] = body["messages"]
    for before, message in itertools.pairwise(messages):
        if message["role"] not in _AFTER[before["role"]]:
            raise OpenAIRefusal(
                f"Unexpected role '{message['role']}' after role '{before['role']}'"
            )
    if messages[-1]["role"] not in {"user", "tool"}:
        raise OpenAIRefusal(
            "Expected last role User or Tool (or Assistant with prefix True) for serving but got "
            f"{messages[-1]['role']}"
        )


def mistral_ids(body: dict[str, Any]) -> None:
    """Nine letters and digits: mistral-common, and goose#5998."""
    for id_ in _call_ids(body):
        if not re.fullmatch(r"[a-zA-Z0-9]{9}", id_):
            raise OpenAIRefusal(
                f"Tool call id was {id_} but must be a-z, A-Z, 0-9, with a length of 9."
            )


def mistral_rules(body: dict[str, Any]) -> None:
    """An assistant's message says or calls something (mistral-common)."""
    for message in body["messages"]:
        if message["role"] == "assistant" and not (
            message.get("content") or message.get("tool_calls")
        ):
            raise OpenAIRefusal(
                "Assistant message must have either content or tool_calls, but not none."
            )


def mistral_error(message: str) -> Any:
    """The shape of Mistral's errors: crush#279."""
    kind = "invalid_request_message_order" if "role" in message else "invalid_request_error"
    return {"object": "error", "message": message, "type": kind, "param": None, "code": "3230"}


# ---------------------------------------------------------------- thinking, and what goes back


def _thinking(demand: Callable[[int], str]) -> Rule:
    def rule(body: dict[str, Any]) -> None:
        for index, message in enumerate(body["messages"]):
            if message.get("tool_calls") and not message.get("reasoning_content"):
                raise OpenAIRefusal(demand(index))

    return rule


deepseek_thinks: Final = _thinking(
    lambda _: "The `reasoning_content` in the thinking mode must be passed back to the API."
)
"""DeepSeek's thinking mode: claurst#121, opencode#25356, crush#2754; "" is refused too."""

kimi_thinks: Final = _thinking(
    lambda index: (
        "thinking is enabled but reasoning_content is missing in assistant tool call message at "
        f"index {index}"
    )
)
"""Kimi's: kimi-agent-sdk#169, QwenPaw#433, pi#3636."""


def without_thinking(body: dict[str, Any]) -> None:
    """The older dialect: what a model thought must not come back (software-agent-sdk#1464)."""
    for index, message in enumerate(body["messages"]):
        if "reasoning_content" in message:
            raise OpenAIRefusal(
                f"messages[{index}].reasoning_content is not allowed in the input: remove it"
            )


def siliconflow_error(message: str) -> Any:
    """No `error` around it: QwenPaw#433."""
    return {"code": 20015, "message": message, "data": None}


def mimo_error(message: str) -> Any:
    """The sentence is in `param`: hermes-agent#24443."""
    told = {"message": "Param Incorrect", "type": "upstream_error", "param": message, "code": "400"}
    return {"error": told}


def openrouter_error(message: str) -> Any:
    """What the server behind it said, as JSON in a text: crush#279."""
    raw = json.dumps(mistral_error(message))
    return {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}


def gemini_signed(body: dict[str, Any]) -> None:
    """The first call of each step of the current turn is signed.

    openai-python#2758, gemini-cli#28579.
    """
    messages: list[Message] = body["messages"]
    spoken = [user_turns for user_turns, one in enumerate(messages) if one["role"] == "user"]
    for index, message in enumerate(messages[spoken[-1] if spoken else 0 :]):
        calls: list[Message] = message.get("tool_calls") or []
        if not calls:
            continue
        extra: dict[str, Message] = calls[0].get("extra_content") or {}
        if extra.get("google", {}).get("thought_signature") not in {SIGNATURE, STAND_IN}:
            name = calls[0]["function"]["name"]
            raise OpenAIRefusal(
                "Function call is missing a thought_signature in functionCall parts. This is "
                "required for tools to work correctly, and missing thought_signature may lead to "
                f"degraded model performance. Additional data, function call `default_api:{name}` "
                f", position {index}."
            )


def gemini_error(message: str) -> Any:
    """A list: openai-python#2758, langroid PR 969."""
    return [{"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}]


# ---------------------------------------------------------------- chat templates


def mistral_template(body: dict[str, Any]) -> None:
    """Mistral's template in vLLM and llama.cpp: llama.cpp#19851, crush#279, picoclaw#207."""
    turns = 0
    for message in _behind_system(body):
        if message["role"] == "tool" or message.get("tool_calls"):
            continue
        if (message["role"] == "user") != (turns % 2 == 0):
            raise OpenAIRefusal(
                "After the optional system message, conversation roles must alternate user and "
                "assistant roles except for tool calls and results."
            )
        turns += 1


def gemma_template(body: dict[str, Any]) -> None:
    """Gemma's template counts every message: llama.cpp#21879, sdialog#122, llama_index#11731."""
    for index, message in enumerate(_behind_system(body)):
        if (message["role"] == "user") != (index % 2 == 0):
            raise OpenAIRefusal(
                "Conversation roles must alternate user/assistant/user/assistant/..."
            )


def no_system(body: dict[str, Any]) -> None:
    """Templates without a system prompt: vllm#6862, autogen#3597."""
    if body["messages"][0]["role"] == "system":
        raise OpenAIRefusal("System role not supported")


def system_first(body: dict[str, Any]) -> None:
    """Qwen's newer templates: one system message, and that at the beginning (adk-python#1373)."""
    if any(message["role"] == "system" for message in body["messages"][1:]):
        raise OpenAIRefusal("System message must be at the beginning.")


def single_calls(body: dict[str, Any]) -> None:
    """Llama's template."""
    if any(len(message.get("tool_calls") or []) > 1 for message in body["messages"]):
        raise OpenAIRefusal("This model only supports single tool-calls at once!")


def jinja_error(message: str) -> Any:
    """llama.cpp's error of a template, with a status of 500: llama.cpp#21879."""
    told = (
        "\n------------\nWhile executing CallExpression at line 19, column 27 in source:\n"
        f'...% 2 == 0) -%}}        {{{{ raise_exception("{message[:24]}...\n'
        f"Error: Jinja Exception: {message}"
    )
    return {"error": {"code": 500, "message": told, "type": "server_error"}}


def vllm_error(message: str) -> Any:
    """The shape of vLLM: mistral-vibe#578."""
    return {"object": "error", "message": message, "type": "BadRequestError", "code": 400}


# ---------------------------------------------------------------- ids


def unique_ids(body: dict[str, Any]) -> None:
    """No id twice in one request: hermes-agent#102629, crush#3107, qwen-code PR 5038."""
    for id_, number in Counter(_call_ids(body)).items():
        if number > 1:
            raise OpenAIRefusal(
                f"Duplicate function_call_output for call_id '{id_}'. Each function_call must have "
                "exactly one matching function_call_output"
            )


def bedrock(body: dict[str, Any]) -> None:
    """Bedrock behind its OpenAI door: ids are unique and of its pattern, and a person begins.

    Its API's reference names the pattern of `toolUseId`; uniqueness is Anthropic's rule.
    """
    ids = _call_ids(body)
    if odd := next((id_ for id_ in ids if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", id_)), ""):
        raise OpenAIRefusal(
            f"1 validation error detected: Value '{odd}' at 'messages.2.member.content.1.member."
            "toolUse.toolUseId' failed to satisfy constraint: Member must satisfy regular "
            "expression pattern: [a-zA-Z0-9_-]+"
        )
    if len(set(ids)) < len(ids):
        raise OpenAIRefusal("messages.3.content.0: `tool_use` ids must be unique")
    first = next(one for one in body["messages"] if one["role"] != "system")
    if first["role"] != "user":
        raise OpenAIRefusal("A conversation must start with a user message.")


# ---------------------------------------------------------------- schemas


def python_patterns(body: dict[str, Any]) -> None:
    """Patterns as Python reads them: langfuse#14770, shunt PR 488."""
    for name, pattern in _patterns(body):
        try:
            re.compile(pattern)
        except re.error:
            raise OpenAIRefusal(
                f"Invalid schema for function '{name}': '{pattern}' is not a 'regex'."
            ) from None


def no_lookaround(body: dict[str, Any]) -> None:
    """Patterns without lookaround: kilocode PR 12153, OmniRoute PR 7100."""
    for _, pattern in _patterns(body):
        if re.search(r"\(\?[=!<]", pattern):
            raise OpenAIRefusal(
                "Invalid JSON schema: regex lookaround is not supported. Found at "
                "$.properties.x.pattern."
            )


def anchored_patterns(body: dict[str, Any]) -> None:
    """llama.cpp turns patterns into a grammar, and takes whole ones only."""
    if any(not (one.startswith("^") and one.endswith("$")) for _, one in _patterns(body)):
        raise OpenAIRefusal(
            "JSON schema conversion failed: Pattern must start with '^' and end with '$'"
        )


_FEW: Final = frozenset({"type", "description", "enum", "items", "properties", "required"})


def few_keywords(body: dict[str, Any]) -> None:
    """Doors that know a part of OpenAPI only.

    glean-agent-toolkit PR 76, openai-agents-python#1123.
    """
    for _, schema in _schemas(body):
        if odd := sorted(set(_keywords(schema)) - _FEW):
            raise OpenAIRefusal(
                f'Invalid JSON payload received. Unknown name "{odd[0]}" at '
                "'tools[0].function_declarations[0].parameters': Cannot find field."
            )


def no_properties(body: dict[str, Any]) -> None:
    """A server that takes no schema with a property of its own (a grammar that grows too large)."""
    if any(schema.get("properties") for _, schema in _schemas(body)):
        raise OpenAIRefusal("failed to parse grammar")


def no_tools(body: dict[str, Any]) -> None:
    """Ollama, for models whose template has no place for tools."""
    if body.get("tools"):
        raise OpenAIRefusal("registry.ollama.ai/library/small:latest does not support tools")


def _call_ids(body: dict[str, Any]) -> list[str]:
    made: list[list[Message]] = [one.get("tool_calls") or [] for one in body["messages"]]
    return [call["id"] for calls in made for call in calls]


def _behind_system(body: dict[str, Any]) -> list[Message]:
    messages: list[Message] = body["messages"]
    return messages[1:] if messages[0]["role"] == "system" else messages


def _schemas(body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    tools: list[Message] = body.get("tools") or []
    return [(tool["function"]["name"], tool["function"]["parameters"]) for tool in tools]


def _keywords(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():  # pyright: ignore[reportUnknownVariableType] # of JSON
            yield str(key)  # pyright: ignore[reportUnknownArgumentType] # of JSON
            named = value.values() if key == "properties" else [value] if key == "items" else []  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] # of JSON
            for inner in named:  # pyright: ignore[reportUnknownVariableType] # of JSON
                yield from _keywords(inner)


def _patterns(body: dict[str, Any]) -> list[tuple[str, str]]:
    patterns: list[tuple[str, str]] = []
    for name, schema in _schemas(body):
        texts = re.findall(r'"pattern": ("(?:[^"\\]|\\.)*")', json.dumps(schema))
        patterns += [(name, json.loads(text)) for text in texts]
    return patterns


DOORS: Final = {
    door.name: door
    for door in (
        Door("mistral", (mistral_roles, mistral_ids, mistral_rules), error=mistral_error),
        Door("openrouter to mistral", (mistral_roles, mistral_ids), error=openrouter_error),
        Door("deepseek", (deepseek_thinks,)),
        Door("mimo", (deepseek_thinks,), error=mimo_error),
        Door("kimi", (kimi_thinks,)),
        Door("siliconflow", (kimi_thinks,), error=siliconflow_error),
        Door("older deepseek", (without_thinking,)),
        Door("vllm with mistral's template", (mistral_template, system_first), error=vllm_error),
        Door("llama.cpp with gemma's template", (gemma_template,), 500, jinja_error),
        Door("vllm with an older gemma", (no_system, gemma_template), error=vllm_error),
        Door("llama's template", (single_calls,), 500, jinja_error),
        Door("unique ids", (unique_ids,)),
        Door("bedrock", (bedrock,)),
        Door("gemini", (gemini_signed,), error=gemini_error, signs=True),
        Door("openai's patterns", (python_patterns, no_lookaround)),
        Door("llama.cpp's patterns", (anchored_patterns,)),
        Door("a few keywords", (few_keywords,), error=gemini_error),
        Door("no properties", (no_properties,), 400),
    )
}
"""Doors by name. One that takes no tools is `NO_TOOLS`: no run with native calls passes it."""

NO_TOOLS: Final = Door("no tools", (no_tools,))


class DoorServer(HttpServer):
    """The server of a door; see `OpenAIServer` for the arguments."""

    def __init__(self, door: Door, script: Script = (), *, key: str = "", piece: int = 0) -> None:
        forms: dict[str, CompletionKind] = {"/chat/completions": _DoorChat(Access(key), door)}
        super().__init__(OpenAIService(forms), script, piece=piece)


@dataclass(frozen=True)
class _DoorChat:
    """Chat Completions of a door."""

    access: Access
    door: Door
    chat: Chat = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chat", Chat(self.access))

    def refuse(self, seen: ReceivedRequest) -> Fail | Send | None:
        refused = self.access.refuse(seen, self._check)
        if refused is None or refused.status != 400:
            return refused
        door = self.door
        return Send(to_json(door.error(refused.message)), status=door.status)

    def _check(self, body: Any) -> None:
        check(body)
        for rule in self.door.rules:
            rule(body)

    def streams(self, seen: ReceivedRequest) -> bool:
        return self.chat.streams(seen)

    def full_body(self, say: Say, seen: ReceivedRequest) -> bytes:
        body = json.loads(self.chat.full_body(say, seen))
        self._sign(body["choices"][0]["message"].get("tool_calls") or [])
        return to_json(body)

    def events(self, say: Say, seen: ReceivedRequest) -> Iterator[bytes]:
        for event in self.chat.events(say, seen):
            told = event.removeprefix(b"data: ")
            if not self.door.signs or not told.startswith(b"{"):
                yield event
                continue
            chunk = json.loads(told)
            for choice in chunk["choices"]:
                self._sign(choice["delta"].get("tool_calls") or [])
            yield b"data: " + to_json(chunk) + b"\n\n"

    def _sign(self, calls: Sequence[Message]) -> None:
        """Sign the first call of a reply."""
        for call in calls[:1]:
            if self.door.signs and "id" in call and not call.get("index"):
                call["extra_content"] = {"google": {"thought_signature": SIGNATURE}}


# ---------------------------------------------------------------- thinking over Anthropic's format


class ThinkingServer(HttpServer):
    """DeepSeek's and Kimi's doors for Anthropic's format: thinking is not signed, and goes back.

    DeepSeek-Reasonix#8902. What thinking says is not looked at: only that it is there.
    """

    def __init__(self, script: Script = (), *, key: str = "", piece: int = 0) -> None:
        super().__init__(AnthropicService(_Unsigned(key)), script, piece=piece)


class _Unsigned(Messages):
    """Messages whose thinking has no signature, and has to come back with calls."""

    def refuse(self, seen: ReceivedRequest) -> Fail | Send | None:
        refused = super().refuse(seen)
        if refused is not None:
            return refused
        for role, blocks in turns(seen.body):
            thought = [one for one in blocks if one["type"] == "thinking" and one.get("thinking")]
            called = role == "assistant" and any(one["type"] == "tool_use" for one in blocks)
            if called and not thought:
                return Fail(
                    400,
                    "The `content[].thinking` in the thinking mode must be passed back to the API.",
                )
        return None

    def check(self, body: Any) -> None:
        check_messages(body, max_tokens=self.max_tokens, signed=False)

    def _signed(self, blocks: list[Message], seen: ReceivedRequest) -> list[Message]:
        signed = super()._signed(blocks, seen)
        return [
            block | {"signature": ""} if block["type"] == "thinking" else block for block in signed
        ]
