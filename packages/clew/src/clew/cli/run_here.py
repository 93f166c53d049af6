"""A run in the foreground: it continues until it stops, fails, or Ctrl-C."""

import signal
import sys
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.abc
import anyio.to_thread

from clew import ClewError, ConfigError, OpenRun, Question, Result, open_run
from clew.agent_files import Spec, origin
from clew.cli.agents import Assembled, assemble
from clew.cli.log_dir import logged
from clew.cli.outcome import ShownResult
from clew.cli.screen import RunScreen
from clew.cli.store_option import command
from clew.stores import FencedError, StoreUnreachableError, store_at
from clew.support.printable import inert
from clew.toolbox.docs import IndexReport, Library

T = TypeVar("T")


def unless_interrupted(work: Callable[[], Awaitable[T]]) -> Awaitable[T | None]:
    """The result of `work`; None if a signal cancelled it. A second Ctrl-C does not wait.

    It is cancelled through a scope, so that a write in progress is completed.
    """

    def cancel(number: int, scope: anyio.CancelScope) -> None:
        del number
        scope.cancel()

    # Ctrl-C, an operator, a terminal that is closed (not under nohup)
    hangup = [] if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else [signal.SIGHUP]
    return on_signals([signal.SIGINT, signal.SIGTERM, *hangup], cancel, work)


async def on_signals(
    signals: Sequence[signal.Signals],
    on_signal: Callable[[int, anyio.CancelScope], None],
    work: Callable[[], Awaitable[T]],
) -> T | None:
    """The result of `work`; `on_signal` is called at each signal. None if it cancelled the work."""
    if sys.platform == "win32":  # its event loop takes no signals; KeyboardInterrupt ends the run
        return await work()
    results: list[T] = []
    errors: list[BaseException] = []
    async with anyio.create_task_group() as group:

        async def listen(task_status: anyio.abc.TaskStatus[None]) -> None:
            with anyio.open_signal_receiver(*signals) as received:
                task_status.started()
                async for number in received:
                    on_signal(number, group.cancel_scope)

        await group.start(listen)
        try:
            results.append(await work())
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # noqa: BLE001 - it is raised below, and not in a group
            errors.append(error)
        group.cancel_scope.cancel()
    if errors:
        raise errors[0]
    return results[0] if results else None


async def carry_on(
    made: Assembled,
    opened: OpenRun[Any],
    screen: RunScreen,
    say: Question = "",
    *,
    store: str | None = None,
    log_dir: str | None = None,
) -> ShownResult:
    """Continue the run; the outcome says how it ended, and keeps the error if one ended it."""
    screen.trajectory = opened.record

    async def work() -> Result[Any]:
        await read_all(made.docs, screen)
        with logged(opened, log_dir) if log_dir else nullcontext():
            async with live_words(opened, screen) if screen.live else nullcontext():
                return await opened.go_on(say)

    outcome, error, reason = await run_to_end(work, opened.run_id, store)
    return ShownResult(
        opened.record, outcome, store=store, why=made.why, reason=reason, error=error,
        references=made.spec.references, go_on=partial(_go_on, made.spec, opened.run_id, store),
    )  # fmt: skip


@asynccontextmanager
async def live_words(opened: OpenRun, screen: RunScreen) -> AsyncGenerator[None]:
    """Show the words of the answer as they come, on a screen that is alive."""
    errors: list[Exception] = []
    async with opened.follow() as items, anyio.create_task_group() as group:
        group.start_soon(screen.follow, items)
        try:
            yield
        except Exception as error:  # noqa: BLE001 - it is raised below, and not in a group
            errors.append(error)
        group.cancel_scope.cancel()
    if errors:
        raise errors[0]


async def _go_on(spec: Spec, run_id: str, store: str | None, screen: RunScreen) -> ShownResult:
    """Continue a run that waited for a person, with its agent made again."""
    made = await assemble(spec, screen)
    async with (
        store_at(store) as opened_store,
        open_run(
            made.agent, run_id=run_id, store=opened_store, listener=screen.listener,
            origin=origin(made.spec),
        ) as opened,
    ):  # fmt: skip
        return await carry_on(made, opened, screen, store=store)


async def run_to_end(
    work: Callable[[], Awaitable[T]], run_id: str, store: str | None
) -> tuple[T | None, BaseException | None, str]:
    """The result of work on a run; else the error and the reason that left the run open."""
    try:
        done = await unless_interrupted(work)
    except Exception as error:
        gone = isinstance(error, StoreUnreachableError) and error.gone
        if not gone and not isinstance(error, FencedError):
            error.add_note(_resume(run_id, store))
        if not isinstance(error, ClewError):
            raise
        return None, error, str(error)
    if done is None:
        interrupted = KeyboardInterrupt()
        interrupted.add_note(_resume(run_id, store))
        return None, interrupted, "interrupted"
    return done, None, ""


def _resume(run_id: str, store: str | None) -> str:
    return f"the record is open, go on with: {command('resume', run_id, store=store)}"


async def read_all(docs: Library | None, screen: RunScreen) -> None:
    """Bring the index of the documents up to date; when cancelled, stop after the file at hand.

    Raises `ConfigError` where they hold no text.
    """
    if docs is None:
        return
    stop = threading.Event()
    try:
        report = await anyio.to_thread.run_sync(docs.load, stop, abandon_on_cancel=True)
    finally:
        stop.set()
    screen.documents(report)
    if not report.passages:
        raise ConfigError(nothing_to_search(docs, report))


def nothing_to_search(docs: Library, report: IndexReport) -> str:
    """What to do where a folder holds no text."""
    message = f"there is no text in {docs.folder}: name a folder with text, Markdown, HTML or PDF"
    if report.skipped:
        path, reason = report.skipped[0]
        message += f" ({len(report.skipped):,} not searched, such as {path}: {reason})"
    return inert(message)
