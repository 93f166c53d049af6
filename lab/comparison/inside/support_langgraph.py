"""The support agent in LangGraph: `create_agent` with its middleware for approvals."""

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Body, FastAPI, Header
from fastapi.responses import StreamingResponse
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.agents.structured_output import ProviderStrategy
from langchain.tools import ToolRuntime, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command
from pydantic import BaseModel
from shop import Shop

# --- begins


class Reply(BaseModel):
    text: str
    refunded: float = 0


@dataclass
class Deps:
    shop: Shop


@tool
def get_order(order: str, runtime: ToolRuntime[Deps]) -> dict[str, Any]:
    """Look an order up."""
    return runtime.context.shop.order(order)


@tool
def refund(order: str, amount: float, runtime: ToolRuntime[Deps]) -> str:
    """Refund an amount of an order."""
    return runtime.context.shop.refund(order, amount, runtime.tool_call_id)


def support(saver: AsyncSqliteSaver) -> Any:
    return create_agent(
        ChatOpenAI(model="fake", timeout=3, max_retries=0, streaming=True),
        [get_order, refund],
        system_prompt="Answer the customer of a shop.",
        middleware=[HumanInTheLoopMiddleware({"refund": True}, interrupt_mode="per_call")],
        response_format=ProviderStrategy(Reply),
        context_schema=Deps,
        checkpointer=saver,
    )


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with AsyncSqliteSaver.from_conn_string("runs.sqlite") as saver:
        app.state.agent = support(saver)
        yield


app = FastAPI(lifespan=lifespan)
User = Annotated[str, Header(alias="x-user")]
db = sqlite3.connect("state.sqlite", check_same_thread=False, isolation_level=None)
db.execute("create table if not exists waiting (id primary key, run, user, args, allow)")
db.execute("create table if not exists events (run, number, data)")


def sse(run: str, user: str, command: Any) -> StreamingResponse:
    async def lines() -> AsyncIterator[str]:
        (number,) = db.execute("select count(*) from events where run = ?", (run,)).fetchone()
        async for event in work(run, user, command):
            number += 1
            data = json.dumps(event, default=str)
            db.execute("insert into events values (?, ?, ?)", (run, number, data))
            yield f"id: {number}\ndata: {data}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"x-run": run})


async def work(run: str, user: str, command: Any) -> AsyncIterator[dict[str, Any]]:
    yield {"event": "started"}
    config = {"configurable": {"thread_id": run}}
    try:
        async for mode, data in app.state.agent.astream(
            command, config, context=Deps(Shop(user)), stream_mode=["messages", "updates"]
        ):
            piece = data[0].content if mode == "messages" else None
            yield {"event": mode, "piece": piece}
        state = await app.state.agent.aget_state(config)
    except Exception as error:
        yield {"status": "failed", "why": repr(error)}
        return
    if state.interrupts:
        for each in state.interrupts:
            row = (each.id, run, user, json.dumps(each.value, default=str))
            db.execute("insert or ignore into waiting values (?, ?, ?, ?, null)", row)
        yield {"status": "held"}
    else:
        yield {"status": "answered", **state.values["structured_response"].model_dump()}


@app.post("/ask")
async def ask(text: Annotated[str, Body(embed=True)], user: User) -> StreamingResponse:
    (number,) = db.execute("select count(distinct run) from events").fetchone()
    return sse(f"run-{number}", user, {"messages": [{"role": "user", "content": text}]})


@app.post("/runs/{run}/continue")
async def again(run: str, user: User) -> StreamingResponse:
    rows = db.execute("select id, allow from waiting where run = ? and allow is not null", (run,))
    decided = {each: {"type": "approve" if allow else "reject"} for each, allow in rows}
    state = await app.state.agent.aget_state({"configurable": {"thread_id": run}})
    open_ones = {each.id for each in state.interrupts}
    rulings = {each: ruling for each, ruling in decided.items() if each in open_ones}
    return sse(run, user, Command(resume=rulings) if rulings else None)


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
    decision = {"type": "approve"} if allow else {"type": "reject"}
    return sse(run, user, Command(resume={each: decision}))
