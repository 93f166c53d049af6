"""What clew writes only its owner may read, whatever the umask, from the moment it is made."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from clew import Agent, SqliteStore, run
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.values import encode
from clew.stores import open_store
from clew.testing.models import ScriptedModel, act, finish
from clew.tools.retrieval.vector_store import VectorStore
from tests.cli.shell import clew, library
from tests.retention.records import everything

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights are another matter there")


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    """A umask that takes nothing away; what was there before keeps its rights."""
    before = os.umask(0)
    yield
    os.umask(before)


def rights(place: Path) -> dict[str, str]:
    """All that stands there and may be read or written by others, with its rights."""
    found = {path: path.stat().st_mode & 0o777 for path in place.rglob("*")}
    return {
        str(path.relative_to(place)): f"{mode:o}" for path, mode in found.items() if mode & 0o077
    }


@pytest.mark.slow
def test_commands_write_what_only_the_owner_may_read(tmp_path: Path) -> None:
    documents = library()
    Path("cases.jsonl").write_text(
        json.dumps({"id": "a", "question": "What is 1 + 1?", "gold": {"number": 2}})
    )
    own = rights(Path())
    said = ("--model", "offline", "--docs", documents)
    ask = ("ask", "When was Mary Shelley born?", *said, "--log-dir", "a/logs")
    store, archive = "b/runs.sqlite", "b/runs.archive"
    assert clew(*ask, "--store", store).code == 0
    assert clew("submit", "Who wrote it?", *said, "--store", store).code == 0
    assert clew("worker", "--until-idle", "--store", store).code == 0
    assert clew("records", "export", "--archive", archive, "--store", store).code == 0
    assert clew("records", "import", archive, "--store", "c/new.sqlite").code == 0
    assert (
        clew("eval", "run", "cases.jsonl", "--model", "offline", "--results", "d/r.sqlite").code
        == 0
    )
    told = ("--html", "e.html", "--csv", "e.csv", "--tables", "f/tables")
    assert (
        clew("eval", "report", "d/r.sqlite", *told, env={"MPLCONFIGDIR": str(tmp_path)}).code == 0
    )
    assert len(list(Path().rglob("*"))) > len(own) + 20, "there is much to look at"
    assert rights(Path()) == own


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # nothing here waits for anything
async def test_so_are_all_files_of_a_store_that_is_open() -> None:
    store = open_store("deep/er/runs.sqlite")
    await everything(store)
    agent = Agent(model=ScriptedModel([act("calc", expression="1 + 1"), finish("2")]))
    await run(agent, "What is 1 + 1?", store=store, run_id="made")
    assert await store.claim("made")  # type: ignore[attr-defined]  # this store can
    await store.post("made", encode(Note(text_parts("waits"))))
    assert await anyio.Path("deep/er").exists()
    names = {path.name for path in Path("deep/er").rglob("*")}
    assert names >= {"runs.sqlite-wal", "runs.sqlite-shm", "runs.sqlite.claims"}
    assert rights(Path("deep").parent) == {}
    await store.close()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # nothing here waits for anything
async def test_what_is_there_keeps_its_rights() -> None:
    Path("shared").mkdir(mode=0o770)
    await SqliteStore(Path("shared/runs.sqlite")).close()
    Path("shared/runs.sqlite").chmod(0o660)
    store = SqliteStore(Path("shared/runs.sqlite"))
    await everything(store)
    assert await store.claim("a")
    assert set(rights(Path()).values()) == {"770", "660"}, "those of the log and the claims too"
    await store.close()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # nothing here waits for anything
async def test_a_link_to_a_store_that_is_not_there_yet_leads_to_a_private_one() -> None:
    Path("link.sqlite").symlink_to("real.sqlite")
    await everything(store := SqliteStore(Path("link.sqlite")))
    assert rights(Path()) == {}
    await store.close()


def test_vectors_of_texts_are_private_too() -> None:
    VectorStore(Path("cache/vectors.sqlite")).write({"a text of somebody": b"1234"})
    assert Path("cache/vectors.sqlite").exists()
    assert rights(Path()) == {}
