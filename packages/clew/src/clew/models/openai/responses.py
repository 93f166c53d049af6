"""Models behind OpenAI's Responses API, or behind any server that speaks the same."""

import re
from dataclasses import dataclass, replace
from typing import Any, Final, Unpack

from clew.support.extras import missing_extra

try:
    import openai
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "openai") from missing

from clew.core.contents import Wire
from clew.core.prompts import Part, Prompt
from clew.core.values import Json, encode
from clew.models.attachments import NOT_TAKEN
from clew.models.history import ON_PARTS
from clew.models.http.endpoint import Endpoint, HttpSettings
from clew.models.http.failures import ProviderError
from clew.models.http.request import openai_body
from clew.models.openai.chat_prompt import NAMES
from clew.models.openai.client import is_openai, openai_endpoint
from clew.models.openai.response_schema import LEAVE, REFUSED, response_format
from clew.models.openai.responses_prompt import TAKES, declare, declare_openai, head, items
from clew.models.openai.responses_reply import ResponsesReplyBuilder
from clew.models.openai.settings import responses_params
from clew.models.tool_names import ToolNameMap
from clew.models.tool_schema import LEVELS
from clew.support.model_settings import ModelSettings
from clew.support.prompt_parts import joined

__all__ = ["openai_responses"]

_OPTIONAL: Final = {
    "include": re.compile(r"\binclude\b|encrypted content is not supported", re.IGNORECASE),
    "wire": re.compile(
        r"could not be verified|invalid_encrypted_content|are not persisted|without its required"
        r"|\breasoning items?\b|'phase'",
        re.IGNORECASE,
    ),
    "images": re.compile(rf"input_image|\bimages? (?:input )?(?:is|are) not|{NOT_TAKEN}"),
}
"""What a server may refuse and a run can do without, and how its errors name it."""

_PER_PART: Final = frozenset({"wire", "images"})
"""What is left out of the parts themselves, so that they have to be encoded anew."""


def openai_responses(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_version: str = "",
    provider: str = "openai-responses",
    key_variable: str = "OPENAI_API_KEY",
    client: openai.AsyncOpenAI | None = None,
    **settings: Unpack[HttpSettings],
) -> Endpoint:
    """A model of a server of the Responses API, as `provider:model`.

    Nothing is stored there: each request has the whole conversation, and the model's reasoning goes
    back to it encrypted. The arguments are those of `openai_chat`.

    Raises `ConfigError` if address, key or settings cannot be right.
    """
    return openai_endpoint(
        ResponsesApi(provider, model, ModelSettings.of(settings.get("settings"))),
        base_url=base_url,
        api_key=api_key,
        api_version=api_version,
        key_variable=key_variable,
        client=client,
        settings=settings,
    )


@dataclass
class ResponsesApi:
    """The Responses API. A server may refuse to encrypt what the model thought (`include`) or to
    take it back (`wire`), pictures (then they are named instead), and the form of a reply.
    """

    provider: str
    model: str
    settings: ModelSettings
    hint: str = "that of a server of the Responses API (most end in /v1)"
    takes: frozenset[str] = TAKES
    in_results: frozenset[str] = TAKES
    understood: frozenset[str] = frozenset({"wire", "images"})
    repairs: frozenset[str] = ON_PARTS | LEVELS | {"apart"}
    _formed: bool = False

    def __post_init__(self) -> None:
        self.params = responses_params(self.provider, self.model, self.settings)
        self._heads = {
            encrypted: head(self.model, self.params, encrypted=encrypted)
            for encrypted in (True, False)
        }
        self._boxes = ToolNameMap(NAMES, declare_openai if is_openai(self.provider) else declare)
        text: dict[str, Any] = self.params.get("text") or {}
        self._text = text

    def with_settings(self, settings: ModelSettings) -> "ResponsesApi":
        return replace(self, settings=settings)

    def path(self, *, stream: bool) -> str:
        return "/responses"

    def draft(self, prompt: Prompt, without: frozenset[str]) -> ResponsesReplyBuilder:
        return ResponsesReplyBuilder(
            (self.provider, self.model), self._boxes.of(prompt.tools, without)
        )

    def degrade(self, trouble: ProviderError, without: frozenset[str]) -> str:
        message = trouble.text
        if self._formed and REFUSED.search(message):
            return next((key for key in LEAVE if key not in without), "")
        named = (key for key, pattern in _OPTIONAL.items() if pattern.search(message))
        return next((key for key in named if key not in without), "")

    def body(self, prompt: Prompt, *, stream: bool, without: frozenset[str]) -> bytes:
        box = self._boxes.of(prompt.tools, without)
        source = f"{self.provider}:{self.model}"
        key = f"{source}/responses{','.join(sorted(without & _PER_PART))}{box.clash}"
        sees = "images" not in without

        def written(part: Part) -> bytes:
            if (encoded := part.encoded.get(key)) is None:
                wire = None if "wire" in without else self._wire(part)
                encoded = part.encoded[key] = items(part, box, wire, sees=sees)
            return encoded

        sections = (prompt.head, prompt.parts, prompt.tail)
        items_written = [joined(section, key, written) for section in sections if section]
        more: dict[str, Json] = {"stream": True} if stream else {}
        if text := self._text | self._text_format(prompt, without):
            more["text"] = text
        return openai_body(self._heads["include" not in without], items_written, prompt, box, more)

    def _wire(self, part: Part) -> Wire | None:
        """What this very model sent beside the part's text and calls."""
        wire = part.wire
        if wire is None or (wire.provider, wire.model) != (self.provider, self.model):
            return None
        return wire

    def _text_format(self, prompt: Prompt, without: frozenset[str]) -> dict[str, Json]:
        if prompt.reply_schema is None or "format" in self._text:
            return {}
        asked = response_format(
            encode(prompt.reply_schema), without, any_schema=not is_openai(self.provider)
        )
        self._formed |= bool(asked)
        return {"format": asked} if asked else {}
