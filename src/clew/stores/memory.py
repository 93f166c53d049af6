"""A store that lives as long as its process: for tests and for runs nobody will resume."""

from dataclasses import dataclass, field

from clew.protocols import Append, Line, RunInfo
from clew.stores.refusals import known_run, missing_blob, refusal, unknown_run


@dataclass(slots=True)
class _Run:
    epoch: int = 1
    lines: list[Line] = field(default_factory=list[Line])
    inbox: dict[int, bytes] = field(default_factory=dict[int, bytes])
    posted: int = 0


class MemoryStore:
    """Keeps records in this process only; closing it loses nothing, ending the process all."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._blobs: dict[str, bytes] = {}

    async def create(self, run_id: str) -> int:
        if run_id in self._runs:
            raise known_run(run_id)
        self._runs[run_id] = _Run()
        return 1

    async def open(self, run_id: str) -> int:
        run = self._run(run_id)
        run.epoch += 1
        return run.epoch

    async def append(self, append: Append) -> None:
        run = self._run(append.run_id)
        if (refused := refusal(append, run.epoch, len(run.lines))) is not None:
            raise refused
        run.lines.extend(append.lines)
        self._blobs.update(append.blobs)
        for message in append.taken:
            run.inbox.pop(message, None)

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return self._run(run_id).lines[max(after, 0) :]

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

    async def runs(self) -> list[RunInfo]:
        found = [
            RunInfo(run_id, len(run.lines), run.lines[0], run.lines[-1])
            for run_id, run in self._runs.items()
            if run.lines
        ]
        return sorted(found, key=lambda run: run.last.at, reverse=True)

    async def close(self) -> None:
        """Nothing is held that could be let go."""

    def _run(self, run_id: str) -> _Run:
        if run_id not in self._runs:
            raise unknown_run(run_id)
        return self._runs[run_id]
