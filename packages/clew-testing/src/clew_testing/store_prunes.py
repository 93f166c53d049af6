"""What a store that can forget (`Deletes`) must do, as checks like those of `store_contract`."""

from collections.abc import Awaitable, Callable
from typing import Final, cast

from clew.interfaces import Base, Store
from clew.stores import Deletes
from clew_testing.expect import expect, require
from clew_testing.store_lines import Check, Make, append, blob, bodies, numbers, refused, texts

__all__ = ["AT_ONCE", "PRUNES", "check_prunes"]


async def check_prunes(make: Callable[[], Awaitable[Make]]) -> None:
    """Run the checks for every store that can delete; `make` is that of `check_store`."""
    for check in PRUNES:
        await check(await make())


def _prunes(store: Store) -> Deletes:
    require(isinstance(store, Deletes), "the store has no `forget` and `size`")
    return cast("Deletes", store)


async def what_is_forgotten_is_gone(make: Make) -> None:
    """A forgotten run is unknown to every instance, and its id is as good as new."""
    store, other = await make(), await make()
    for run_id in ("r", "s"):
        await store.append(append(run_id, await store.create(run_id), 1, 2, barrier=True))
        await other.post(run_id, b'"waiting"')
    await _prunes(store).forget("r")
    for instance in (store, other):
        await refused(instance.read("r"), "reading a forgotten run")
        await refused(instance.open("r"), "opening a forgotten run")
        await refused(instance.append(append("r", 1, 3)), "appending to a forgotten run")
        await refused(instance.post("r", b"{}"), "posting to a forgotten run")
        await refused(instance.inbox("r"), "reading a forgotten run's inbox")
        expect([run.run_id for run in await instance.runs()], ["s"], "the listing")
        expect(await numbers(instance, "s"), [1, 2], "the lines of another run")
        expect(len(await instance.inbox("s")), 1, "the inbox of another run")
    await refused(_prunes(other).forget("r"), "forgetting a run twice")
    expect(await other.create("r"), 1, "the epoch of a new run by a forgotten id")
    for instance in (store, other):
        expect(await instance.read("r"), [], "the lines of a new run by a forgotten id")
        expect(await instance.inbox("r"), [], "the inbox of a new run by a forgotten id")
    await store.append(append("r", 1, 1))
    expect(await bodies(other, "r"), texts(r=1), "the lines of a new run by a forgotten id")
    await store.close()
    await other.close()


async def what_a_fork_shares_is_not_forgotten(make: Make) -> None:
    """A run whose lines a fork shares stays whole, until the last such fork is forgotten."""
    store = await make()
    await store.append(append("base", await store.create("base"), 1, 2, 3))
    await store.append(append("fork", await store.create("fork", Base("base", 2)), 3))
    await store.append(append("deep", await store.create("deep", Base("fork", 3)), 4))
    await store.create("bare", Base("fork", 3))  # its worker is about to write its first line
    prunes = _prunes(store)
    await refused(prunes.forget("base"), "forgetting a run with a fork")
    await refused(prunes.forget("fork"), "forgetting a fork with a fork")
    expect(await bodies(store, "base"), texts(base=3), "the lines of the base after that")
    expect(await bodies(store, "deep"), texts(base=2, fork=3, deep=4), "the lines of its fork")
    await prunes.forget("deep")
    await refused(prunes.forget("fork"), "forgetting a run with a fork without a line of its own")
    await prunes.forget("bare")
    await prunes.forget("fork")
    expect(await bodies(store, "base"), texts(base=3), "the lines of the base without forks")
    await prunes.forget("base")
    expect(await store.runs(), [], "the listing in the end")
    await store.close()


async def a_blob_stays_while_a_run_has_it(make: Make) -> None:
    """Of the blobs of a forgotten run those stay that another run has, whoever wrote first."""
    store, other = await make(), await make()
    body, digest = blob("shared" * 5_000)
    for run_id in ("a", "b", "c"):
        wanted = append(run_id, await store.create(run_id), 1, blobs={digest: body})
        await (other if run_id == "b" else store).append(wanted)
    for run_id in ("a", "c"):
        await _prunes(store).forget(run_id)
        expect(await other.blob(digest), body, f"the blob after {run_id!r} was forgotten")
    await store.close()
    await other.close()


async def a_blob_that_comes_back_is_there(make: Make) -> None:
    """A blob that went, or might have gone, is written anew by who brings it."""
    store = await make()
    body, digest = blob("again" * 5_000)
    for _ in range(3):
        await store.append(append("r", await store.create("r"), 1, blobs={digest: body}))
        expect(await store.blob(digest), body, "the blob")
        await _prunes(store).forget("r")
    await store.close()


async def the_size_follows_what_is_there(make: Make) -> None:
    """`size` grows with what is written, and falls again with what is forgotten."""
    store = await make()
    prunes = _prunes(store)
    before = await prunes.size()
    for run_id in ("a", "b"):
        epoch = await store.create(run_id)
        for first in range(1, 2_000, 500):
            await store.append(append(run_id, epoch, *range(first, first + 500)))
    full = await prunes.size()
    require(full - before > 2 * 2_000 * 15, f"the size grew only from {before} to {full}")
    await prunes.forget("a")
    half = await prunes.size()
    await prunes.forget("b")
    after = await prunes.size()
    require(after < half < full, f"after forgetting the sizes are {half} and {after}, not {full}")
    require(after - before < (full - before) / 10, f"{before} bytes at first, {after} at last")
    await store.close()


async def a_blob_goes_with_its_last_run(make: Make) -> None:
    """A blob that only a forgotten run had is gone with it."""
    store = await make()
    mine, my_digest = blob("mine" * 5_000)
    ours, our_digest = blob("ours" * 5_000)
    epoch = await store.create("a")
    await store.append(append("a", epoch, 1, blobs={my_digest: mine, our_digest: ours}))
    await store.append(append("a", epoch, 2, blobs={my_digest: mine}))
    await store.append(append("b", await store.create("b"), 1, blobs={our_digest: ours}))
    await _prunes(store).forget("a")
    await refused(store.blob(my_digest), "reading a blob that nobody has")
    expect(await store.blob(our_digest), ours, "the blob of the other run")
    await _prunes(store).forget("b")
    await refused(store.blob(our_digest), "reading a blob that nobody has any more")
    await store.close()


PRUNES: Final[tuple[Check, ...]] = (
    what_is_forgotten_is_gone,
    what_a_fork_shares_is_not_forgotten,
    a_blob_stays_while_a_run_has_it,
    a_blob_that_comes_back_is_there,
    the_size_follows_what_is_there,
)
"""Checks for every store that can delete."""

AT_ONCE: Final[tuple[Check, ...]] = (*PRUNES, a_blob_goes_with_its_last_run)
"""The same for a store that deletes blobs immediately, not after a day."""
