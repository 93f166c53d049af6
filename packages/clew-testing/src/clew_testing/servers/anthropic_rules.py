"""What Anthropic's Messages API refuses: the checks of `AnthropicServer`.

Format and messages follow https://platform.claude.com/docs/en/api/messages and what the service is
known to answer; where models differ, the stricter is taken. Thinking is signed here in our own way:
for the model, for its text, and for all that stood before it.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from clew_testing.servers.http_server import array_of, object_of

Block: TypeAlias = dict[str, Any]

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_PROPERTY: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
_KEYS: Final = frozenset(
    {
        *("model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream"),
        *("temperature", "top_p", "top_k", "stop_sequences", "thinking", "output_config"),
        *("metadata", "service_tier", "inference_geo", "speed", "container", "diagnostics"),
        "context_management",  # with the header of a beta, which is not looked for here
    }
)
_TOOL: Final = frozenset(
    {"name", "description", "input_schema", "cache_control", "type", "strict", "input_examples"}
)
_BLOCKS: Final[Mapping[str, Mapping[str, frozenset[str]]]] = {
    "user": {
        "text": frozenset({"text"}),
        "image": frozenset({"source"}),
        "document": frozenset({"source", "title", "context", "citations"}),
        "tool_result": frozenset({"tool_use_id", "content", "is_error"}),
    },
    "assistant": {
        "text": frozenset({"text", "citations"}),
        "thinking": frozenset({"thinking", "signature"}),
        "redacted_thinking": frozenset({"data"}),
        "tool_use": frozenset({"id", "name", "input", "caller"}),
        "compaction": frozenset({"content", "encrypted_content", "signature", "tool_changes"}),
    },
}
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_UNMARKED: Final = "cache_control"


class AnthropicRefusal(Exception):  # noqa: N818 - the server's answer, not a fault of the program
    """The request is refused with status 400."""


def check(body: Any, *, bound: bool = True, max_tokens: int = 128_000, signed: bool = True) -> None:
    """Raise `AnthropicRefusal` for a body that the API would refuse.

    With `bound`, thinking must stand behind what it stood behind when it was thought; `max_tokens`
    is how many tokens the model can write. Without `signed` (a service of others) no thinking is
    checked.
    """
    if (known := object_of(body)) is None:
        raise AnthropicRefusal("The request body is not valid JSON.")
    if odd := sorted(known.keys() - _KEYS):
        raise AnthropicRefusal(f"{odd[0]}: Extra inputs are not permitted")
    for key in ("model", "max_tokens", "messages"):
        if known.get(key) is None:
            raise AnthropicRefusal(f"{key}: Field required")
    tokens = known["max_tokens"]
    if not isinstance(tokens, int) or tokens < 1:
        raise AnthropicRefusal("max_tokens: Input should be greater than or equal to 1")
    if tokens > max_tokens:
        raise AnthropicRefusal(
            f"max_tokens: {tokens} > {max_tokens}, which is the maximum allowed number of output "
            f"tokens for {known['model']}"
        )
    _check_tools(known)
    _check_rest(known)
    _check_thinking(known)
    _check_messages(known)
    _check_marks(known)
    if signed:
        _check_signatures(known, bound=bound)


def turns(body: Mapping[str, Any]) -> list[tuple[str, list[Block]]]:
    """The messages as the service reads them: neighbours of one role are one turn."""
    merged: list[tuple[str, list[Block]]] = []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if merged and merged[-1][0] == message["role"]:
            merged[-1][1].extend(blocks)
        else:
            merged.append((message["role"], list(blocks)))
    return merged


class Signer:
    """Signs thinking, and knows again what it signed."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._model: str = body["model"]
        self._before = hashlib.sha256(_canonical([body.get("system"), body.get("tools")]))

    def past(self, role: str, block: Block) -> None:
        """Go on behind a block; a key without a value is as good as none."""
        fields = {key: value for key, value in block.items() if value is not None}
        self._before.update(_canonical([role, fields]))

    def sign(self, text: str) -> str:
        """The signature of thinking at this place."""
        mine = hashlib.sha256(f"{self._model}\n{text}".encode()).hexdigest()[:24]
        return f"{mine}{self._before.hexdigest()[:24]}"


