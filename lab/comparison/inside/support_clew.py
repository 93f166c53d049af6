"""The support agent in clew."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Body, FastAPI, Header
from fastapi.responses import StreamingResponse
from shop import Shop

from clew import (
    Agent,
    Limits,
    RunContext,
    Stream,
    follow,
    pending_approvals,
    rule,
    serving,
    start,
    tool,
)

# --- begins


@dataclass
class Reply:
    text: str
    refunded: float = 0


@tool(effect="read")
def get_order(order: str, ctx: RunContext[Shop]) -> dict[str, Any]:
    """Look an order up."""
    return ctx.deps.order(order)


@tool(approve="a refund needs a person's approval")
def refund(order: str, amount: float, ctx: RunContext[Shop]) -> str:
    """Refund an amount of an order."""
    return ctx.deps.refund(order, amount, ctx.key)


STORE, PROMPT = "runs.sqlite", "Answer the customer of a shop."
support = Agent(
    "openai:fake",
    [get_order, refund],
    prompt=PROMPT,
    answer=Reply,
    deps=lambda run: Shop(run.owner),
    limits=Limits(seconds=3),
)


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with serving(support, store=STORE):
        yield


app = FastAPI(lifespan=lifespan)
User = Annotated[str, Header(alias="x-user")]


def sse(events: Stream[Any]) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        async for each in events:
            yield f"id: {events.position}\ndata: {json.dumps(each.to_json())}\n\n"

    return StreamingResponse(lines(), 200, {"x-run": events.run_id}, "text/event-stream")


@app.post("/ask")
async def ask(text: Annotated[str, Body(embed=True)], user: User) -> StreamingResponse:
    return sse(await start(support, text, store=STORE, owner=user))


@app.get("/runs/{run}/events")
async def events(
    run: str, user: User, last_event_id: Annotated[str, Header()] = "0"
) -> StreamingResponse:
    return sse(follow(run, after=last_event_id, store=STORE, owner=user))


@app.get("/approvals")
async def waiting() -> list[dict[str, Any]]:
    return [each.to_json() for each in await pending_approvals(store=STORE)]


@app.post("/approvals/{each:path}")
async def decide(each: str, allow: Annotated[bool, Body(embed=True)]) -> dict[str, Any]:
    result = await rule(each, allow=allow, by="boss", store=STORE, agent=support)
    return result.to_json() if result else {}
