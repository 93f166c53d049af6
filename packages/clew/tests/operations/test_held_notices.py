"""Who is told of held runs: once for each hold, again if nobody took it, and without contents."""

import base64
import hashlib
import hmac
import json
import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import Agent, ConfigError, MemoryStore, SqliteStore, pending_approvals, rule, submit
from clew.core.stores import Store
from clew.guards import Provenance
from clew.operations import HeldNotices, Operations, operate, receiver_of
from clew.stores.locks import shared
from clew.testing.models import ScriptedModel, act, say
from clew.workers import WorkerConfig, work
from tests.operations.test_health import hold, send
from tests.patience import PATIENCE
from tests.stores.bare_store import BareStore

KEY = "a random text that both have"


@dataclass
class Hook:
    """A receiver on 127.0.0.1: what came, and the statuses that it answers with."""

    url: str = ""
    statuses: list[int] = field(default_factory=list[int])
    notices: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    bodies: list[bytes] = field(default_factory=list[bytes])
    heads: list[dict[str, str]] = field(default_factory=list[dict[str, str]])


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    monkeypatch.setenv("CLEW_WEBHOOK_SECRET", KEY)
    with listening(Hook()) as made:
        yield made


@contextmanager
def listening(hook: Hook) -> Iterator[Hook]:
    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            hook.bodies.append(body)
            hook.heads.append({name.lower(): value for name, value in self.headers.items()})
            hook.notices.append(json.loads(body))
            self.send_response(hook.statuses.pop(0) if hook.statuses else 204)
            self.send_header("location", f"{hook.url}/elsewhere")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
    hook.url = f"http://127.0.0.1:{server.server_address[1]}/held?from=clew"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield hook
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def writer() -> Agent:
    """An agent that is held twice."""
    script = [act("send", text="secret-0815"), act("send", text="secret-0816"), say("done")]
    model = ScriptedModel(script, tools=[send])
    return Agent(model, tools=[send], guards=[hold, Provenance("off")])


async def held(store: Store) -> str:
    run_id = await submit(writer(), "Write to Ada.", store=store)
    await served(store)
    return run_id


async def served(store: Store) -> None:
    with anyio.fail_after(PATIENCE):
        await work(WorkerConfig(store=store, agents=[writer()], until_idle=True))


def notices(store: Store, hook: Hook, **how: int) -> HeldNotices:
    return HeldNotices(shared(store), {"default"}, receiver_of(hook.url), **how)


async def test_each_hold_is_told_once_over_restarts_and_many_workers(
    tmp_path: Path, hook: Hook
) -> None:
    async with SqliteStore(tmp_path / "runs.sqlite") as store:
        run_id = await held(store)
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(notices(store, hook).look)
        await notices(store, hook).look()
        [notice] = hook.notices
        assert (notice["type"], notice["run_id"], notice["queue"]) == (
            "run.held",
            run_id,
            "default",
        )
        assert notice["calls"] == [{"call": "1.1", "tool": "send", "wants": "ruling"}]
        [waiting] = await pending_approvals(store=store)
        await rule(waiting.id, store=store, allow=True)
        await served(store)
    async with SqliteStore(tmp_path / "runs.sqlite") as store:
        await notices(store, hook).look()
        assert [each["calls"][0]["call"] for each in hook.notices] == ["1.1", "2.1"]
        assert len({each["id"] for each in hook.notices}) == 2
    assert b"secret-08" not in b"".join(hook.bodies)


async def test_a_notice_is_signed_so_that_the_receiver_can_check_it(hook: Hook) -> None:
    store = MemoryStore()
    await held(store)
    await notices(store, hook).look()
    head, body = hook.heads[0], hook.bodies[0]
    signed = f"{head['webhook-id']}.{head['webhook-timestamp']}.".encode() + body
    right = base64.b64encode(hmac.digest(KEY.encode(), signed, hashlib.sha256)).decode()
    assert head["webhook-signature"] == f"v1,{right}"
    assert head["webhook-id"] == hook.notices[0]["id"]
    assert KEY.encode() not in body


@pytest.mark.parametrize("status", [500, 404, 302])
async def test_what_nobody_took_is_told_again_by_the_same_id(hook: Hook, status: int) -> None:
    store = MemoryStore()
    await held(store)
    hook.statuses.append(status)
    await notices(store, hook).look()
    assert len(hook.notices) == 1, "no redirect was followed"
    await notices(store, hook).look()  # as after a restart
    await notices(store, hook).look()
    first, second = hook.notices
    assert first == second


async def test_tries_are_bounded(hook: Hook, caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore()
    run_id = await held(store)
    hook.statuses += [500] * 5
    telling = notices(store, hook, tries=1)
    with caplog.at_level(logging.ERROR, "clew"):
        await telling.look()
        await telling.look()
    assert len(hook.notices) == 1
    [line] = [record.getMessage() for record in caplog.records]
    assert line == (
        f"run {run_id}: nobody was told that it is held, after 1 try: "
        "127.0.0.1 answered with status 500"
    )


async def test_a_worker_tells_a_command_of_what_it_held(tmp_path: Path) -> None:
    out = tmp_path / "told.jsonl"
    program = tmp_path / "tell.py"
    program.write_text(
        "import os, sys\n"
        f"with open({str(out)!r}, 'a') as out:\n"
        "    print(sys.stdin.read(), os.environ['CLEW_NOTICE'], file=out)\n"
    )
    store = MemoryStore()
    run_id = await submit(writer(), "Write to Ada.", store=store)
    config = WorkerConfig(store=store, agents=[writer()], until_idle=True)
    operations = Operations(on_held=f"'{sys.executable}' '{program}'")
    with anyio.fail_after(PATIENCE):
        await operate(config, operations)
        await operate(config, operations)
    [line] = out.read_text().splitlines()
    assert line.count(run_id) == 3
    assert "secret" not in line


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("false", "false ended with 1"),
        ("no-such-command-here", "no-such-command-here cannot be run"),
        ("http://127.0.0.1:9/", "127.0.0.1 did not take it"),
        ("https://127.0.0.1:9/", "127.0.0.1 did not take it"),
    ],
)
async def test_a_receiver_that_is_not_there_is_told_in_a_line(
    hook: Hook, command: str, why: str
) -> None:
    assert (await receiver_of(command).deliver("x:1", b"{}")).startswith(why)


@pytest.mark.parametrize(
    ("target", "secret", "why"),
    [
        ("https://example.com/x", "", "set CLEW_WEBHOOK_SECRET"),
        ("https://example.com/x", "whsec_*", "is no base64 behind it"),
        ("https://user:pass@example.com/", "s", "without user or password"),
        ("http:///x", "s", "is no address for notices"),
        ("'", "s", "cannot be read"),
        (" ", "s", "neither a command nor an address"),
    ],
)
def test_what_cannot_be_told_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, target: str, secret: str, why: str
) -> None:
    monkeypatch.setenv("CLEW_WEBHOOK_SECRET", secret)
    with pytest.raises(ConfigError, match=why) as no:
        receiver_of(target)
    assert "pass@" not in str(no.value)


def test_a_store_that_remembers_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="does not remember who was told"):
        HeldNotices(BareStore(), {"default"}, receiver_of("true"))  # type: ignore[arg-type] # no Locks
