"""Models behind OpenAI's Chat Completions, or behind any server that speaks the same."""

import re
from dataclasses import dataclass, field, replace
from typing import Final, Unpack

from clew.support.extras import missing_extra

try:
    import openai
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "openai") from missing

from clew.core.contents import Wire
from clew.core.prompts import Part, Prompt
from clew.core.values import Json, encode
from clew.models.attachments import NOT_TAKEN, NOTHING
from clew.models.history import IN_CHAT
from clew.models.http.endpoint import Endpoint, HttpSettings
from clew.models.http.failures import ProviderError
from clew.models.http.request import openai_body, stop_sequences
from clew.models.openai.chat_prompt import (
    IN_MESSAGES,
    NAMES,
    STOPS,
    TAKES,
    declare,
    declare_openai,
    head,
    kept_keys,
    message,
)
from clew.models.openai.chat_reply import ChatReplyBuilder
from clew.models.openai.client import is_openai, openai_endpoint
from clew.models.openai.response_schema import LEAVE, REFUSED, response_format
from clew.models.openai.settings import chat_params
from clew.models.tool_names import ToolNameMap
from clew.support.model_settings import ModelSettings
from clew.support.prompt_parts import joined

__all__ = ["openai_chat"]

_REFUSED: Final = re.compile(
    r"n[o']t (?:support(?:ed)?|permitted|allowed)|un(?:supported|expected|known|recognized)|extra"
    r"|at most 0|missing data required",
    re.IGNORECASE,
)
NEWER: Final = "max_completion_tokens"
"""What OpenAI calls `max_tokens` now; servers that do not know it take the older name."""

_OPTIONAL: Final = {
    "stream_options": re.compile(r"stream_options|include_usage"),
    "stop": re.compile(r"['\"`]stop['\"`]|\bstop (?:words?|sequences?)"),
    NEWER: re.compile(NEWER),
    "images": re.compile(rf"\bimages?\b|image_url|\bvision\b|{NOT_TAKEN}"),
}
_PER_PART: Final = frozenset({"wire", "images", *IN_MESSAGES})
"""What is left out of the parts themselves, so that they have to be encoded anew."""


def openai_chat(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_version: str = "",
    provider: str = "openai",
    key_variable: str = "OPENAI_API_KEY",
    client: openai.AsyncOpenAI | None = None,
    **settings: Unpack[HttpSettings],
) -> Endpoint:
    """A model of a Chat Completions server, as `provider:model`.

    Args:
        model: The model's name at the provider.
        base_url: The server's address up to `/v1`. For the provider `openai` it may be left to
            `OPENAI_BASE_URL`, else it is OpenAI's own.
        api_key: The key; if None, that in the environment variable `key_variable`. Empty for a
            server that asks for none.
        api_version: At Azure, the dated version of its older API; without one the current API is
            used, whose address ends in `/openai/v1`. The model is the name of a deployment.
        provider: The name before the colon. It chooses the prices, and marks what is kept verbatim
            for this model.
        key_variable: The environment variable that holds the key; errors name it.
        client: An official client to use as it is, instead of making one.
        settings: Settings of the model, prices, retries … (`HttpSettings`).

    Raises `ConfigError` where address, key or settings cannot be right.
    """
    return openai_endpoint(
        ChatApi(provider, model, ModelSettings.of(settings.get("settings"))),
        base_url=base_url,
        api_key=api_key,
        api_version=api_version,
        key_variable=key_variable,
        client=client,
        settings=settings,
    )


@dataclass
class ChatApi:
    """Chat Completions. A server may refuse usage in streams (`stream_options`), stop sequences
    (codecs cut by themselves), pictures (then they are named instead), what it sent earlier beside
    text and calls (`wire`), and the form of a reply: then JSON mode is asked for instead, or none.
    """

    provider: str
    model: str
    settings: ModelSettings
    hint: str = "that of a Chat Completions server (most end in /v1)"
    takes: frozenset[str] = TAKES
    in_results: frozenset[str] = NOTHING
    understood: frozenset[str] = frozenset({"images", "wire"})
    repairs: frozenset[str] = IN_CHAT
    _wired: set[str] = field(default_factory=set[str])
    _formed: bool = False

    def __post_init__(self) -> None:
        self.params = chat_params(self.provider, self.model, self.settings)
        older = {"max_tokens" if key == NEWER else key: it for key, it in self.params.items()}
        self._heads = [head(self.model, params) for params in (self.params, older)]
        self._boxes = ToolNameMap(NAMES, declare_openai if is_openai(self.provider) else declare)

    def with_settings(self, settings: ModelSettings) -> "ChatApi":
        return replace(self, settings=settings)

    def path(self, *, stream: bool) -> str:
        return "/chat/completions"

    def draft(self, prompt: Prompt, without: frozenset[str]) -> ChatReplyBuilder:
        return ChatReplyBuilder((self.provider, self.model), self._boxes.of(prompt.tools, without))

    def degrade(self, trouble: ProviderError, without: frozenset[str]) -> str:
        message = trouble.text
        if trouble.status not in {400, 422}:
            return ""
        if self._formed and REFUSED.search(message):
            return next((key for key in LEAVE if key not in without), "")
        if not _REFUSED.search(message):
            return ""
        if self._wired - without and any(key in message for key in self._wired):
            return "" if "wire" in without else "wire"
        kept = {"stop"} if self.settings.stop else set[str]()  # the person wants it
        named = (key for key, pattern in _OPTIONAL.items() if pattern.search(message))
        return next((key for key in named if key not in without | kept), "")

    def body(self, prompt: Prompt, *, stream: bool, without: frozenset[str]) -> bytes:
        box = self._boxes.of(prompt.tools, without)
        source = f"{self.provider}:{self.model}"
        key = f"{source}/chat{','.join(sorted(without & _PER_PART))}{box.clash}"
        sees, fill = "images" not in without, without & IN_MESSAGES

        def written(part: Part) -> bytes:
            if (encoded := part.encoded.get(key)) is None:
                wire = self._wire(part, without)
                encoded = part.encoded[key] = message(part, box, wire, sees=sees, fill=fill)
            return encoded

        sections = (prompt.head, prompt.parts, prompt.tail)
        messages = [joined(section, key, written) for section in sections if section]
        more: dict[str, Json] = {}
        stops = stop_sequences(prompt, self.params.get("stop"), STOPS)
        if stops and "stop" not in without:
            more["stop"] = stops
        if stream:
            more["stream"] = True
            if "stream_options" not in without:
                more["stream_options"] = {"include_usage": True}
        if prompt.reply_schema is not None and "response_format" not in self.params:
            more |= self._response_format(encode(prompt.reply_schema), without)
        return openai_body(self._heads[NEWER in without], messages, prompt, box, more)

    def _wire(self, part: Part, without: frozenset[str]) -> Wire | None:
        """What this very model sent beside the part's text and calls, unless it is not taken."""
        wire = part.wire
        if wire is None or (wire.provider, wire.model) != (self.provider, self.model):
            return None
        if "wire" in without:
            return None
        self._wired.update(kept_keys(wire))
        return wire

    def _response_format(self, schema: bytes, without: frozenset[str]) -> dict[str, Json]:
        """The form of the reply, in this API's place for it."""
        asked = response_format(schema, without, any_schema=not is_openai(self.provider))
        self._formed |= bool(asked)
        if asked.get("type") == "json_schema":
            asked = {"type": asked.pop("type"), "json_schema": asked}
        return {"response_format": asked} if asked else {}
