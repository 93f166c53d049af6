"""A loop through Google's client with typed contents, as its documentation shows it.

It has no documented door for bytes, so there is nothing less that it can be asked to do.
"""

import asyncio

import httpx2
from google.genai import Client, types

from benchmarks.bare import LIMITS, TIMEOUT
from benchmarks.clock import Run, measure, parser, tell
from benchmarks.formats.gemini import LOOKUP
from benchmarks.script import SYSTEM, Script, entry


def loop(client: Client, size: int) -> Run:
    """The loop itself: call, append, act, append."""
    declared = types.Tool.model_validate({"functionDeclarations": [LOOKUP]})
    config = types.GenerateContentConfig(system_instruction=SYSTEM, tools=[declared])

    async def run(script: Script) -> str:
        contents = [types.Content(role="user", parts=[types.Part(text=script.goal)])]
        while True:
            reply = await client.aio.models.generate_content(
                model="bench", contents=list(contents), config=config
            )
            if not reply.function_calls:
                return reply.text or ""
            if reply.candidates and reply.candidates[0].content:
                contents.append(reply.candidates[0].content)
            results = [
                types.FunctionResponse(
                    id=call.id,
                    name=call.name,
                    response={"output": entry((call.args or {})["key"], size)},
                )
                for call in reply.function_calls
            ]
            parts = [types.Part(function_response=result) for result in results]
            contents.append(types.Content(role="user", parts=parts))

    return run


async def main() -> None:
    args = parser().parse_args()
    async with httpx2.AsyncClient(limits=LIMITS, timeout=TIMEOUT, trust_env=False) as http:
        options = types.HttpOptions(base_url=args.url.removesuffix("/v1"), httpx_async_client=http)
        client = Client(vertexai=False, api_key="none", http_options=options)
        tell(await measure(args.plan, loop(client, args.size)))


if __name__ == "__main__":
    asyncio.run(main())
