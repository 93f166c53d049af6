"""A store that counts what it gives."""

from collections import Counter
from typing import Any

from clew import MemoryStore
from clew.interfaces import Line


class Counting:
    """A store that counts what it is asked for, and the bytes of lines that it gives."""

    def __init__(self, store: MemoryStore) -> None:
        self.store, self.asked = store, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        return self._counted("read", await self.store.read(run_id, after))

    async def read_page(self, run_id: str, after: int, limit: int) -> list[Line]:
        return self._counted("page", await self.store.read_page(run_id, after, limit))

    def _counted(self, what: str, lines: list[Line]) -> list[Line]:
        self.asked[what] += 1
        self.asked["lines"] += len(lines)
        self.asked["bytes"] += sum(len(line.body) for line in lines)
        return lines

    async def blob(self, digest: str) -> bytes:
        self.asked["blob"] += 1
        return await self.store.blob(digest)
