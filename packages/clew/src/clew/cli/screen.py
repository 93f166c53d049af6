"""A run on a terminal, as it happens."""

import os
import time
from collections.abc import Iterable
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Self

from rich.console import Console, ConsoleOptions, RenderableType
from rich.live import Live
from rich.segment import Segment
from rich.text import Text

from clew import Agent, Entry, Observation, Retrying, Stream, Token, Trajectory, Withdrawn
from clew.agent_files import Spec
from clew.cli.errors import debugging, env_file
from clew.cli.render import TextBlock, render_event
from clew.guards import safe_links
from clew.interfaces import AnyEvent, Attempt, Judged, Stop, Thought
from clew.models import provider_of
from clew.support.printable import inert, printable
from clew.support.short_text import counted, one_line
from clew.toolbox.docs import IndexReport

TAIL: Final = 6
"""So many lines of a reply on its way are shown at least."""

MARGIN: Final = 6
"""So many lines of a terminal are left to what was shown before it."""

LIVE_CHARS: Final = 10_000
"""So much of its end is kept for that: a server may send without end."""

SKIPPED: Final = 5
"""So many files that are not searched are named."""

LONG: Final = 3.0
"""Seconds after which it is said how long a thing has taken."""


class SafeConsole(Console):
    """A console on which no text can act; it leaves a broken pipe to its caller."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What is written; rich's own control codes stay what they are."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield segment._replace(text=printable(segment.text))

    def on_broken_pipe(self) -> None:
        """Called while a `BrokenPipeError` is handled; rich would leave the process."""
        raise  # noqa: PLE0704 - see above


def console(*, stderr: bool = False) -> Console:
    """Where text goes, none of it read as markup; colours on a terminal only, without NO_COLOR."""
    return SafeConsole(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=True)


def put(out: Console, piece: TextBlock) -> None:
    """Write a labelled text; further lines of it are indented."""
    body = piece.text.strip("\n").replace("\n", "\n  ")
    if piece.crop and out.is_terminal:
        body = _cropped(f"{piece.label}: {body}", out.width).removeprefix(f"{piece.label}: ")
    label = piece.label.replace("\n", " ")
    out.print(Text.assemble((f"{label}: ", "bold"), (body, piece.style)))


def _cropped(text: str, width: int) -> str:
    """Each line as far as it fits, with a mark where it was cut."""
    lines = (Text(line) for line in text.split("\n"))
    return "\n".join(_fitting(line, width) for line in lines)


def _fitting(line: Text, width: int) -> str:
    line.truncate(width, overflow="ellipsis")
    return line.plain


class RunScreen:
    """A listener that shows every entry, and on a terminal the reply on its way.

    Nothing is shown where `out` is None, nor after `out` could not be written to: whoever watched
    has left, and the run goes on.
    """

    def __init__(self, out: Console | None, *, debug: bool = False) -> None:
        self.out = out
        self.debug = debug
        self.trajectory: Trajectory | None = None
        self.live: Live | None = None
        """What shows what is on its way, at a terminal."""
        self._reply = self._answer = self._field = ""
        self._thought: Thought | None = None
        self._doing = ""
        self._since = time.monotonic()
        self._documents: IndexReport | None = None

    @property
    def listener(self) -> Self | None:
        """Itself, as the listener of a run; None where nothing is shown."""
        return None if self.out is None else self

    def __enter__(self) -> Self:
        out = self.out
        if out is not None and out.is_terminal and not out.is_dumb_terminal:
            self.live = Live(
                console=out,
                get_renderable=self._tail,
                transient=True,
                refresh_per_second=8,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self.live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        live, self.live = self.live, None
        self._reply = self._answer = self._doing = ""
        if live is not None:
            live.stop()

    def token(self, text: str) -> None:
        """A piece of the reply, of which the end is shown."""
        self._reply = (self._reply + text)[-LIVE_CHARS:]

    async def follow(self, items: Stream[Any]) -> None:
        """Show the words of the answer, wherever they stand in a reply, and what is tried again."""
        async for item in items:
            match item:
                case Token(text, field) if field.partition(".")[0] == "answer":
                    apart = "\n" if self._answer and field != self._field else ""
                    self._field = field
                    self._answer = (self._answer + apart + text)[-LIVE_CHARS:]
                case Withdrawn() | Entry(event=Thought()):
                    self._answer = ""
                case Retrying(attempt, of, why, wait):
                    told = f"try {attempt} of {of} in {wait:.1f} s: {why}"
                    self.doing(one_line(inert(told), LIVE_CHARS))
                case _:
                    pass

    def entry(self, entry: Entry) -> None:
        """An entry that was recorded."""
        event = entry.event
        if isinstance(event, Thought):
            self._reply = self._answer = ""
            self._thought = event
        self.doing(_doing(event))
        step = self.trajectory.step.number if self.trajectory is not None else 0
        if not isinstance(event, Stop):  # the end says it
            for piece in render_event(event, step, complete=self.debug, thought_of=self._thought):
                self.put(self._safe(piece, event))

    def progress(self, call: str, text: str) -> None:
        """How far a call is."""
        self.doing(f"acting: {inert(text)}")

    def indexing(self, done: int, total: int, path: str) -> None:
        """How far the documents have been read."""
        if self.out is None:
            return
        self.doing(f"reading {done + 1} of {total}: {inert(path)}" if path else "")
        if self.live is None and self.debug:
            self.put(TextBlock("Documents", self._doing or f"{total} looked at", "dim"))

    def warn(self, agent: Agent[Any]) -> None:
        """What of an agent may be meant but is seldom wise."""
        for warning in () if self.out is None else agent.warnings:
            self.put(TextBlock("Warning", inert(warning), "yellow"))

    def documents(self, report: IndexReport) -> None:
        """What of the documents can be searched, and what cannot, unless that was said before."""
        before, self._documents = self._documents, report
        if report == before:
            return
        if self.debug:
            amount = f"{counted(report.files, 'file')}, {counted(report.passages, 'passage')}"
            self.put(TextBlock("Documents", amount, "dim"))
            for path, note in report.notes:
                self.put(TextBlock("Documents", inert(f"{path}: {note}"), "dim"))
        named = report.skipped if self.debug else report.skipped[:SKIPPED]
        for path, reason in named:
            self.put(TextBlock("Not searched", inert(f"{path}: {reason}"), "yellow"))
        if more := len(report.skipped) - len(named):
            self.put(TextBlock("Not searched", f"{more:,} more (--debug names them)", "yellow"))
        if report.note:
            self.put(TextBlock("Documents", inert(report.note), "yellow"))

    def put(self, piece: TextBlock) -> None:
        """Show a piece, unless nobody watches any more."""
        if self.out is not None:
            try:
                put(self.out, piece)
            except OSError:
                self.out = None

    def _safe(self, piece: TextBlock, event: AnyEvent) -> TextBlock:
        """The piece; what a model or a tool wrote, with addresses that lead nowhere."""
        run, by_others = self.trajectory, isinstance(event, Thought | Observation | Judged)
        if run is None or run.untainted or not by_others:
            return piece
        return replace(piece, text=str(safe_links(run)(piece.text)[0]))

    def doing(self, what: str) -> None:
        """What is being done, until an entry tells something else."""
        self._doing, self._since = what, time.monotonic()

    def _tail(self) -> Text:
        """The end of the reply on its way: as much as fits, at the width that there is now."""
        out, words = self.out, inert(self._answer or self._reply).strip("\n")
        if out is not None and words:
            lines = Text(words).wrap(out, out.width)[-max(TAIL, out.height - MARGIN) :]
            return Text("\n", style="" if self._answer else "dim").join(lines)
        took = time.monotonic() - self._since
        doing = f"… {self._doing or 'thinking'}" + (f" ({took:.0f} s)" if took >= LONG else "")
        return Text(doing, style="dim")


def _doing(event: object) -> str:
    match event:
        case Thought(actions=(_, *_)):
            return "acting: " + inert(", ".join(action.name for action in event.actions))
        case Attempt():
            return f"acting: {inert(event.tool)}"
        case _:
            return ""


def watching(*, as_json: bool, quiet: bool) -> RunScreen:
    """Where a run is shown: on stdout; on stderr, and only to a person, beside a JSON document."""
    if quiet:
        return RunScreen(None)
    debug = debugging()
    if not as_json:
        return RunScreen(console(), debug=debug)
    progress = console(stderr=True)
    return RunScreen(progress if debug or progress.is_terminal else None, debug=debug)


def tell_model(spec: Spec, why: str) -> None:
    """Say which model was chosen and why, where nobody named one, and at which address it is.

    Another address than the provider's own, or a key out of a folder, is told in a terminal where
    somebody named the model too.
    """
    screen = console(stderr=True)
    if not why and not screen.is_terminal:
        return
    if detail := "; ".join(filter(None, [why, _reached(spec)])):
        screen.print(one_line(inert(f"Model: {spec.model} ({detail})")), style="dim")


def _reached(spec: Spec) -> str:
    """Where a model is and which file says so; "" for all that its provider and the person have."""
    info, reached = provider_of(spec.model, os.environ), spec.connection
    named = {"at": reached.base_url, "through": reached.proxy}
    who = spec.file or "an option"
    parts = [f"{how} {_without_password(url)}, by {who}" for how, url in named.items() if url]
    if info is None:
        return "; ".join(parts)
    if info.custom and not reached.base_url:
        parts.append(f"at {info.public_url}, by {info.variable}")
    if file := env_file().gives(info.key):
        where = "" if parts else f"at {info.public_url}, "
        parts.append(f"{where}with {info.key} from {file}")
    return "; ".join(parts)


def _without_password(address: str) -> str:
    """An address without the password it may hold."""
    scheme, mark, rest = address.rpartition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}"
