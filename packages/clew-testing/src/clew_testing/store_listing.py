"""What every store must do when it is asked which runs it has; part of `store_contract`."""

import json
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from clew.interfaces import Append, Base, RunInfo, Store
from clew.stores.listing import runs_with
from clew_testing.expect import expect
from clew_testing.store_lines import Check, Make, append

_STOP: Final = '{{"event":"stop","status":"{}","reason":"","answer":null,"fallback":false}}'


async def runs_are_listed_last_written_first(make: Make) -> None:
    """The listing gives each run's first and last line and its number of entries."""
    store = await make()
    for at, run_id in enumerate(("a", "b", "c")):
        await store.append(append(run_id, await store.create(run_id), 1, 2, at=at))
    await store.create("empty")
    await store.append(append("b", 1, 3, at=9))
    listed = await store.runs()
    expect([run.run_id for run in listed], ["b", "c", "a"], "the order of the listing")
    expect([run.entries for run in listed], [3, 2, 2], "the numbers of entries")
    for run in listed:
        lines = await store.read(run.run_id)
        expect((run.first, run.last), (lines[0], lines[-1]), "first and last line")
    await store.close()


async def runs_are_listed_in_pages(make: Make) -> None:
    """Pages follow each other, and together are the listing, whether runs are open or stopped."""
    store = await make()
    for at in range(7):
        await _written(store, f"r{at}", "answered" if at % 3 else "", at=at)
    await store.create("empty")
    await store.create("fork", Base("r6", 1))
    wanted = [f"r{at}" for at in range(6, -1, -1)]
    for limit in (1, 2, 3, 7, 8):
        pages: list[list[str]] = []
        after: RunInfo | None = None
        while page := await store.runs(limit, after):
            pages.append([run.run_id for run in page])
            after = page[-1]
        expect(pages, [wanted[at : at + limit] for at in range(0, 7, limit)], f"pages of {limit}")
    (first,) = await store.runs(1)
    expect(first, (await store.runs())[0], "a run on a page")
    # what is written to meanwhile comes to the first page, and not again
    (_, second) = await store.runs(2)
    await store.append(append("r2", 1, 3, at=20))
    page = await store.runs(10, second)
    expect([run.run_id for run in page], ["r4", "r3", "r1", "r0"], "what follows then")
    await store.close()


async def runs_are_listed_by_how_they_stand(make: Make) -> None:
    """By the status of a stop that is their last line, or as open, where it is none."""
    store = await make()
    standing = ["answered", "", "held", "answered", "failed", ""]
    for at, status in enumerate(standing):
        await _written(store, f"r{at}", status, at=at)
    await store.create("empty")

    async def of(status: str, limit: int = 0, after: RunInfo | None = None) -> list[str]:
        return [run.run_id for run in await store.runs(limit, after, status)]

    expect(await of("answered"), ["r3", "r0"], "those that were answered")
    expect(await of("open"), ["r5", "r1"], "those that are open")
    expect(await of("held"), ["r2"], "those that are held")
    expect(await of("bound"), [], "those that reached a bound")
    (last,) = await store.runs(1, None, "answered")
    expect(await of("answered", 1, last), ["r0"], "the next page of those that were answered")
    await store.append(append("r2", 1, 3, at=9))
    expect(await of("open"), ["r2", "r5", "r1"], "those that are open when one went on")
    expect(await of("held"), [], "those that are held then")
    await _stopped(store, "r2", 4, "held", at=10)
    expect((await of("held"), await of("open")), (["r2"], ["r5", "r1"]), "when it stopped again")
    expect([run.run_id for run in await store.runs(2)], ["r2", "r5"], "the first page then")
    await store.close()


async def runs_are_matched_by_a_part_of_their_ids(make: Make) -> None:
    """By their beginning, and where there is none such by their end; in order, so many."""
    store = await make()
    for run_id in ("2025-ab", "2026-ab", "2026-cd", "ab-2027", "ラン", "%_"):
        await _written(store, run_id, "answered", at=1)
    await store.create("2026-empty")
    for part, wanted in {
        "2026": ["2026-ab", "2026-cd"],
        "2026-ab": ["2026-ab"],
        "2026-e": [],
        "-ab": ["2025-ab", "2026-ab"],
        "ab": ["ab-2027"],
        "ラ": ["ラン"],
        "ン": ["ラン"],
        "%": ["%_"],
        "_": ["%_"],
        "2026-ab-": [],
        "026": [],
        "nobody": [],
    }.items():
        expect(await store.ids(part), wanted, f"the ids that {part!r} stands for")
    expect(await store.ids("20", 2), ["2025-ab", "2026-ab"], "the first two ids that begin so")
    await store.close()


