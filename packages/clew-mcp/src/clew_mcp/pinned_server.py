"""What the tools of one server share: its settings, its pins, and the way to its connection.

The connection is the run's owner's, so many runs share one; it is opened at the first call. The SDK
is imported then too: it is dear, and many a run calls no such tool.
"""

import importlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import anyio
import msgspec

from clew import ConfigError, Observation, ToolError, Trajectory, Usage, Verdict
from clew.core.contents import Spending
from clew.interfaces import CALL, EFFECTFUL, CallContext, Effect, Json, Judged, Model, Ruling
from clew.support.schema_parts import keywords
from clew.tools import hold_open
from clew_mcp.outcomes import ConnectionLost, SessionOver
from clew_mcp.pin_changes import MAX_QUESTION_CHARS, changes
from clew_mcp.pins import ServerPins
from clew_mcp.settings import McpServer

_FRESH: Final = 60.0
_FRESH_FOR_EFFECTS: Final = 1.0
"""Seconds for which a list of tools is good enough for a call, if the server announces no change:
for one that only reads, and for one that has effects or that nobody has classified."""

_FIRST_DELAY: Final = 0.5
_MAX_DELAY: Final = 8.0
"""Seconds between attempts to connect to a server that could not be reached."""

_SAME: Final = 1.0
"""Seconds within which a call follows upon its guard."""

_TRIES: Final = 5
"""How often one call asks anew for its task while the server cannot be reached. A session that the
server has forgotten is begun anew once."""


class _Failed(NamedTuple):
    """The last attempt to connect that failed: for which call, when, and why."""

    call: str
    at: float
    why: str


class PinnedServer:
    """The way to one server, for its tools and their guard."""

    def __init__(
        self,
        server: McpServer,
        pins: ServerPins,
        model: Model | None = None,
        rejected: Sequence[str] = (),
        accept: str = "",
    ) -> None:
        self.server = server
        self.pins = pins
        self._rejected = rejected
        self._accept = accept or f"clew mcp pins accept {server.name}"
        self.model = model
        self._delay = 0.0
        self._next = 0.0
        self._failed = _Failed("", 0.0, "")

    async def connection(self, call: str = "") -> Any:
        """The owner's connection to the server, opened if it is not.

        After a failure it waits a little longer each time before it tries again; for one `call`,
        which its guard asks about first, it tries once. Raises `ToolError` where the server cannot
        be reached: then nothing was done.
        """
        now = anyio.current_time()
        if call and self._failed.call == call and now < self._failed.at + _SAME:
            raise ToolError(self._failed.why)
        if (wait := self._next - now) > 0:
            await anyio.sleep(wait)
        try:
            held = await self._held()
        except (ToolError, ConfigError) as error:
            now = anyio.current_time()
            self._delay = min(max(self._delay * 2, _FIRST_DELAY), _MAX_DELAY)
            self._next = now + self._delay
            self._failed = _Failed(call, now, str(error))
            raise ToolError(str(error)) from error
        self._delay = self._next = 0.0
        return held

    async def _held(self) -> Any:
        key, sdk = ("mcp", self.server.key), await sdk_module("connection")
        while True:
            held = await hold_open(key, lambda: sdk.open_connection(self.server))
            if not held.broken.event.is_set():
                return held
            await held.left.wait()  # then the next one is a new one

    async def verdict(self, record: Trajectory, call: str, effect: Effect) -> Verdict | None:
        """A hold with what differs, if the server says something else now than what was pinned.

        A denial, if somebody rejected just that.

        None also where a person has seen that very difference for this call, and allowed it.
        """
        connection = await self.connection(call)
        within = _FRESH_FOR_EFFECTS if effect in EFFECTFUL else _FRESH
        now: ServerPins = await connection.listing(within)
        if now.digest == self.pins.digest:
            return None
        name, mark = self.server.name, f"[{now.digest[:16]}]"
        if now.digest in self._rejected:
            return Verdict(
                "deny",
                f"the MCP server {name} says of itself and its tools what somebody rejected {mark}",
            )
        if now.digest in _allowed(record, call):
            return None
        lines = "\n".join(changes(self.pins, now))
        if len(lines) > MAX_QUESTION_CHARS:
            return Verdict(
                "deny",
                f"the MCP server {name} is not what was pinned; what differs is more than a "
                f"question shows ({len(lines):,} characters): `{self._accept}` shows all of it "
                f"{mark}",
            )
        return Verdict(
            "hold",
            f"the MCP server {name} is not what was pinned:\n{lines}\n"
            f"`{self._accept}` accepts this for later runs; allowing the call covers only this one "
            f"{mark}",
            shows=now.digest,
        )

    async def call(self, tool: str, args: dict[str, Json], key: str, effect: Effect) -> Any:
        """Call a tool: an `Observation`, or a `Verdict` that holds the call."""
        support = keywords(self.pins.by_name[tool].get("execution")).get("taskSupport")
        wants_task = support == "required" or (support == "optional" and effect in EFFECTFUL)
        calls = await sdk_module("tool_calls")
        trust = "trusted" if tool in self.server.trusted else "untrusted"

        def request(connection: Any) -> Callable[[Any], Awaitable[Any]]:
            made: Callable[[Any], Awaitable[Any]] = calls.tool_call(
                connection, tool, args, trust, wants_task=wants_task
            )
            return made

        return await self.make(request, key, effect)

    async def make(
        self,
        request: Callable[[Any], Callable[[Any], Awaitable[Observation]]],
        key: str,
        effect: Effect,
    ) -> Any:
        """Make a request, unless the server is not what was pinned: a `Verdict` holds it then.

        One that became a task is asked for again until somebody answers. One of a session that the
        server has forgotten did nothing, and is made in a new one.
        """
        if (context := CALL.get()) is None:
            message = "tools of MCP servers are called in runs only: make the call in a run"
            raise ToolError(message)
        if not context.task and (held := await self._held_up(key, context, effect)) is not None:
            return held
        tries, delay = 0, _FIRST_DELAY
        while True:
            task = context.task
            try:
                connection = await self.connection()
                pending = connection.pending.take(key, context, self.model, request(connection))
                try:
                    value = await connection.pending.outcome(pending)
                finally:
                    task = pending.task
                return _returned(self.server.name, value, pending.usage)
            except (ConnectionLost, ToolError) as error:
                if not task and not isinstance(error, SessionOver):
                    raise
                tries += 1
                if tries > (_TRIES if task else 1):
                    raise _abandoned_error(task, error) from error
                context = replace(context, task=task)
            await anyio.sleep(delay)
            delay = min(delay * 2, _MAX_DELAY)

    async def _held_up(self, key: str, context: CallContext, effect: Effect) -> Verdict | None:
        """The verdict that holds a call which is about to be made. Raises `ToolError`."""
        verdict = await self.verdict(context.record, key.rpartition(":")[2], effect)
        if verdict is not None and verdict.kind == "deny":
            raise ToolError(verdict.reason)
        return verdict


