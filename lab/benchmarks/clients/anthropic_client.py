"""The bare loop through Anthropic's client and nothing else: its own `post`, bytes both ways."""

import asyncio
import json

import anthropic
import httpx2

from benchmarks.bare import LIMITS, TIMEOUT, Complete, loop
from benchmarks.clock import measure, parser, tell
from benchmarks.formats import messages as form
from benchmarks.formats.shapes import Message


def raw(client: anthropic.AsyncAnthropic) -> Complete:
    """The least that the official client can be made to do."""

    async def complete(messages: list[Message]) -> list[Message]:
        content = json.dumps(form.request(messages)).encode()
        response = await client.post("/v1/messages", content=content, cast_to=httpx2.Response)
        return form.reply(json.loads(response.content))

    return complete


async def main() -> None:
    args = parser().parse_args()
    async with httpx2.AsyncClient(limits=LIMITS, timeout=TIMEOUT, trust_env=False) as http:
        client = anthropic.AsyncAnthropic(
            base_url=args.url.removesuffix("/v1"), api_key="none", http_client=http
        )
        tell(await measure(args.plan, loop(form, raw(client), args.size)))


if __name__ == "__main__":
    asyncio.run(main())
