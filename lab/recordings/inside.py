"""Adapters with a service right behind them: all but the client and the sockets is as ever.

Made as anyone makes an adapter over a client that clew does not know: an `Endpoint` and a carrier.
"""

import json
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clew import ModelSettings
from clew.core.tools import Retry
from clew.models.anthropic.messages import MessagesApi
from clew.models.gemini.model import GeminiApi
from clew.models.http.endpoint import Api, Endpoint, StatusError
from clew.models.http.failures import FailureSource, ProviderError
from clew.models.openai.chat import ChatApi
from clew.models.openai.responses import ResponsesApi
from clew_testing.servers.anthropic_server import AnthropicService, Messages
from clew_testing.servers.gemini_server import GeminiService
from clew_testing.servers.http_server import Fail, ReceivedRequest, Say, Send, Service
from clew_testing.servers.openai_server import Chat
from clew_testing.servers.openai_service import Access, OpenAIService
from clew_testing.servers.responses import Responses

APIS: Final[Mapping[str, Callable[[str], Api]]] = {
    "openai-chat": lambda model: ChatApi("openai", model, ModelSettings()),
    "openai-responses": lambda model: ResponsesApi("openai-responses", model, ModelSettings()),
    "anthropic": lambda model: MessagesApi("anthropic", model, ModelSettings()),
    "gemini": lambda model: GeminiApi("google", model, ModelSettings()),
}
"""The adapters by the form they speak."""

_NEVER: Final = Retry(times=0)
_HEADERS: Final = {"anthropic-version": "2023-06-01"}


def service(form: str, *, bound: bool = True) -> Service:
    """The strict service of a form: it refuses what the real one is known to refuse.

    With `bound`, thinking has to stand behind the conversation it was thought in.
    """
    door = Access()
    match form:
        case "openai-chat":
            return OpenAIService({"/chat/completions": Chat(door)})
        case "openai-responses":
            return OpenAIService({"/responses": Responses(door)})
        case "anthropic":
            return AnthropicService(Messages(bound=bound))
        case _:
            return GeminiService(root="/v1beta")


@dataclass
class Strict:
    """A carrier to a service in this process.

    `say` gives the answer to a request, `bodies` are the requests, `refused` says what was refused
    by the rules.
    """

    service: Service
    say: Callable[[dict[str, Any]], Say | Fail]
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    refused: list[str] = field(default_factory=list[str])

    async def send(self, path: str, content: bytes) -> bytes:
        body = json.loads(content)
        root = self.service.root
        seen = ReceivedRequest(f"{root}{path}", _HEADERS, body, content)
        self.bodies.append(body)
        form = self.service.find(seen)
        if isinstance(form, (Send, Fail)):
            raise StatusError(ProviderError(404, f"nothing at {path}"))
        if isinstance(fail := form.refuse(seen), Fail):
            self.refused.append(fail.message)
            raise _error(fail)
        if isinstance(text := self.say(body), Fail):
            raise _error(text)
        return form.full_body(text, seen)

    async def stream(self, path: str, content: bytes) -> "Pieces":
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing was opened."""


def _error(fail: Fail) -> StatusError:
    return StatusError(ProviderError(fail.status, fail.message, fail.code or "", fail.param or ""))


@dataclass
class Pieces:
    """A carrier, and what it brings: a stream in the given pieces, whatever was asked."""

    pieces: Sequence[bytes]
    headers: Mapping[str, str] = field(
        default_factory=lambda: {"content-type": "text/event-stream"}
    )

    async def send(self, path: str, content: bytes) -> bytes:
        return b"".join(self.pieces)

    async def stream(self, path: str, content: bytes) -> "Pieces":
        return self

    async def close(self) -> None:
        """Nothing was opened."""

    async def aread(self) -> bytes:
        return b"".join(self.pieces)

    async def aiter_bytes(self) -> AsyncGenerator[bytes]:
        for piece in self.pieces:
            yield piece

    async def aclose(self) -> None:
        """Nothing was opened."""


def over(api: Api, carrier: Strict | Pieces) -> Endpoint:
    """The adapter over a carrier; a request is made once."""
    source = FailureSource(f"{api.provider}:{api.model}", "in this process", "", "")
    return Endpoint(api, source, lambda _: carrier, {"retries": _NEVER})
