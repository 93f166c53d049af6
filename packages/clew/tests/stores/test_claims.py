"""Claims: the contract over our own stores, and what is particular to locks of the kernel."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typing_extensions import override

from clew import SqliteStore
from clew.core.stores import Store
from clew.stores.file_locks import FileClaims
from clew.stores.memory import MemoryStore
from clew.support.errors import ConfigError, StoreError
from clew_testing.store_claims import CLAIMS, a_killed_process_loses_its_claims, check_claims
from clew_testing.store_contract import Check, Make
from tests.stores.makers import memory, sqlite

pytestmark = pytest.mark.both_loops


@pytest.mark.parametrize("kind", [memory, sqlite])
@pytest.mark.parametrize("check", CLAIMS, ids=lambda check: check.__name__)
async def test_claims(check: Check, kind: Callable[[Path], Make], tmp_path: Path) -> None:
    await check(kind(tmp_path))


async def test_a_killed_process_loses_its_claims(tmp_path: Path) -> None:
    await a_killed_process_loses_its_claims(str(tmp_path / "runs.sqlite"))


class Generous(MemoryStore):
    """Gives a claim to everybody."""

    @override
    async def claim(self, name: str) -> bool:
        return True


class Keeping(MemoryStore):
    """Never lets go."""

    @override
    async def release(self, name: str) -> None:
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
async def test_a_store_has_the_same_claims_by_whatever_name_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    store = SqliteStore(tmp_path / "real" / "runs.sqlite")
    for link, at in (("folder", "real"), ("link.sqlite", "real/runs.sqlite")):
        (tmp_path / link).symlink_to(tmp_path / at)
    assert await store.claim("run")
    for name in ("folder/runs.sqlite", "link.sqlite"):
        other = SqliteStore(tmp_path / name)
        assert not await other.claim("run")
        await other.close()
    await store.close()


@pytest.mark.parametrize("kind", [Generous, Keeping])
async def test_a_store_that_breaks_the_contract_is_found(kind: type[MemoryStore]) -> None:
    async def anew() -> Make:
        store = kind()

        async def make() -> Store:
            return store

        return make

    with pytest.raises(AssertionError):
        await check_claims(anew)


def test_stores_of_one_process_exclude_each_other_by_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    one, other = (
        FileClaims(tmp_path / "claims", tmp_path),
        FileClaims(tmp_path / "link" / "claims", tmp_path),
    )
    assert one.claim("r")
    assert not other.claim("r")
    assert other.claim("s")
    other.release("s")  # its last claim: nothing may be closed that others lock
    assert taken_elsewhere(tmp_path / "claims", "r")
    one.release("r")
    assert not taken_elsewhere(tmp_path / "claims", "r")


def taken_elsewhere(path: Path, name: str) -> bool:
    """Whether another process is refused the claim."""
    code = (
        "import pathlib, sys; from clew.stores.file_locks import FileClaims; "
        "path = pathlib.Path(sys.argv[1]); print(FileClaims(path, path.parent).claim(sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, str(path), name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout == "False\n"


def test_five_hundred_claims_take_one_descriptor(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "claims", tmp_path)
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert all(claims.claim(f"run {number}") for number in range(500))
    assert len(list(Path("/proc/self/fd").iterdir())) == before + 1
    claims.release_all()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert (tmp_path / "claims").stat().st_size == 0


def test_a_forked_child_has_none_of_its_parents_claims(tmp_path: Path) -> None:
    claims = FileClaims(tmp_path / "claims", tmp_path)
    assert claims.claim("r")
    if not (child := os.fork()):
        claims.release("r")  # which is the parent's
        os._exit(int(claims.claim("r")))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert taken_elsewhere(tmp_path / "claims", "r")
    claims.release("r")


def test_where_no_lock_can_be_had_it_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        FileClaims(tmp_path / "missing" / "claims", tmp_path).claim("r")


async def test_a_store_without_claims_is_told_what_it_lacks() -> None:
    async def anew() -> Make:
        async def make() -> Store:
            return object()  # type: ignore[return-value]  # no store at all

        return make

    with pytest.raises(ConfigError, match="Locks"):
        await check_claims(anew)
