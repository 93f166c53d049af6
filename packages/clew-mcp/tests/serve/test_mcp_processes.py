"""`clew mcp serve` as a process: killed, interrupted, left, and reached by those who may not."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from clew import follow, read
from clew.stores import store_at
from tests.patience import PATIENCE
from tests.serve.served import TASKS, begin_task, raw, until, words

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

AGENT = "keeper=tests.serve.process_agents:keeper"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


def command(folder: Path, *more: str) -> list[str]:
    store = str(folder / "runs.sqlite")
    served = [AGENT, "--trust-questions", "--store", store, *more]
    return [sys.executable, "-m", "clew_cli", "mcp", "serve", *served]


def environment(folder: Path, **more: str) -> dict[str, str]:
    path = os.pathsep.join(sys.path)  # each package has a part of `tests`
    return {**os.environ, "SERVED_FOLDER": str(folder), "PYTHONPATH": path, **more}


def over_stdio(folder: Path) -> StdioServerParameters:
    program, *rest = command(folder)
    return StdioServerParameters(command=program, args=rest, env=environment(folder))


class Http:
    """A server over HTTP: its address, and its process."""

    def __init__(self, folder: Path, *more: str, **env: str) -> None:
        self.process = subprocess.Popen(
            command(folder, "--http", "127.0.0.1:0", *more),
            env=environment(folder, **env), stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.said: list[str] = []
        try:
            self.url = self.line("serving").rpartition(" ")[2]
        except BaseException:  # nobody else could end it
            self.end()
            raise

    def line(self, part: str) -> str:
        """The next line on stderr that has this part."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if part in line:
                return line.strip()
        raise AssertionError(self.said)

    def end(self, number: int = signal.SIGKILL) -> int:
        """Send it a signal, and wait for its end."""
        self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return code


@asynccontextmanager
async def client_of(
    url: str, headers: Mapping[str, str] | None = None, mode: str = "legacy"
) -> AsyncGenerator[Client]:
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, extensions=TASKS) as client:
            yield client


async def there(path: Path) -> None:
    """Wait for a file."""
    with anyio.fail_after(PATIENCE):
        while not path.exists():
            await anyio.sleep(0.02)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_killed_server_loses_no_task_and_repeats_no_effect(
    tmp_path: Path, mode: str
) -> None:
    first = Http(tmp_path, "--no-token")
    async with client_of(first.url, mode=mode) as client:
        run_id = await begin_task(client, "Write to Ada.")
        await there(tmp_path / "waiting")
        first.end(signal.SIGKILL)
    (tmp_path / "open").touch()
    second = Http(tmp_path, "--no-token")
    try:
        async with client_of(second.url, mode=mode) as client:
            if mode == "legacy":
                result = await raw(client, "tasks/result", taskId=run_id)
            else:
                result = (await until(client, run_id, "completed"))["result"]
    finally:
        assert second.end(signal.SIGTERM) == 0
    assert result["content"][0]["text"] == "It is sent."
    assert (tmp_path / "sent").read_text("utf-8") == "Dear Ada\n"


async def test_a_client_that_leaves_in_mid_call_does_not_end_its_run(tmp_path: Path) -> None:
    server = Http(tmp_path, "--no-token")
    try:
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            hello = await http.post(server.url, json=HELLO, headers=ACCEPT)
            session = {**ACCEPT, "mcp-session-id": hello.headers["mcp-session-id"]}
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await http.post(server.url, json=ready, headers=session)
            params = {"name": "keeper", "arguments": {"question": "Write to Ada."}}
            call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
            async with http.stream("POST", server.url, json=call, headers=session):
                await there(tmp_path / "waiting")
        (tmp_path / "open").touch()
        async with client_of(server.url) as client:
            (task,) = (await raw(client, "tasks/list"))["tasks"]
            result = await raw(client, "tasks/result", taskId=task["taskId"])
    finally:
        server.end(signal.SIGTERM)
    assert result["structuredContent"]["answer"] == "It is sent."


