"""Recorded HTTP exchanges: which of them clew has an adapter for, and what was said."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from clew.core.prompts import Part, Prompt
from clew.models.resolve import providers
from clew.tools.definitions import published
from recordings.forms import Record
from recordings.wire_bodies import Body, Told, ended, events_of, form_of, full_body, told

_MODEL: Final = re.compile(r"/models/([^/:]+):")
_HOSTS: Final[Mapping[str, str]] = {
    urlsplit(provider.base_url).netloc: name for name, provider in providers().items()
}
_ELSEWHERE: Final = "elsewhere"
"""The provider's name where clew has none for the host: a compatible server."""

_SCHEMAS: Final = ("parameters", "parametersJsonSchema", "parameters_json_schema")
_OUT: Final = (
    (r"/(?:count_tokens|input_tokens)$|:countTokens$", "counting tokens"),
    (r"/responses/resp_|/conversations", "reading what a server stored: clew stores nothing there"),
    (r"/embeddings$|:embedContent$|:batchEmbedContents$", "embeddings"),
    (r"/batches|/images|/audio", "batches, pictures, sound"),
    (r"/files|/vector_stores|[fF]ileSearchStores", "files and vector stores"),
    (r"/mcp$", "a server of tools, not of a model"),
    (r"/v2/chat$", "Cohere's own chat API, which clew does not speak"),
    (r"/converse|/invoke", "Bedrock, which clew does not speak"),
)
"""Why an exchange is not read, by its path."""


@dataclass(frozen=True)
class Exchange:
    """A recorded request and what was answered.

    `reply` is the body that was sent, `streamed` whether as a stream of events.
    """

    id: str
    form: str
    provider: str
    model: str
    request: Body
    status: int
    reply: bytes
    streamed: bool

    @cached_property
    def failed(self) -> bool:
        """Whether an error was answered; in a stream it may come later."""
        return self.status >= 400 or bool(self.error)

    @cached_property
    def error(self) -> str:
        """What went wrong, in the provider's words, where it has any."""
        try:
            events = events_of(self.reply.decode()) if self.streamed else [self._decoded]
        except (ValueError, msgspec.MsgspecError):
            return ""
        errors = [event["error"] for event in events if event.get("error")]
        return str(errors[0].get("message") or "") if errors and isinstance(errors[0], dict) else ""

    @cached_property
    def partial(self) -> bool:
        """Whether a stream was recorded without its end."""
        return self.streamed and not self.failed and not ended(self.form, self.reply.decode())

    @property
    def _decoded(self) -> Body:
        return msgspec.json.decode(self.reply, type=Body)

    @cached_property
    def body(self) -> Body:
        """The answer as one body."""
        if self.streamed:
            return full_body(self.form, self.reply.decode())
        return self._decoded

    @cached_property
    def told(self) -> Told:
        """What the body says."""
        return told(self.form, self.body)

    @cached_property
    def prompt(self) -> Prompt:
        """A prompt with the functions that were declared."""
        made = published(functions([self]).values(), _never)
        return Prompt((Part("user", "Go on."),), (), tools=tuple(each.tool for each in made))


async def _never(name: str, args: dict[str, Any], key: str) -> str:
    raise AssertionError(name)


def exchanges(records: Iterable[Record]) -> tuple[list[Exchange], Counter[str]]:
    """The completions among the exchanges, and why the others are left out, so many times."""
    exchanges: list[Exchange] = []
    out: Counter[str] = Counter()
    for record in records:
        for number, one in enumerate(record["interactions"]):
            path = urlsplit(one["uri"])
            if (form := form_of(one["uri"])) and (why := _unread(one)):
                out[why] += 1
                continue
            if form:
                where = f"{record['id']} #{number}"
                exchanges.append(_exchange(where, form, path.netloc, unquote(path.path), one))
                continue
            matching = (words for pattern, words in _OUT if re.search(pattern, path.path))
            out[next(matching, f"no completion: {path.netloc}")] += 1
    return exchanges, out


def _unread(one: Record) -> str:
    """Why nothing can be read of a completion."""
    if one.get("response_json") is None and not one.get("response_text"):
        return "completions of which no answer was recorded"
    if isinstance(one.get("response_json"), list):
        return "streams as an array, which clew does not ask for"
    return ""


def _exchange(id_: str, form: str, host: str, path: str, one: Record) -> Exchange:
    request = msgspec.convert(one.get("request") or {}, Body)
    named = _MODEL.search(path)
    streamed = "event-stream" in (one.get("content_type") or "")
    text = one.get("response_text") if one.get("response_json") is None else None
    reply = (text if text is not None else json.dumps(one["response_json"])).encode()
    return Exchange(
        id_,
        form,
        _HOSTS.get(host, _ELSEWHERE) + ("-responses" if form == "openai-responses" else ""),
        named[1] if named else str(request.get("model") or "a-model"),
        request,
        int(one["status"]),
        reply,
        streamed,
    )


def functions(taken: Iterable[Exchange]) -> dict[str, Body]:
    """The functions that requests declare, by name; what a provider runs itself is none."""
    return {
        each["name"]: each
        for one in taken
        for each in _declared(one.form, _listed(one.request.get("tools")))
        if isinstance(each.get("name"), str)
    }


def _listed(value: Any) -> list[Body]:
    """Objects, whether in a list or one alone, as some providers take it too."""
    every = value if isinstance(value, list) else [value]
    return [msgspec.convert(each, Body) for each in every if isinstance(each, dict)]


def _declared(form: str, tools: list[Body]) -> Iterator[Body]:
    for tool in tools:
        if form == "gemini":
            for key in ("functionDeclarations", "function_declarations"):
                for each in _listed(tool.get(key)):
                    schemas = (each.get(key) for key in _SCHEMAS)
                    yield each | {"parameters": next(filter(None, schemas), {"properties": {}})}
        elif form == "openai-chat" and isinstance(tool.get("function"), dict):
            yield tool["function"]
        elif (form == "anthropic" and "input_schema" in tool) or tool.get("type") == "function":
            yield tool
