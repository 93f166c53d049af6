"""What every store must do, as checks to run over one's own.

Each check takes `make`, which opens the store: every call gives an instance over the *same* place
(the same object where nothing outlives it), and the place is new for each check. With pytest:

```python
@pytest.mark.anyio
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_my_store(check: Check, tmp_path: Path) -> None:
    async def make() -> Store:
        return MyStore(tmp_path)

    await check(make)
```
"""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from clew import StoreError
from clew.interfaces import Append, Line
from clew.stores import FencedError, RunExistsError, RunNotFoundError
from clew_testing.expect import expect
from clew_testing.store_forks import FORKS
from clew_testing.store_lines import Check, Make, append, blob, bodies, numbers, refused, text_of
from clew_testing.store_listing import LISTING

__all__ = [
    "BODIES", "CONTRACT", "Check", "Make", "append", "blob", "check_store", "numbers", "refused",
    "text_of",
]  # fmt: skip


async def check_store(make: Callable[[], Awaitable[Make]]) -> None:
    """Run the whole contract; for each check, `make` returns what opens stores in a new place."""
    for check in CONTRACT:
        await check(await make())


async def a_new_run_has_epoch_1_and_no_lines(make: Make) -> None:
    """`create` begins an empty run."""
    store = await make()
    expect(await store.create("r"), 1, "the epoch of a new run")
    expect(await store.read("r"), [], "the lines of a new run")
    expect(await store.inbox("r"), [], "the inbox of a new run")
    expect(await store.runs(), [], "the listing, which leaves out runs without an entry")
    await store.close()


async def an_id_is_taken_once(make: Make) -> None:
    """A second `create` of one id is refused and changes nothing."""
    store = await make()
    epoch = await store.create("r")
    await store.append(append("r", epoch, 1))
    await refused(store.create("r"), "creating a run that is there", RunExistsError)
    await store.append(append("r", epoch, 2))
    expect(await numbers(store, "r"), [1, 2], "the lines after a refused create")
    await store.close()


async def ids_are_any_text(make: Make) -> None:
    """Run ids with separators, spaces and other scripts stay apart and come back as they were."""
    store = await make()
    ids = ["a/b", "a%2Fb", "a b", "a\\b", ".", "..", "run:1", "ラン", "x.inbox", "x"]
    for at, run_id in enumerate(ids):
        await store.append(append(run_id, await store.create(run_id), 1, at=at))
        expect(await numbers(store, run_id), [1], f"the lines of {run_id!r}")
    expect([run.run_id for run in await store.runs()], ids[::-1], "the ids in the listing")
    await store.close()


async def what_is_missing_is_reported(make: Make) -> None:
    """Every method refuses a run id, or a digest, that the store does not know."""
    store = await make()
    unknown = RunNotFoundError
    await refused(store.open("nobody"), "opening an unknown run", unknown)
    await refused(store.epoch("nobody"), "asking for an unknown run's epoch", unknown)
    await refused(store.read("nobody"), "reading an unknown run", unknown)
    await refused(store.append(append("nobody", 1, 1)), "appending to an unknown run", unknown)
    await refused(store.post("nobody", b"{}"), "posting to an unknown run", unknown)
    await refused(store.inbox("nobody"), "reading an unknown run's inbox", unknown)
    await refused(store.blob("00" * 32), "reading an unknown blob")
    await store.close()


async def opening_bumps_the_epoch(make: Make) -> None:
    """Each `open` gives the next epoch, and other instances see it."""
    store, other = await make(), await make()
    await store.create("r")
    expect([await store.open("r"), await store.open("r")], [2, 3], "the epochs of two openings")
    expect(await store.epoch("r"), 3, "the epoch after them")
    expect(await other.open("r"), 4, "the epoch another instance gets")
    expect(await store.epoch("r"), 4, "the epoch then")
    await store.close()
    await other.close()


async def lines_come_back_as_they_were(make: Make) -> None:
    """Sequence number, time, epoch, body and hash survive, byte by byte; bodies may be large."""
    store = await make()
    epoch = await store.create("r")
    lines = tuple(
        Line(number, 1_790_000_000_000 + number, epoch, body, bytes([number]) * 32)
        for number, body in enumerate(BODIES, start=1)
    )
    await store.append(Append("r", epoch, lines[:2], barrier=True))
    await store.append(Append("r", epoch, lines[2:]))
    expect(await store.read("r"), list(lines), "the lines of the run")
    for after in range(len(lines) + 2):
        expect(await store.read("r", after), list(lines[after:]), f"the lines after {after}")
    await store.close()


