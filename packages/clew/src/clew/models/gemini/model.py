"""Models behind Google's Gemini API (`generateContent`), or the same on Vertex AI."""

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final, Unpack

from clew.support.extras import missing_extra

try:
    from clew.models.gemini.client import MakeClient, gemini_carrier
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "google") from missing

from functools import lru_cache

import msgspec

from clew.core.prompts import Part, Prompt
from clew.core.values import encode
from clew.models.attachments import NOT_TAKEN, NOTHING
from clew.models.gemini.prompt import (
    IN_RESULTS,
    NAMES,
    STOPS,
    TAKES,
    RequestWriter,
    body,
    contents,
    declare,
    pieces,
    split,
)
from clew.models.gemini.reply import GeminiReplyBuilder
from clew.models.gemini.settings import gemini_params
from clew.models.http.endpoint import Endpoint, HttpSettings
from clew.models.http.failures import FailureSource, ProviderError
from clew.models.http.request import stop_sequences
from clew.models.http.server import address, find_key, through
from clew.models.tool_names import Toolbox, ToolNameMap
from clew.models.tool_schema import LEVELS
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings

__all__ = ["google_gemini"]

BASE_URL: Final = "https://generativelanguage.googleapis.com"
VERTEX: Final = "https://aiplatform.googleapis.com"

UNSIGNED: Final = re.compile(r"(?:.*/)?(?:gemini-[12]\b|gemma)")
"""Models that ask for no signatures, and might not know the stand-in for one."""

UNTHINKING: Final = re.compile(r"(?:.*/)?(?:gemini-(?:1|2\.0)\b|gemma)")
"""Models that have no thoughts to show."""

_OPTIONAL: Final = {
    "form beside tools": re.compile(r"function calling with a? ?response mime", re.IGNORECASE),
    "schema": re.compile(r"response_?(?:json_?)?schema|too many states", re.IGNORECASE),
    "form": re.compile(r"response_?mime_?type|json mode", re.IGNORECASE),
    "stop": re.compile(r"stop_?sequences", re.IGNORECASE),
    "images": re.compile(rf"\bimages?\b|inline_?data|\bvision\b|{NOT_TAKEN}", re.IGNORECASE),
    "ids": re.compile(r"Unknown name \"id\""),
    "thoughts": re.compile(r"\bthinking|thinking_?config|include_?thoughts", re.IGNORECASE),
}
"""What a run can do without, by how it is named when it is refused; only what was sent counts."""

_SIGNATURE: Final = re.compile(r"thought.?signature", re.IGNORECASE)
_SIGNATURES: Final = ("wire", "stand-in")

_PER_PART: Final = frozenset({"wire", "stand-in", "images", "ids"})
"""What is left out of the parts themselves, so that they have to be encoded anew."""


def google_gemini(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    provider: str = "google",
    key_variable: str = "GEMINI_API_KEY",
    client: MakeClient | None = None,
    **settings: Unpack[HttpSettings],
) -> Endpoint:
    """A Gemini model, as `google:model`.

    Args:
        model: The model's name at Google.
        base_url: The server's address, without the API's version. If None, that in
            `GOOGLE_GEMINI_BASE_URL`, else Google's own.
        api_key: The key; if None, that in the environment variable `key_variable`.
        provider: The name before the colon. It chooses the prices, and marks what is kept verbatim
            for this model.
        key_variable: The environment variable that holds the key; errors name it.
        client: Makes the official client, for one on Vertex AI or with credentials of its own. It
            is called once per event loop with the `HttpOptions` that the client must be made with.
            Then no key is looked for, and `base_url` is only named in errors.
        settings: Settings of the model, prices, retries … (`HttpSettings`). Their `extra` are
            parameters of `generationConfig`, and what may stand beside it (`safetySettings` …).
            Without a `thinkingConfig` among them, models are asked to show what they think.

    Raises `ConfigError` where name, address, key or settings cannot be right.
    """
    name = f"{provider}:{model}"
    if not model or re.search(r"[?&\s]|\.\.", model):
        raise ConfigError(f"{name!r} is no model's name: it may not be empty or have ?, & or space")
    api = GeminiApi(provider, model, ModelSettings.of(settings.get("settings")))
    if client is None:
        where = address(name, base_url, "GOOGLE_GEMINI_BASE_URL", BASE_URL)
        source = FailureSource(name, where, find_key(api_key, key_variable), key_variable)
    else:
        source = FailureSource(name, base_url or VERTEX, "", "")
    source = replace(source, proxy=through(source.base_url, settings))
    return Endpoint(api, source, gemini_carrier(model, source, settings, client), settings)