async def runs_are_selected_by_labels_and_owner(make: Make) -> None:
    """By all labels that are asked for, the owner, the id and the status; a fork has its first
    run's.
    """
    store = await make()
    ada, bob = {"user": "ada", "plan": "gold"}, {"user": "bob", "plan": "gold"}
    for at, (run_id, labels, owner) in enumerate(
        (("r0", ada, "x"), ("r1", bob, "x"), ("r2", ada, ""), ("r3", {}, ""), ("r4", {}, "ada"))
    ):
        await _labelled(store, run_id, labels, owner, at)
    await _stopped(store, "r2", 2, "answered", at=2)
    await store.create("f", Base("r0", 1))

    async def of(labels: Mapping[str, str], owner: str = "", run_id: str = "", **more: Any) -> str:
        listed = await runs_with(store, labels=labels, owner=owner, run_id=run_id, **more)
        return " ".join(run.run_id for run in listed)

    expect(await of(ada), "r2 r0", "the runs with two labels")
    await store.append(append("f", 1, 2, at=7))
    wanted: dict[str, tuple[str, str]] = {
        "two labels, one of them a fork's": (await of(ada), "f r2 r0"),
        "one label": (await of({"plan": "gold"}), "f r2 r1 r0"),
        "a label and an owner": (await of(ada, "x"), "f r0"),
        "an owner": (await of({}, "ada"), "r4"),
        "a value that is another's name": (await of({"ada": "user"}), ""),
        "a label that nobody has": (await of({"user": "ada", "desk": "3"}), ""),
        "an id": (await of({}, run_id="r3"), "r3"),
        "an id and its label": (await of({"user": "bob"}, run_id="r1"), "r1"),
        "an id and another's label": (await of({"user": "ada"}, run_id="r1"), ""),
        "those that are open": (await of(ada, status="open"), "f r0"),
        "those that were answered": (await of(ada, status="answered"), "r2"),
        "those that are held": (await of(ada, status="held"), ""),
        "two at most": (await of({"plan": "gold"}, limit=2), "f r2"),
    }
    for what, (got, right) in wanted.items():
        expect(got, right, f"the runs with {what}")
    await store.close()
    store = await make()  # it is opened again
    expect(await of(ada), "f r2 r0", "the runs with two labels, later")
    await store.close()


async def _labelled(
    store: Store, run_id: str, labels: Mapping[str, str], owner: str, at: int
) -> None:
    """A run whose first line has labels and an owner."""
    (made_up,) = append(run_id, await store.create(run_id), 1, at=at).lines
    names = {"labels": dict(labels)} if labels else {}
    body = {"event": "started", **names, **({"owner": owner} if owner else {})}
    await store.append(
        Append(
            run_id, 1, (replace(made_up, body=json.dumps(body, separators=(",", ":")).encode()),)
        )
    )


async def _written(store: Store, run_id: str, status: str, at: int) -> None:
    """A run with two lines, the last of them a stop where it has a status."""
    await store.append(append(run_id, await store.create(run_id), 1, at=at))
    if status:
        await _stopped(store, run_id, 2, status, at)
    else:
        await store.append(append(run_id, 1, 2, at=at))


async def _stopped(store: Store, run_id: str, seq: int, status: str, at: int) -> None:
    (made_up,) = append(run_id, 1, seq, at=at).lines
    line = replace(made_up, body=_STOP.format(status).encode())
    await store.append(Append(run_id, 1, (line,), barrier=True))


LISTING: Final[tuple[Check, ...]] = (
    runs_are_listed_last_written_first,
    runs_are_listed_in_pages,
    runs_are_listed_by_how_they_stand,
    runs_are_matched_by_a_part_of_their_ids,
    runs_are_selected_by_labels_and_owner,
)
"""Every check of listings, in an order that meets simple faults first."""
