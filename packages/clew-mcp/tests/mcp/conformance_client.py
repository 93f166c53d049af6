"""A client for the conformance suite of MCP, made of clew's own: `mcp_tools`, and runs over them.

    python -m tests.mcp.conformance_client URL

The suite appends the address, and names the scenario in the environment. The program lists the
server's tools, calls each one in a run, and answers what is asked as a person does who leaves every
field of a form as it is. It signs in where the server wants it; the person with the browser is a
thread that opens the address which clew shows.
"""

import io
import json
import logging
import os
import re
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpx2

from clew import Agent, MemoryStore, Tool, pending_approvals, resume, rule, run
from clew.support.resources import resources
from clew.testing import ScriptedModel, acts, finish
from clew.testing.models import Move, act
from clew_mcp import McpAuth, McpServer, mcp_tools

SECRET: Final = "CONFORMANCE_SECRET"
CALLS: Final = 2
"""Calls of each tool: a token whose scope is too small is found out by the first."""


class Terminal(io.StringIO):
    """Stands for a terminal: where there is one, clew lets a person sign in."""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return sys.stdout.write(text)


class Browser(logging.Handler):
    """Opens the address that clew shows, as a person does who is signed in already."""

    def emit(self, record: logging.LogRecord) -> None:
        if found := re.search(r"open (https?://\S+)", record.getMessage()):
            threading.Thread(target=self.open, args=(found[1],), daemon=True).start()

    def open(self, address: str) -> None:
        httpx2.get(address, follow_redirects=True, timeout=10)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def issuer_of(url: str) -> str:
    """The authorization server that a server names, for a client that knows it beforehand."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource"
    for place in (f"{root}{parts.path}", root):
        answer = httpx2.get(place)
        if answer.is_success:
            first: str = answer.json()["authorization_servers"][0]
            return first
    return f"{parts.scheme}://{parts.netloc}"


def auth_of(scenario: str, url: str, known: dict[str, Any]) -> McpAuth | None:
    """How the scenario wants clew to sign in."""
    if not scenario.startswith("auth/"):
        return None
    os.environ[SECRET] = known.get("client_secret", "")
    secret = f"${{{SECRET}}}" if known.get("client_secret") else ""
    client_id = known.get("client_id", "")
    if "client-credentials" in scenario:
        return McpAuth(
            grant="client_credentials", client_id=client_id, client_secret=secret,
            issuer=issuer_of(url),
        )  # fmt: skip
    return McpAuth(client_id=client_id, client_secret=secret, port=free_port())


def example(schema: dict[str, Any]) -> Any:
    """A value that fits a simple schema."""
    match schema.get("type"):
        case "object":
            properties: dict[str, Any] = schema.get("properties", {})
            return {name: example(each) for name, each in properties.items()}
        case "number" | "integer":
            return 7
        case "boolean":
            return True
        case "array":
            return []
        case _:
            return "text"


def defaults(schema: dict[str, Any] | None) -> Any:
    """The form as it was shown, nothing changed."""
    fields: dict[str, Any] = (schema or {}).get("properties", {})
    return {name: each["default"] for name, each in fields.items() if "default" in each}


async def call_all(tools: tuple[Tool, ...]) -> None:
    """Call all tools in one run, and answer what is asked meanwhile."""
    moves: list[Move] = [
        acts(*(act(tool.name, **example(dict(tool.parameters))) for tool in tools))
        for _ in range(CALLS)
    ]
    agent = Agent(ScriptedModel([*moves, finish("done")], tools=tools), tools=tools)
    store = MemoryStore()
    async with resources():  # of one owner: what is asked in mid-call is answered in mid-call
        result = await run(agent, "Call them.", store=store)
        while result.status == "held":
            for each in await pending_approvals(store=store):
                answer = defaults(dict(each.asks or {}))
                await rule(each.id, allow=True, answer=answer, store=store)
            result = await resume(agent, result.run_id, store=store)
    sys.stdout.write(f"{result.status}: {result.reason}\n")


async def main(url: str) -> None:
    """Play the scenario."""
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    known = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = folder
        server = McpServer(name="suite", url=url, auth=auth_of(scenario, url, known))
        tools = await mcp_tools(server, pins=Path(folder) / "pins.json")
        if tools:
            await call_all(tools)


if __name__ == "__main__":
    logging.getLogger("clew").addHandler(Browser())
    logging.getLogger("clew").setLevel(logging.INFO)
    sys.stderr = Terminal()
    anyio.run(main, sys.argv[1])
