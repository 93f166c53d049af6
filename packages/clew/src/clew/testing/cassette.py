"""Replies of a real model, recorded once in a file and then played without it.

The file has each request beside its reply, as JSON for people to read. Secrets are blotted out as
in a record. A request that was not recorded fails, and says what differs from the nearest.
"""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from clew.core.contents import Reply
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Part, Prompt
from clew.core.redaction import redact
from clew.core.specs import Rates
from clew.core.values import Json, encode
from clew.support.arguments import check_argument
from clew.support.errors import ConfigError, ModelError
from clew.support.model_settings import NOTHING_SET, ModelSettings, refuse_settings
from clew.testing.json_difference import first_difference

FORMAT: Final = 1


class _Info(msgspec.Struct, omit_defaults=True):
    """What is known of a model, as far as a file can have it."""

    name: str
    params: dict[str, Any] = {}
    priced: bool = False
    rates: Rates | None = None
    unmetered: bool = False
    window: int | None = None
    takes: tuple[str, ...] = ("",)


class _Exchange(msgspec.Struct):
    """A request, and the reply to it."""

    model: str
    request: dict[str, Any]
    reply: Reply


class _File(msgspec.Struct):
    """What a file holds: the models by the names that a test has for them, and all replies."""

    version: int
    models: dict[str, _Info]
    exchanges: list[_Exchange]


class Cassette:
    """The replies in the file at `path`; with `record` they are asked for, and written by `save`.

    `names` stand in the file instead of texts that are others each time: `{"<folder>": folder}`.
    A recorded request is played once. `problem` is what `ModelError` said last of a request that
    was not recorded: a run may have gone on without that reply.
    """

    def __init__(
        self, path: Path, *, record: bool = False, names: Mapping[str, str] | None = None
    ) -> None:
        """Read the file. Raises `ConfigError` where it is missing or no cassette."""
        check_argument("path", path, Path, "the path of a file")
        check_argument("record", record, bool, "True or False")
        self.path, self.record, self.names = path, record, dict(names or {})
        self.problem = ""
        self._played = set[int]()
        if self.record:
            self._file = _File(FORMAT, {}, [])
            return
        try:
            body = self.path.read_bytes()
        except FileNotFoundError:
            message = f"{self.path} is missing: record it (pytest --clew-record)"
            raise ConfigError(message) from None
        for name, text in self.names.items():
            body = body.replace(encode(name)[1:-1], encode(text)[1:-1])
        try:
            self._file = msgspec.json.decode(body, type=_File)
        except msgspec.MsgspecError as error:
            message = f"{self.path} is no cassette ({error}): record it anew"
            raise ConfigError(message) from error

    def model(self, name: str, make: Callable[[], Model]) -> Model:
        """The model that a test calls by this name; `make` is called where replies are recorded.

        Raises `ConfigError` where the file has no such model.
        """
        if self.record:
            model = make()
            self._file.models[name] = _known(model.info)
            return _Recorder(self, name, model)
        if name not in self._file.models:
            message = f"{self.path} has no replies of {name}: record it anew"
            raise ConfigError(message)
        return _Player(self, name, _info(self._file.models[name]))

    def save(self) -> None:
        """Write what was recorded; nothing where replies were played."""
        if not self.record:
            return
        body = encode(redact(msgspec.to_builtins(self._file)))
        for name, text in self.names.items():
            body = body.replace(encode(text)[1:-1], encode(name)[1:-1])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(msgspec.json.format(body, indent=1) + b"\n")

    def add(self, name: str, request: dict[str, Json], reply: Reply) -> None:
        """Keep the reply to a request."""
        self._file.exchanges.append(_Exchange(name, request, reply))

    def play(self, name: str, request: dict[str, Json]) -> Reply:
        """The reply to a request. Raises `ModelError` for one that was not recorded."""
        asked = redact(request)
        left: list[_Exchange] = []
        for number, each in enumerate(self._file.exchanges):
            if each.model == name and number not in self._played:
                if each.request == asked:
                    self._played.add(number)
                    return each.reply
                left.append(each)
        why = first_difference(left[0].request, asked) if left else "all of its replies were played"
        self.problem = f"{self.path.name}: request {len(self._played) + 1} was not recorded: {why}"
        raise ModelError(self.problem)


@dataclass(frozen=True)
class _Recorder:
    """A real model, whose replies are kept."""

    cassette: Cassette
    name: str
    inner: Model
    settings: ModelSettings = NOTHING_SET

    @property
    def info(self) -> ModelInfo:
        return self.inner.info

    def with_settings(self, settings: ModelSettings) -> "_Recorder":
        if (configure := getattr(self.inner, "with_settings", None)) is None:
            refuse_settings(self.info.name, settings, ("seed",))
            return self
        return dataclasses.replace(
            self, inner=configure(settings), settings=settings.over(self.settings)
        )

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        reply = await self.inner.complete(prompt, on_text)
        self.cassette.add(self.name, _request(prompt, self.settings), reply)
        return reply


@dataclass(frozen=True)
class _Player:
    """A model that says what was recorded."""

    cassette: Cassette
    name: str
    info: ModelInfo
    settings: ModelSettings = NOTHING_SET

    def with_settings(self, settings: ModelSettings) -> "_Player":
        info = dataclasses.replace(self.info, params={**self.info.params, **settings.recorded})
        return dataclasses.replace(self, info=info, settings=settings.over(self.settings))

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        reply = self.cassette.play(self.name, _request(prompt, self.settings))
        if on_text is not None:
            for word in re.findall(r"\s*\S+|\s+", reply.text):
                if on_text(word):
                    break
        return reply


def _known(info: ModelInfo) -> _Info:
    return _Info(
        info.name, {**info.params}, info.priced, info.rates, info.unmetered, info.window,
        tuple(sorted(info.takes)),
    )  # fmt: skip


def _info(known: _Info) -> ModelInfo:
    return ModelInfo(
        known.name, known.params, known.priced, known.rates, known.unmetered,
        window=known.window, takes=frozenset(known.takes),
    )  # fmt: skip


def _request(prompt: Prompt, settings: ModelSettings) -> dict[str, Json]:
    """What a prompt asks, as JSON: the same for the same prompt, in every process."""
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in prompt.tools
    ]
    request: dict[str, Any] = {
        "purpose": prompt.purpose,
        "settings": settings.recorded,
        "messages": [dict(_message(part)) for part in prompt],
        "tools": tools,
        "calls": prompt.calls,
        "stop": [*prompt.stop],
        "reply_schema": prompt.reply_schema,
        "seed": prompt.seed,
    }
    plain: dict[str, Json] = msgspec.json.decode(encode(request))
    return plain


def _message(part: Part) -> Iterator[tuple[str, Any]]:
    """The fields of a message that say something."""
    yield "role", part.role
    if part.text:
        yield "text", part.text
    if part.name:
        yield "tool", part.name
    if part.calls:
        yield "calls", [{"name": call.name, "arguments": call.arguments} for call in part.calls]
    if part.attachments:
        digests = [hashlib.sha256(encode(each)).hexdigest() for each in part.attachments]
        yield "attachments", digests