async def an_append_is_atomic_and_without_gaps(make: Make) -> None:
    """Lines that do not follow the last one are refused, and nothing of their append stays.

    An append whose task is cancelled is made like any other.
    """
    store = await make()
    epoch = await store.create("r")
    await store.append(append("r", epoch, 1, 2))
    await store.post("r", b'"message"')
    (message,) = await store.inbox("r")
    for wrong in ((4,), (2,), (2, 3), (3, 5), (3, 3), (4, 3), (0,), ()):
        body, digest = blob(f"of {wrong}")
        bad = append("r", epoch, *wrong, blobs={digest: body}, taken=(message[0],))
        await refused(store.append(bad), f"appending lines {wrong} after line 2")
        await refused(store.blob(digest), "reading a blob of a refused append")
        expect(await store.inbox("r"), [message], "the inbox after a refused append")
    expect(await numbers(store, "r"), [1, 2], "the lines after refused appends")
    with anyio.CancelScope() as scope:
        scope.cancel()
        await store.append(append("r", epoch, 3, 4, 5, barrier=True))
    expect(scope.cancelled_caught, False, "whether a cancelled append broke off")
    expect(await numbers(store, "r"), [1, 2, 3, 4, 5], "the lines after one more append")
    await store.close()


async def an_older_epoch_is_fenced(make: Make) -> None:
    """Who opened last appends; whoever had the run before gets `FencedError` and leaves nothing."""
    frozen, other = await make(), await make()
    before = await frozen.create("r")
    await frozen.append(append("r", before, 1))
    now = await other.open("r")
    body, digest = blob("late")
    late = append("r", before, 2, barrier=True, blobs={digest: body})
    await refused(frozen.append(late), "appending with an old epoch", FencedError)
    await refused(other.blob(digest), "reading a blob of a fenced append")
    await other.append(append("r", now, 2))
    await refused(frozen.append(append("r", before, 3)), "appending once more", FencedError)
    expect(
        [line.epoch for line in await frozen.read("r")], [before, now], "the epochs of the lines"
    )
    await frozen.close()
    await other.close()


async def lines_keep_their_own_epoch(make: Make) -> None:
    """A copied run brings lines of other epochs: they neither change nor count as an opening."""
    store = await make()
    epoch = await store.create("copy")
    copied = (Line(1, 1, 7, b"1", b"a"), Line(2, 2, 9, b"2", b"b"))
    await store.append(Append("copy", epoch, copied))
    await store.append(append("copy", epoch, 3))
    lines = await store.read("copy")
    expect([line.epoch for line in lines], [7, 9, epoch], "the epochs of the lines")
    expect(await store.open("copy"), epoch + 1, "the epoch of the next opening")
    await store.close()


async def reading_does_not_open(make: Make) -> None:
    """Whoever only looks leaves the worker its run."""
    worker, viewer = await make(), await make()
    epoch = await worker.create("r")
    await worker.append(append("r", epoch, 1))
    await viewer.read("r")
    await viewer.inbox("r")
    await viewer.runs()
    await viewer.post("r", b"{}")
    await worker.append(append("r", epoch, 2))
    expect(await numbers(viewer, "r"), [1, 2], "what the other instance reads")
    await worker.close()
    await viewer.close()


async def blobs_are_kept_once(make: Make) -> None:
    """A blob is read by its digest, whichever append of whichever run brought it."""
    store, other = await make(), await make()
    body, digest = blob("large" * 10_000)
    small, small_digest = blob("small")
    for run_id in ("a", "b"):
        epoch = await store.create(run_id)
        both = {digest: body, small_digest: small}
        await store.append(append(run_id, epoch, 1, blobs=both))
    expect(await store.blob(digest), body, "the blob")
    expect(await other.blob(small_digest), small, "the blob, read by another instance")
    await store.close()
    await other.close()


