"""What clew is measured against: a loop of httpx2 and json that does the same and keeps nothing.

It speaks the format of the provider that it is told; replies are `plain` or `streamed`. It simply
calls the tool, a plain function, and so holds its event loop meanwhile; `thread` calls it with
`asyncio.to_thread`, as a loop must that does more than one thing at a time. `unsafe` is `plain`
with what a call with an effect must pay: a FULL commit before it and one after it. `first` is
`streamed`, and says when the first event came.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Final

import httpx2

from benchmarks.clock import First, Run, measure, measure_first, parser, tell
from benchmarks.commits import Commit, commits
from benchmarks.formats import FORMATS
from benchmarks.formats.shapes import Format, Message
from benchmarks.script import Script, entry

Complete = Callable[[list[Message]], Awaitable[list[Message]]]
"""Takes the conversation, returns what the model adds to it."""

LIMITS: Final = httpx2.Limits(max_connections=1000, max_keepalive_connections=1000)
TIMEOUT: Final = 600.0


def loop(
    form: Format,
    complete: Complete,
    size: int,
    commit: Commit | None = None,
    *,
    thread: bool = False,
) -> Run:
    """The loop itself: call, append, act, append."""

    def act(key: str) -> str:
        if commit is None:
            return entry(key, size)
        commit(0)
        text = entry(key, size)
        commit(len(text))
        return text

    async def run(script: Script) -> str:
        messages = form.opening(script.goal)
        while True:
            reply = await complete(messages)
            calls = form.calls(reply)
            if not calls:
                return form.text(reply)
            messages += reply
            if thread:
                done = [(call, await asyncio.to_thread(act, call.key)) for call in calls]
            else:
                done = [(call, act(call.key)) for call in calls]
            messages += form.results(done)

    return run


def plain(form: Format, http: httpx2.AsyncClient, url: str) -> Complete:
    """Whole replies."""

    async def complete(messages: list[Message]) -> list[Message]:
        address = form.address(url, stream=False)
        response = await http.post(address, json=form.request(messages))
        response.raise_for_status()
        return form.reply(response.json())

    return complete


def streamed(
    form: Format, http: httpx2.AsyncClient, url: str, heard: Callable[[], None] = lambda: None
) -> Complete:
    """Replies as event streams, put together again; each event is `heard`."""

    async def complete(messages: list[Message]) -> list[Message]:
        address = form.address(url, stream=True)
        body = form.request(messages, stream=True)
        async with http.stream("POST", address, json=body) as response:
            response.raise_for_status()
            return await read(form, response, heard)

    return complete


async def read(form: Format, response: httpx2.Response, heard: Callable[[], None]) -> list[Message]:
    """What the events of a stream say, put together; each event is `heard`."""
    reply = form.gathering()
    async for line in response.aiter_lines():
        if line.startswith("data: {"):
            reply.take(json.loads(line[6:]))
            heard()
    return reply.as_messages()


KINDS: Final = {"plain": plain, "streamed": streamed, "thread": plain, "unsafe": plain}


async def main() -> None:
    args = parser().parse_args()
    form = FORMATS[args.provider]
    async with httpx2.AsyncClient(
        headers=form.HEADERS, limits=LIMITS, timeout=TIMEOUT, trust_env=False
    ) as http:
        if args.kind == "first":
            first = First()
            streamed_text = streamed(form, http, args.url, first.heard)
            run = loop(form, streamed_text, args.size)
            tell(await measure_first(args.plan, run, first))
            return
        complete = KINDS[args.kind](form, http, args.url)
        with commits() as commit:
            kept = commit if args.kind == "unsafe" else None
            run = loop(form, complete, args.size, kept, thread=args.kind == "thread")
            tell(await measure(args.plan, run))


if __name__ == "__main__":
    asyncio.run(main())