def _abandoned_error(task: str, error: ConnectionLost | ToolError) -> Exception:
    """What to raise at last: a task began, so it is not known to have done nothing."""
    if not task:
        return error
    return ConnectionLost(f"the task {task} began, and cannot be asked for: {error}")


def _returned(server: str, value: Any, usage: Usage) -> Observation | Verdict:
    """The observation with what it took, or what holds the call while a person is asked."""
    if isinstance(value, Observation):
        spent = Spending(usage=usage) if usage.tokens else None
        return value if spent is None else msgspec.structs.replace(value, spent=spent)
    return Verdict(
        "hold",
        f"the MCP server {server} asks: {value.text}\n"
        "(if this process has ended when you answer, the call is made anew)",
        asks=value.asks,
        shows=value.fingerprint,
    )


def _allowed(record: Trajectory, call: str) -> set[str]:
    """What people were shown when they allowed this call: digests of the server's definitions."""
    allowed: set[str] = set()
    unpinned = ""
    for entry in record.entries:
        match entry.event:
            case Judged(call=key, verdict=Verdict(kind="hold", shows=shows)) if key == call:
                unpinned = shows
            case Ruling(call=key, allow=True) if key == call:
                allowed.add(unpinned)
            case _:
                pass
    return allowed


async def sdk_module(name: str) -> Any:
    """A module of this room that stands on the SDK, imported when it is first needed.

    The first import takes so long that it is made in a thread; a call makes three of them. Who
    waits for it may give up, as the guard does on a busy machine: the import goes on.
    """
    if (known := _IMPORTED.get(name)) is None:
        module = f"clew_mcp.{name}"
        known = _IMPORTED[name] = await anyio.to_thread.run_sync(
            importlib.import_module, module, abandon_on_cancel=True
        )
    return known


_IMPORTED: Final[dict[str, Any]] = {}
"""The modules whose import is complete (in `sys.modules` one may be that is only begun)."""