async def the_inbox_is_posted_read_and_taken(make: Make) -> None:
    """Messages wait in order and leave with the append that takes them; no id is given twice.

    An append does not say that nothing waits while something does.
    """
    worker, person = await make(), await make()
    epoch = await worker.create("r")
    await worker.create("other")
    await person.post("other", b'"not yours"')
    for body in BODIES:
        await person.post("r", body)
    waiting = await worker.inbox("r")
    expect([body for _, body in waiting], list(BODIES), "the messages, oldest first")
    ids = [message for message, _ in waiting]
    expect(ids, sorted(set(ids)), "their ids")
    quiet = [await worker.append(append("r", epoch, 1, taken=tuple(ids[1:])))]
    expect(await person.inbox("r"), waiting[:1], "what still waits")
    await worker.append(append("r", epoch, 2, 3, taken=(ids[0],)))
    expect(await person.inbox("r"), [], "what waits when all is taken")
    await person.post("r", b'"later"')
    quiet.append(await worker.append(append("r", epoch, 4)))
    expect(any(quiet), False, "whether an append said that nothing waits")
    ((later, body),) = await worker.inbox("r")
    expect(
        (later in ids, body),
        (False, b'"later"'),
        "the next message: is its id an old one, its body",
    )
    expect(len(await worker.inbox("other")), 1, "the messages of another run")
    await worker.close()
    await person.close()


async def another_instance_sees_everything(make: Make) -> None:
    """What was written is there when the place is opened again, and work goes on from it."""
    first = await make()
    body, digest = blob("kept")
    epoch = await first.create("r")
    await first.append(append("r", epoch, 1, 2, barrier=True, blobs={digest: body}))
    await first.post("r", b'"waiting"')
    lines, inbox, runs = await first.read("r"), await first.inbox("r"), await first.runs()
    await first.close()
    second = await make()
    expect(await second.read("r"), lines, "the lines")
    expect(await second.inbox("r"), inbox, "the inbox")
    expect(await second.runs(), runs, "the listing")
    expect(await second.blob(digest), body, "the blob")
    expect(await second.open("r"), epoch + 1, "the next epoch")
    await second.append(append("r", epoch + 1, 3))
    expect(await numbers(second, "r"), [1, 2, 3], "the lines after going on")
    await second.close()


async def many_runs_append_at_once(make: Make) -> None:
    """Appends of many runs do not mix, and one that is refused harms no other."""
    store = await make()
    ids = [f"run {number}" for number in range(40)]

    async def work(run_id: str) -> None:
        epoch = await store.create(run_id)
        for step in range(5):
            await refused(
                store.append(append(run_id, 0, 1)), "an append fenced in between", FencedError
            )
            await store.append(append(run_id, epoch, 2 * step + 1, 2 * step + 2, barrier=step == 4))

    async with anyio.create_task_group() as group:
        for run_id in ids:
            group.start_soon(work, run_id)
    for run_id in ids:
        wanted = [text_of(run_id, seq) for seq in range(1, 11)]
        expect(await bodies(store, run_id), wanted, f"the lines of {run_id!r}")
    await store.close()


async def one_of_two_at_once_wins(make: Make) -> None:
    """Two appends of the same line at once: one is committed, the other refused."""
    store = await make()
    epoch = await store.create("r")
    won: list[bool] = []

    async def race() -> None:
        try:
            await store.append(append("r", epoch, 1))
        except StoreError:
            won.append(False)
        else:
            won.append(True)

    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(race)
    expect(sorted(won), [False, True], "who got the line")
    expect(await numbers(store, "r"), [1], "the lines of the run")
    await store.close()


BODIES: Final = (
    b"{}",
    b'{"event":"note","parts":[{"type":"text","text":"plain"}]}',
    '{"text":"Ariadne – Ἀριάδνη – 日本 – 🧶 \\u2028 \\n"}'.encode(),
    '{"text":"\u2028\u2029\x7f\u0085"}'.encode(),
    b'{"text":"\\ud83e\\uddf6 \\\\ \\" \\u0000"}',
    b'[1,2.50,-0.0,1e400,12345678901234567890123,null,true,""]',
    b'{"text":"' + b"a" * 300_000 + b'"}',
)
"""Bodies that a store must give back unchanged: all are JSON on one line."""

CONTRACT: Final[tuple[Check, ...]] = (
    a_new_run_has_epoch_1_and_no_lines,
    an_id_is_taken_once,
    ids_are_any_text,
    what_is_missing_is_reported,
    opening_bumps_the_epoch,
    lines_come_back_as_they_were,
    an_append_is_atomic_and_without_gaps,
    an_older_epoch_is_fenced,
    lines_keep_their_own_epoch,
    reading_does_not_open,
    blobs_are_kept_once,
    the_inbox_is_posted_read_and_taken,
    *LISTING,
    another_instance_sees_everything,
    many_runs_append_at_once,
    one_of_two_at_once_wins,
    *FORKS,
)
"""Every check, in an order that meets simple faults first."""