@dataclass
class GeminiApi:
    """Generate content. A server may refuse stop sequences (codecs cut by themselves), pictures
    (then they are named instead), ids of calls, the form of a reply (of a schema, of JSON, or
    beside tools only), to show its thoughts, the signatures that it sent itself (`wire`), and the
    stand-in for one.
    """

    provider: str
    model: str
    settings: ModelSettings
    hint: str = "that of the Gemini API, without its version (no /v1 at the end)"
    takes: frozenset[str] = TAKES
    understood: frozenset[str] = frozenset({"wire", "stand-in", "images"})
    repairs: frozenset[str] = LEVELS | {"text", "apart"}
    _boxes: ToolNameMap = field(default_factory=lambda: ToolNameMap(NAMES, declare))
    _sent: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.params = gemini_params(self.provider, self.model, self.settings)
        self._config, self._beside = split(self.params)
        self._signs = UNSIGNED.match(self.model) is None
        told = {"thinkingConfig", "thinking_config"} & self.settings.extra.keys()
        self._thinks = not told and UNTHINKING.match(self.model) is None

    @property
    def in_results(self) -> frozenset[str]:
        """What the result of a call may show: nothing, before Gemini 3."""
        return IN_RESULTS if self._signs else NOTHING

    def with_settings(self, settings: ModelSettings) -> "GeminiApi":
        return replace(self, settings=settings)

    def path(self, *, stream: bool) -> str:
        return f"/models/{self.model}:{'streamGenerateContent' if stream else 'generateContent'}"

    def draft(self, prompt: Prompt, without: frozenset[str]) -> GeminiReplyBuilder:
        return GeminiReplyBuilder(
            (self.provider, self.model), self._boxes.of(prompt.tools, without)
        )

    def degrade(self, trouble: ProviderError, without: frozenset[str]) -> str:
        if trouble.status != 400:
            return ""
        kept = {"stop"} if self.settings.stop else set[str]()  # the person wants it
        left = self._sent - without - kept
        if _SIGNATURE.search(trouble.text):
            return next((key for key in _SIGNATURES if key in left), "")
        named = (key for key, pattern in _OPTIONAL.items() if pattern.search(trouble.text))
        return next((key for key in named if key in left), "")

    def body(self, prompt: Prompt, *, stream: bool, without: frozenset[str]) -> bytes:
        box = self._boxes.of(prompt.tools, without)
        source = f"{self.provider}:{self.model}"
        key = f"{source}/gemini{','.join(sorted(without & _PER_PART))}{box.clash}"
        how = RequestWriter(
            self._signs and "stand-in" not in without, "ids" not in without, "images" not in without
        )
        system: list[bytes] = []
        contents_written: list[tuple[str, bytes]] = []
        for part in prompt:
            encoded = part.encoded.get(key)
            if encoded is None:
                encoded = part.encoded[key] = self._pieces(part, box, how, without)
            if part.role == "system" and not contents_written:
                system += [encoded] if encoded else []
            else:
                contents_written.append(("model" if part.role == "assistant" else "user", encoded))
        config = self._config | self._generation_config(prompt, without)
        more = self._beside | {"generationConfig": config}
        return body(contents(contents_written), system, box, prompt.calls, more)

    def _pieces(
        self, part: Part, box: Toolbox, how: RequestWriter, without: frozenset[str]
    ) -> bytes:
        """A part as it goes out; `wire` counts where this very model sent it."""
        wire = part.wire
        own = wire is not None and (wire.provider, wire.model) == (self.provider, self.model)
        self._sent |= {"wire"} if own else set()
        self._sent |= {"ids", "stand-in"} if part.calls else set()
        self._sent |= {"images"} if part.attachments else set()
        return pieces(part, box, wire if own and "wire" not in without else None, how)

    def _generation_config(self, prompt: Prompt, without: frozenset[str]) -> dict[str, Any]:
        """What is asked of this reply: its thoughts, where to stop, and in which form."""
        asked: dict[str, Any] = {}
        if self._thinks and "thoughts" not in without:
            self._sent.add("thoughts")
            own: dict[str, Any] = self._config.get("thinkingConfig") or {}
            asked["thinkingConfig"] = own | {"includeThoughts": True}
        sequences = stop_sequences(prompt, self._config.get("stopSequences"), STOPS)
        if sequences and "stop" not in without:
            self._sent.add("stop")
            asked["stopSequences"] = sequences
        alone = not prompt.tools or "form beside tools" not in without
        if prompt.reply_schema is None or "form" in without or not alone:
            return asked
        self._sent |= {"form", "form beside tools"}
        asked["responseMimeType"] = "application/json"
        if "schema" not in without and fits(encode(prompt.reply_schema)):
            self._sent.add("schema")
            asked["responseJsonSchema"] = prompt.reply_schema
        return asked


_SCHEMA: Final = frozenset({"items", "additionalProperties"})
_SCHEMAS: Final = frozenset({"prefixItems", "anyOf", "oneOf"})
_NAMED: Final = frozenset({"properties", "$defs"})
_KEYWORDS: Final = frozenset(
    {
        *("$id", "$ref", "$anchor", "type", "format", "title", "description", "enum", "required"),
        *("minItems", "maxItems", "minimum", "maximum", "propertyOrdering"),
        *("default", "examples", "$schema", "$comment"),  # these hold nobody to anything
    }
)


@lru_cache(maxsize=256)
def fits(schema: bytes) -> bool:
    """Whether every keyword of the (encoded) schema is among those that the API takes there."""
    return _fits(msgspec.json.decode(schema))


def _fits(schema: Any) -> bool:
    if isinstance(schema, bool):
        return True
    known = msgspec.convert(schema, dict[str, Any])
    if "$ref" in known and any(not key.startswith("$") for key in known):
        return False  # a reference stands alone
    return all(
        _fits(inner)
        if key in _SCHEMA
        else all(map(_fits, inner))
        if key in _SCHEMAS
        else all(map(_fits, inner.values()))
        if key in _NAMED
        else key in _KEYWORDS
        for key, inner in known.items()
    )
