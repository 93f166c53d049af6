"""A store whose power can be cut, to test what survives a crash at any write."""

from typing import Final

from clew import MemoryStore, StoreError
from clew.interfaces import Append, Base, Line, RunInfo

CUT: Final = "the power was cut"


class CutStore:
    """A store in memory that fails after `left` writes, as if its process had been killed."""

    def __init__(self, left: int = 1 << 30) -> None:
        self.inner = MemoryStore()
        self.left = left
        self.written = 0

    def _write(self) -> None:
        if self.left <= 0:
            raise StoreError(CUT)
        self.left -= 1
        self.written += 1

    async def create(self, run_id: str, base: Base | None = None) -> int:
        self._write()
        return await self.inner.create(run_id, base)

    async def open(self, run_id: str) -> int:
        self._write()
        return await self.inner.open(run_id)

    async def append(self, append: Append) -> bool:
        self._write()
        return await self.inner.append(append)

    async def post(self, run_id: str, body: bytes) -> None:
        self._write()
        await self.inner.post(run_id, body)

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return await self.inner.read(run_id, after)

    async def blob(self, digest: str) -> bytes:
        return await self.inner.blob(digest)

    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        return await self.inner.inbox(run_id)

    async def runs(
        self, limit: int = 0, after: RunInfo | None = None, status: str = ""
    ) -> list[RunInfo]:
        return await self.inner.runs(limit, after, status)

    async def epoch(self, run_id: str) -> int:
        return await self.inner.epoch(run_id)

    async def ids(self, part: str, limit: int = 20) -> list[str]:
        return await self.inner.ids(part, limit)

    async def close(self) -> None:
        await self.inner.close()
