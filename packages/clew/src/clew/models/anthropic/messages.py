"""Models behind Anthropic's Messages API."""

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final, Unpack

from clew.support.extras import missing_extra

try:
    import anthropic
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "anthropic") from missing

from clew.core.prompts import Prompt
from clew.core.values import Json, encode
from clew.models.anthropic.client import anthropic_carrier, anthropic_source
from clew.models.anthropic.prompt import (
    LONG_MARK,
    MARK,
    NAMES,
    TAKES,
    PromptStyle,
    body,
    declare,
    head,
    write,
)
from clew.models.anthropic.reply import AnthropicReplyBuilder
from clew.models.anthropic.schema import reply_schema
from clew.models.anthropic.settings import messages_params
from clew.models.attachments import NOT_TAKEN
from clew.models.history import ON_PARTS
from clew.models.http.endpoint import Endpoint, HttpSettings
from clew.models.http.failures import ProviderError
from clew.models.tool_names import ToolNameMap
from clew.models.tool_schema import LEVELS
from clew.support.model_settings import ModelSettings

__all__ = ["anthropic_messages"]

MAX_TOKENS: Final = 16_000
"""Tokens of a reply, thinking included, where the parameters do not say how many."""

FEWER: Final = 4_096
"""The same for a model that refuses so many: none is known to write less."""

_OPTIONAL: Final = (
    ("unsigned", re.compile(r"thinking\.signature: (?:Field|Input should)")),
    (
        "thinking",
        re.compile(r"must start with a thinking block|Expected `thinking`|content\[\]\.thinking"),
    ),
    ("moved", re.compile(r"bound to a different conversation")),
    ("signed", re.compile(r"`signature`|`redacted_thinking`|bound to a different")),
    ("max_tokens", re.compile(r"max_tokens: \d+ > \d+")),
    ("tool_choice", re.compile(r"tool_choice")),
    ("form", re.compile(r"output_config|output_format|structured output|compiled grammar")),
    ("cache_control", re.compile(r"cache_control|prompt caching")),
    ("stop_sequences", re.compile(r"stop_sequences")),
    ("images", re.compile(rf"\bimages?\b|{NOT_TAKEN}")),
)
"""What a run can do without, and how a refusal speaks of it, the more special before the rest."""


def anthropic_messages(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    provider: str = "anthropic",
    key_variable: str = "ANTHROPIC_API_KEY",
    client: anthropic.AsyncAnthropic | None = None,
    **settings: Unpack[HttpSettings],
) -> Endpoint:
    """A model behind Anthropic's Messages API, as `anthropic:model`.

    Args:
        model: The model's name at the provider.
        base_url: The server's address; if None, `ANTHROPIC_BASE_URL`, else it is Anthropic's own.
        api_key: The key; if None, that in the environment variable `key_variable`, else in
            `ANTHROPIC_AUTH_TOKEN`. Empty for a server that asks for none.
        provider: The name before the colon. It chooses the prices, and marks what is kept verbatim
            for this model.
        key_variable: The environment variable that holds the key; errors name it.
        client: An official client to use as it is, instead of making one.
        settings: Settings of the model, prices, retries … (`HttpSettings`). Unless its `cache` is
            "off", the provider is asked to keep the prompt for five minutes, or an hour ("long"),
            which makes the next step's cheaper and this one's a little dearer.

    Raises `ConfigError` where address, key or settings cannot be right.
    """
    api = MessagesApi(provider, model, ModelSettings.of(settings.get("settings")))
    name = f"{provider}:{model}"
    source = anthropic_source(name, base_url, api_key, key_variable, client, settings)
    return Endpoint(api, source, anthropic_carrier(source, settings, client), settings)


