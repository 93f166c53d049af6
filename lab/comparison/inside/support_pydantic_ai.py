"""The support agent in Pydantic AI, with the step persistence of its harness."""

import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Body, FastAPI, Header, HTTPException
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext, ToolDenied
from pydantic_ai.messages import ModelMessagesTypeAdapter, PartDeltaEvent
from pydantic_ai_harness import StepPersistence
from pydantic_ai_harness.step_persistence import SqliteStepStore
from shop import Shop

# --- begins


class Reply(BaseModel):
    text: str
    refunded: float = 0


@dataclass
class Deps:
    shop: Shop


store = SqliteStepStore(database="runs.sqlite")
support = Agent(
    "openai-chat:fake",
    deps_type=Deps,
    output_type=[Reply, DeferredToolRequests],
    instructions="Answer the customer of a shop.",
    capabilities=[StepPersistence(store=store)],
)


@support.tool
def get_order(ctx: RunContext[Deps], order: str) -> dict[str, Any]:
    """Look an order up."""
    return ctx.deps.shop.order(order)


@support.tool(requires_approval=True)
def refund(ctx: RunContext[Deps], order: str, amount: float) -> str:
    """Refund an amount of an order."""
    return ctx.deps.shop.refund(order, amount, ctx.tool_call_id or "")


app = FastAPI()
User = Annotated[str, Header(alias="x-user")]
db = sqlite3.connect("state.sqlite", check_same_thread=False, isolation_level=None)
db.execute("create table if not exists waiting (id primary key, run, user, args, allow)")
db.execute("create table if not exists events (run, number, data)")
db.execute("create table if not exists history (run primary key, messages)")


def sse(run: str, user: str, question: str | None = None, **how: Any) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        async for number, data in kept(run, user, question, **how):
            yield f"id: {number}\ndata: {data}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"x-run": run})


async def kept(run: str, user: str, *args: Any, **how: Any) -> AsyncIterator[tuple[int, str]]:
    (number,) = db.execute("select count(*) from events where run = ?", (run,)).fetchone()
    async for event in work(run, user, *args, **how):
        number += 1
        db.execute("insert into events values (?, ?, ?)", (run, number, json.dumps(event)))
        yield number, json.dumps(event)


async def work(run: str, user: str, *args: Any, **how: Any) -> AsyncIterator[dict[str, Any]]:
    yield {"event": "started"}
    try:
        async with support.run_stream_events(
            *args, deps=Deps(Shop(user)), conversation_id=run, timeout=3, **how
        ) as stream:
            async for event in stream:
                delta = event.delta if isinstance(event, PartDeltaEvent) else None
                piece = getattr(delta, "args_delta", None) or getattr(delta, "content_delta", None)
                yield {"event": type(event).__name__, "piece": piece}
        output, messages = stream.result.output, stream.result.all_messages_json()
    except Exception as error:
        yield {"status": "failed", "why": repr(error)}
        return
    db.execute("insert or replace into history values (?, ?)", (run, messages))
    if isinstance(output, DeferredToolRequests):
        db.execute("delete from waiting where run = ?", (run,))
        for call in output.approvals:
            row = (call.tool_call_id, run, user, json.dumps(call.args_as_dict()))
            db.execute("insert or ignore into waiting values (?, ?, ?, ?, null)", row)
        yield {"status": "held"}
    else:
        yield {"status": "answered", **output.model_dump()}


async def go_on(run: str, user: str) -> StreamingResponse:
    runs = await store.list_runs(conversation_id=run)
    cut = {
        effect.tool_call_id
        for each in runs
        for effect in await store.list_unresolved_tool_effects(run_id=each.run_id)
    }
    told = ToolDenied("It was cut off: it may have been paid or not. Look before you pay again.")
    rows = db.execute("select id, allow from waiting where run = ?", (run,)).fetchall()
    rulings = {call: told if call in cut else bool(allow) for call, allow in rows}
    row = db.execute("select messages from history where run = ?", (run,)).fetchone()
    if row is None:
        raise HTTPException(409, "nothing to continue from")
    history = ModelMessagesTypeAdapter.validate_json(row[0])
    results = DeferredToolResults(approvals=rulings) if rulings else None
    return sse(run, user, message_history=history, deferred_tool_results=results)


@app.post("/ask")
async def ask(text: Annotated[str, Body(embed=True)], user: User) -> StreamingResponse:
    (number,) = db.execute("select count(distinct run) from events").fetchone()
    return sse(f"run-{number}", user, text)


@app.post("/runs/{run}/continue")
async def again(run: str, user: User) -> StreamingResponse:
    return await go_on(run, user)


@app.get("/runs/{run}/events")
async def events(run: str, last_event_id: Annotated[int, Header()] = 0) -> StreamingResponse:
    rows = db.execute("select * from events where run = ? and number > ?", (run, last_event_id))
    lines = [f"id: {number}\ndata: {data}\n\n" for _, number, data in rows]
    return StreamingResponse(iter(lines), media_type="text/event-stream")


@app.get("/approvals")
async def waiting() -> list[dict[str, Any]]:
    rows = db.execute("select id, run, args from waiting where allow is null")
    return [{"id": each, "run": run, "args": json.loads(args)} for each, run, args in rows]


@app.post("/approvals/{each}")
async def rule(each: str, allow: Annotated[bool, Body(embed=True)]) -> StreamingResponse:
    db.execute("update waiting set allow = ? where id = ? and allow is null", (allow, each))
    run, user = db.execute("select run, user from waiting where id = ?", (each,)).fetchone()
    if db.execute("select 1 from waiting where run = ? and allow is null", (run,)).fetchone():
        raise HTTPException(202, "another approval is missing: Pydantic AI takes all at once")
    return await go_on(run, user)
