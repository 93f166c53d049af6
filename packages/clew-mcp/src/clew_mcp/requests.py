"""What is asked of a server for a call: resources and prompts (`tool_calls.py`: a tool)."""

import mcp_types as types
from mcp.shared.exceptions import MCPError

from clew import Observation
from clew.interfaces import Json
from clew_mcp.connection import Connection
from clew_mcp.pending_requests import PendingRequest, Request
from clew_mcp.results import Attachment, checked, content_of, resource_of


def list_resources(connection: Connection, args: dict[str, Json]) -> Request:
    """List resources and templates of addresses."""

    async def request(pending: PendingRequest) -> Observation:
        del pending
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

    async def read(pending: PendingRequest) -> Observation:
        del pending
        result = await connection.client.read_resource(args["uri"])
        problems = list[str]()
        texts = [resource_of(each, problems)[0] for each in result.contents]
        return checked("\n".join(texts), (), problems)

    return _may_ask(read)


def _may_ask(request: Request) -> Request:
    """The SDK answers what the server asks here, so all of it may have to wait for a person."""

    async def later(pending: PendingRequest) -> Request:
        del pending
        return request

    return later


def list_prompts(connection: Connection, args: dict[str, Json]) -> Request:
    """List prompts with their arguments."""

    async def request(pending: PendingRequest) -> Observation:
        del pending
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

    async def get(pending: PendingRequest) -> Observation:
        del pending
        result = await connection.client.get_prompt(args["name"], args.get("arguments"))
        texts, problems = list[str](), list[str]()
        attachments = list[Attachment]()
        for message in result.messages:
            text, attached = content_of([message.content], problems)
            texts.append(f"{message.role}: {text}")
            attachments += attached
        return checked("\n".join(texts), (*attachments,), problems)

    return _may_ask(get)
