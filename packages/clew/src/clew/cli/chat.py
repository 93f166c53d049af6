"""`clew chat`: questions and follow-ups in one record."""

import asyncio
import contextlib
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import click

from clew import (
    ClewError,
    ConfigError,
    OpenRun,
    PendingApproval,
    Question,
    cancel,
    open_run,
    read,
)
from clew.agent.approvals import pending_in
from clew.agent_files import origin
from clew.cli.agents import Assembled, assemble, option_keys, options, recorded
from clew.cli.approval_prompts import leave_word
from clew.cli.errors import ANSWERED, Shell, report_error
from clew.cli.foreign_runs import trusted
from clew.cli.memory import tell_memories
from clew.cli.options import (
    ATTACH,
    DEBUG,
    STORE,
    TRUST_ORIGIN,
    Attached,
    agent_options,
    readable,
    with_attached,
)
from clew.cli.outcome import ShownResult, status, tell_end
from clew.cli.render import TextBlock
from clew.cli.run_here import carry_on
from clew.cli.safe_text import say
from clew.cli.screen import RunScreen, console, put
from clew.cli.store_option import command, existing, find_run
from clew.interfaces import Json, Store
from clew.stores import FencedError, open_store
from clew.toolbox import attach

with contextlib.suppress(ImportError):  # where it is there, lines can be edited and called back
    import readline

    readline.set_history_length(1_000)

SUFFIXES: Final = frozenset(
    {
        *(".png", ".jpg", ".jpeg", ".gif", ".webp"),
        *(".pdf", ".txt", ".md", ".csv", ".wav", ".mp3"),
    }
)

HELP: Final = """\
/help            this
/exit            leave (as does Ctrl-D); the record stays
/debug on|off    show everything, or the usual
/attach FILE     a file that goes with what is said next (a line that is its path does the same)
/clear           forget what was said: the next question begins a new record
Ctrl-C           interrupts the step, not the session"""


@dataclass
class ChatSession:
    """A chat: who answers, where the record lies, and the record itself once there is one."""

    made: Assembled
    stored_at: Store
    store: str | None
    screen: RunScreen
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    opened: OpenRun[Any] | None = None
    attached: Attached = ()
    """What goes with what is said next."""

    async def open(self, goal: Question | None = None, run_id: str = "") -> OpenRun[Any]:
        """Begin the record with a question, or go on with an earlier one."""
        opening = open_run(
            self.made.agent, goal, run_id=run_id, store=self.stored_at,
            listener=self.screen, origin=origin(self.made.spec),
        )  # fmt: skip
        self.opened = await self.stack.enter_async_context(opening)
        return self.opened

    async def close(self) -> None:
        """Leave the record to others."""
        self.opened = self.screen.trajectory = None
        await self.stack.aclose()


@click.command()
@click.option("--resume", "earlier", metavar="RUN", default="", help="Continue an earlier run.")
@ATTACH
@TRUST_ORIGIN
@agent_options
@STORE
@DEBUG
@click.pass_obj
def chat(
    shell: Shell,
    /,
    earlier: str,
    attached: Attached,
    store: str | None,
    *,
    trust_origin: bool,
    **arguments: Json,
) -> int:
    """Ask questions and follow-ups in one run. Type /help for the commands."""
    screen = RunScreen(console(), debug=shell.debug)
    with asyncio.Runner() as runner:  # one loop for all turns: connections belong to a loop
        session = runner.run(_open(earlier, store, screen, arguments, trust_origin=trust_origin))
        session.attached = attached
        try:
            converse(shell, session, runner)
        finally:
            runner.run(session.close())
            runner.run(session.stored_at.close())
    return ANSWERED


async def _open(
    earlier: str,
    store: str | None,
    screen: RunScreen,
    arguments: dict[str, Json],
    *,
    trust_origin: bool,
) -> ChatSession:
    run_id = ""
    if earlier:
        async with existing(store) as opened:
            run_id = await find_run(opened, earlier)
            record = await read(run_id, store=opened)
            if trust_origin:
                record = await trusted(opened, record)
            spec = recorded(record, option_keys(arguments))
    else:
        spec = options(arguments)
    made = await assemble(spec, screen)
    store = store or made.spec.store or None
    session = ChatSession(made, open_store(store), store, screen)
    if run_id:
        await session.open(run_id=run_id)
    return session


