"""Answers that are not to the letter: what is meant is read, else the call ends at once.

Nothing is timed: a call that is not ended would end by its deadline, and with the code `timeout`.
"""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, TypeAlias

import anyio
import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.core.contents import Observation
from clew.testing.models import ScriptedModel, act, acts, finish
from clew_mcp import McpServer, mcp_tools
from tests.mcp.odd_server import frame, good, result_of, strangers
from tests.mcp.web import serving
from tests.patience import PATIENCE

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),  # uvicorn's
]

Transport: TypeAlias = Literal["stdio", "json", "events"]

READ = (
    "no version", "another version", "a version that is a number", "over several lines",
    "two lines", "line breaks in a text", "no version over several lines", "id null", "no id",
    "an id that is true", "an id as a list", "an id as a float",
    "an id as a text", "an id as a float in a text", "a byte order mark", "a batch",
    "a batch without versions", "a log line before it", "a log line behind it", "twice in a line",
    "3,000 levels", "3,000 levels beside it", "a number of 6,000 digits", "half a character",
    "a byte of Latin-1", "a control character", "no number", "carriage returns",
)  # fmt: skip
LOST = (
    "cut", "cut before the result", "a comma too much", "as Python writes it",
    "a result that is a number", "a result that is a list", "neither result nor error",
    "no id, and a comma too much", "id null, and cut", "no colon", "a bracket of another kind",
)  # fmt: skip
TRANSPORTS: tuple[Transport, ...] = ("stdio", "json", "events")


def over_http(transport: Transport, fault: str, method: str, *, two: bool) -> Any:
    """An ASGI application whose answers to `method` have the fault."""
    both = anyio.Event()
    calls: list[object] = []

    async def answer(said: dict[str, Any]) -> bytes:
        result, number = result_of(said["method"]), said["id"]
        if said["method"] != method:
            return json.dumps(good(number, result)).encode()
        calls.append(number)
        if not two:
            return frame(fault, number, result)
        if len(calls) > 1:
            both.set()
            return json.dumps(good(number, result)).encode()
        await both.wait()
        return frame(fault, number, result)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for phase in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{phase}.complete"})
            return
        body, more = b"", True
        while more:
            piece = await receive()
            body, more = body + piece.get("body", b""), piece.get("more_body", False)
        said = json.loads(body) if scope["method"] == "POST" else {}
        status, kind, out = 405 if not said else 202, b"text/plain", b""
        if "id" in said:
            status, kind, out = 200, b"application/json", await answer(said)
            if transport == "events":
                kind = b"text/event-stream"
                lines = out.replace(b"\r\n", b"\n").split(b"\n")
                out = b"".join(b"data: " + line + b"\n" for line in lines) + b"\n"
        headers = [(b"content-type", kind)]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": out})

    return app


@asynccontextmanager
async def server(
    transport: Transport, fault: str, method: str, *, two: bool = False, **more: Any
) -> AsyncGenerator[McpServer]:
    if transport == "stdio":
        script = Path(__file__).with_name("odd_server.py")
        args = (str(script), fault, method, "two" if two else "one")
        yield McpServer(name="odd", command=sys.executable, args=args, timeout=PATIENCE, **more)
        return
    async with serving(over_http(transport, fault, method, two=two)) as url:
        yield McpServer(name="odd", url=url, timeout=PATIENCE, **more)


async def called(server: McpServer, folder: Path, move: Any) -> list[Observation]:
    tools = await mcp_tools(server, pins=folder / "pins.json")
    store = MemoryStore()
    ended = await run(Agent(ScriptedModel([move, finish("done")]), tools=tools), "go", store=store)
    assert ended.status == "answered"
    record = await read(ended.run_id, store=store)
    return [call.observation for call in record.calls if call.observation][:-1]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", READ)
async def test_what_is_meant_is_read(
    tmp_path: Path, transport: Transport, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with server(transport, fault, "tools/call") as one:
        (seen,) = await called(one, tmp_path, act("odd_a"))
    assert (seen.ok, seen.outcome) == (True, "done")
    assert seen.text.startswith("found")
    told = [line for line in caplog.messages if "does not keep to the protocol" in line]
    assert len(told) == len({*told})


@pytest.mark.parametrize("transport", TRANSPORTS[1:])
async def test_in_the_reply_to_a_request_the_id_does_not_matter(
    tmp_path: Path, transport: Transport
) -> None:
    async with server(transport, "an id of nobody", "tools/call") as one:
        (seen,) = await called(one, tmp_path, act("odd_a"))
    assert (seen.outcome, seen.text) == ("done", "found")


@pytest.mark.parametrize("two", [False, True], ids=["one waits", "two wait"])
@pytest.mark.parametrize("fault", strangers(1))
async def test_an_answer_to_another_request_is_nobodys_result(
    tmp_path: Path, fault: str, two: bool, caplog: pytest.LogCaptureFixture
) -> None:
    calls = acts(act("odd_a", n=1), act("odd_a", n=2)) if two else act("odd_a")
    async with server("stdio", fault, "tools/call", two=two, effects={"a": "read"}) as one:
        seen = await called(one, tmp_path, calls)
    assert [(each.outcome, each.text) for each in seen] == [("done", "found")] * (1 + two)
    told = [line for line in caplog.messages if "a request that was never made" in line]
    assert len(told) == ("before" not in fault)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", LOST)
async def test_what_cannot_be_told_is_unknown_at_once_and_quoted(
    tmp_path: Path, transport: Transport, fault: str
) -> None:
    async with server(transport, fault, "tools/call") as one:
        (seen,) = await called(one, tmp_path, act("odd_a"))
    assert (seen.ok, seen.code, seen.outcome) == (False, "crashed", "unknown")
    assert "its answer is not a message of the protocol: " in seen.text
    assert ("found" in seen.text) == (b"found" in frame(fault, 1, result_of("tools/call")))


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", [*READ, *LOST])
async def test_of_two_calls_at_once_only_its_own_is_ended(
    tmp_path: Path, transport: Transport, fault: str
) -> None:
    async with server(transport, fault, "tools/call", two=True, effects={"a": "read"}) as one:
        seen = await called(one, tmp_path, acts(act("odd_a", n=1), act("odd_a", n=2)))
    assert sorted(each.ok for each in seen) == [fault in READ, True]
    assert [each.code for each in seen if not each.ok] == ["crashed"] * (fault in LOST)


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", [*READ, *LOST])
async def test_a_list_of_tools_is_read_or_refused_at_once(
    tmp_path: Path, transport: Transport, fault: str
) -> None:
    async with server(transport, fault, "tools/list", connect_timeout=PATIENCE) as one:
        if fault in READ:
            (tool,) = await mcp_tools(one, pins=tmp_path / "pins.json")
            assert tool.name == "odd_a"
            return
        with pytest.raises(ConfigError, match="is not a message of the protocol") as told:
            await mcp_tools(one, pins=tmp_path / "pins.json")
    assert len(str(told.value).splitlines()) == 1
