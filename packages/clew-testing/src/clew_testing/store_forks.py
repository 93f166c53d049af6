"""What every store must do about forks, and pages of their lines: a part of the contract."""

from typing import Final

from clew.interfaces import Base
from clew.stores import Pages, RunNotFoundError
from clew_testing.expect import expect
from clew_testing.store_lines import Check, Make, append, bodies, refused, text_of, texts


async def a_fork_shares_the_lines_of_its_base(make: Make) -> None:
    """A run with a base has its lines up to the cut, then its own, which go on in number."""
    store, other = await make(), await make()
    await store.append(append("base", await store.create("base"), *range(1, 6)))
    epoch = await store.create("fork", Base("base", 3))
    expect(epoch, 1, "the epoch of a new fork")
    for wrong in (1, 3, 5, 6):
        await refused(store.append(append("fork", epoch, wrong)), f"line {wrong} after a cut at 3")
    await store.append(append("fork", epoch, 4, 5, at=7, barrier=True))
    await store.append(append("base", 1, 6))
    await store.append(append("fork", await other.open("fork"), 6, at=8))
    for instance in (store, other):
        expect(await bodies(instance, "fork"), texts(base=3, fork=6), "the lines of the fork")
        expect(await bodies(instance, "base"), texts(base=6), "the lines of the base")
        for after in range(8):
            told = [line.seq for line in await instance.read("fork", after)]
            expect(told, list(range(after + 1, 7)), f"the lines of the fork after {after}")
    expect([line.epoch for line in await store.read("fork")], [1] * 5 + [2], "the epochs")
    await store.close()
    await other.close()


async def forks_of_forks_resolve(make: Make) -> None:
    """A fork may begin in what its base shares itself, and a long row of forks can be read."""
    store = await make()
    await store.append(append("0", await store.create("0"), 1, 2, 3))
    for number in range(1, 41):
        run_id = str(number)
        epoch = await store.create(run_id, Base(str(number - 1), number + 1))
        await store.append(append(run_id, epoch, number + 2, number + 3))
    wanted = [text_of("0", 1), *(text_of(str(max(n - 2, 0)), n) for n in range(2, 42))]
    bodies_of_last = await bodies(store, "40")
    expect(bodies_of_last[:41], wanted, "the shared lines of the last of forty forks")
    expect(bodies_of_last[41:], [text_of("40", 42), text_of("40", 43)], "its own lines")
    for cut in (1, 2, 20, 41):
        run_id = f"cut at {cut}"
        await store.append(append(run_id, await store.create(run_id, Base("40", cut)), cut + 1))
        lines = [*bodies_of_last[:cut], text_of(run_id, cut + 1)]
        expect(await bodies(store, run_id), lines, f"the lines of a fork cut at {cut}")
        (info,) = [info for info in await store.runs() if info.run_id == run_id]
        wrote = str(max(cut - 2, 0))
        expect(info.base, Base(wrote, cut), "the base, as the run's that wrote the last line")
    await store.close()


async def a_base_must_have_the_line(make: Make) -> None:
    """A fork of a run that is not there, or ends earlier, is refused, and its id stays free."""
    store = await make()
    await store.append(append("base", await store.create("base"), 1, 2, 3))
    await store.append(append("fork", await store.create("fork", Base("base", 2)), 3))
    for base in (Base("nobody", 1), Base("base", 4), Base("base", 0), Base("fork", 4)):
        await refused(store.create("new", base), f"a fork of {base}")
    await refused(store.create("fork", Base("base", 3)), "a fork whose id is taken")
    expect(await bodies(store, "fork"), texts(base=2, fork=3), "the fork after that")
    expect(await store.create("new", Base("base", 3)), 1, "the epoch of a good fork")
    await store.close()


async def a_fork_is_seen_once_it_has_a_line(make: Make) -> None:
    """Until its first append a fork has no lines; then it is listed with the shared first line."""
    store = await make()
    await store.append(append("base", await store.create("base"), 1, 2, 3))
    epoch = await store.create("fork", Base("base", 2))
    expect(await store.read("fork"), [], "the lines of a fork without one of its own")
    expect([run.run_id for run in await store.runs()], ["base"], "the listing without it")
    await store.append(append("fork", epoch, 3, 4, at=5))
    await store.append(append("deep", await store.create("deep", Base("fork", 3)), 4, at=9))
    deep, fork, base = await store.runs()
    expect([run.run_id for run in (deep, fork, base)], ["deep", "fork", "base"], "the listing")
    expect([deep.base, fork.base], [Base("fork", 3), Base("base", 2)], "what they share")
    expect(base.base, None, "what a run that is no fork shares")
    for run in (deep, fork, base):
        lines = await store.read(run.run_id)
        expect((run.first, run.last), (lines[0], lines[-1]), "first and last line")
        expect(run.entries, len(lines), "the number of entries")
    await store.close()


async def a_page_has_the_first_lines_of_what_is_read(make: Make) -> None:
    """A store that reads pages (`clew.stores.Pages`) gives in each what `read` begins with."""
    store = await make()
    if not isinstance(store, Pages):
        await store.close()
        return
    await store.append(append("base", await store.create("base"), *range(1, 6)))
    await store.append(append("fork", await store.create("fork", Base("base", 3)), 4, 5, 6))
    await store.append(append("base", 1, 6, 7))
    await store.append(append("again", await store.create("again", Base("fork", 5)), 6, 7))
    await store.append(append("early", await store.create("early", Base("again", 2)), 3))
    await store.create("unbegun", Base("fork", 5))
    await store.create("empty")
    for run_id in ("base", "fork", "again", "early", "unbegun", "empty"):
        for after in range(-1, 9):
            lines = await store.read(run_id, after)
            for limit in (-1, *range(9), 1_000):
                told = await store.read_page(run_id, after, limit)
                what = f"{limit} lines of {run_id!r} after {after}"
                expect(told, lines[: max(limit, 0)], what)
    for limit in (0, 1):
        await refused(store.read_page("nobody", 0, limit), "a page of a run", RunNotFoundError)
    await store.close()


FORKS: Final[tuple[Check, ...]] = (
    a_fork_shares_the_lines_of_its_base,
    forks_of_forks_resolve,
    a_base_must_have_the_line,
    a_fork_is_seen_once_it_has_a_line,
    a_page_has_the_first_lines_of_what_is_read,
)
