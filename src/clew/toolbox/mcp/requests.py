"""What is asked of a server for a call: a tool, a resource, a prompt."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import mcp_types as types
from mcp.shared.exceptions import MCPError

from clew.core.events import Json, Observation, Trust
from clew.toolbox.mcp.calls import Flight
from clew.toolbox.mcp.connection import Connection
from clew.toolbox.mcp.results import content_of, observation_of, resource_text
from clew.toolbox.mcp.settings import shown
from clew.toolbox.mcp.tasks import began, begin, wait_for

Request: TypeAlias = Callable[[Flight], Awaitable[Observation]]

_BAD_OUTPUT: Final = ("Invalid structured content", "Invalid schema for tool")
_NO_OUTPUT: Final = "has an output schema but did not return structured content"


def tool_call(
    connection: Connection, tool: str, args: dict[str, Json], trust: Trust, *, wants_task: bool
) -> Request:
    """Call a tool, as a task if it wants one; a call that is a task already is asked for."""

    async def request(flight: Flight) -> Observation:
        try:
            return observation_of(await result(flight), trust)
        except RuntimeError as error:
            if (problem := _bad_output(error)) is None:
                raise
            text = f"ERROR: bad_output: {tool} did what it did, and what came is unfit: {problem}"
            return Observation(content=text, ok=False, code="bad_output")

    async def result(flight: Flight) -> types.CallToolResult:
        session = connection.client.session
        if not flight.task and not (wants_task and connection.has_tasks):
            return await connection.client.call_tool(
                tool, args, progress_callback=_progress(flight)
            )
        if not flight.task:
            await began(flight, await begin(session, tool, args))
        found = await wait_for(session, flight.task, flight)
        if not found.is_error:
            await session.validate_tool_result(tool, found)
        return found

    return request


def _bad_output(error: RuntimeError) -> str | None:
    """What is wrong with a result, if the SDK says that its schema forbids it."""
    text = str(error).partition("\n")[0]
    return shown(text) if text.startswith(_BAD_OUTPUT) or _NO_OUTPUT in text else None


def _progress(flight: Flight) -> Any:
    async def heard(progress: float, total: float | None, message: str | None) -> None:
        share = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        flight.context.progress(f"{shown(message)} ({share})" if message else share)

    return heard


def list_resources(connection: Connection, args: dict[str, Json]) -> Request:
    """List resources and templates of addresses."""

    async def request(flight: Flight) -> Observation:
        del flight
        page = await connection.client.list_resources(cursor=args.get("cursor"))
        lines = [_resource_line(str(one.uri), one) for one in page.resources]
        if page.next_cursor:
            lines.append(f'there are more: call it again with the cursor "{page.next_cursor}"')
        elif not args.get("cursor"):
            lines += await _templates(connection)
        return Observation(content="\n".join(lines) or "there are no resources")

    return request


async def _templates(connection: Connection) -> list[str]:
    try:
        templates = await connection.client.list_resource_templates()
    except MCPError as error:
        if error.code == types.METHOD_NOT_FOUND:
            return []  # a server may have resources and no templates
        raise
    return [_resource_line(one.uri_template, one) for one in templates.resource_templates]


def _resource_line(address: str, one: types.Resource | types.ResourceTemplate) -> str:
    about = ": ".join(filter(None, (one.title or one.name, one.description)))
    return f"{address} – {about}" if about else address


def read_resource(connection: Connection, args: dict[str, Json]) -> Request:
    """Read one resource."""

    async def request(flight: Flight) -> Observation:
        del flight
        result = await connection.client.read_resource(args["uri"])
        return Observation(content="\n".join(map(resource_text, result.contents)))

    return request


def list_prompts(connection: Connection, args: dict[str, Json]) -> Request:
    """List prompts with their arguments."""

    async def request(flight: Flight) -> Observation:
        del flight
        page = await connection.client.list_prompts(cursor=args.get("cursor"))
        lines = [_prompt_line(one) for one in page.prompts]
        if page.next_cursor:
            lines.append(f'there are more: call it again with the cursor "{page.next_cursor}"')
        return Observation(content="\n".join(lines) or "there are no prompts")

    return request


def _prompt_line(one: types.Prompt) -> str:
    names = [each.name if each.required else f"{each.name}?" for each in one.arguments or ()]
    return f"{one.name}({', '.join(names)}) – {one.description or one.title or one.name}"


def get_prompt(connection: Connection, args: dict[str, Json]) -> Request:
    """Fill in one prompt."""

    async def request(flight: Flight) -> Observation:
        del flight
        result = await connection.client.get_prompt(args["name"], args.get("arguments"))
        texts: list[str] = []
        pictures: list[Any] = []
        for message in result.messages:
            text, images = content_of([message.content])
            texts.append(f"{message.role}: {text}")
            pictures += images
        return Observation(content="\n".join(texts), images=(*pictures,))

    return request
