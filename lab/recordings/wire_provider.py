"""A provider on this machine that answers whatever is asked with what was recorded."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from clew import Retry
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.http.endpoint import Endpoint
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew_testing.servers.http_server import (
    CompletionKind,
    Fail,
    HttpServer,
    ReceivedRequest,
    Say,
    Send,
    Turn,
    to_json,
)
from recordings.wire_exchanges import Exchange

_NEVER: Final = Retry(times=0)
_MAKE: Final[Mapping[str, Any]] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic": anthropic_messages,
    "gemini": google_gemini,
}


@dataclass(frozen=True)
class Anything:
    """A form that takes every request; only bytes are ever sent."""

    def refuse(self, seen: ReceivedRequest) -> Fail | None:
        return None

    def streams(self, seen: ReceivedRequest) -> bool:
        return False

    def full_body(self, say: Say, seen: ReceivedRequest) -> bytes:
        raise NotImplementedError

    def events(self, say: Say, seen: ReceivedRequest) -> Iterable[bytes]:
        raise NotImplementedError


@dataclass(frozen=True)
class Recorded:
    """A service that is none of its own: whatever is asked, a recording answers."""

    root: str = ""
    stream_type: str = "text/event-stream"

    def find(self, seen: ReceivedRequest) -> CompletionKind | Send | Fail:
        return Anything()

    def error(self, fail: Fail) -> bytes:
        return to_json({"error": {"message": fail.message, "type": "invalid_request_error"}})


class Provider:
    """The server, and the models that ask it; `turns` are its next answers."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.server = HttpServer(Recorded(), lambda _: self.turns.pop(0))
        self._models: dict[tuple[str, str, str], Endpoint] = {}

    def model(self, exchange: Exchange) -> Endpoint:
        """The adapter for what was asked, with an official client of its own."""
        key = (exchange.form, exchange.provider, exchange.model)
        if key not in self._models:
            self._models[key] = _MAKE[exchange.form](
                exchange.model,
                base_url=self.server.base_url,
                api_key="none",
                provider=exchange.provider,
                retries=_NEVER,
            )
        return self._models[key]

    async def close(self) -> None:
        """Close all connections."""
        for model in self._models.values():
            await model.close()


def send(exchange: Exchange) -> Send:
    """The recorded answer."""
    kind = "text/event-stream; charset=utf-8" if exchange.streamed else "application/json"
    return Send(exchange.reply, kind, exchange.status)
