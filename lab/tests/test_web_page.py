"""The application of docs/streams.md as it stands, behind a real server."""

import asyncio
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from clew import Limits, read, result_of
from clew.guards import Provenance
from clew.interfaces import OnText, Prompt, Reply
from clew.testing import ScriptedModel, act, acts, say
from tests.patience import PATIENCE
from tests.type_checkers import CHECKERS

fastapi = pytest.importorskip("fastapi", reason="the extra tests of the lab brings it")
import uvicorn  # noqa: E402 - what is not there is skipped first

PAGE = Path(__file__).parents[2] / "docs" / "streams.md"
USER = {"x-user": "ada"}


def source() -> str:
    """The page's program."""
    (text,) = re.findall(r"```python [^\n]*\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return str(text)


@pytest.mark.slow
@pytest.mark.parametrize("refused", CHECKERS)
def test_the_program_has_types_as_it_stands(refused: Any, tmp_path: Path) -> None:
    lines, report = refused(source(), tmp_path)
    assert lines == set(), report


def program(**others: Any) -> dict[str, Any]:
    """What the page's program makes; `others` take the place of parts of its agent."""
    text = source()
    names: dict[str, Any] = {"__name__": "web_page"}
    exec(compile(text, str(PAGE), "exec"), names)
    if others:
        names["support"] = names["support"].replace(**others)
    return names


def application(**others: Any) -> Any:
    """The page's application."""
    return program(**others)["app"]


class Hanging(ScriptedModel):
    """A provider that takes the request and never answers."""

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        await anyio.sleep_forever()
        raise AssertionError


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
        assert (first[-1][1], first[-1][2]["status"]) == ("Result", "held")
        states = [data["state"] for _, kind, data in first if kind == "Call"]
        assert states == ["waiting"]
        (waiting,) = (await client.get("/approvals")).json()
        assert waiting["tool"] == "refund"
        after = {**USER, "last-event-id": first[0][0]}
        rest = events_of((await client.get(f"/runs/{run_id}/events", headers=after)).text)
        others = await client.get(f"/runs/{run_id}/events", headers={"x-user": "eve"})
        gone = await client.get("/runs/gone/events", headers=USER)
        assert (others.status_code, gone.status_code) == (404, 404)
        assert rest == first[1:]
        nowhere = await client.get(f"/runs/{run_id}/events", headers={**USER, "last-event-id": "x"})
        assert nowhere.status_code == 400
    async with served(app) as client:  # as after a deployment
        ruling = await client.post(
            f"/approvals/{waiting['id']}", json={"allow": True}, headers=USER
        )
        result = ruling.json()
        assert (result["status"], result["answer"]) == ("answered", "You get 30 euros back.")
        late = await client.post(f"/approvals/{waiting['id']}", json={"allow": False}, headers=USER)
        assert late.status_code == 409


async def asked(client: httpx2.AsyncClient) -> tuple[str, list[tuple[str, str, dict[str, Any]]]]:
    """The id of a new run and its events, once it stops."""
    reply = await client.post("/ask", json={"question": "Refund A7 and A8."}, headers=USER)
    return reply.headers["x-run"], events_of(reply.text)


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_of_two_calls_each_is_ruled_on_alone_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> None:
    monkeypatch.chdir(tmp_path)
    both = acts(act("refund", order="A7", amount=30), act("refund", order="A8", amount=5))
    app = application(model=ScriptedModel([both, say("Done.")]), guards=[Provenance("off")])
    async with served(app) as client:
        run_id, _ = await asked(client)
        first, second = (await client.get("/approvals")).json()
        yes, no = {"allow": True}, {"allow": False}
        twice = await asyncio.gather(
            *[client.post(f"/approvals/{first['id']}", json=yes, headers=USER) for _ in range(2)]
        )
        assert {reply.status_code for reply in twice} <= {200, 409}
        assert [one["id"] for one in (await client.get("/approvals")).json()] == [second["id"]]
        last = await client.post(f"/approvals/{second['id']}", json=no, headers=USER)
        assert last.json()["status"] == "answered"
        record = await read(run_id, store="support.sqlite")
        made = [call.outcome for call in record.calls if call.action.name == "refund"]
        assert made == ["done", "not_done"]
        assert len(record.call("1.1").attempts) == 1


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_wrong_argument_is_refused_before_a_person_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> None:
    monkeypatch.chdir(tmp_path)
    script = [act("refund", order="A7", amount="thirty"), say("I could not.")]
    async with served(application(model=ScriptedModel(script))) as client:
        _, events = await asked(client)
        assert events[-1][2]["event"] == "result"
        assert (await client.get("/approvals")).json() == []


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_provider_that_hangs_shows_at_once_and_ends_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> None:
    monkeypatch.chdir(tmp_path)
    app = application(model=Hanging([]), limits=Limits(seconds=3, landing=False))
    async with served(app) as client:
        run_id, events = await asked(client)
        assert (await read(run_id, store="support.sqlite")).stop
        assert events[-1][2]["status"] == "bound"


KILLED = """
import re, sys, uvicorn
text = re.findall(r"```python [^\\n]*\\n(.*?)```", open(sys.argv[1]).read(), re.DOTALL)[0]
pays = 'open("ledger.txt", "a").write(ctx.key); await __import__("anyio").sleep_forever()'
names = {"__name__": "web"}
exec(text.replace('    return f"refunded', f'    {pays}\\n    return f"refunded'), names)
uvicorn.run(names["app"], fd=int(sys.argv[2]), log_level="warning")
"""


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_process_killed_after_the_refund_pays_once_and_the_next_says_that_it_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, anyio_backend: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        number = listening.fileno()
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(PAGE), str(number)], pass_fds=[number]
        )
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            async with httpx2.AsyncClient(base_url=address, timeout=PATIENCE) as client:
                run_id, _ = await asked(client)
                (one,) = (await client.get("/approvals")).json()
                ruling = client.post(f"/approvals/{one['id']}", json={"allow": True}, headers=USER)
                task = asyncio.create_task(ruling)
                while not (tmp_path / "ledger.txt").exists():
                    await asyncio.sleep(0.01)
                child.send_signal(signal.SIGKILL)
                await asyncio.gather(task, return_exceptions=True)
        finally:
            child.kill()
            child.wait(PATIENCE)
    app = program()
    async with served(app["app"]) as client:
        text = (await client.get(f"/runs/{run_id}/events", headers=USER)).text
        assert events_of(text)[-1][2]["status"] == "answered"
        result = await result_of(app["support"], run_id)
    assert [call.id for call in result.unknown] == [f"{result.run_id}:1.1"]
    assert (tmp_path / "ledger.txt").read_text() == f"{run_id}:1.1"
