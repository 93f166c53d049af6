"""The sessions of a client: each is a run, whose id is the session's."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

import anyio

from clew import (
    Agent,
    ConfigError,
    OpenRun,
    Question,
    RunSummary,
    Trajectory,
    list_runs,
    open_fork,
    open_run,
    read,
)
from clew.interfaces import Json, Store
from clew.stores import RunNotFoundError
from clew_acp.turn import Turn
from clew_acp.updates import Updates

LABELS: Final[Mapping[str, str]] = {"client": "acp"}
"""What runs have that were begun in an editor."""

PAGE: Final = 100
"""So many sessions are on a page of the list."""


@dataclass
class Session:
    """A session that the client has open. `begun` says whether its run is on record."""

    id: str
    folder: Path
    folders: tuple[Path, ...]
    agent: Agent[Any]
    updates: Updates
    begun: bool = False
    parent: tuple[str, int] | None = None
    """The session that it is a fork of, until its run is begun, and the steps it has of it."""
    accept_change: bool = False
    turn: Turn | None = None
    working: anyio.Lock = field(default_factory=anyio.Lock)


MakeAgent: TypeAlias = Callable[[str, Sequence[Path], Trajectory | None], tuple[Agent[Any], bool]]
"""The agent of a session, with the tools of the editor, and whether it may replace the record's."""


@dataclass
class Sessions:
    """The sessions that a client has open, over the runs of a store."""

    store: Store
    make_agent: MakeAgent
    origin: Mapping[str, Json] = field(default_factory=dict[str, Json])
    accept_change: bool = False
    _open: dict[str, Session] = field(default_factory=dict[str, Session])

    def new(self, cwd: str, more: Sequence[str]) -> Session:
        """A session without a run yet: its first prompt begins that."""
        at = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        return self._put(f"acp-{at}-{secrets.token_hex(6)}", cwd, more, None)

    async def load(self, session_id: str, cwd: str, more: Sequence[str]) -> Session:
        """A session of before, in whichever process. Raises `RunNotFoundError`."""
        if (known := self._open.get(session_id)) is not None and not known.begun:
            session = self._put(session_id, cwd, more, None)
            session.parent = known.parent
            return session
        return self._put(session_id, cwd, more, await self._record(session_id))

    def get(self, session_id: str) -> Session:
        """A session that is open. Raises `ConfigError` for any other."""
        if (session := self._open.get(session_id)) is None:
            message = f"session {session_id[:PAGE]!r} is not open: load it, or begin a new one"
            raise ConfigError(message)
        return session

    def turn_of(self, session_id: str) -> Turn | None:
        """What is under way in a session, if it is open."""
        session = self._open.get(session_id)
        return None if session is None else session.turn

    async def close(self, session_id: str) -> None:
        """End the turn of a session, and forget it; its run stays."""
        session = self.get(session_id)
        if session.turn is not None:
            session.turn.cancel()
        async with session.working:
            self._open.pop(session_id, None)

    async def fork(self, session_id: str, cwd: str, more: Sequence[str]) -> Session:
        """A new session that has all complete steps of another; its first prompt makes the run."""
        known = self._open.get(session_id)
        parent = known.parent if known is not None and not known.begun else None
        if known is None or known.begun:
            parent = (session_id, complete_steps(await self._record(session_id)))
        session = self.new(cwd, more)
        session.parent = parent
        return session

    def open(
        self, session: Session, question: Question
    ) -> tuple[AbstractAsyncContextManager[OpenRun[Any]], Question]:
        """The run of a session, open for work, and what is still to be said in it."""
        agent, origin = session.agent, {**self.origin, "acp": {"cwd": str(session.folder)}}
        if session.begun:
            opening = open_run(
                agent, run_id=session.id, store=self.store, accept_change=session.accept_change,
                origin=origin,
            )  # fmt: skip
            return opening, question
        if session.parent is not None:
            parent, step = session.parent
            opening = open_fork(
                agent, parent, at=step, say=question, store=self.store, new_id=session.id,
                origin=origin,
            )  # fmt: skip
            return opening, ""
        labels = labels_of(session.folder)
        opening = open_run(
            agent, question, run_id=session.id, store=self.store, origin=origin, labels=labels
        )
        return opening, ""

    async def page(self, cwd: str, cursor: str) -> tuple[list[RunSummary], str]:
        """A page of the sessions, last written first, and the cursor of the next one, or "".

        With a `cwd`, those of that folder only. Raises `ConfigError` for a cursor of no page.
        """
        if cursor and not cursor.isdecimal():
            raise ConfigError("this cursor is of no page: begin anew")
        labels = labels_of(absolute(cwd)) if cwd else LABELS
        start = int(cursor[:9] or 0)
        runs = await list_runs(start + PAGE + 1, store=self.store, labels=labels)
        runs = [run for run in runs if not run.parent][start:]
        return runs[:PAGE], str(start + PAGE) if len(runs) > PAGE else ""

    def _put(
        self, session_id: str, cwd: str, more: Sequence[str], record: Trajectory | None
    ) -> Session:
        folder, *others = [absolute(path) for path in (cwd, *more)]
        agent, same = self.make_agent(session_id, (folder, *others), record)
        session = Session(
            session_id, folder, (folder, *others), agent, Updates(session_id, folder),
            begun=record is not None, accept_change=same or self.accept_change,
        )  # fmt: skip
        self._open[session_id] = session
        return session

    async def _record(self, session_id: str) -> Trajectory:
        """The record of a session. Raises `RunNotFoundError` for a run that is none."""
        record = await read(session_id, store=self.store)
        if record.started.labels.get("client") != LABELS["client"]:
            raise RunNotFoundError(f"there is no session {session_id[:PAGE]}")
        return record


def absolute(path: str) -> Path:
    """A folder of the client's. Raises `ConfigError` where it is not absolute."""
    folder = Path(path)
    if not folder.is_absolute() or "\0" in path:
        raise ConfigError(f"{path[:PAGE]!r} is no absolute path: give one as the cwd")
    return folder


def labels_of(folder: Path) -> dict[str, str]:
    """What the run of a session is listed by."""
    return {**LABELS, "cwd": str(folder)[-256:]}


def complete_steps(record: Trajectory) -> int:
    """How many steps of a run have ended: a fork may have these."""
    number = len(record.steps)
    ended = record.stop is not None and record.stop.status != "held"
    return number if ended or not number else number - 1
