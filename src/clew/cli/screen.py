"""A run on a terminal, as it happens."""

from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from clew.cli.render import Shown, inert, shown
from clew.events import Attempt, Entry, Started, Thought
from clew.tools.docs import IndexReport
from clew.trajectory import Trajectory

TAIL: Final = 6
"""So many lines of a reply on its way are shown."""


def console(*, stderr: bool = False) -> Console:
    """Where text goes, none of it read as markup; colours on a terminal only, without NO_COLOR."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=True)


def put(out: Console, piece: Shown) -> None:
    """Write a labelled text; further lines of it are indented."""
    body = piece.text.strip("\n").replace("\n", "\n  ")
    out.print(Text.assemble((f"{piece.label}: ", "bold"), (body, piece.style)))


class Screen:
    """A listener that shows every entry, and on a terminal the reply on its way.

    Nothing is shown where `out` is None.
    """

    def __init__(self, out: Console | None, *, debug: bool = False) -> None:
        self.out = out
        self.debug = debug
        self.so_far: Trajectory | None = None
        self._live: Live | None = None
        self._reply = ""
        self._doing = ""

    def __enter__(self) -> Self:
        out = self.out
        if out is not None and out.is_terminal and not out.is_dumb_terminal:
            self._live = Live(
                console=out,
                get_renderable=self._tail,
                transient=True,
                refresh_per_second=8,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        live, self._live = self._live, None
        self._reply = self._doing = ""
        if live is not None:
            live.stop()

    def token(self, text: str) -> None:
        """A piece of the reply."""
        self._reply += text

    def entry(self, entry: Entry) -> None:
        """An entry that was recorded."""
        event = entry.event
        if isinstance(event, Thought):
            self._reply = ""
        self._doing = _doing(event)
        step = self.so_far.step.number if self.so_far is not None else 0
        if self.out is None or (isinstance(event, Started) and not self.debug):
            return
        for piece in shown(event, step, whole=self.debug):
            put(self.out, piece)

    def indexing(self, done: int, total: int, path: str) -> None:
        """How far the documents have been read."""
        self._doing = f"reading {done + 1} of {total}: {inert(path)}" if path else ""
        if self._live is None and self.debug and self.out is not None:
            put(self.out, Shown("Documents", self._doing or f"{total} looked at", "dim"))

    def warn(self, warnings: Sequence[str]) -> None:
        """What may be meant but is seldom wise."""
        if self.out is not None:
            for warning in warnings:
                put(self.out, Shown("Warning", inert(warning), "yellow"))

    def documents(self, report: IndexReport) -> None:
        """What of the documents can be searched, and what cannot."""
        if self.out is None:
            return
        if self.debug:
            said = f"{report.files} files, {report.passages} passages"
            put(self.out, Shown("Documents", said, "dim"))
        for path, reason in report.skipped:
            put(self.out, Shown("Not searched", inert(f"{path}: {reason}"), "yellow"))
        if report.note:
            put(self.out, Shown("Documents", inert(report.note), "yellow"))

    def _tail(self) -> Text:
        lines = inert(self._reply).splitlines()[-TAIL:]
        return Text("\n".join(lines) or f"… {self._doing or 'thinking'}", style="dim")


def _doing(event: object) -> str:
    match event:
        case Thought(actions=(_, *_)):
            return "acting: " + inert(", ".join(action.name for action in event.actions))
        case Attempt():
            return f"acting: {inert(event.tool)}"
        case _:
            return ""
