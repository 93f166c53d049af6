"""Models that continue a text, behind `POST /completions`: base models, for text formats."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Unpack

from clew.support.extras import missing_extra

try:
    import openai
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "openai") from missing

from collections.abc import Sequence

from clew.core.prompts import Part, Prompt
from clew.core.values import Json, encode
from clew.models.attachments import NOTHING, split_attachments
from clew.models.http.endpoint import Endpoint, HttpSettings
from clew.models.http.failures import ProviderError
from clew.models.http.request import refuse_ours, stop_sequences
from clew.models.openai.chat_prompt import STOPS
from clew.models.openai.client import openai_endpoint
from clew.models.openai.completions_reply import CompletionsReplyBuilder
from clew.models.openai.settings import completions_params
from clew.support.errors import ConfigError
from clew.support.model_settings import ModelSettings

__all__ = ["openai_completions"]

_FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "vllm": ("structured_outputs", "guided_json"),
    "llamacpp": ("json_schema",),
}
"""The keys in which a server takes the form of a reply, the newest first; others take none."""

_OPTIONAL: Final = {
    "stream_options": re.compile(r"stream_options|include_usage"),
    "stop": re.compile(r"['\"`]stop['\"`]|\bstop (?:words?|sequences?)"),
    "structured_outputs": re.compile(r"structured_outputs"),
    "guided_json": re.compile(r"guided_json"),
    "json_schema": re.compile(r"json_schema|\bgrammar"),
}
"""What a server may refuse and a run can do without, and how its errors name it."""


def openai_completions(
    model: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    api_version: str = "",
    provider: str = "openai-completions",
    key_variable: str = "OPENAI_API_KEY",
    client: openai.AsyncOpenAI | None = None,
    **settings: Unpack[HttpSettings],
) -> Endpoint:
    """A model of a completions server, as `provider:model`. It needs a text codec.

    The prompt is one text without the marks of any chat template. A reply has at most 1024 tokens
    unless `max_tokens` says otherwise. The arguments are those of `openai_chat`.

    Raises `ConfigError` if address, key or parameters cannot be right.
    """
    return openai_endpoint(
        CompletionsApi(provider, model, ModelSettings.of(settings.get("settings"))),
        base_url=base_url,
        api_key=api_key,
        api_version=api_version,
        key_variable=key_variable,
        client=client,
        settings=settings,
    )


@dataclass
class CompletionsApi:
    """Plain completions. A server may refuse usage in streams, stop sequences (codecs cut by
    themselves) and the form of a reply.
    """

    provider: str
    model: str
    settings: ModelSettings
    hint: str = "that of a server with completions (most end in /v1)"
    takes: frozenset[str] = NOTHING
    in_results: frozenset[str] = NOTHING
    understood: frozenset[str] = frozenset()
    repairs: frozenset[str] = frozenset()  # it knows no roles, no calls and no tools

    def __post_init__(self) -> None:
        self.params = completions_params(self.provider, self.model, self.settings)
        self._head = head(self.model, self.params)
        forms = _FORMS.get(self.provider.removesuffix("-completions"), ())
        self._forms = () if set(forms) & self.params.keys() else forms

    def with_settings(self, settings: ModelSettings) -> "CompletionsApi":
        return replace(self, settings=settings)

    def path(self, *, stream: bool) -> str:
        return "/completions"

    def draft(self, prompt: Prompt, without: frozenset[str]) -> CompletionsReplyBuilder:
        return CompletionsReplyBuilder(self.model)

    def degrade(self, trouble: ProviderError, without: frozenset[str]) -> str:
        if trouble.status not in {400, 422}:
            return ""
        message = trouble.text
        kept = {"stop"} if self.settings.stop else set[str]()  # the person wants it
        named = (key for key, pattern in _OPTIONAL.items() if pattern.search(message))
        return next((key for key in named if key not in without | kept), "")

    def body(self, prompt: Prompt, *, stream: bool, without: frozenset[str]) -> bytes:
        if prompt.tools:
            raise ConfigError(
                f"{self.provider}:{self.model} only goes on with text, it has no native calls: "
                "choose a text codec, such as codec='paper' (--codec paper)"
            )
        key = "completions"  # the same text for every model of this kind
        texts: list[bytes] = []
        for part in prompt:
            encoded = part.encoded.get(key)
            if encoded is None:
                encoded = part.encoded[key] = text(part)
            texts.append(encoded)
        more: dict[str, Json] = {}
        stops = stop_sequences(prompt, self.params.get("stop"), STOPS)
        if stops and "stop" not in without:
            more["stop"] = stops
        if stream:
            more["stream"] = True
            if "stream_options" not in without:
                more["stream_options"] = {"include_usage": True}
        form = next((each for each in self._forms if each not in without), "")
        if prompt.reply_schema is not None and form:
            more[form] = (
                {"json": prompt.reply_schema}
                if form == "structured_outputs"
                else prompt.reply_schema
            )
        return body(self._head, texts, more)


OURS: Final = frozenset(
    {"model", "prompt", "stream", "stream_options", "n", "best_of", "echo", "suffix", "logprobs"}
)
"""Keys of the body that the adapter writes, or that would change what it can read."""

MAX_TOKENS: Final = 1024
"""The length of a reply where the parameters name none: servers would stop after a few words."""


def text(part: Part) -> bytes:
    """One part as a piece of a JSON string, with its end of line: roles are left to the words.

    Pictures are named.
    """
    content, _ = split_attachments(part, NOTHING)
    return encode(content + ("\n\n" if part.role == "system" else "\n"))[1:-1]


def head(model: str, params: Mapping[str, Json]) -> bytes:
    """The beginning of every body, up to the prompt. Raises `ConfigError` for `OURS`."""
    refuse_ours(OURS & params.keys())
    rest = {key: value for key, value in params.items() if key != "stop"}
    return encode({"model": model, "max_tokens": MAX_TOKENS} | rest)[:-1] + b',"prompt":"'


def body(start: bytes, texts: Sequence[bytes], more: Mapping[str, Json]) -> bytes:
    """The whole body: `start` from `head`, the text, and the keys in `more`."""
    pieces = [start, *texts, b'"']
    for key, value in more.items():
        pieces += [b',"', key.encode(), b'":', encode(value)]
    pieces.append(b"}")
    return b"".join(pieces)
