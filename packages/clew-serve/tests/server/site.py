"""A server that really listens, its users, and agents whose models play scripts."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import httpx2

from clew import Agent, Call, Tool, Trajectory, Verdict, tool
from clew.guards import Provenance
from clew.testing import Line, ScriptedModel, act, finish
from clew_serve import ServeConfig, User, serve
from tests.patience import PATIENCE

ADA: Final = User("ada", "run", "token-of-ada-0123456789")
BOB: Final = User("bob", "run", "token-of-bob-0123456789")
EVE: Final = User("eve", "look", "token-of-eve-0123456789")
RAY: Final = User("ray", "rule", "token-of-ray-0123456789")
ROOT: Final = User(token="token-of-root-0123456789")
USERS: Final = (ADA, BOB, EVE, RAY, ROOT)


async def hold_letters(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Every letter needs a person."""
    return Verdict("hold", "letters need a person") if call.action.name == "send" else None


class Letters:
    """A tool that sends letters, and what it sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    @property
    def tool(self) -> Tool:
        @tool(effect="unsafe")
        def send(text: str) -> str:
            """Send a letter."""
            self.sent.append(text)
            return "sent"

        return send


def agent(script: Sequence[Line], tools: Sequence[Any] = (), **more: Any) -> Agent[Any]:
    """An agent that plays a script, whatever it is asked."""
    guards = [*more.pop("guards", ()), Provenance("off")]
    model = ScriptedModel(script, tools=tools)
    return Agent(model, tools=tools, guards=guards, **more)


def greeter() -> Agent[Any]:
    return agent([finish("Hello.")])


def writer(letters: Letters) -> Agent[Any]:
    """An agent whose one call is held."""
    script = [act("send", text="Dear Ada"), finish("It is sent.")]
    return agent(script, [letters.tool], guards=[hold_letters])


@dataclass
class Event:
    """An event of a stream."""

    id: str
    kind: str
    data: Any


@dataclass
class Site:
    """A server that listens at `url`, asked as a user asks it."""

    url: str
    link: str
    leaving: anyio.Event
    http: httpx2.AsyncClient
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def by(self, user: User) -> "Site":
        """The same, asked by this user."""
        headers = {"authorization": f"Bearer {user.token}"}
        return Site(self.url, self.link, self.leaving, self.http, headers)

    async def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> httpx2.Response:
        return await self.http.request(
            method, self.url + path, json=body, headers={**self.headers, **headers}
        )

    async def get(self, path: str) -> Any:
        response = await self.ask("GET", path)
        assert response.status_code == 200, response.text
        return response.json()

    async def post(self, path: str, body: Any) -> Any:
        response = await self.ask("POST", path, body)
        assert response.status_code in {200, 201}, response.text
        return response.json()

    async def begin(self, agent: str, question: str = "Well?", **more: Any) -> str:
        begun = await self.post("/api/runs", {"agent": agent, "question": question, **more})
        return str(begun["run_id"])

    async def events(self, run: str, after: str = "", query: str = "") -> AsyncIterator[Event]:
        """The events of a run, until it stops."""
        headers = {**self.headers, **({"last-event-id": after} if after else {})}
        url = f"{self.url}/api/runs/{run}/events{query}"
        async with self.http.stream("GET", url, headers=headers) as response:
            assert response.status_code in {200, 204}
            fields: dict[str, str] = {}
            async for line in response.aiter_lines():
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif "event" in fields:
                    yield Event(fields.get("id", ""), fields["event"], json.loads(fields["data"]))
                    fields = {}

    async def until_stop(self, run: str) -> dict[str, Any]:
        """The run when it has stopped."""
        async for _ in self.events(run):
            pass
        state: dict[str, Any] = await self.get(f"/api/runs/{run}")
        return state


@asynccontextmanager
async def site(**settings: Any) -> AsyncGenerator[Site]:
    """A server with these settings; its users are those above unless others are named."""
    settings = {"users": USERS, "store": "runs.sqlite", "port": 0, **settings}
    leaving, ready = anyio.Event(), anyio.Event()
    links: list[str] = []

    def on_ready(link: str) -> None:
        links.append(link)
        ready.set()

    async def run() -> None:
        await serve(ServeConfig(**settings), leaving=leaving, on_ready=on_ready)

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await ready.wait()
        url = links[0].partition("?")[0].rstrip("/")
        with anyio.fail_after(PATIENCE):
            async with httpx2.AsyncClient(timeout=PATIENCE) as http:
                try:
                    yield Site(url, links[0], leaving, http)
                finally:
                    leaving.set()
