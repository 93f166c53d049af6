"""What the tests of the OpenAI adapter share: a model over a local server, waits that are noted."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from clew.core.contents import RawCall
from clew.core.models import OnText
from clew.core.prompts import Part, Prompt
from clew.core.tools import Retry, Tool
from clew.models.http.endpoint import Endpoint
from clew.models.openai.chat import openai_chat
from clew_testing.servers.openai_server import OpenAIServer, Script

KEY = "sk-test-0123456789"
QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


class Waits(list[float]):
    """A sleep that only notes how long it should have been."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@asynccontextmanager
async def over(
    script: Script,
    *,
    piece: int = 0,
    make: Callable[..., Endpoint] = openai_chat,
    **options: Any,
) -> AsyncIterator[tuple[Endpoint, OpenAIServer, Waits]]:
    """A model whose server follows the script."""
    waits = Waits()
    with OpenAIServer(script, key=KEY, piece=piece) as server:
        settings = {"api_key": KEY, "base_url": server.base_url, "sleep": waits} | options
        model = make("scripted", **settings)
        try:
            yield model, server, waits
        finally:
            await model.close()


async def _unused(args: dict[str, Any], key: str) -> str:
    raise AssertionError("the adapter calls no tools")


def tool(name: str, **more: Any) -> Tool:
    return Tool(name, f"About {name}.", QUERY, _unused, **more)


def ask(text: str = "What is it?", **more: Any) -> Prompt:
    return Prompt((Part("system", "Be brief."), Part("user", text)), (), **more)


def call(name: str, arguments: str | None = '{"query": "x"}', id: str = "call_1") -> RawCall:  # noqa: A002 - the field's name
    return RawCall(name=name, arguments=arguments, id=id)


def few(times: int) -> Retry:
    return Retry(times=times, delay=0.5)


def listener(pieces: list[str], enough: Callable[[str], bool] = lambda _: False) -> Any:
    """An `on_text` that keeps the pieces and says when all of them together are enough."""

    def on_text(piece: str) -> bool:
        pieces.append(piece)
        return enough("".join(pieces))

    return on_text


def watcher(*, streamed: bool) -> OnText | None:
    """An `on_text` that has never enough, where a reply is to be streamed."""
    return listener([]) if streamed else None


def event(**chunk: Any) -> bytes:
    """One event of a stream."""
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"


def delta(finish: str | None = None, **said: Any) -> bytes:
    """One event of a stream with one choice."""
    return event(choices=[{"index": 0, "delta": said, "finish_reason": finish}])
