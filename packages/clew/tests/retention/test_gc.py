"""What `gc` removes, in which order, what stays and why."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.journal import Journal
from clew.core.stores import Base, RunInfo, Store
from clew.core.values import encode
from clew.retention import GcReport, Remark, gc, gc_sync
from clew.stores.locks import claim
from clew.stores.memory import MemoryStore
from clew.support.errors import ConfigError, StoreError
from tests.retention.records import LONG, MAKERS, NOW, Maker, contents, family, fork, run, sqlite
from tests.stores.bare_store import BareStore

HOUR = 3600.0


async def sweep(store: Store, **how: Any) -> GcReport:
    return await gc(store=store, clock=lambda: NOW, **how)


async def left(store: Store) -> set[str]:
    return {info.run_id for info in await store.runs()}


@pytest.mark.parametrize("make", MAKERS)
async def test_old_stopped_runs_go(make: Maker, tmp_path: Path) -> None:
    store = make(tmp_path)
    for name, days in (("new", 1), ("old", 40), ("older", 50)):
        await run(store, name, days=days)
    await run(store, "held", days=40, status="held")
    await run(store, "open", days=40, status=None)
    before = await contents(store)
    seen: list[tuple[int, int, str]] = []
    dry = await sweep(store, older=30 * 24 * HOUR, dry_run=True)
    assert await contents(store) == before
    done = await sweep(store, older=30 * 24 * HOUR, on_run=lambda *told: seen.append(told))
    assert dry.removed == done.removed == ("older", "old"), "the oldest first"
    assert seen == [(1, 2, "older"), (2, 2, "old")]
    assert await left(store) == {"new", "held", "open"}
    assert {name: before[name] for name in await left(store)} == await contents(store)
    assert (done.kept, done.failed) == ((), ())
    named = await sweep(store, older=30 * 24 * HOUR, status=["held", "open"])
    assert set(named.removed) == {"held", "open"}
    assert await left(store) == {"new"}
    assert (await sweep(store, status=["failed"])).removed == ()
    assert (await sweep(store, status=["answered"])).removed == ("new",)
    await store.close()


@pytest.mark.parametrize("make", MAKERS)
async def test_the_bytes_that_a_dry_run_tells_are_about_those_that_come_free(
    make: Maker, tmp_path: Path
) -> None:
    store = make(tmp_path)
    for number in range(12):
        await run(store, f"r{number}", *[Note(text_parts(LONG))] * 4, days=40 + number)
    await run(store, "stays")
    dry = await sweep(store, older=30 * 24 * HOUR, dry_run=True)
    done = await sweep(store, older=30 * 24 * HOUR)
    assert len(dry.removed) == len(done.removed) == 12
    assert dry.bytes > 12 * len(LONG)
    assert 0.7 < done.bytes / dry.bytes < 1.5
    await store.close()


@pytest.mark.parametrize("make", MAKERS)
async def test_a_store_is_kept_under_a_size_by_its_oldest_runs(make: Maker, tmp_path: Path) -> None:
    store = make(tmp_path)
    for number in range(20):
        more = [Note(text_parts("x" * 9_000)) for _ in range(10)]
        await run(store, f"r{number:02}", *more, days=20 - number)
    full = await store.size()  # type: ignore[attr-defined]  # all of them can forget
    dry = await sweep(store, keep_under=full // 2, dry_run=True)
    done = await sweep(store, keep_under=full // 2)
    assert await store.size() <= full // 2  # type: ignore[attr-defined]  # all of them can forget
    assert list(done.removed) == [f"r{number:02}" for number in range(len(done.removed))]
    assert 8 <= len(done.removed) <= 14
    assert abs(len(dry.removed) - len(done.removed)) <= 3
    assert (await sweep(store, keep_under=full // 2)).removed == ()
    younger = await sweep(store, keep_under=0, older=5 * 24 * HOUR)
    assert await left(store) == {f"r{number:02}" for number in range(15, 20)}, younger
    await store.close()


@pytest.mark.parametrize("make", MAKERS)
async def test_what_a_fork_shares_stays_with_it_and_goes_after_it(
    make: Maker, tmp_path: Path
) -> None:
    store = make(tmp_path)
    await run(store, "base", days=50)
    await fork(store, "fork", Base("base", 3), days=40)
    await fork(store, "young", Base("fork", 4), days=1)
    await run(store, "other", days=45)
    dry = await sweep(store, older=30 * 24 * HOUR, dry_run=True)
    done = await sweep(store, older=30 * 24 * HOUR)
    assert dry.removed == done.removed == ("other",)
    assert {told.run_id: told.why for told in done.kept} == {
        "base": "its fork 'fork' stays and shares its lines",
        "fork": "its fork 'young' stays and shares its lines",
    }
    assert await left(store) == {"base", "fork", "young"}
    assert (await sweep(store, older=1)).removed == ("young", "fork", "base")
    await store.close()


@pytest.mark.parametrize("make", MAKERS)
async def test_sub_runs_go_with_their_root_and_never_alone(make: Maker, tmp_path: Path) -> None:
    store = make(tmp_path)
    await family(store, "old", days=40)
    await family(store, "young", days=40)
    journal = await Journal.open(store, "young", clock=lambda: NOW)
    await journal.record(Note(text_parts("go on")))
    await family(store, "forked", days=40)
    await fork(store, "of a sub-run", Base("forked-2.1", 3))
    done = await sweep(store, older=30 * 24 * HOUR)
    assert done.removed[0] == "old"
    assert set(done.removed) == {"old", "old-2.1", "old-2.1-2.1"}
    assert [told.run_id for told in done.kept] == ["forked"]
    assert len(await left(store)) == 7
    await store.close()


async def test_sub_runs_whose_root_is_gone_go_whatever_became_of_them(tmp_path: Path) -> None:
    store = MemoryStore()
    await run(store, "root-1.1", parent="root:1.1", status=None, days=9)
    await run(store, "root-1.1-1.1", parent="root-1.1:1.1", status=None, days=9)
    done = await sweep(store, older=24 * HOUR)
    assert done.removed == ("root-1.1", "root-1.1-1.1")


@pytest.mark.parametrize("make", MAKERS)
async def test_what_somebody_may_still_want_stays(make: Maker, tmp_path: Path) -> None:
    store = make(tmp_path)
    for name in ("claimed", "spoken to", "gone"):
        await run(store, name, days=9)
    await store.post("spoken to", encode(Note(text_parts("And now?"))))
    assert await store.claim("claimed")  # type: ignore[attr-defined]  # all of them have claims
    for dry_run in (True, False):
        done = await sweep(store, older=24 * HOUR, dry_run=dry_run)
        assert done.removed == ("gone",)
        assert set(done.kept) == {
            Remark("claimed", "a worker has claimed it"),
            Remark("spoken to", "a message waits in its inbox"),
        }
    await store.release("claimed")  # type: ignore[attr-defined]  # all of them have claims
    assert (await sweep(store, older=24 * HOUR)).removed == ("claimed",)
    assert await store.claim("claimed"), "gc let go of its own claim"  # type: ignore[attr-defined]  # all of them have claims
    await store.close()


async def test_a_run_that_was_taken_over_stays() -> None:
    """Who hung with its claim was ended, and who has it now holds the other lock."""
    store = MemoryStore()
    await run(store, "hung", days=9, status=None)
    assert await claim(store, "hung") == "hung"
    assert await claim(store, "hung", take_over=True) == "over:hung"
    await store.release("hung")
    done = await sweep(store, status=["open"])
    assert (done.removed, done.kept) == ((), (Remark("hung", "a worker has claimed it"),))
    await store.release("over:hung")
    assert (await sweep(store, status=["open"])).removed == ("hung",)
    assert await claim(store, "hung") == "hung"


class Busy(MemoryStore):
    """Somebody does something just before each look into an inbox."""

    def __init__(self, then: Callable[[Store, str], Awaitable[object]]) -> None:
        super().__init__()
        self.then = then

    @override
    async def inbox(self, run_id: str) -> list[tuple[int, bytes]]:
        found = await super().inbox(run_id)
        await self.then(self, run_id)
        return found


async def test_a_run_that_was_written_to_meanwhile_stays() -> None:
    async def goes_on(store: Store, run_id: str) -> None:
        journal = await Journal.open(store, run_id, clock=lambda: NOW)
        await journal.record(Note(text_parts("one more thing")))

    store = Busy(goes_on)
    await run(store, "r", days=9)
    done = await sweep(store, older=24 * HOUR)
    assert done.kept == (Remark("r", "it was written to just now"),)


async def test_what_the_store_does_not_let_go_is_told_and_the_rest_goes() -> None:
    async def forks(store: Store, run_id: str) -> None:
        if run_id == "a":
            await store.create("fork", Base("a", 2))

    store = Busy(forks)
    for name, days in (("a", 10), ("b", 9)):
        await run(store, name, days=days)
    done = await sweep(store, older=24 * HOUR)
    assert done.removed == ("b",)
    ((told),) = done.failed
    assert told.run_id == "a"
    assert "its fork 'fork' shares its lines" in told.why


async def test_a_run_that_cannot_be_read_here_stays(tmp_path: Path) -> None:
    store = sqlite(tmp_path)
    await run(store, "r", days=9)
    connection = store._connection  # type: ignore[attr-defined]  # noqa: SLF001 - no other way puts it there
    connection.execute("UPDATE entries SET at = 'yesterday'")
    assert (await sweep(store, older=24 * HOUR)).removed == ()
    await store.close()


def test_a_store_that_cannot_forget_and_no_criterion_are_told() -> None:
    with pytest.raises(ConfigError, match="BareStore cannot forget"):
        gc_sync(store=BareStore(), older=1)  # type: ignore[arg-type]  # its methods are made
    with pytest.raises(ConfigError, match=r"store is .*object.*: give a store"):
        gc_sync(store=object(), older=1)  # type: ignore[arg-type]  # it is none
    with pytest.raises(ConfigError, match="an age, a size or a status"):
        gc_sync(store=MemoryStore())


shapes = st.lists(
    st.tuples(
        st.integers(0, 60),  # days
        st.sampled_from(["answered", "failed", "held", None]),
        st.none() | st.tuples(st.sampled_from("fs"), st.integers(0, 20)),  # a fork or sub-run of
    ),
    max_size=9,
)


@settings(max_examples=30)
@given(shapes, st.integers(0, 60))
async def test_whatever_goes_nothing_that_stays_lacks_anything(
    shape: list[tuple[int, Any, tuple[str, int] | None]], older: int
) -> None:
    store = MemoryStore()
    parents: dict[str, str] = {}
    for number, (days, status, of) in enumerate(shape):
        name, other = f"r{number}", f"r{of[1] % number}" if of and number else ""
        if not other or of is None:
            await run(store, name, days=days, status=status)
        elif of[0] == "f":
            await fork(store, name, Base(other, 3), days=days)
        else:
            await run(store, name, days=days, status=status, parent=f"{other}:1.1")
            parents[name] = other
    before = await contents(store)
    dry = await sweep(store, older=older * 24 * HOUR, dry_run=True)
    done = await sweep(store, older=older * 24 * HOUR)
    after = await contents(store)
    assert set(dry.removed) == set(done.removed) == before.keys() - after.keys()
    assert (done.failed, {t.run_id for t in done.kept} & set(done.removed)) == ((), set())
    assert after == {name: before[name] for name in after}
    for name, parent in parents.items():
        assert (name in after) == (parent in after), "a sub-run goes, and stays, with its root"


def test_errors_of_the_store_come_out() -> None:
    class Failing(MemoryStore):
        @override
        async def runs(self, limit: int = 0, after: RunInfo | None = None, status: str = "") -> Any:
            message = "no"
            raise StoreError(message)

    with pytest.raises(StoreError, match="no"):
        gc_sync(store=Failing(), older=1)


class Unclaimed:
    """A store that no workers share."""

    def __init__(self) -> None:
        self.inner = MemoryStore()

    def __getattr__(self, name: str) -> Any:
        if name in {"claim", "release", "due"}:
            raise AttributeError(name)
        return getattr(self.inner, name)


async def test_a_store_needs_no_claims() -> None:
    store: Any = Unclaimed()  # a type checker does not see what it passes on
    await run(store, "r", days=9)
    assert (await sweep(store, older=24 * HOUR)).removed == ("r",)
