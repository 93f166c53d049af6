"""A worker's log as JSON: one dated line for each event, with the run, the step and the worker.

It says what happened and how much it took, and holds no text of a model, a tool or a person.
"""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from typing_extensions import override

from clew.core.contents import Observation
from clew.core.entries import Entry
from clew.core.events import Attempt, Stop, Thought
from clew.core.journal import wall_clock
from clew.core.listeners import Listener
from clew.core.trajectory import Trajectory
from clew.core.values import Json, encode
from clew.workers import WorkerEvent

LOG: Final = logging.getLogger("clew")

_WARNINGS: Final = frozenset({"failed", "lost", "refused", "spent", "unpriced"})


def _dated(at: int) -> str:
    """A time in Unix milliseconds as ISO 8601, in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds")


class JsonLog(logging.Handler):
    """Writes lines by `write`: what a worker does, what it records, and what it logs."""

    def __init__(self, write: Callable[[str], None], *, worker: str, queue: str) -> None:
        super().__init__(logging.WARNING)
        self._write = write
        self._about: dict[str, Json] = {"worker": worker, "queue": queue}

    def on_event(self, event: WorkerEvent) -> None:
        """Write what the worker did. Of a run that was taken up the question is not told."""
        text = "" if event.what == "taken" else event.text
        level = "warning" if event.what in _WARNINGS else "info"
        self._line(wall_clock(), level, event.what, run=event.run_id, text=text)

    def listen(self, record: Trajectory) -> Listener:
        """Write what is recorded of a run."""
        return _Logging(self, record.run_id, len(record.steps))

    @override
    def emit(self, record: logging.LogRecord) -> None:
        """Write what the program logs."""
        try:
            level = record.levelname.lower()
            self._line(int(record.created * 1000), level, "log", text=record.getMessage())
        except Exception:  # noqa: BLE001 - as every handler does
            self.handleError(record)

    def entry(self, run_id: str, step: int, entry: Entry) -> None:
        """Write what was recorded."""
        event = entry.event
        name = type(event).__name__.lower()
        self._line(
            entry.at, "info", name, run=run_id, entry=entry.seq, step=step, **_details(event)
        )

    def _line(self, at: int, level: str, event: str, **more: Json) -> None:
        kept = {name: value for name, value in more.items() if value not in ("", None)}
        line = {"at": _dated(at), "level": level, "event": event, **self._about, **kept}
        self._write(encode(line).decode())


def _details(event: object) -> dict[str, Json]:
    match event:
        case Thought(reply=reply, fault=fault):
            usage = reply.usage
            return {
                "model": reply.model, "input": usage.input, "output": usage.output,
                "cost": usage.cost, "fault": bool(fault),
            }  # fmt: skip
        case Attempt():
            return {"call": event.call, "attempt": event.number}
        case Observation():
            return {"call": event.call, "outcome": event.outcome, "effect": event.effect}
        case Stop():
            return {"status": event.status}
        case _:
            return {}


class _Logging:
    def __init__(self, log: JsonLog, run_id: str, step: int) -> None:
        self._log = log
        self._run_id = run_id
        self._step = step

    def token(self, text: str) -> None:
        """Pieces of a reply are not logged."""

    def entry(self, entry: Entry) -> None:
        """Log an entry with the number of its step."""
        self._step += isinstance(entry.event, Thought)
        self._log.entry(self._run_id, self._step, entry)
