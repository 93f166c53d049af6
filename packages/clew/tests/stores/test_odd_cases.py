"""Stores and what stands beside them, where something is missing, damaged or somebody else's."""

import errno
import logging
import os
from pathlib import Path

import anyio
import pytest

from clew import Agent, ConfigError, MemoryStore, StoreError, run
from clew.core.stores import Line, RunInfo
from clew.stores import open_store
from clew.stores.address import without_password
from clew.stores.locks import fingerprint_of, queue_of, release_quietly
from clew.stores.ownership import user_key
from clew.stores.refusals import failed
from clew.testing import ScriptedModel, say

pytestmark = pytest.mark.anyio


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user's key would be."""
    monkeypatch.setattr("clew.stores.ownership.default_location", lambda: tmp_path / "runs.sqlite")
    return tmp_path / "key"


@pytest.mark.parametrize("text", ["no hex", "ab", ""])
def test_a_file_that_holds_no_key_is_refused(key: Path, text: str) -> None:
    key.write_text(text)
    with pytest.raises(ConfigError, match="is no key: delete it"):
        user_key()


def test_a_key_is_made_once_and_kept(key: Path) -> None:
    assert user_key() == user_key() == bytes.fromhex(key.read_text())


def test_where_no_key_can_be_kept_the_process_has_its_own(
    key: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key.mkdir()
    caplog.set_level(logging.WARNING, "clew")
    assert user_key() == user_key()
    assert "no key can be kept" in caplog.text


async def test_a_store_in_memory_knows_whose_lines_they_are() -> None:
    store = MemoryStore()
    done = await run(Agent(ScriptedModel([say("Yes.")])), "Is it?", store=store)
    assert await store.foreign(done.run_id) == 0
    lines = await store.read(done.run_id)
    await store.adopt(done.run_id, lines[-1])
    with pytest.raises(StoreError, match="is another than the one"):
        await store.adopt(done.run_id, Line(len(lines), 0, 1, b"{}", b""))


def test_a_run_whose_beginning_cannot_be_read_is_in_no_queue() -> None:
    broken = Line(1, 0, 1, b"{", b"")
    info = RunInfo("r", 1, broken, broken)
    assert (queue_of(info), fingerprint_of(info)) == ("", "")


class Gone(MemoryStore):
    """A store whose connection broke."""

    async def release(self, name: str) -> None:
        raise StoreError("the connection is gone")


async def test_a_claim_goes_with_its_connection(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "clew")
    with anyio.fail_after(60):
        await release_quietly(Gone(), "run")
    assert "the claim of run went with its connection" in caplog.text


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (errno.ENOSPC, "there is no room"),
        (errno.EMFILE, "too many files"),
        (errno.EIO, "Input/output error"),
        (errno.ENOENT, "No such file"),
    ],
)
def test_what_the_system_refuses_is_one_line(number: int, message: str) -> None:
    error = failed("runs.sqlite", OSError(number, os.strerror(number)))
    assert "\n" not in str(error)
    assert "runs.sqlite" in str(error)


@pytest.mark.parametrize(
    ("named", "printed"),
    [("runs.sqlite", "runs.sqlite"), ("oracle://u:secret@host/x", "oracle://…")],
)
def test_no_password_is_printed(named: str, printed: str) -> None:
    assert without_password(named) == printed


def test_a_kind_of_store_that_is_not_installed_is_told() -> None:
    with pytest.raises(StoreError):
        open_store("oracle://u:secret@host/x")
