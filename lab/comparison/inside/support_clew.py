"""The support agent in clew."""

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


support = Agent(
    "openai:fake", [get_order, refund], prompt="Answer the customer of a shop.", answer=Reply,
    deps=lambda run: Shop(run.owner), store="runs.sqlite", limits=Limits(seconds=3),
)  # fmt: skip
app = FastAPI(lifespan=serving(support))
User = Annotated[str, Header(alias="x-user")]


def sse(events: Stream[Any]) -> StreamingResponse:
    return StreamingResponse(events.sse("all"), 200, {"x-run": events.run_id}, "text/event-stream")


@app.post("/ask")
async def ask(text: Annotated[str, Body(embed=True)], user: User) -> StreamingResponse:
    return sse(await start(support, text, owner=user))


@app.get("/runs/{run}/events")
async def events(run: str, user: User, last_event_id: Annotated[str, Header()] = "0") -> Any:
    return sse(follow(run, after=last_event_id, store=support.store, owner=user))


@app.get("/approvals")
async def waiting() -> list[dict[str, Any]]:
    return [one.to_json() for one in await pending_approvals(store=support.store)]


@app.post("/approvals/{approval:path}")
async def decide(approval: str, allow: Annotated[bool, Body(embed=True)]) -> dict[str, Any]:
    return (await rule(approval, allow=allow, by="boss", agent=support)).to_json()
