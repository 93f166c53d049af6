"""What clew is measured against: loops that keep nothing and do the same calls.

`plain` and `streamed` are httpx2 with json, `post` and `raw` the official client's own `post`: with
typed replies, as its documentation shows it, and with nothing but bytes.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
import openai
from openai.types.chat import ChatCompletion

from benchmarks.clock import Run, measure, measure_together, new_script, parser, tell
from benchmarks.script import LOOKUP, SYSTEM, Script, entry

Message = dict[str, Any]
Complete = Callable[[list[Message]], Awaitable[Message]]
"""Takes the conversation, returns the assistant's message."""

LIMITS: Final = httpx2.Limits(max_connections=1000, max_keepalive_connections=1000)
TIMEOUT: Final = 600.0


def request(messages: list[Message]) -> Message:
    """The body of a request."""
    return {"model": "bench", "messages": messages, "tools": [LOOKUP]}


def loop(complete: Complete, size: int) -> Run:
    """The loop itself: call, append, act, append."""

    async def run(script: Script) -> str:
        messages: list[Message] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": script.goal},
        ]
        while True:
            message = await complete(messages)
            if not message.get("tool_calls"):
                return str(message["content"])
            messages.append(message)
            for call in message["tool_calls"]:
                args = json.loads(call["function"]["arguments"])
                text = entry(args["key"], size)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})

    return run


def plain(http: httpx2.AsyncClient, url: str) -> Complete:
    """Whole replies."""

    async def complete(messages: list[Message]) -> Message:
        response = await http.post(f"{url}/chat/completions", json=request(messages))
        response.raise_for_status()
        message: Message = response.json()["choices"][0]["message"]
        return message

    return complete


def streamed(http: httpx2.AsyncClient, url: str) -> Complete:
    """Replies as event streams, put together again."""

    async def complete(messages: list[Message]) -> Message:
        text: list[str] = []
        calls: list[Message] = []
        body = request(messages) | {"stream": True, "stream_options": {"include_usage": True}}
        async with http.stream("POST", f"{url}/chat/completions", json=body) as response:
            response.raise_for_status()
            async for line in response.aiter_lines():
                if line.startswith("data: {"):
                    take(json.loads(line[6:]), text, calls)
        return {"role": "assistant", "content": "".join(text), "tool_calls": calls}

    return complete


def take(chunk: Message, text: list[str], calls: list[Message]) -> None:
    """Add what a chunk brings."""
    for choice in chunk["choices"]:
        delta = choice["delta"]
        if delta.get("content"):
            text.append(delta["content"])
        for piece in delta.get("tool_calls", ()):
            if piece["index"] == len(calls):
                started = {"name": piece["function"]["name"], "arguments": ""}
                calls.append({"id": piece["id"], "type": "function", "function": started})
            calls[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]


def post(client: openai.AsyncOpenAI) -> Complete:
    """The official client without its convenience method, which walks the whole conversation."""

    async def complete(messages: list[Message]) -> Message:
        reply = await client.post(
            "/chat/completions", body=request(messages), cast_to=ChatCompletion
        )
        return reply.choices[0].message.to_dict()

    return complete


def raw(client: openai.AsyncOpenAI) -> Complete:
    """The same with bytes both ways: the least that the official client can be made to do."""

    async def complete(messages: list[Message]) -> Message:
        content = json.dumps(request(messages)).encode()
        response = await client.post("/chat/completions", content=content, cast_to=httpx2.Response)
        message: Message = json.loads(response.content)["choices"][0]["message"]
        return message

    return complete


@asynccontextmanager
async def completing(kind: str, url: str) -> AsyncIterator[Complete]:
    """The client of a kind, closed in the end."""
    headers = {"authorization": "Bearer none"}
    async with httpx2.AsyncClient(
        headers=headers, limits=LIMITS, timeout=TIMEOUT, trust_env=False
    ) as http:
        if kind in {"post", "raw"}:
            client = openai.AsyncOpenAI(base_url=url, api_key="none", http_client=http)
            yield post(client) if kind == "post" else raw(client)
        else:
            yield {"plain": plain, "streamed": streamed}[kind](http, url)


async def main() -> None:
    args = parser().parse_args()
    async with completing(args.kind, args.url) as complete:
        run = loop(complete, args.size)
        if not args.at_once:
            tell(await measure(args.plan, run))
            return
        steps = int(args.plan)
        await run(new_script(1))
        scripts = [new_script(steps) for _ in range(args.at_once)]

        async def together() -> list[str]:
            return await asyncio.gather(*map(run, scripts))

        tell(await measure_together(scripts, together))


if __name__ == "__main__":
    asyncio.run(main())
