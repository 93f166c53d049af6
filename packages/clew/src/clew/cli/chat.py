"""`clew chat`: questions and follow-ups in one record."""

import asyncio
import contextlib
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

import click

from clew import (
    ClewError,
    ConfigError,
    PendingApproval,
    Question,
    cancel,
)
from clew.agent.approvals import pending_in
from clew.cli.approval_prompts import leave_word
from clew.cli.chat_session import ChatSession, open_chat
from clew.cli.errors import ANSWERED, Shell, report_error
from clew.cli.memory import tell_memories
from clew.cli.options import (
    ATTACH,
    DEBUG,
    OWNER,
    SESSION,
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
from clew.conversations import session_run
from clew.interfaces import Json
from clew.stores import FencedError
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


@click.command()
@click.option("--resume", "earlier", metavar="RUN", default="", help="Continue an earlier run.")
@SESSION
@OWNER
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
    session: str | None,
    owner: str | None,
    attached: Attached,
    store: str | None,
    *,
    trust_origin: bool,
    **arguments: Json,
) -> int:
    """Ask questions and follow-ups in one run. Type /help for the commands.

    With --session the run is the conversation of that name, which other processes may go on with.
    """
    if session is not None and earlier:
        message = "--session and --resume exclude each other: give one of them."
        raise click.UsageError(message)
    if session is not None:
        session_run(session)
    screen = RunScreen(console(), debug=shell.debug)
    with asyncio.Runner() as runner:  # one loop for all turns: connections belong to a loop
        opening = open_chat(
            screen, arguments, store, earlier=earlier, name=session or "", owner=owner,
            trust_origin=trust_origin,
        )  # fmt: skip
        talk = runner.run(opening)
        talk.attached = attached
        try:
            converse(shell, talk, runner)
        finally:
            runner.run(talk.close())
            runner.run(talk.stored_at.close())
    return ANSWERED


def converse(shell: Shell, session: ChatSession, runner: asyncio.Runner) -> None:
    """Read lines and do what they say, until /exit or the end of the input."""
    interactive = sys.stdin.isatty()
    if interactive:
        put(console(), TextBlock("clew", "/help says what there is, /exit leaves", "dim"))
    try:
        _converse(shell, session, runner, interactive=interactive)
    finally:
        if session.again:
            say(f"Go on with: {session.again}")


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
    path = _path_of(line)
    try:
        return path.suffix.lower() in SUFFIXES and path.is_file()
    except (OSError, ValueError):  # too long for a path, or no name of a file
        return False


def _path_of(line: str) -> Path:
    """The path in a line: quoted, or with a backslash before what a shell would change."""
    bare = line.strip()
    if bare[:1] in {"'", '"'}:
        bare = bare.strip(bare[0])
    elif os.name != "nt":
        bare = re.sub(r"\\(.)", r"\1", bare)
    return Path(os.path.expanduser(bare))  # noqa: PTH111 - that of paths raises for nobody's home


def _attach(session: ChatSession, path: str) -> None:
    """Keep a file for what is said next."""
    try:
        session.attached += (attach(_path_of(path)),)
    except ConfigError as error:
        say(str(error))
    else:
        say(f"attached, {len(session.attached)} in all: what do you want to know?")


def _answer(shell: Shell, session: ChatSession, runner: asyncio.Runner, line: str) -> None:
    """Answer a line (or, where it is empty, go on) and show how that ended."""
    try:
        text = readable(line) if line else ""
        with session.screen:
            try:
                end = runner.run(_turn(session, text))
            finally:
                runner.run(session.leave())
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
    if session.named:
        opened, asked = await session.open_named(asked)
    elif opened is None:
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