async def test_over_stdio_what_is_open_is_continued_by_the_next_server(tmp_path: Path) -> None:
    async with Client(over_stdio(tmp_path), mode="legacy") as client:
        run_id = await begin_task(client, "Write to Ada.")
        await there(tmp_path / "waiting")
    (tmp_path / "open").touch()
    async with Client(over_stdio(tmp_path), mode="auto") as client:
        async for _ in follow(run_id, store=str(tmp_path / "runs.sqlite")):
            pass
        other = await client.call_tool("keeper", {"question": "Again."})
    assert words(other) == "It is sent."
    record = await read(run_id, store=str(tmp_path / "runs.sqlite"))
    assert record.stop is not None
    assert record.stop.answer == "It is sent."
    assert (tmp_path / "sent").read_text("utf-8") == "Dear Ada\n" * 2


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_over_stdio_a_call_that_is_cancelled_cancels_its_run(
    tmp_path: Path, mode: str
) -> None:
    store = str(tmp_path / "runs.sqlite")
    async with Client(over_stdio(tmp_path), mode=mode) as client:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "keeper", {"question": "Write to Ada."})
            await there(tmp_path / "waiting")
            group.cancel_scope.cancel()
        (listed,) = (await client.list_resources()).resources
        run_id = listed.name
        async with store_at(store) as place:
            with anyio.fail_after(PATIENCE):
                while not await place.inbox(run_id):
                    await anyio.sleep(0.02)
        (tmp_path / "open").touch()
        async for _ in follow(run_id, store=store):
            pass
    stop = (await read(run_id, store=store)).stop
    assert stop is not None
    assert (stop.status, stop.reason) == ("interrupted", "the client cancelled it")


async def test_ctrl_c_lets_each_run_finish_its_step(tmp_path: Path) -> None:
    server = Http(tmp_path, "--no-token")
    async with client_of(server.url) as client:
        run_id = await begin_task(client, "Write to Ada.")
        await there(tmp_path / "waiting")
    server.process.send_signal(signal.SIGINT)
    await anyio.to_thread.run_sync(server.line, "leaving when 1 run(s)")
    (tmp_path / "open").touch()
    assert await anyio.to_thread.run_sync(server.process.wait, PATIENCE) == 0
    server.process.stderr.close() if server.process.stderr is not None else None
    record = await read(run_id, store=str(tmp_path / "runs.sqlite"))
    observation = record.call("2.1").observation
    assert observation is not None
    assert (observation.content, record.stop) == ("the door is open", None)


async def test_a_second_ctrl_c_stops_at_once(tmp_path: Path) -> None:
    server = Http(tmp_path, "--no-token")
    async with client_of(server.url) as client:
        run_id = await begin_task(client, "Write to Ada.")
        await there(tmp_path / "waiting")
    server.process.send_signal(signal.SIGINT)
    await anyio.to_thread.run_sync(server.line, "leaving when 1 run(s)")
    assert server.end(signal.SIGINT) == 130
    record = await read(run_id, store=str(tmp_path / "runs.sqlite"))
    assert record.stop is None


async def test_only_who_has_the_token_and_comes_by_a_known_name_is_let_in(tmp_path: Path) -> None:
    server = Http(
        tmp_path, "--token-env", "MY_TOKEN", "--allow-host", "clew.example", MY_TOKEN="abc"
    )
    known = {**ACCEPT, "authorization": "Bearer abc"}
    port = server.url.split(":")[2].split("/")[0]
    cases = [
        (ACCEPT, 401),
        ({**ACCEPT, "authorization": "Bearer abd"}, 401),
        ({**ACCEPT, "authorization": "Basic abc"}, 401),
        (known, 200),
        ({**known, "host": f"localhost:{port}"}, 200),
        ({**known, "host": "clew.example"}, 200),
        ({**known, "origin": "https://clew.example"}, 200),
        ({**known, "host": "evil.example"}, 421),
        ({**known, "host": f"evil.example:{port}"}, 421),
        ({**known, "origin": "http://evil.example"}, 403),
        ({**known, "origin": "null"}, 403),
    ]
    try:
        async with httpx2.AsyncClient(timeout=PATIENCE) as http:
            for headers, status in cases:
                answer = await http.post(server.url, json=HELLO, headers=headers)
                assert (headers, answer.status_code) == (headers, status)
    finally:
        server.end(signal.SIGTERM)
    assert "abc" not in "".join(server.said)


async def test_a_token_of_one_s_own_is_made_and_said_once(tmp_path: Path) -> None:
    server = Http(tmp_path)
    try:
        token = server.line("token of this server").rpartition(" ")[2]
        async with client_of(server.url, {"authorization": f"Bearer {token}"}) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["keeper"]
    finally:
        server.end(signal.SIGTERM)
