"""A store that lives as long as its process: for tests and for runs nobody will resume."""

from collections.abc import Iterator
from typing import Self

import msgspec

from clew.core.stores import Append, Base, Line, RunInfo
from clew.stores.labels import Selection, digests_of
from clew.stores.listing import is_selected, matching, page, stops
from clew.stores.refusals import (
    changed_since,
    known_run,
    missing_blob,
    no_base,
    refusal,
    still_shared,
    unknown_run,
)


class _Run(msgspec.Struct):
    base: Base | None = None
    epoch: int = 1
    lines: list[Line] = msgspec.field(default_factory=list[Line])
    inbox: dict[int, bytes] = msgspec.field(default_factory=dict[int, bytes])
    posted: int = 0
    blobs: set[str] = msgspec.field(default_factory=set[str])
    labels: list[bytes] = msgspec.field(default_factory=list[bytes])
    outside: set[int] = msgspec.field(default_factory=set[int])
    notified: int = 0

    @property
    def shared(self) -> int:
        """How many lines before its own are another run's."""
        return 0 if self.base is None else self.base.seq

    @property
    def head(self) -> int:
        """Number of the last line."""
        return self.shared + len(self.lines)


class MemoryStore:
    """Keeps records in this process. Closing it loses nothing; the end of the process loses all."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._blobs: dict[str, bytes] = {}
        self._claimed: set[str] = set()
        self._labelled: dict[bytes, dict[str, None]] = {}

    async def create(self, run_id: str, base: Base | None = None) -> int:
        if run_id in self._runs:
            raise known_run(run_id)
        run = self._runs[run_id] = _Run(None if base is None else self._base(base))
        if run.base is not None:
            self._label(run_id, run, self._run(run.base.run_id).labels)
        return 1

    async def open(self, run_id: str) -> int:
        run = self._run(run_id)
        run.epoch += 1
        return run.epoch

    async def epoch(self, run_id: str) -> int:
        return self._run(run_id).epoch

    async def append(self, append: Append) -> bool:
        run = self._run(append.run_id)
        if (refused := refusal(append, run.epoch, run.head)) is not None:
            raise refused
        if append.lines and append.lines[0].seq == 1:
            self._label(append.run_id, run, digests_of(append.lines[0].body))
        run.lines.extend(append.lines)
        if append.outside:
            run.outside.update(line.seq for line in append.lines)
        self._blobs.update(append.blobs)
        run.blobs.update(append.blobs)
        for message in append.taken:
            run.inbox.pop(message, None)
        return not run.inbox

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        run = self._run(run_id)
        lines, start = run.lines, run.shared
        while lines and run.base is not None and start > after:
            run = self._run(run.base.run_id)
            lines, start = run.lines[: start - run.shared] + lines, run.shared
        return lines[max(after - start, 0) :]

    async def read_page(self, run_id: str, after: int, limit: int) -> list[Line]:
        return (await self.read(run_id, after))[: max(limit, 0)]

    async def blob(self, digest: str) -> bytes:
        if digest not in self._blobs:
            raise missing_blob(digest)
        return self._blobs[digest]

    async def post(self, run_id: str, body: bytes) -> None:
        run = self._run(run_id)
        run.posted += 1
        run.inbox[run.posted] = body

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        return list(self._run(run_id).inbox.items())

    async def runs(
        self, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        infos = [self._info(run_id, run) for run_id, run in self._runs.items() if run.lines]
        return page(sorted(infos, key=lambda run: run.last.at, reverse=True), limit, after, status)

    async def select(
        self, which: Selection, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        labelled = [self._labelled.get(digest, {}) for digest in which.digests]
        ids = [which.run_id] if which.run_id else min(labelled, key=len, default=self._runs)
        runs = ((run_id, self._runs.get(run_id)) for run_id in ids)
        infos = [self._info(run_id, run) for run_id, run in runs if run and run.lines]
        listed = sorted(infos, key=lambda run: run.last.at, reverse=True)
        return page(filter(is_selected(which), listed), limit, after, status)

    async def ids(self, part: str, limit: int = 20) -> list[str]:
        return matching((run_id for run_id, run in self._runs.items() if run.lines), part, limit)

    async def claim(self, name: str) -> bool:
        free = name not in self._claimed
        self._claimed.add(name)
        return free

    async def release(self, name: str) -> None:
        self._claimed.discard(name)

    async def due(self) -> list[RunInfo]:
        infos = [
            self._info(run_id, run)
            for run_id, run in self._runs.items()
            if run.lines and (run.inbox or not stops(run.lines[-1].body))
        ]
        return sorted(infos, key=lambda run: run.last.at)

    async def foreign(self, run_id: str) -> int:
        return max(
            (seq for part, upto in self._parts(run_id) for seq in part.outside if seq <= upto),
            default=0,
        )

    async def adopt(self, run_id: str, last: Line) -> None:
        if last not in (await self.read(run_id, last.seq - 1))[:1]:
            raise changed_since(run_id)
        for part, upto in self._parts(run_id):
            part.outside -= {*range(min(last.seq, upto) + 1)}

    async def notified(self, run_id: str) -> int:
        return self._run(run_id).notified

    async def set_notified(self, run_id: str, seq: int) -> None:
        self._run(run_id).notified = seq

    async def forget(self, run_id: str) -> None:
        run = self._run(run_id)
        for other_id, other in self._runs.items():
            if other.base is not None and other.base.run_id == run_id:
                raise still_shared(run_id, other_id)
        del self._runs[run_id]
        for label in run.labels:
            self._labelled[label].pop(run_id)
        for digest in run.blobs.difference(*(other.blobs for other in self._runs.values())):
            del self._blobs[digest]

    async def size(self) -> int:
        lines = (line for run in self._runs.values() for line in run.lines)
        waiting = (body for run in self._runs.values() for body in run.inbox.values())
        kept = (*waiting, *self._blobs.values())
        return sum(len(line.body) + len(line.hash) for line in lines) + sum(map(len, kept))

    async def __aenter__(self) -> Self:
        """Itself; `async with` closes it in the end."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close it."""
        await self.close()

    async def close(self) -> None:
        """Do nothing."""

    def _label(self, run_id: str, run: _Run, digests: list[bytes]) -> None:
        """Note which labels a run has."""
        run.labels = digests
        for digest in digests:
            self._labelled.setdefault(digest, {})[run_id] = None

    def _base(self, base: Base) -> Base:
        """The base as the run's that wrote its last line."""
        run = self._run(base.run_id)
        if not 1 <= base.seq <= run.head:
            raise no_base(base, run.head)
        while run.base is not None and base.seq <= run.shared:
            base = Base(run.base.run_id, base.seq)
            run = self._run(base.run_id)
        return base

    def _parts(self, run_id: str) -> Iterator[tuple[_Run, int]]:
        """The run and those whose lines it shares, each with the number of its last line here."""
        run = self._run(run_id)
        upto = run.head
        yield run, upto
        while run.base is not None:
            upto, run = min(upto, run.base.seq), self._run(run.base.run_id)
            yield run, upto

    def _info(self, run_id: str, run: _Run) -> RunInfo:
        return RunInfo(run_id, run.head, self._first(run), run.lines[-1], run.base)

    def _first(self, run: _Run) -> Line:
        while run.base is not None:
            run = self._run(run.base.run_id)
        return run.lines[0]

    def _run(self, run_id: str) -> _Run:
        if run_id not in self._runs:
            raise unknown_run(run_id)
        return self._runs[run_id]