@dataclass
class MessagesApi:
    """Anthropic's Messages.

    A server may refuse:

    - what this model sent earlier, where something before it has changed (`moved`; it then goes
      back as text and calls only), or at all (`signed`);
    - thinking that came without a signature (`unsigned`), which doors of other models want back;
    - `thinking` where the conversation has steps without any, made by another model;
    - so many tokens (`max_tokens`), forced calls (`tool_choice`), a schema to hold the reply to
      (`form`), marks for the cache (`cache_control`), `stop_sequences` (codecs cut by themselves)
      and pictures (`images`; then they are named instead).
    """

    provider: str
    model: str
    settings: ModelSettings
    hint: str = "that of a server of Anthropic's Messages API"
    takes: frozenset[str] = TAKES
    in_results: frozenset[str] = TAKES
    understood: frozenset[str] = frozenset({"thinking", "moved", "unsigned", "signed", "images"})
    repairs: frozenset[str] = ON_PARTS | LEVELS | {"thought", "apart"}
    _boxes: ToolNameMap = field(default_factory=lambda: ToolNameMap(NAMES, declare))

    def __post_init__(self) -> None:
        self.params = messages_params(self.provider, self.model, self.settings)
        thinking: Any = self.params.get("thinking") or {}
        self._thinks = thinking.get("type", "disabled") != "disabled"
        max_tokens = MAX_TOKENS + int(thinking.get("budget_tokens") or 0)
        self._heads = [head(self.model, self.params, tokens) for tokens in (max_tokens, FEWER)]
        self._forms: dict[bytes, Json | None] = {}

    def with_settings(self, settings: ModelSettings) -> "MessagesApi":
        return replace(self, settings=settings)

    def path(self, *, stream: bool) -> str:
        return "/v1/messages"

    def draft(self, prompt: Prompt, without: frozenset[str]) -> AnthropicReplyBuilder:
        manner = self._manner(prompt, without)
        tail = [part.text for part in prompt.tail if part.role == "user" and part.text.strip()]

        def before() -> str:
            return write(prompt, manner, prints=True).before

        return AnthropicReplyBuilder((self.provider, self.model), manner.box, tail, before)

    def degrade(self, trouble: ProviderError, without: frozenset[str]) -> str:
        if trouble.status not in {400, 422}:
            return ""
        kept = {"stop_sequences"} if self.settings.stop else set[str]()  # the person wants them
        named = (name for name, pattern in _OPTIONAL if pattern.search(trouble.text))
        return next((name for name in named if name not in without | kept), "")

    def body(self, prompt: Prompt, *, stream: bool, without: frozenset[str]) -> bytes:
        manner = self._manner(prompt, without)
        written = write(prompt, manner)
        more: dict[str, Json] = {}
        if "thinking" in self.params and "thinking" not in without:
            more["thinking"] = self.params["thinking"]
        if manner.box.declared and (choice := self._choice(prompt, without)):
            more["tool_choice"] = {"type": choice}
        if "stop_sequences" not in without and (stops := self._stops(prompt)):
            more["stop_sequences"] = stops
        if config := self._config(prompt, without):
            more["output_config"] = config
        if stream:
            more["stream"] = True
        start = self._heads["max_tokens" in without]
        marks = {"off": b"", "long": LONG_MARK}.get(self.settings.cache or "", MARK)
        mark = b"" if "cache_control" in without else marks
        return body(start, written, manner.box, more, mark=mark)

    def _manner(self, prompt: Prompt, without: frozenset[str]) -> PromptStyle:
        return PromptStyle(
            (self.provider, self.model),
            self._boxes.of(prompt.tools, without),
            sees="images" not in without,
            signed="signed" not in without,
            moved="moved" in without,
            unsigned="unsigned" not in without,
            fill="thought" in without,
        )

    def _choice(self, prompt: Prompt, without: frozenset[str]) -> str:
        """The tool choice; a model that thinks cannot be made to call."""
        if prompt.calls == "required":
            forced = "tool_choice" not in without and not self._thinks
            return "any" if forced else ""
        return "none" if prompt.calls == "none" else ""

    def _stops(self, prompt: Prompt) -> list[str]:
        """The stop sequences of prompt and parameters; blank ones are refused."""
        own: list[str] = self.params.get("stop_sequences") or []
        return list(dict.fromkeys([*own, *(stop for stop in prompt.stop if stop.strip())]))

    def _config(self, prompt: Prompt, without: frozenset[str]) -> dict[str, Json]:
        """The parameters' own `output_config`, with what the reply has to look like."""
        own: dict[str, Json] = dict(self.params.get("output_config") or {})
        if prompt.reply_schema is None or "form" in without or "format" in own:
            return own
        key = encode(prompt.reply_schema)
        if key not in self._forms:
            self._forms[key] = reply_schema(prompt.reply_schema)
        if (schema := self._forms[key]) is None:
            return own
        return own | {"format": {"type": "json_schema", "schema": schema}}