def _canonical(value: Any) -> bytes:
    return json.dumps(_unmarked(value), sort_keys=True).encode()


def _unmarked(value: Any) -> Any:
    """Without the marks for the cache, which may move."""
    if (known := object_of(value)) is not None:
        return {key: _unmarked(inner) for key, inner in known.items() if key != _UNMARKED}
    if (array := array_of(value)) is not None:
        return [_unmarked(inner) for inner in array]
    return value


def _check_tools(body: dict[str, Any]) -> None:
    tools = array_of(body.get("tools")) or []
    names: list[Any] = []
    for index, tool in enumerate(tools):
        where = f"tools.{index}.custom"
        known = object_of(tool) or {}
        if odd := sorted(known.keys() - _TOOL):
            raise AnthropicRefusal(f"{where}.{odd[0]}: Extra inputs are not permitted")
        if not _NAME.fullmatch(str(known.get("name", ""))):
            raise AnthropicRefusal(
                f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )
        names.append(known["name"])
        _check_input(object_of(known.get("input_schema")), f"{where}.input_schema")
    if len(set(names)) < len(names):
        raise AnthropicRefusal("tools: Tool names must be unique.")
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not tools:
        raise AnthropicRefusal(
            "tool_choice: tool_choice may only be specified while providing tools"
        )
    chosen = object_of(choice) or {}
    kind = chosen.get("type")
    named = kind == "tool" and chosen.get("name") in names
    if kind not in {"auto", "any", "none"} and not named:
        raise AnthropicRefusal(
            f"tool_choice: Input tag {kind!r} does not match any of the expected tags"
        )


def _check_input(schema: dict[str, Any] | None, where: str) -> None:
    if schema is None:
        raise AnthropicRefusal(f"{where}: Field required")
    if schema.get("type") != "object":
        raise AnthropicRefusal(f"{where}.type: Input should be 'object'")
    if schema.keys() & {"oneOf", "allOf", "anyOf"}:
        raise AnthropicRefusal(
            f"{where}: input_schema does not support oneOf, allOf, or anyOf at the top level"
        )
    properties: dict[str, Any] = schema.get("properties") or {}
    if not all(map(_PROPERTY.fullmatch, properties)):
        raise AnthropicRefusal(
            f"{where}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"
        )


def _check_rest(body: dict[str, Any]) -> None:
    stops = array_of(body.get("stop_sequences")) or []
    if not all(isinstance(stop, str) and stop.strip() for stop in stops):
        raise AnthropicRefusal("stop_sequences: each stop sequence must contain non-whitespace")
    temperature = body.get("temperature", 1)
    if not 0 <= temperature <= 1:
        raise AnthropicRefusal("temperature: range: 0..1")
    config = object_of(body.get("output_config")) or {}
    if odd := sorted(config.keys() - {"effort", "format"}):
        raise AnthropicRefusal(f"output_config.{odd[0]}: Extra inputs are not permitted")
    if (form := object_of(config.get("format"))) is not None:
        if form.get("type") != "json_schema":
            raise AnthropicRefusal("output_config.format.type: Input should be 'json_schema'")
        _check_form(form.get("schema"))


def _check_form(schema: Any) -> None:
    """A schema that a reply can be held to: closed objects, and no limits of values."""
    where = "output_config.format.schema"
    known = object_of(schema)
    if known is None:
        raise AnthropicRefusal(f"{where}: Input should be a valid dictionary")
    kind = known.get("type")
    if kind == "object" and known.get("additionalProperties") is not False:
        raise AnthropicRefusal(
            f"{where}: For 'object' type, 'additionalProperties' must be explicitly set to false"
        )
    limits = {"minimum", "maximum", "minLength", "maxLength", "maxItems", "pattern", "oneOf"}
    if odd := sorted(known.keys() & limits):
        raise AnthropicRefusal(
            f"{where}: For {kind!r} type, properties {', '.join(odd)} are not supported"
        )
    inner: list[Any] = [*(known.get("properties") or {}).values()]
    inner += [*(known.get("$defs") or {}).values(), *(known.get("anyOf") or [])]
    inner += [known["items"]] if "items" in known else []
    for one in inner:
        _check_form(one)


