"""The application of docs/web.md as it stands, behind a real server."""

import asyncio
import json
import re
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

fastapi = pytest.importorskip("fastapi", reason="the extra tests of the lab brings it")
import uvicorn  # noqa: E402 - what is not there is skipped first

PAGE = Path(__file__).parents[2] / "docs" / "web.md"
USER = {"x-user": "ada"}


def application() -> Any:
    """What the page's program makes."""
    (program,) = re.findall(r"```python [^\n]*\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "web_page"}
    exec(compile(program, str(PAGE), "exec"), names)
    return names["app"]


@asynccontextmanager
async def served(app: Any) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of the application, which runs on a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
        task = asyncio.create_task(server.serve([listening]))
        try:
            async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
                yield client
        finally:
            server.should_exit = True
            await task


def events_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Id, kind and data of each event."""
    events = re.findall(r"id: (.*)\nevent: (.*)\ndata: (.*)\n\n", text)
    return [(number, kind, json.loads(data)) for number, kind, data in events]


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_ask_leave_come_back_approve_and_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> None:
    monkeypatch.chdir(tmp_path)
    app = application()
    async with served(app) as client:
        asked = await client.post("/ask", json={"question": "Refund A7."}, headers=USER)
        run_id = asked.headers["x-run"]
        first = events_of(asked.text)
        assert [data["event"] for _, kind, data in first if kind == "Entry"][:2] == [
            "started",
            "thought",
        ]
        assert first[-1][2]["status"] == "held"
        (waiting,) = (await client.get("/approvals")).json()
        assert waiting["tool"] == "refund"
        after = {**USER, "last-event-id": first[0][0]}
        rest = events_of((await client.get(f"/runs/{run_id}/events", headers=after)).text)
        others = await client.get(f"/runs/{run_id}/events", headers={"x-user": "eve"})
        gone = await client.get("/runs/gone/events", headers=USER)
        assert (others.status_code, gone.status_code) == (404, 404)
        entries = [one for one in first if one[1] == "Entry"]
        assert [one[2] for one in rest if one[1] == "Entry"] == [one[2] for one in entries[1:]]
    async with served(app) as client:  # as after a deployment
        ruling = await client.post(
            f"/approvals/{waiting['id']}", json={"allow": True}, headers=USER
        )
        result = ruling.json()
        assert (result["status"], result["answer"]) == ("answered", "You get 30 euros back.")
        late = await client.post(f"/approvals/{waiting['id']}", json={"allow": False}, headers=USER)
        assert late.status_code == 409
