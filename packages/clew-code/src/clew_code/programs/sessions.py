"""Sessions that are at work or may be needed again, kept while the owner of their runs goes on.

A session is on record too, as its dump: one that is not here is opened anew. So only some are kept.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from clew import Observation
from clew.tools import close_resource, hold_open
from clew_code.programs.interface import CodeLimits, Executor, Session

MAX_OPEN: Final = 16
"""Sessions that are kept open for one owner of runs."""


class SessionPosition(NamedTuple):
    """Where a session is: at the call number `calls` of the program of the call `key`, or ended."""

    key: str
    calls: int
    ended: bool = False


class OpenSession:
    """An open session: where it is, what its program printed and came to, and remarks on that."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.position: SessionPosition | None = None
        self.printed = ""
        self.remarks: list[str] = []
        self.end: Observation | None = None
        self.busy = False


class Sessions:
    """Opens the sessions of runs, and closes those that nobody needed for longest."""

    def __init__(self, executor: Executor, limits: CodeLimits, functions: Sequence[str]) -> None:
        self.executor, self.limits, self.functions = executor, limits, functions

    async def acquire(self, run_id: str) -> OpenSession:
        """The session of a run: the one that is open, or a new one. Raises `ToolError`.

        It stays open until `release` says that it is not at work.
        """
        key, by_use = self._key(run_id), await self._by_use()
        session = await hold_open(key, lambda: self._new(run_id))
        session.busy = True
        by_use.pop(key, None)
        by_use[key] = session  # as the last
        idle = [key for key, one in by_use.items() if not one.busy]
        for old in idle[: max(0, len(by_use) - MAX_OPEN)]:
            del by_use[old]
            await close_resource(old)
        return session

    async def release(self, run_id: str) -> None:
        """The session of a run is not at work: where others are needed it may be closed."""
        (await self._by_use())[self._key(run_id)].busy = False

    async def reopen(self, run_id: str) -> OpenSession:
        """Close the session of a run and open a new one."""
        await self.close(run_id)
        return await self.acquire(run_id)

    async def close(self, run_id: str) -> None:
        """Close the session of a run."""
        await close_resource(self._key(run_id))

    async def _by_use(self) -> "dict[tuple[str, ...], OpenSession]":
        return await hold_open(("run_code", self.executor.name), _nothing_open)

    def _key(self, run_id: str) -> tuple[str, ...]:
        return ("run_code", self.executor.name, run_id, *self.functions)

    @asynccontextmanager
    async def _new(self, run_id: str) -> AsyncGenerator[OpenSession]:
        async with self.executor.open(self.limits, self.functions, run_id) as session:
            yield OpenSession(session)


@asynccontextmanager
async def _nothing_open() -> AsyncGenerator[dict[tuple[str, ...], OpenSession]]:
    yield {}