def converse(shell: Shell, session: ChatSession, runner: asyncio.Runner) -> None:
    """Read lines and do what they say, until /exit or the end of the input."""
    interactive = sys.stdin.isatty()
    if interactive:
        put(console(), TextBlock("clew", "/help says what there is, /exit leaves", "dim"))
    try:
        _converse(shell, session, runner, interactive=interactive)
    finally:
        if session.opened is not None:
            again = command("chat", "--resume", session.opened.run_id, store=session.store)
            say(f"Go on with: {again}")


def _converse(
    shell: Shell, session: ChatSession, runner: asyncio.Runner, *, interactive: bool
) -> None:
    """The conversation itself, whatever ends it."""
    while True:
        try:
            line = input("> " if interactive else "").strip()
        except EOFError:
            if interactive:
                say()
            break
        except KeyboardInterrupt:
            say("\n(/exit leaves)")
            continue
        if line == "/exit":
            break
        if interactive and is_file(line):
            _attach(session, line)
        elif line.startswith("/"):
            _obey(shell, session, runner, line)
        elif line:
            _answer(shell, session, runner, line)
            while interactive and _rule(session, runner):
                _answer(shell, session, runner, "")


def _obey(shell: Shell, session: ChatSession, runner: asyncio.Runner, line: str) -> None:
    """Do what a line that begins with a slash says."""
    match line.split():
        case ["/help"]:
            say(HELP)
        case ["/attach"]:
            say("name the file: /attach FILE")
        case ["/attach", *words]:
            _attach(session, " ".join(words))
        case ["/clear"]:
            runner.run(session.close())
            say("forgotten: the next question begins a new record")
        case ["/debug", "on" | "off" as switch]:
            session.screen.debug = shell.debug = switch == "on"
            say(f"debug is {switch}")
        case _:
            say(f"{line}: there is no such command\n{HELP}")


def is_file(line: str) -> bool:
    """Whether a line is the path of a file, as terminals write one that is dropped on them."""
    path = Path(line.strip("'\""))
    try:
        return path.suffix.lower() in SUFFIXES and path.is_file()
    except (OSError, ValueError):  # too long for a path, or no name of a file
        return False


def _attach(session: ChatSession, path: str) -> None:
    """Keep a file for what is said next."""
    try:
        session.attached += (attach(path.strip("'\"")),)
    except ConfigError as error:
        say(str(error))
    else:
        say(f"attached, {len(session.attached)} in all: what do you want to know?")


def _answer(shell: Shell, session: ChatSession, runner: asyncio.Runner, line: str) -> None:
    """Answer a line (or, where it is empty, go on) and show how that ended."""
    try:
        text = readable(line) if line else ""
        with session.screen:
            end = runner.run(_turn(session, text))
        if end.error is not None:
            raise end.error
        tell_end(console(), end)
    except ClewError as error:
        report_error(error, debug=shell.debug)
        if isinstance(error, FencedError):
            runner.run(session.close())


async def _turn(session: ChatSession, text: str) -> ShownResult:
    opened, words = session.opened, text
    asked: Question = text
    if text:
        asked, session.attached = with_attached(text, session.attached), ()
    if opened is None:
        opened, asked = await session.open(asked), ""
    if session.made.spec.memory:
        await tell_memories(session.made.spec.memory, words, opened.run_id, session.stored_at)
    end = await carry_on(session.made, opened, session.screen, asked, store=session.store)
    if isinstance(end.error, KeyboardInterrupt):
        await cancel(opened.run_id, why="a person interrupted", store=session.stored_at)
        end = replace(end, result=await opened.go_on(), error=None)
    return end


def _rule(session: ChatSession, runner: asyncio.Runner) -> bool:
    """Ask about each held call; whether the run may go on now."""
    opened = session.opened
    if opened is None or status(opened.record) != "held":
        return False
    waiting = runner.run(pending_in(session.stored_at, opened.record))
    ruled = [_leave_word(each, session.store) for each in waiting]
    return any(ruled)


def _leave_word(each: PendingApproval, store: str | None) -> bool:
    """Ask what the person says of a held call; Ctrl-C and Ctrl-D leave it waiting."""
    try:
        return leave_word(each, store)
    except (EOFError, KeyboardInterrupt):
        return False
