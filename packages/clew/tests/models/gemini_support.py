"""What the tests of the Gemini adapter share: a model over a local server that is strict."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from clew.core.contents import RawCall, Reply
from clew.core.prompts import Part
from clew.models.gemini.model import google_gemini
from clew.models.http.endpoint import Endpoint
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Script
from tests.models.support import Waits

KEY = "gm-test-0123456789"
MODEL = "gemini-3-test"


@asynccontextmanager
async def over(
    script: Script, *, model: str = MODEL, piece: int = 0, ids: bool = True, **options: Any
) -> AsyncIterator[tuple[Endpoint, GeminiServer, Waits]]:
    """A model whose server follows the script."""
    waits = Waits()
    with GeminiServer(script, key=KEY, piece=piece, ids=ids) as server:
        settings = {"api_key": KEY, "base_url": server.base_url, "sleep": waits} | options
        made = google_gemini(model, **settings)
        try:
            yield made, server, waits
        finally:
            await made.close()


def step(reply: Reply, *results: str) -> tuple[Part, ...]:
    """A step as the native codec writes it: what the model said, and what came of its calls."""
    calls = tuple(
        RawCall(name=call.name, arguments=call.arguments or "{}", id=call.id or f"call_1_{place}")
        for place, call in enumerate(reply.calls, start=1)
    )
    return (
        Part("assistant", reply.text.strip(), calls=calls, wire=reply.wire),
        *(
            Part("tool", text, call_id=call.id, name=call.name)
            for call, text in zip(calls, results, strict=True)
        ),
    )


def chunk(*parts: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    """One event of a stream with one candidate."""
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}}
    if finish is not None:
        candidate["finishReason"] = finish
    return b"data: " + msgspec.json.encode({"candidates": [candidate]} | more) + b"\r\n\r\n"
