"""One request at a server, from when it is sent until its answer is there.

A request that may have to wait for a person runs in a task of its connection and not in that of the
tool's call: when the server asks something in mid-call, the call is held and ends, and the request
stays in flight. When the person has answered, the call is made again and goes on with it.

In the handshake era a server may ask at any time, so every request has such a task. In the
stateless era a question is a result, so only what follows upon that result has one.
"""

import hashlib
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, TypeAlias

import anyio
import anyio.abc
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
    URL_ELICITATION_REQUIRED,
)
from pydantic import ValidationError

from clew import Observation, ToolError, Usage
from clew.interfaces import CallContext, Json, Model
from clew_mcp.outcomes import (
    LOST,
    NOT_REACHED,
    SESSION_LOST,
    SESSION_OVER,
    Broken,
    ConnectionLost,
    ServerFailed,
    SessionOver,
)
from clew_mcp.pins import canonical
from clew_mcp.settings import printable

_NOT_DONE: Final = frozenset({
    NOT_REACHED, METHOD_NOT_FOUND, INVALID_PARAMS, HEADER_MISMATCH, UNSUPPORTED_PROTOCOL_VERSION,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
})  # fmt: skip
"""Codes that a server gives before it does anything."""

OVER: Final = frozenset({CONNECTION_CLOSED, LOST})
"""Codes of requests that were sent, and whose answer will never come."""


class Question(NamedTuple):
    """What a server asks a person in mid-call; `asks` is the JSON Schema of the answer, or None."""

    text: str
    asks: dict[str, Json] | None

    @property
    def fingerprint(self) -> str:
        """Tells it from every other question."""
        return hashlib.sha256(canonical([self.text, self.asks])).hexdigest()


class PendingRequest:
    """A request in flight."""

    def __init__(
        self, key: str, context: CallContext, model: Model | None, request: "Request"
    ) -> None:
        self.key = key
        self.context = context
        self.model = model
        self.request = request
        self.usage = Usage()
        self.task = context.task
        self.question: Question | None = None
        self.over = False
        self.launched = False
        self._first: CallContext | None = context
        self._value: Any = None
        self._error: Exception | None = None
        self._news: anyio.Event  # these two are there once it is launched
        self._scope: anyio.CancelScope
        self._answered: anyio.Event  # these two are there once something is asked
        self._one_at_a_time: anyio.Lock | None = None

    @property
    def run(self) -> str:
        """The run whose call it is."""
        return self.key.rpartition(":")[0]

    def launch(self, group: anyio.abc.TaskGroup, request: "Request", broken: Broken) -> None:
        """Make the request in a task of this group: from now on the server may ask something."""
        self.launched = True
        self._news, self._scope = anyio.Event(), anyio.CancelScope()
        group.start_soon(self._fly, request, broken)

    async def _fly(self, request: "Request", broken: Broken) -> None:
        """Make the request and keep what comes of it; nothing is raised."""
        PENDING.set(self)
        error: Exception | None = None
        cut_off = True
        try:
            with self._scope:
                value = await request(self)
                while not isinstance(value, Observation):
                    value = await value(self)
                self._value = value
                cut_off = False
        except Exception as raised:  # noqa: BLE001 - whatever it is, whoever made the call gets it
            error, cut_off = raised, False
        finally:
            self._error = ConnectionLost(broken.text) if cut_off else error
            self.over, self.question = True, None
            self._news.set()

    async def ask(self, question: Question) -> Json:
        """Put a question to a person, by holding the call; returns the answer."""
        self._one_at_a_time = lock = self._one_at_a_time or anyio.Lock()
        async with lock:
            before, self._first = self._first, None
            if before is not None and (earlier := _earlier_answer(self.key, before)) is not None:
                fingerprint, answer = earlier
                if question.fingerprint == fingerprint:
                    return answer
            self.question, self._answered = question, anyio.Event()
            self._news.set()
            await self._answered.wait()
            return self.context.answer

    def go_on(self, context: CallContext) -> None:
        """The call was made again: its question is answered."""
        self.context = context
        if not self.over:
            self.question, self._news = None, anyio.Event()
            self._answered.set()

    async def outcome(self) -> Any:
        """What came of it, or a `Question`. Raises what the request raised."""
        try:
            await self._news.wait()
        except anyio.get_cancelled_exc_class():
            self._scope.cancel()  # the SDK tells the server
            raise
        if self.question is not None:
            return self.question
        if self._error is not None:
            raise self._error
        return self._value


