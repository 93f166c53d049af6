"""What runs beside a worker does not need each other, and none of it holds up the worker."""

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import anyio
import pytest
from typing_extensions import override

from clew import (
    Agent,
    MemoryStore,
    SqliteStore,
    StoreError,
    pending_approvals,
    rule,
    submit,
)
from clew.core.entries import Entry
from clew.core.listeners import Listener
from clew.core.stores import RunInfo
from clew.core.trajectory import Trajectory
from clew.operations import HeldNotices, Operations, operate
from clew.operations.figures import Figure, Tally, queue_figures
from clew.operations.health import Health
from clew.operations.receivers import Command
from clew.stores.locks import shared
from clew.workers import WorkerConfig
from tests.operations.test_held_notices import served, writer
from tests.patience import PATIENCE
from tests.stores.bare_store import BareStore


class Watching:
    """Takes what OpenTelemetry is told, and the pieces of replies."""

    def __init__(self) -> None:
        self.read: Callable[[], Iterable[Figure]] = tuple
        self.entries = list[str]()

    def __call__(self, record: Trajectory) -> Listener:
        return self

    def observe(self, read: Callable[[], Iterable[Figure]]) -> None:
        self.read = read

    def token(self, text: str) -> None:
        """What this agent's model does not send."""

    def entry(self, entry: Entry) -> None:
        self.entries.append(type(entry.event).__name__)


class Failing(Watching):
    @override
    def entry(self, entry: Entry) -> NoReturn:
        raise ZeroDivisionError


async def ruled(store: MemoryStore) -> None:
    [waiting] = await pending_approvals(store=store)
    await rule(waiting.id, store=store, allow=True)


async def test_a_listener_that_fails_keeps_nothing_from_the_log_and_the_figures(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store, lines, watching = MemoryStore(), list[str](), Watching()
    await submit(writer(), "Write to Ada.", store=store)
    await served(store)
    await ruled(store)
    config = WorkerConfig(store=store, agents=[writer()], until_idle=True, listen=Failing())
    with anyio.fail_after(PATIENCE):
        await operate(config, Operations(log=lines.append, telemetry=watching))
    assert "ZeroDivisionError" in caplog.text
    events: list[dict[str, Any]] = [json.loads(line) for line in lines]
    attempt = next(each for each in events if each["event"] == "attempt")
    assert (attempt["call"], attempt["attempt"]) == ("1.1", 1)
    observed = next(each for each in events if each["event"] == "observation")
    assert (observed["outcome"], observed["effect"]) == ("done", "unsafe")
    assert {"Ruling", "Attempt", "Observation", "Stop"} <= {*watching.entries}
    figures = {each.name: each.values for each in watching.read()}
    assert figures["clew.calls"] == {(("outcome", "done"),): 1}
    assert "clew.queue.runs" in figures


async def test_figures_that_cannot_be_had_anew_stay(caplog: pytest.LogCaptureFixture) -> None:
    """The store of the figures fails; the worker has its own way to it, and goes on."""

    class Down(MemoryStore):
        @override
        async def due(self) -> list[RunInfo]:
            raise StoreError("the disk is full: make room")

    watching = Watching()
    config = WorkerConfig(store=Down(), agents=[writer()], until_idle=True)
    with caplog.at_level(logging.INFO, "clew"), pytest.raises(StoreError, match="make room"):
        await operate(config, Operations(telemetry=watching, on_held="true"))
    assert "clew.steps" in {each.name for each in watching.read()}


async def test_what_is_not_ready_says_why(tmp_path: Any) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    tally = Tally()
    health = Health(shared(store), "default", tally, anyio.Event())
    assert await health.answer("/readyz") == (503, "it does not serve yet\n")
    tally.events["serving"] += 1
    assert (await health.answer("/readyz"))[0] == 200
    await store.close()
    assert await health.answer("/readyz") == (503, "the store does not answer\n")
    assert await health.answer("/healthz") == (200, "ok\n")


async def test_a_store_that_workers_cannot_share_has_no_queues() -> None:
    assert await queue_figures(BareStore()) == []  # type: ignore[arg-type] # its methods are set later


async def test_a_run_that_cannot_be_read_and_one_that_was_ruled_on_are_counted() -> None:
    class Unreadable(MemoryStore):
        @override
        async def read(self, run_id: str, after: int = 0) -> Any:
            if run_id == "unreadable":
                raise StoreError("damaged: restore a copy")
            return await super().read(run_id, after)

    store = Unreadable()
    await submit(writer(), "Write to Ada.", store=store)
    await served(store)
    await ruled(store)
    await submit(writer(), "Write to Bob.", store=store, run_id="unreadable")
    [runs, _] = await queue_figures(store)
    assert {dict(labels)["standing"]: number for labels, number in runs.values.items()} == {
        "waiting": 1,
        "failed": 1,
    }


def test_a_message_that_cannot_be_made_is_told_as_logging_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def main() -> None:
        config = WorkerConfig(store=MemoryStore(), agents=[writer()], until_idle=True)
        await operate(
            config,
            Operations(log=lines.append),
            on_event=lambda event: logging.getLogger("clew").warning("%d runs", "no number"),
        )

    lines = list[str]()
    anyio.run(main)
    assert "Logging error" in capsys.readouterr().err
    assert lines


async def test_a_command_that_hangs_is_ended() -> None:
    why = await Command(("sleep", "600"), patience=0.05).deliver("x:1", b"{}")
    assert why == "sleep took more than 0.05 s"


class Forgetful(MemoryStore):
    """Fails some times when it is asked who was told."""

    failures = 1

    @override
    async def notified(self, run_id: str) -> int:
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk is full: make room")
        return await super().notified(run_id)


class Recorded:
    """A receiver that takes everything."""

    def __init__(self) -> None:
        self.ids = list[str]()

    async def deliver(self, notice_id: str, body: bytes) -> str:
        self.ids.append(notice_id)
        return ""


async def held(store: MemoryStore, agent: Agent) -> str:
    run_id = await submit(agent, "Write to Ada.", store=store)
    await served(store)
    return run_id


async def test_a_store_that_fails_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    store, receiver = Forgetful(), Recorded()
    run_id = await held(store, writer())
    telling = HeldNotices(shared(store), {"default"}, receiver)
    await telling.look()
    assert f"run {run_id}: nobody is told that it is held now" in caplog.text
    await telling.look()  # too early: it rests
    assert receiver.ids == []
    await HeldNotices(shared(store), {"default"}, receiver).look()
    assert len(receiver.ids) == 1


async def test_a_run_that_went_on_meanwhile_is_nobody_s_news() -> None:
    class Listed(MemoryStore):
        """Of which a listing is an old one: the run goes on while it is looked at."""

        listed: list[RunInfo] | None = None

        @override
        async def runs(self, *args: Any, **how: Any) -> list[RunInfo]:
            return await super().runs(*args, **how) if self.listed is None else self.listed

    store, receiver = Listed(), Recorded()
    await held(store, writer())
    listed = await store.runs(status="held")
    for _ in range(2):
        await ruled(store)
        await served(store)
    store.listed = listed
    await HeldNotices(shared(store), {"default"}, receiver).look()
    assert receiver.ids == []
