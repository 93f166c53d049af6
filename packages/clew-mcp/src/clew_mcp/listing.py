"""A server's list of tools, read tool by tool: one that cannot be read does not hide the others."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import mcp_types as types
import msgspec
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map
from pydantic import ValidationError

from clew import ToolError
from clew.interfaces import Json
from clew.support.schema_parts import keywords
from clew_mcp.pins import canonical
from clew_mcp.raw import raw_result
from clew_mcp.settings import printable

_PAGES: Final = 100
_MAX_BYTES: Final = 500_000
"""The longest definition of a tool."""
_MAX_NAME_CHARS: Final = 80
_IDLE: Final = 3
"""After so many pages in a row that say nothing new a list has ended."""


class ServerListing(NamedTuple):
    """What a server lists: definitions, what cannot be used (a line each), headers of arguments."""

    tools: list[dict[str, Json]]
    notes: tuple[str, ...]
    headers: Mapping[str, Mapping[tuple[str, ...], str]]


async def list_tools(session: ClientSession, *, modern: bool) -> ServerListing:
    """Ask for all pages of the list. Raises `MCPError`, and `ToolError` for what is no list."""
    reader = _PageReader(modern=modern)
    cursor: str | None = None
    for _ in range(_PAGES):
        params = types.PaginatedRequestParams(cursor=cursor)
        try:
            page = await raw_result(session, types.ListToolsRequest(params=params))
        except MCPError as error:
            if cursor is None or error.code != types.INVALID_PARAMS:
                raise
            reader.end("its cursor is refused")  # by the server that gave it
            return reader.listing()
        if (cursor := reader.read(page)) is None:
            return reader.listing()
    raise ToolError(f"there are more than {_PAGES} pages of them")


class _PageReader:
    """Takes page after page."""

    def __init__(self, *, modern: bool) -> None:
        self._modern = modern
        self._tools: list[dict[str, Json]] = []
        self._notes: list[str] = []
        self._headers: dict[str, Mapping[tuple[str, ...], str]] = {}
        self._cursors: set[str] = set()
        self._known: set[bytes] = set()
        self._pages = self._idle = 0

    def end(self, problem: str) -> None:
        """Note that there may be more than what was read."""
        self._notes.append(f"the list of tools ends here: {problem}")

    def listing(self) -> ServerListing:
        return ServerListing(self._tools, tuple(dict.fromkeys(self._notes)), self._headers)

    def read(self, page: dict[str, Json]) -> str | None:
        """Read a page; where the next one begins, or None after the last."""
        tools: Json = page.get("tools")
        self._pages += 1
        if not isinstance(tools, list):
            if self._pages == 1:
                raise ToolError("what it sent is none: tools: a list is required")
            self.end("its next page is not a list")
            return None
        before = len(self._known)
        for tool in msgspec.convert(tools, list[Json]):
            self._read_tool(tool)
        self._idle = self._idle + 1 if len(self._known) == before else 0
        next_cursor = page.get("nextCursor")
        if next_cursor is None:
            return None
        cursor = next_cursor if isinstance(next_cursor, str) else ""
        if problem := self._wrong(next_cursor, cursor):
            self.end(problem)
            return None
        self._cursors.add(cursor)
        return cursor

    def _wrong(self, next_cursor: Json, cursor: str) -> str:
        """Why a page's cursor leads nowhere; "" if it leads on."""
        if not cursor:
            return "its cursor is empty" if next_cursor == "" else "its cursor is not a text"
        if cursor in self._cursors:
            return "its cursor repeats"
        return "its next pages say nothing new" if self._idle == _IDLE else ""

    def _read_tool(self, tool: Json) -> None:
        body = canonical(tool)
        if body in self._known:  # the same once more, as where a server passes over cursors
            return
        self._known.add(body)
        name = keywords(tool).get("name")
        if not isinstance(name, str) or not name.strip():
            quoted = printable(body.decode())[:_MAX_NAME_CHARS]
            self._notes.append(f"a tool without a name is left out: {quoted}")
        elif len(body) > _MAX_BYTES:
            what = f"its definition has {len(body):,} bytes, and may have {_MAX_BYTES:,}"
            self._notes.append(left_out(name, what))
        elif self._modern and (why := _wrong_headers(tool)):
            self._notes.append(left_out(name, why))
        else:
            self._tools.append(_definition(keywords(tool)))
            if self._modern:
                self._headers[name] = x_mcp_header_map(tool.get("inputSchema"))


def left_out(name: str, why: str) -> str:
    """The line that names a tool and why it is not offered."""
    return f"the tool {printable(name)[:_MAX_NAME_CHARS]} is left out: {why}"


def _wrong_headers(tool: Json) -> str:
    """Why the protocol forbids a tool whose arguments are to be sent as headers too."""
    why: Any = find_invalid_x_mcp_header(keywords(tool).get("inputSchema"))
    return f"invalid x-mcp-header ({printable(why)})" if why else ""


def _definition(tool: dict[str, Json]) -> dict[str, Json]:
    """A definition in the words of the protocol; as it came, where it is not as agreed."""
    try:
        known = types.Tool.model_validate(tool, by_name=False)
    except ValidationError:
        return tool
    return known.model_dump(by_alias=True, mode="json", exclude_none=True)
