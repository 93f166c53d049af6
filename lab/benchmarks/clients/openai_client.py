"""The bare loop through OpenAI's client, and nothing else, in the format of the provider given.

`raw` is its own `post` with bytes both ways, the least that it can be made to do; `post` the same
with typed replies, as its documentation shows it, for Chat Completions. `first` is `raw` with an
event stream, and says when its first event came.
"""

import asyncio
import json
from collections.abc import Callable

import httpx2
import openai
from openai.types.chat import ChatCompletion

from benchmarks.bare import LIMITS, TIMEOUT, Complete, loop, read
from benchmarks.clock import (
    First,
    measure,
    measure_first,
    measure_together,
    new_script,
    parser,
    tell,
)
from benchmarks.formats import FORMATS, chat
from benchmarks.formats.shapes import Format, Message


def post(client: openai.AsyncOpenAI) -> Complete:
    """The official client without its convenience method, which walks the whole conversation."""

    async def complete(messages: list[Message]) -> list[Message]:
        reply = await client.post(
            "/chat/completions", body=chat.request(messages), cast_to=ChatCompletion
        )
        return [reply.choices[0].message.to_dict()]

    return complete


def raw(client: openai.AsyncOpenAI, form: Format) -> Complete:
    """The same with bytes both ways."""

    async def complete(messages: list[Message]) -> list[Message]:
        path = form.address("", stream=False)
        content = json.dumps(form.request(messages)).encode()
        response = await client.post(path, content=content, cast_to=httpx2.Response)
        return form.reply(json.loads(response.content))

    return complete


def streamed(client: openai.AsyncOpenAI, form: Format, heard: Callable[[], None]) -> Complete:
    """The bytes of an event stream."""

    async def complete(messages: list[Message]) -> list[Message]:
        path = form.address("", stream=True)
        content = json.dumps(form.request(messages, stream=True)).encode()
        response = await client.post(path, content=content, cast_to=httpx2.Response, stream=True)
        try:
            return await read(form, response, heard)
        finally:
            await response.aclose()

    return complete


async def main() -> None:
    args = parser().parse_args()
    form = FORMATS[args.provider]
    async with httpx2.AsyncClient(limits=LIMITS, timeout=TIMEOUT, trust_env=False) as http:
        client = openai.AsyncOpenAI(base_url=args.url, api_key="none", http_client=http)
        if args.kind == "first":
            first = First()
            complete = streamed(client, form, first.heard)
            tell(await measure_first(args.plan, loop(form, complete, args.size), first))
            return
        run = loop(form, post(client) if args.kind == "post" else raw(client, form), args.size)
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
