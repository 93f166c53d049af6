"""Files that clew keeps: no table changes while its format's number stays, and older ones open.

A table was once added to the store of runs under the number of before: each older store was called
damaged.
"""

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import clew
import clew_cluster
import clew_evals
from clew import SqliteStore
from clew.memory import SqliteMemory
from clew.models.batches.interface import Outcome
from clew.models.batches.ledger import Ledger, Wanted
from clew.toolbox.docs.library import Library
from clew.tools.retrieval.vector_store import VectorStore
from clew_evals.outcome import About
from clew_evals.results import VERSION as RESULTS
from clew_evals.results import Results, ResultsHeader
from tests.formats.pins import HERE, NEW_NUMBER, aged, number, pins, schema, version
from tests.stores.test_migrate import content, written

HEADER: Final = ResultsHeader(About("chess", "w", "m", (), ("one",), ("scripted",)))


class Kind(NamedTuple):
    """A kind of file: `fill` makes one with something in it, and `look` says what it holds, by the
    doors that users have. `modules` make its tables.
    """

    fill: Callable[[Path], Any]
    look: Callable[[Path], Any]
    modules: frozenset[str]
    journal: str = "WAL"


def fill_memories(path: Path) -> None:
    with closing(SqliteMemory(path)) as memory:
        memory.add("The key lies under the mat.", kind="fact", trust="trusted")


def look_at_memories(path: Path) -> Any:
    with closing(SqliteMemory(path)) as memory:
        return [(each.text, each.kind, each.trust) for each in memory.search("mat")]


def fill_ledger(path: Path) -> None:
    with closing(Ledger(path)) as ledger:
        row, (request, _) = ledger.begin("s", "", "m", [Wanted("r1", "d1"), Wanted("r2", "d2")])
        ledger.sent(row.id, "remote")
        ledger.store([(request, Outcome("r1", "answered", 200, b"{}"))])


def look_at_ledger(path: Path) -> Any:
    with closing(Ledger(path)) as ledger:
        return ledger.batches(), ledger.requests("s", "r1", "d1"), ledger.requests("s", "r2", "d2")


def fill_index(path: Path) -> None:
    (folder := path.with_name("notes")).mkdir()
    (folder / "ulm.md").write_text("# Ulm\n\nThe tower of Ulm is the highest of all.\n")
    look_at_index(path)


def look_at_index(path: Path) -> Any:
    report = Library(path.with_name("notes"), index=path).load()
    assert not report.note  # it is the file, and none in memory
    return report.files, report.passages


def fill_vectors(path: Path) -> None:
    VectorStore(path).write({"one": b"1"})


def look_at_vectors(path: Path) -> Any:
    return VectorStore(path).read(["one", "two"])


def fill_results(path: Path) -> None:
    Results.begin(path, HEADER).close()


def look_at_results(path: Path) -> Any:
    with closing(Results(path)) as results:
        return results.stored_plan


STORE: Final = frozenset(
    {
        "clew/stores/sqlite/file.py",
        "clew/stores/sqlite/labels.py",
        "clew/stores/sqlite/listing.py",
        "clew/stores/sqlite/notices.py",
    }
)
KINDS: Final = {
    "memories": Kind(
        fill_memories, look_at_memories, frozenset({"clew/memory/schema.py"}), "DELETE"
    ),
    "ledger": Kind(fill_ledger, look_at_ledger, frozenset({"clew/models/batches/ledger.py"})),
    "index": Kind(fill_index, look_at_index, frozenset({"clew/toolbox/docs/index.py"})),
    "vectors": Kind(
        fill_vectors, look_at_vectors, frozenset({"clew/tools/retrieval/vector_store.py"}), "DELETE"
    ),
    "results": Kind(fill_results, look_at_results, frozenset({"clew_evals/results.py"})),
}
ELSEWHERE: Final = frozenset(
    {
        "clew/stores/sqlite/page_reader.py",  # in memory
        "clew_cluster/postgres/schema.py",  # test_postgres_formats.py
    }
)
STORES: Final = [*pins("store")][:-1]
OLDER: Final = [(kind, heading) for kind in KINDS for heading in [*pins(kind)][:-1]]


def of_results(tables: tuple[str, ...]) -> tuple[str, ...]:
    """Those beside the tables of the store: a store with an evaluation is one file."""
    return tuple(each for each in tables if re.match(r"CREATE TABLE (evaluation|outcomes)", each))


@pytest.mark.parametrize("kind", KINDS)
def test_tables_that_change_have_a_new_number(kind: str, tmp_path: Path) -> None:
    KINDS[kind].fill(path := tmp_path / "file.sqlite")
    there, its = schema(path), version(path)
    if kind == "results":
        there, its = of_results(there), RESULTS
    heading, pinned = [*pins(kind).items()][-1]
    assert (its, there) == (number(heading), pinned), NEW_NUMBER.format(file=HERE / f"{kind}.sql")


async def test_tables_of_a_store_that_change_have_a_new_number(tmp_path: Path) -> None:
    await SqliteStore(path := tmp_path / "runs.sqlite").close()
    heading, pinned = [*pins("store").items()][-1]
    pin = (number(heading), pinned)
    assert (version(path), schema(path)) == pin, NEW_NUMBER.format(file=HERE / "store.sql")


@pytest.mark.parametrize("heading", STORES)
async def test_a_store_of_each_older_format_is_brought_up(heading: str, tmp_path: Path) -> None:
    """With runs, a fork, blobs and messages in it."""
    before = await written(path := tmp_path / "runs.sqlite", forks=True)
    copy = aged(path, heading, pins("store")[heading], journal="WAL")
    async with SqliteStore(copy) as store:
        assert await content(store) == before
    newest, pinned = [*pins("store").items()][-1]
    (has_heads,) = set(pinned) - set(schema(copy))  # a file of before has no `.heads` beside it
    assert has_heads.startswith("CREATE VIEW")
    assert set(schema(copy)) < set(pinned)
    assert version(copy) == number(newest)


@pytest.mark.parametrize(("kind", "heading"), OLDER)
def test_a_file_of_each_older_format_is_brought_up(kind: str, heading: str, tmp_path: Path) -> None:
    its = KINDS[kind]
    its.fill(path := tmp_path / "file.sqlite")
    before = its.look(path)
    copy = aged(path, heading, pins(kind)[heading], journal=its.journal)
    assert its.look(copy) == before
    newest, pinned = [*pins(kind).items()][-1]
    assert (version(copy), set(schema(copy))) == (number(newest), set(pinned))


def test_whatever_makes_tables_is_pinned() -> None:
    """A new file of tables needs a kind here."""
    sources = (Path(str(each.__file__)).parent for each in (clew, clew_cluster, clew_evals))
    make = {
        path.relative_to(source.parent).as_posix()
        for source in sources
        for path in source.rglob("*.py")
        if re.search(r"create table", path.read_text(encoding="utf-8"), re.IGNORECASE)
    }
    assert make == STORE | ELSEWHERE | {each for kind in KINDS.values() for each in kind.modules}
