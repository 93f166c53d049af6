"""A connection to one server: opened by one task, which keeps it until it breaks or is closed."""

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Final

import anyio
import anyio.abc
import mcp_types as types
from mcp.client import Client
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import mcp_param_headers
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from clew import ClewError, ToolError
from clew.interfaces import Json
from clew.support.error_text import described
from clew_mcp.http import open_http
from clew_mcp.listing import ServerListing, list_tools
from clew_mcp.outcomes import SESSION_OVER, Broken, ConnectionLost
from clew_mcp.pending_requests import PendingRequests, Question, to_open
from clew_mcp.pins import ServerPins, pins_of
from clew_mcp.sampling import sample
from clew_mcp.settings import McpServer, printable
from clew_mcp.stdio import StdioServer
from clew_mcp.tasks import TasksExtension

LOG: Final = logging.getLogger("clew")

for _name in ("mcp", "client"):  # the SDK's loggers, which would write tracebacks to the terminal
    logging.getLogger(_name).addHandler(logging.NullHandler())

_FIRST_DELAY: Final = 0.2
_MAX_DELAY: Final = 60.0
"""Seconds before the changes of a server are listened for again."""


class Connection:
    """An open connection: the SDK's `client`, the requests in flight, and the list of tools."""

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self._endpoint = server.endpoint
        self.broken = Broken(server.name)
        self.opened = anyio.Event()
        self.left = anyio.Event()
        self.process = StdioServer(server, self._endpoint, self.broken) if server.command else None
        self.client = Client(
            self._transport(),
            mode="auto",
            cache=None,  # lists are kept here, with what was pinned
            client_info=types.Implementation(name="clew", version="1"),
            elicitation_callback=self._elicit,
            sampling_callback=self._sample if server.sampling else None,
            list_roots_callback=self._roots if server.roots else None,
            logging_callback=_log,
            log_level="debug" if LOG.isEnabledFor(logging.DEBUG) else None,
            message_handler=self._hear,
            extensions=(TasksExtension(),),
        )
        self._group: anyio.abc.TaskGroup | None = None
        self._pending: PendingRequests | None = None
        self._listed: ServerPins | None = None
        self._last: ServerPins | None = None
        self._headers: Mapping[str, Mapping[tuple[str, ...], str]] = {}
        self._listed_at = 0.0
        self._announced = False
        self._listing = anyio.Lock(fast_acquire=True)

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        return (
            open_http(self.server, self._endpoint) if self.process is None else self.process.open()
        )

    @property
    def pending(self) -> PendingRequests:
        """The requests in flight."""
        if self._pending is None:  # pragma: no cover - nobody is given a connection before
            raise ConnectionLost("it is not open")
        return self._pending

    @property
    def modern(self) -> bool:
        """Whether it speaks the stateless protocol."""
        return self.client.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def has_tasks(self) -> bool:
        """Whether a client may ask this server to make calls as tasks (the handshake era)."""
        tasks = self.client.server_capabilities.tasks
        asked = tasks and tasks.requests and tasks.requests.tools
        return not self.modern and bool(asked and asked.call is not None)

    async def listing(self, within: float = 0.0) -> ServerPins:
        """What the server says of itself and its tools.

        It is asked, unless it said so `within` that many seconds and announced no change since.
        Raises `ToolError`.
        """
        due = anyio.current_time() - within
        if self._listed is not None and self._listed_at >= due:
            return self._listed
        async with self._listing:
            if self._listed is not None and self._listed_at >= due:  # asked for meanwhile
                return self._listed
            self._announced = False
            try:
                tools = await self._list()
            except Exception as error:
                if isinstance(error, MCPError) and error.code == SESSION_OVER:
                    self.broken.because(printable(error.message))
                raise ToolError(self._no_list(error)) from error
            self._listed = None if self._announced else tools
            self._listed_at = anyio.current_time()
            return tools

    def _no_list(self, error: Exception) -> str:
        """Why there is no list of tools, in one line."""
        if isinstance(error, TimeoutError):
            why = f"it did not answer in {self.server.connect_timeout:g} s"
        else:
            why = self.broken.reason if _is_closed(error) else ""
        why = self._with_last_words(why or _told(error))
        return f"the MCP server {self.server.name} does not list its tools: {why}"

    async def _list(self) -> ServerPins:
        info, listing = self.client.server_info, ServerListing([], (), {})
        if self.client.server_capabilities.tools is not None:
            with anyio.fail_after(self.server.connect_timeout):
                listing = await list_tools(self.client.session, modern=self.modern)
        self._headers = listing.headers
        self._last = pins_of(
            self.server.address,
            info.name if info else "",
            info.version if info else "",
            self.client.instructions or "",
            listing.tools,
            listing.notes,
        )
        return self._last

    def output_schema(self, tool: str) -> Json:
        """What the tool says of its results, by the last list; None if nothing."""
        known = {} if self._last is None else self._last.by_name.get(tool, {})
        return known.get("outputSchema")

    def headers(self, tool: str, args: dict[str, Json]) -> dict[str, str]:
        """The arguments of a call that its server wants in headers too, by the last list."""
        return mcp_param_headers(self._headers.get(tool, {}), args)

    def _outdated(self) -> None:
        self._listed, self._announced = None, True

    @asynccontextmanager
    async def open(self) -> AsyncGenerator["Connection"]:
        """Connect; it is left when it breaks.

        Raises `ToolError` where it cannot be made, and where it broke while it was in use: whoever
        uses it is cut off then, and learns why.
        """
        error: Exception | None = None
        thrown: Exception | None = None
        in_use = False
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch, group.cancel_scope)
                group.start_soon(self._await_opening)
                async with self.client:
                    self._pending = PendingRequests(
                        self.server.name, group, self.broken, asks_at_any_time=not self.modern
                    )
                    self.opened.set()
                    if self.modern:
                        group.start_soon(self._listen)
                    in_use = True
                    try:
                        yield self
                        in_use = False
                    except Exception as raised:  # noqa: BLE001 - of whoever uses it; raised below
                        thrown = raised
                self.broken.because("the connection was closed")
                group.cancel_scope.cancel()
        except Exception as raised:  # noqa: BLE001 - whatever it is, the connection is of no use
            error = raised
        if not self.opened.is_set():
            raise ToolError(self._why_not(error)) from error
        self.broken.because("the connection failed" if error is None else _told(error))
        self.left.set()
        if thrown is not None:
            raise thrown
        if in_use:
            why = self._with_last_words(self.broken.reason)
            raise ToolError(f"the MCP server {self.server.name} went away: {why}") from error

    async def _watch(self, scope: anyio.CancelScope) -> None:
        """Leave the connection once it is broken."""
        await self.broken.event.wait()
        scope.cancel()

    async def _await_opening(self) -> None:
        """Give up a connection that takes too long to make."""
        with anyio.move_on_after(self.server.connect_timeout):
            await self.opened.wait()
            return
        self.broken.because(f"it did not answer in {self.server.connect_timeout:g} s")

    def _why_not(self, error: Exception | None) -> str:
        why = self.broken.reason
        if error is not None and not (why and _is_closed(error)):
            why = _told(error)
        return f"no connection to the MCP server {self.server.name}: {self._with_last_words(why)}"

    def _with_last_words(self, why: str) -> str:
        """A reason, with what the server's process wrote last."""
        last_words = self.process.last_words() if self.process else ""
        return f"{why}; {last_words}" if last_words else why

    async def _listen(self) -> None:
        """Hear of changes of the list of tools, as the stateless protocol tells them."""
        tools = self.client.server_capabilities.tools
        if tools is None or not tools.list_changed:
            return
        delay = _FIRST_DELAY
        while True:
            with suppress(Exception):  # the list is asked for from time to time all the same
                async with self.client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self._outdated()
            self._outdated()
            delay = min(delay * 5, _MAX_DELAY)
            await anyio.sleep(delay)

    async def _hear(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._outdated()
        elif isinstance(message, Exception):
            LOG.debug("MCP server %s sent an invalid message: %s", self.server.name, message)

    async def _elicit(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Put a question of the server to a person: the call that it is about is held."""
        del context
        if (pending := self.pending.asked_about()) is None:
            message = "cannot ask a person: several runs share this connection"
            return types.ErrorData(code=types.INVALID_REQUEST, message=message)
        if isinstance(params, types.ElicitRequestURLParams):
            await pending.ask(Question(to_open(params.message, params.url), None))
            return types.ElicitResult(action="accept")
        asks: Any = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        answer = await pending.ask(Question(printable(params.message), asks["requestedSchema"]))
        return types.ElicitResult(action="accept", content=answer)

    async def _sample(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        del context
        return await sample(params, self.pending.asked_about(), self.server.sampling)

    async def _roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        del context
        roots: list[types.Root] = []
        for each in self.server.roots:
            folder = await anyio.Path(each).absolute()
            root = {"uri": folder.as_uri(), "name": folder.name}
            roots.append(types.Root.model_validate(root))
        return types.ListRootsResult(roots=roots)


def open_connection(settings: McpServer) -> AbstractAsyncContextManager[Connection]:
    """A connection to a server, whose variables get their values here. Raises `ConfigError`."""
    return Connection(settings).open()


async def _log(params: types.LoggingMessageNotificationParams) -> None:
    LOG.debug("MCP server: %s: %s", params.level, printable(str(params.data)))


def _leaf(error: BaseException) -> BaseException:
    """What a group of exceptions is about."""
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return _leaf(inner[0]) if inner else error


def _is_closed(error: Exception) -> bool:
    leaf = _leaf(error)
    return isinstance(leaf, MCPError) and leaf.code == types.CONNECTION_CLOSED


def _told(error: Exception) -> str:
    """An error of the SDK in one line."""
    leaf = _leaf(error)
    if isinstance(leaf, MCPError):
        # the SDK's own word for an answer that is none goes on with a line for each way to read it
        head = leaf.message.partition("\n")[0]
        return printable(head if leaf.code == types.PARSE_ERROR else leaf.message)
    if isinstance(leaf, ValidationError):
        first = leaf.errors()[0]
        return f"what it sent is none: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    if isinstance(leaf, (ClewError, RuntimeError)):
        return printable(str(leaf))
    return printable(described(leaf))
