"""A server of agents whose tools have the names that the conformance suite of MCP calls.

    python -m tests.serve.conformance_server

The suite calls its tools without a question, or with arguments of its own. So each call is given
one here; everything else is `clew mcp serve`: the same server, transport, worker and store. What a
tool must show (a text, progress, an error, a form) comes from the run of an agent.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from clew import Agent, Limits, MemoryStore, Tool, Verdict
from clew.interfaces import CALL
from clew.testing import Line, ScriptedModel, act, finish
from clew_mcp.serve import HttpAddress, ServedAgent, serve_http, server
from tests.serve.served import look

USER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
DEFAULTS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
_TITLED: Final = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
_PLAIN: Final = ["option1", "option2", "option3"]
ENUMS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _PLAIN},
        "titledSingle": {"type": "string", "oneOf": _TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _PLAIN}},
        "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
    },
}


def agent(name: str, script: tuple[Line, ...], *tools: Tool, **more: Any) -> ServedAgent:
    """An agent of a name, which plays a script."""
    return ServedAgent(
        name, Agent(ScriptedModel(script, tools=tools), tools=tools, **more), trusted=True
    )


def asking(name: str, schema: Mapping[str, Any]) -> ServedAgent:
    """An agent whose tool asks the person with a form."""

    async def call(args: dict[str, Any], key: str) -> Any:
        now = CALL.get()
        if now is None or now.answer is None:
            return Verdict("hold", "please provide your information", asks=dict(schema))
        return {"given": now.answer}

    ask = Tool(name="ask", description="Ask.", parameters={"type": "object"}, call=call)
    return agent(name, (act("ask"), finish("The person answered.")), ask)


AGENTS: Final = (
    agent("test_simple_text", (finish("This is a simple text response for testing."),)),
    agent(
        "test_tool_with_progress",
        (act("look", place="Skerry"), act("look", place="Vinga"), finish("Seen.")),
        look,
    ),
    agent(
        "test_error_handling",
        (act("look", place="Skerry"), act("look", place="Vinga"), finish("Seen.")),
        look,
        limits=Limits(steps=1, landing=False),
    ),
    asking("test_elicitation", USER),
    asking("test_elicitation_sep1034_defaults", DEFAULTS),
    asking("test_elicitation_sep1330_enums", ENUMS),
)


async def with_question(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
    """Give each call a question."""
    if ctx.method == "tools/call":
        params = {**(ctx.params or {}), "arguments": {"question": "Go on."}}
        ctx = replace(ctx, params=params)
    return await call_next(ctx)


async def main() -> None:
    """Serve until the process is ended; the address is the first line on stdout."""
    made = server(AGENTS, store=MemoryStore())
    made.middleware.insert(0, with_question)

    def ready(url: str) -> None:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()

    await serve_http(made, HttpAddress("127.0.0.1", 0), token=None, on_ready=ready)


if __name__ == "__main__":
    anyio.run(main)
