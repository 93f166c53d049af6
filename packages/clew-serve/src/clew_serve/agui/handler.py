"""A run of an agent, as a front end asks for it."""

from collections.abc import AsyncGenerator

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from typing_extensions import override

from clew_serve.agents import ServedAgent
from clew_serve.agui.events import Event, TurnEvents
from clew_serve.agui.interrupts import of_thread, resume
from clew_serve.agui.run_input import RunInput, messages_of, results_of
from clew_serve.api.access_to_runs import agent_named
from clew_serve.api.events import LiveEvents
from clew_serve.endpoints import Inquiry
from clew_serve.errors import RefusedError
from clew_serve.service import Service
from clew_serve.turns.results import give_results
from clew_serve.turns.turn import Turn, begin, watching


class AgentQuery(msgspec.Struct, forbid_unknown_fields=True):
    """Which agent; "" is the only one that is served."""

    agent: str = ""


async def run_agent(inquiry: Inquiry) -> Response:
    """Answer the last message, go on with results of calls, or with what was decided."""
    asked: RunInput = inquiry.content
    if not asked.run_id:
        raise RefusedError(422, "invalid", "the runId is empty", "give each run its own")
    served = _served(inquiry)
    if asked.resume:
        turn = await resume(inquiry, asked, asked.resume)
    elif results := results_of(asked):
        await of_thread(inquiry, asked, [each.id for each in results])
        turn = await give_results(inquiry, results)
    else:
        turn = await begin(
            inquiry, served.with_tools(asked.tools or ()), messages_of(asked),
            request=asked.run_id, session=asked.thread_id,
        )  # fmt: skip
    return EventStream(inquiry.service, turn, asked)


def _served(inquiry: Inquiry) -> ServedAgent:
    query: AgentQuery = inquiry.query
    agents = inquiry.service.agents
    only = next(iter(agents)) if len(agents) == 1 else ""
    return agent_named(inquiry.service, query.agent or only)


class EventStream(Response):
    """The events of a turn as they happen; whoever leaves ends nothing."""

    def __init__(self, service: Service, turn: Turn, asked: RunInput) -> None:
        super().__init__()
        self._service, self._turn = service, turn
        self._events = TurnEvents(service, turn, asked.thread_id, asked.run_id)

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with watching(self._service, self._turn) as items:
            encoded = _encoded(self._events.all(items))
            await LiveEvents(self._service, encoded)(scope, receive, send)


async def _encoded(events: AsyncGenerator[Event]) -> AsyncGenerator[bytes]:
    async for event in events:
        yield b"data: " + msgspec.json.encode(event) + b"\n\n"
