"""Agents that are served in tests, and what their clients say."""

from collections.abc import Sequence
from typing import Any, Final

import anyio
import mcp_types as types
from mcp import Client
from mcp.client import ClientRequestContext, advertise
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from clew import Agent, Call, Tool, Trajectory, Verdict, tool
from clew.testing import Line, ScriptedModel, act, finish
from clew_mcp.serve import ServedAgent
from tests.patience import PATIENCE

ERAS: Final = ("legacy", "2026-07-28")
CORE, STATELESS = ERAS
TASKS: Final = [advertise("io.modelcontextprotocol/tasks")]


@tool(effect="read")
def look(place: str) -> str:
    """What is at a place."""
    return f"a lighthouse is at {place}"


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


async def hold_letters(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Every letter needs a person."""
    return Verdict("hold", "letters need a person") if call.action.name == "send" else None


def keeper(
    script: Sequence[Line] = (), tools: Sequence[Tool] = (look,), **more: Any
) -> ServedAgent:
    """An agent that plays a script."""
    lines = script or (act("look", place="Skerry"), finish("Nobody keeps it."))
    model = ScriptedModel(lines, tools=tools, answer=more.get("answer", str))
    return ServedAgent("keeper", Agent(model, tools=tools, **more))


def writer(letters: Letters) -> ServedAgent:
    """An agent that sends a letter, which is held."""
    script = (act("send", text="Dear Ada"), finish("It is sent."))
    return keeper(script, [letters.tool], guards=[hold_letters])


class Person:
    """Answers every form in the same way, and keeps what it was shown."""

    def __init__(self, action: str = "accept", **content: Any) -> None:
        self.said = types.ElicitResult.model_validate(
            {"action": action, "content": content or None}
        )
        self.requests: list[types.ElicitRequestFormParams] = []

    async def __call__(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        self.requests.append(params)
        return self.said


def words(result: types.CallToolResult) -> str:
    """The text of a result."""
    return "".join(each.text for each in result.content if isinstance(each, types.TextContent))


async def raw(client: Client, method: str, **params: Any) -> dict[str, Any]:
    """The result of a request as it came: the SDK's own methods know no tasks."""
    session: Any = client.session
    data: dict[str, Any] = {"method": method, "params": params}
    options: dict[str, Any] = {}
    session._stamp(data, options)  # noqa: SLF001 - the envelope of the stateless era
    found: dict[str, Any] = await session._dispatcher.send_raw_request(  # noqa: SLF001 - it checks no result
        method, data["params"], options
    )
    return found


async def begin_task(client: Client, question: str, tool: str = "keeper") -> str:
    """Call a tool as a task: the task's id."""
    core = client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
    asked: dict[str, Any] = {"task": {}} if core else {}
    found = await raw(client, "tools/call", name=tool, arguments={"question": question}, **asked)
    task = found["task"] if core else found
    assert task["status"] == "working"
    run_id: str = task["taskId"]
    return run_id


async def until(client: Client, run_id: str, status: str) -> dict[str, Any]:
    """The task as soon as it has a status."""
    with anyio.fail_after(PATIENCE):
        while (task := await raw(client, "tasks/get", taskId=run_id))["status"] != status:
            await anyio.sleep(0.05)
    return task