def _check_thinking(body: dict[str, Any]) -> None:
    thinking = object_of(body.get("thinking")) or {"type": "disabled"}
    kind = thinking.get("type")
    if kind not in {"enabled", "adaptive", "disabled", "between_tools"}:
        raise AnthropicRefusal(
            f"thinking: Input tag {kind!r} does not match any of the expected tags"
        )
    choice = object_of(body.get("tool_choice")) or {}
    forced = choice.get("type") in {"any", "tool"}
    if kind != "disabled" and forced:
        raise AnthropicRefusal("Thinking may not be enabled when tool_choice forces tool use.")
    if kind != "enabled":
        return
    budget = thinking.get("budget_tokens", 0)
    if budget < 1024:
        raise AnthropicRefusal(
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        )
    if budget >= body["max_tokens"]:
        raise AnthropicRefusal("`max_tokens` must be greater than `thinking.budget_tokens`.")


def _check_messages(body: dict[str, Any]) -> None:
    for where, block in _system(body):
        _check_block("user", block, where)
    messages = array_of(body["messages"])
    if not messages:
        raise AnthropicRefusal("messages: at least one message is required")
    for index, message in enumerate(messages):
        known = object_of(message) or {}
        if known.get("role") not in _BLOCKS:
            raise AnthropicRefusal(f"messages.{index}.role: Input should be 'user' or 'assistant'")
        if odd := sorted(known.keys() - {"role", "content"}):
            raise AnthropicRefusal(f"messages.{index}.{odd[0]}: Extra inputs are not permitted")
        content = known.get("content")
        if not content or not isinstance(content, (str, list)):
            raise AnthropicRefusal(f"messages.{index}: all messages must have non-empty content")
    conversation = turns(body)
    if conversation[0][0] != "user":
        raise AnthropicRefusal('messages: first message must use the "user" role')
    if conversation[-1][0] == "assistant":
        raise AnthropicRefusal(
            "This model does not support assistant message prefill. The conversation must end with "
            "a user message."
        )
    for index, (role, blocks) in enumerate(conversation):
        for number, block in enumerate(blocks):
            _check_block(role, block, f"messages.{index}.content.{number}")
    _check_pairs(conversation)
    used = {block["type"] for _, blocks in conversation for block in blocks}
    if used & {"tool_use", "tool_result"} and not body.get("tools"):
        raise AnthropicRefusal(
            "Requests which include `tool_use` or `tool_result` blocks must define tools"
        )


