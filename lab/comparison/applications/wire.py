"""The replies of the fake model on the wire: whole, or in chunks of a stream."""

import json
import time
from collections.abc import Iterator
from typing import Any, Final

PIECES: Final = 10
PAUSE: Final = 0.15
"""Seconds between the pieces of a slow answer."""
WRITTEN: Final = 20
"""Tokens of each reply, as the model says."""

Body = dict[str, Any]
Call = tuple[str, Body]


def _head(model: str, kind: str) -> Body:
    return {"id": "c1", "created": 1_700_000_000, "model": model, "object": kind}


def _usage(read: int) -> Body:
    return {"prompt_tokens": read, "completion_tokens": WRITTEN, "total_tokens": read + WRITTEN}


def _described(calls: list[Call]) -> list[Body]:
    stamp = f"{time.monotonic_ns():x}"
    return [
        {
            "index": at, "id": f"call_{stamp}_{at}", "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
        }
        for at, (name, args) in enumerate(calls)
    ]  # fmt: skip


def full(model: str, read: int, text: str, calls: list[Call]) -> Body:
    """A reply in one piece, of a model that read so many tokens."""
    message: Body = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = _described(calls)
    finish = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {**_head(model, "chat.completion"), "choices": [choice], "usage": _usage(read)}


def chunks(model: str, read: int, text: str, calls: list[Call], *, slow: bool) -> Iterator[Body]:
    """The same in chunks, with pauses if it is slow."""

    def chunk(delta: Body, finish: str | None = None) -> Body:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {**_head(model, "chat.completion.chunk"), "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for call in _described(calls):
        arguments = call["function"]["arguments"]
        size = -(-len(arguments) // (PIECES if slow else 1))
        named = {**call["function"], "arguments": ""}
        yield chunk({"tool_calls": [{**call, "function": named}]})
        for at in range(0, len(arguments), size):
            piece = {"arguments": arguments[at : at + size]}
            yield chunk({"tool_calls": [{"index": call["index"], "function": piece}]})
            time.sleep(PAUSE if slow else 0)
    size = -(-len(text) // (PIECES if slow else 1)) or 1
    for at in range(0, len(text), size):
        yield chunk({"content": text[at : at + size]})
        time.sleep(PAUSE if slow else 0)
    yield chunk({}, "tool_calls" if calls else "stop")
    yield {**chunk({}), "choices": [], "usage": _usage(read)}
