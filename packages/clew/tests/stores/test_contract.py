"""The contract that ships for other people's stores, run over our own."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace
from typing_extensions import override

from clew.core.stores import Append, Base, Line, Store
from clew.stores.memory import MemoryStore
from clew.support.errors import FencedError, StoreError
from clew_testing.store_contract import CONTRACT, Check, Make, check_store
from clew_testing.store_prunes import AT_ONCE, check_prunes
from tests.stores.makers import memory, sqlite
from tests.stores.notices import notices_are_kept_for_every_instance_and_go_with_the_run

pytestmark = pytest.mark.both_loops


@pytest.mark.parametrize("kind", [memory, sqlite])
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_store(check: Check, kind: Callable[[Path], Make], tmp_path: Path) -> None:
    await check(kind(tmp_path))


@pytest.mark.parametrize("kind", [memory, sqlite])
@pytest.mark.parametrize("check", AT_ONCE, ids=lambda check: check.__name__)
async def test_store_that_forgets(
    check: Check, kind: Callable[[Path], Make], tmp_path: Path
) -> None:
    await check(kind(tmp_path))


@pytest.mark.parametrize("kind", [memory, sqlite])
async def test_store_that_remembers_notices(kind: Callable[[Path], Make], tmp_path: Path) -> None:
    await notices_are_kept_for_every_instance_and_go_with_the_run(kind(tmp_path))


async def test_the_whole_contract_in_one_call(tmp_path: Path) -> None:
    made: list[Path] = []

    async def anew() -> Make:
        made.append(tmp_path / str(len(made)))
        return sqlite(made[-1])

    await check_store(anew)
    assert len(made) == len(CONTRACT)


class Unfenced(MemoryStore):
    """Takes whatever epoch it is given for the right one."""

    def __init__(self) -> None:
        super().__init__()
        self.epochs: dict[str, int] = {}

    @override
    async def open(self, run_id: str) -> int:
        self.epochs[run_id] = await super().open(run_id)
        return self.epochs[run_id]

    @override
    async def append(self, append: Append) -> bool:
        return await super().append(replace(append, epoch=self.epochs.get(append.run_id, 1)))


class Splitting(MemoryStore):
    """Writes an append line by line."""

    @override
    async def append(self, append: Append) -> bool:
        quiet = False
        for line in append.lines:
            quiet = await super().append(replace(append, lines=(line,)))
        return quiet


class Unread(MemoryStore):
    """Never lets a message leave the inbox."""

    @override
    async def append(self, append: Append) -> bool:
        return await super().append(replace(append, taken=()))


class Deaf(MemoryStore):
    """Says that nothing waits in the inbox without looking."""

    @override
    async def append(self, append: Append) -> bool:
        await super().append(append)
        return True


class Hasty(MemoryStore):
    """Breaks off an append whose task is cancelled."""

    @override
    async def append(self, append: Append) -> bool:
        await anyio.lowlevel.checkpoint()
        return await super().append(append)


class Nosy(MemoryStore):
    """Opens a run to read it."""

    @override
    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        await self.open(run_id)
        return await super().read(run_id, after)


class Blunt(MemoryStore):
    """Lets its own exceptions out."""

    @override
    async def blob(self, digest: str) -> bytes:
        try:
            return await super().blob(digest)
        except StoreError as error:
            raise StoreError(f"failed:\n{error}") from error


class Bottomless(MemoryStore):
    """Knows every blob."""

    @override
    async def blob(self, digest: str) -> bytes:
        return b""


class Baseless(MemoryStore):
    """Forgets what a fork shares."""

    @override
    async def create(self, run_id: str, base: Base | None = None) -> int:
        return await super().create(run_id)


class Early(MemoryStore):
    """Shows the lines that a fork shares before it has one of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.bases: dict[str, Base] = {}

    @override
    async def create(self, run_id: str, base: Base | None = None) -> int:
        epoch = await super().create(run_id, base)
        if base is not None:
            self.bases[run_id] = base
        return epoch

    @override
    async def read(self, run_id: str, after: int = 0) -> list[Line]:
        found, base = await super().read(run_id, after), self.bases.get(run_id)
        if found or base is None:
            return found
        return [line for line in await super().read(base.run_id, after) if line.seq <= base.seq]


class Hoarding(MemoryStore):
    """Forgets nothing."""

    @override
    async def forget(self, run_id: str) -> None:
        await self.read(run_id)


class Careless(MemoryStore):
    """Forgets what a fork shares."""

    @override
    async def forget(self, run_id: str) -> None:
        await self.read(run_id)
        self._runs.pop(run_id)


class Sloppy(MemoryStore):
    """Forgets blobs that others have."""

    @override
    async def forget(self, run_id: str) -> None:
        await super().forget(run_id)
        self._blobs.clear()


class Weightless(MemoryStore):
    """Weighs nothing."""

    @override
    async def size(self) -> int:
        return 0


@pytest.mark.parametrize("kind", [Hoarding, Careless, Sloppy, Weightless])
async def test_a_store_that_forgets_badly_is_found(kind: type[MemoryStore]) -> None:
    async def anew() -> Make:
        store = kind()

        async def make() -> Store:
            return store

        return make

    with pytest.raises((AssertionError, StoreError)):
        await check_prunes(anew)


BROKEN = [Unfenced, Splitting, Unread, Deaf, Hasty, Nosy, Blunt, Bottomless, Baseless, Early]


@pytest.mark.parametrize("kind", BROKEN)
async def test_a_store_that_breaks_the_contract_is_found(kind: type[MemoryStore]) -> None:
    async def anew() -> Make:
        store = kind()

        async def make() -> Store:
            return store

        return make

    with pytest.raises((AssertionError, FencedError, StoreError)):
        await check_store(anew)