def _system(body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    system: Any = body.get("system") or []
    blocks: list[Any] = [{"type": "text", "text": system}] if isinstance(system, str) else system
    for index, block in enumerate(blocks):
        yield f"system.{index}", block


def _check_block(role: str, block: Any, where: str) -> None:
    known = object_of(block) or {}
    kind = known.get("type")
    keys = _BLOCKS[role].get(str(kind))
    if keys is None:
        raise AnthropicRefusal(f"{where}: Input tag {kind!r} found using 'type' does not match")
    marked = frozenset[str]() if kind in _THINKING else {_UNMARKED}
    if odd := sorted(known.keys() - keys - marked - {"type"}):
        raise AnthropicRefusal(f"{where}.{kind}.{odd[0]}: Extra inputs are not permitted")
    match kind:
        case "text" if not str(known.get("text", "")).strip():
            raise AnthropicRefusal(f"{where}: text content blocks must contain non-whitespace text")
        case "image":
            _check_image(object_of(known.get("source")) or {}, where)
        case "document":
            source = object_of(known.get("source")) or {}
            if source.get("media_type") != "application/pdf" or not source.get("data"):
                raise AnthropicRefusal(f"{where}.document.source.base64.media_type: Input should …")
        case "tool_use":
            _check_call(known, where)
        case "tool_result":
            for number, inner in enumerate(array_of(known.get("content")) or []):
                _check_block("user", inner, f"{where}.content.{number}")
        case _:
            pass


def _check_image(source: dict[str, Any], where: str) -> None:
    if source.get("type") == "url":
        return
    if source.get("media_type") not in _TYPES or not source.get("data"):
        raise AnthropicRefusal(
            f"{where}.image.source.base64.media_type: Input should be 'image/png' …"
        )


def _check_call(block: Block, where: str) -> None:
    if not _ID.fullmatch(str(block.get("id", ""))):
        raise AnthropicRefusal(
            f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        )
    if not _NAME.fullmatch(str(block.get("name", ""))):
        raise AnthropicRefusal(
            f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        )
    if object_of(block.get("input")) is None:
        raise AnthropicRefusal(f"{where}.tool_use.input: Input should be a valid dictionary")


def _check_pairs(conversation: list[tuple[str, list[Block]]]) -> None:
    """Each call has its result at the beginning of the next turn, once."""
    seen: set[str] = set()
    waiting: list[str] = []
    for index, (role, blocks) in enumerate(conversation):
        results = [block.get("tool_use_id") for block in blocks if block["type"] == "tool_result"]
        for id_ in results:
            if id_ not in waiting:
                raise AnthropicRefusal(
                    f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{id_}. Each `tool_result` block must have a corresponding `tool_use` block "
                    "in the previous message."
                )
        if len(set(results)) < len(results):
            raise AnthropicRefusal(f"messages.{index}: each tool_use must have a single result.")
        first = [block.get("tool_use_id") for block in blocks[: len(waiting)]]
        if role == "user" and (missing := [id_ for id_ in waiting if id_ not in first]):
            raise AnthropicRefusal(
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a "
                "corresponding `tool_result` block in the next message."
            )
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(seen | {*waiting}) < len(seen) + len(waiting):
            raise AnthropicRefusal(f"messages.{index}: `tool_use` ids must be unique")
        seen.update(waiting)


def _check_marks(body: dict[str, Any]) -> None:
    blocks = [block for _, blocks in turns(body) for block in blocks]
    blocks += [block for _, block in _system(body)] + (body.get("tools") or [])
    marks = [block[_UNMARKED] for block in blocks if block.get(_UNMARKED) is not None]
    if len(marks) > 4:
        raise AnthropicRefusal(
            f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
        )
    if any((object_of(mark) or {}).get("type") != "ephemeral" for mark in marks):
        raise AnthropicRefusal("cache_control: Input tag does not match 'ephemeral'")


def _check_signatures(body: dict[str, Any], *, bound: bool) -> None:
    """What was thought comes back as it was, and where it was."""
    signer = Signer(body)
    conversation = turns(body)
    for index, (role, blocks) in enumerate(conversation):
        for number, block in enumerate(blocks):
            kind = block["type"]
            if kind in _THINKING:
                key = "signature" if kind == "thinking" else "data"
                right = signer.sign(str(block.get("thinking", "")))
                signature = str(block.get(key, ""))
                where = f"messages.{index}.content.{number}: Invalid `{key}` in `{kind}` block"
                if signature[:24] != right[:24] or len(signature) != len(right):
                    raise AnthropicRefusal(where)
                if bound and signature != right:
                    raise AnthropicRefusal(
                        f"{where}. The block is bound to a different conversation. Remove the "
                        "block, or set `thinking.block_binding.prefix_mismatch_behavior` to "
                        '"drop_block".'
                    )
            signer.past(role, block)
    replies = [blocks for role, blocks in conversation if role == "assistant"]
    enabled = (object_of(body.get("thinking")) or {}).get("type") == "enabled"
    last = replies[-1] if replies else []
    called = any(block["type"] == "tool_use" for block in last)
    if enabled and called and last[0]["type"] not in _THINKING:
        raise AnthropicRefusal(
            f"messages.{2 * len(replies) - 1}.content.0.type: Expected `thinking` or "
            f"`redacted_thinking`, but found `{last[0]['type']}`. When `thinking` is enabled, a "
            "final `assistant` message must start with a thinking block."
        )