Request: TypeAlias = Callable[[PendingRequest], Awaitable[Any]]
"""Makes a request: returns an `Observation`, or another `Request`, which is to follow and may have
to wait for a person."""

PENDING: Final[ContextVar[PendingRequest]] = ContextVar("clew.mcp.pending")
"""The request that a question of the server is about, where its transport can tell."""


def _earlier_answer(key: str, context: CallContext) -> tuple[str, Json] | None:
    """The question (its fingerprint) that a person answered for this call, and the answer.

    It was asked in a process that has ended since.
    """
    call = context.record.call(key.rpartition(":")[2])
    if call.verdict is None or call.ruling is None:
        return None
    return call.verdict.verdict.shows, context.answer


class PendingRequests:
    """The requests in flight on one connection; those that wait for a person by their keys."""

    def __init__(
        self, server: str, group: anyio.abc.TaskGroup, broken: Broken, *, asks_at_any_time: bool
    ) -> None:
        self._server = server
        self._group = group
        self._broken = broken
        self._asks_at_any_time = asks_at_any_time
        self._under_way: list[PendingRequest] = []
        self._parked: dict[str, PendingRequest] = {}

    def take(
        self, key: str, context: CallContext, model: Model | None, request: Request
    ) -> PendingRequest:
        """The request of a call: the one that waits for its person's answer, or a new one."""
        pending = self._parked.pop(key, None)
        if pending is None:
            return PendingRequest(key, context, model, request)
        pending.go_on(context)
        return pending

    async def outcome(self, pending: PendingRequest) -> Any:
        """The request's result, or a `Question`: then it waits for the call to be made again.

        Raises `ToolError` where nothing was done, and anything else where that is not known.
        """
        try:
            value = await self._made(pending)
        except MCPError as error:
            return self._meaning(error)
        except ValidationError as error:
            message = f"the MCP server {self._server} sent an invalid answer: {_first(error)}"
            raise ConnectionLost(message) from error
        if isinstance(value, Question):
            self._parked[pending.key] = pending
        return value

    async def _made(self, pending: PendingRequest) -> Any:
        """What comes of a request, which is made here as far as no person can be asked."""
        if not pending.launched:
            request = pending.request
            if not self._asks_at_any_time:
                value = await request(pending)
                if isinstance(value, Observation):
                    return value
                request = value
            pending.launch(self._group, request, self._broken)
        self._under_way.append(pending)
        try:
            return await pending.outcome()
        finally:
            self._under_way.remove(pending)

    def asked_about(self) -> PendingRequest | None:
        """The request that a question of the server is about.

        Where the transport does not tell (stdio), it is the oldest one under way, unless several
        runs are at this server: a question of one run is never shown in another.
        """
        if (known := PENDING.get(None)) is not None or not self._asks_at_any_time:
            return known
        waiting = [pending for pending in self._under_way if pending.question is None]
        return waiting[0] if len({pending.run for pending in waiting}) == 1 else None

    def _meaning(self, error: MCPError) -> Question:
        """Raise what an error of the protocol means, or give the question that is in it."""
        text = f"the MCP server {self._server} says: {printable(error.message)}"
        if error.code == URL_ELICITATION_REQUIRED:
            return _urls(error)
        if error.code == SESSION_OVER:
            self._broken.because(printable(error.message))
            raise SessionOver(text) from error
        if error.code == SESSION_LOST:
            self._broken.because(printable(error.message))
            raise ConnectionLost(text) from error
        if error.code in _NOT_DONE or (
            error.code == INVALID_REQUEST and error.message.startswith("Redirect to")
        ):
            raise ToolError(text) from error
        if error.code in OVER:
            raise ConnectionLost(self._broken.text if self._broken.reason else text) from error
        raise ServerFailed(text) from error


def _urls(error: MCPError) -> Question:
    """The question of a server that wants a person to open an address first."""
    try:
        wanted = UrlElicitationRequiredError.from_error(error.error).elicitations
    except (AttributeError, TypeError, ValidationError):
        return Question(printable(error.message), None)
    lines = [to_open(one.message, one.url) for one in wanted]
    return Question("; ".join(lines) or printable(error.message), None)


def to_open(message: str, url: str) -> str:
    """A question that is answered by opening an address."""
    return f"{printable(message)} (open {printable(url)} yourself, then allow the call)"


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
