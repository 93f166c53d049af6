"""What every store that workers share must do (`Locks`), as checks to run over one's own.

They take `make` like those of `store_contract`. `a_killed_process_loses_its_claims` takes a place
that `open_store` opens: the claims of a process that is killed are free at once.
"""

import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, cast

import anyio

from clew import ConfigError
from clew.interfaces import Append, Base, Line, Store
from clew.stores import Locks, open_store
from clew_testing.expect import expect
from clew_testing.store_lines import Check, Make, append

STOP: Final = b'{"event":"stop","status":"answered"}'
NOTE: Final = b'{"event":"note","parts":[{"type":"text","text":"go on"}]}'

PATIENCE: Final = 60.0
"""Seconds after which a claim that is not freed counts as kept."""


async def check_claims(make: Callable[[], Awaitable[Make]]) -> None:
    """Run all checks that take `make`; `make` gives a new place for each."""
    for check in CLAIMS:
        await check(await make())


async def a_claim_is_had_once(make: Make) -> None:
    """Whoever claims first has it, until it lets go; the store itself does not get it twice."""
    one, other = await _shared(make), await _shared(make)
    expect(await one.claim("r"), True, "the first claim")
    expect(await one.claim("r"), False, "the same claim by the same store")
    expect(await other.claim("r"), False, "the same claim by another")
    expect(await other.claim("s"), True, "a claim of another name")
    await one.release("r")
    expect(await other.claim("r"), True, "a claim that was let go")
    expect(await one.claim("r"), False, "the claim that went to the other")
    if one is not other:
        await one.release("r")
        expect(await one.claim("r"), False, "a claim after who did not have it let go of it")
    for name in ("r", "s", "nothing"):
        await other.release(name)
    expect(await one.claim("r"), True, "a claim that the other let go")
    await one.release("r")
    await _close(one, other)


async def claims_are_of_any_name_and_number(make: Make) -> None:
    """Hundreds at once, of names that are no run's, stay apart; nothing is written for them."""
    one, other = await _shared(make), await _shared(make)
    names = ["", "worker:a b", "ラン", "a/b", *(f"run {number}" for number in range(500))]
    expect([await one.claim(name) for name in names], [True] * len(names), "the claims")
    expect([await other.claim(name) for name in names], [False] * len(names), "them by another")
    await one.release(names[7])
    free = [name for name in names if await other.claim(name)]
    expect(free, [names[7]], "what is free when one was let go")
    expect(await one.runs(), [], "the runs of a store with claims")
    for name in names:
        await one.release(name)
    await other.release(names[7])
    await _close(one, other)


async def closing_lets_go(make: Make) -> None:
    """A store that is closed has no claims; those of others stay."""
    one, other = await _shared(make), await _shared(make)
    if one is other:  # as long as it lives, so do its claims
        return
    await one.claim("r")
    await other.claim("s")
    await one.close()
    expect(await other.claim("r"), True, "a claim whose store was closed")
    third = await _shared(make)
    expect(await third.claim("s"), False, "a claim of a store that is open")
    await _close(third, other)


async def what_waits_for_work_is_due(make: Make) -> None:
    """Runs without a stop at their end, and those with something in the inbox, oldest first."""
    store, other = await _shared(make), await _shared(make)
    expect([run.run_id for run in await store.due()], [], "what is due in an empty store")
    for at, run_id in enumerate(("open", "stopped", "spoken to", "stopped later")):
        await store.append(append(run_id, await store.create(run_id), 1, at=at))
    await store.create("without a line")
    for run_id in ("stopped", "spoken to"):
        await _add(store, run_id, 2, STOP)
    await other.post("spoken to", NOTE)
    due_runs = await other.due()
    expect([run.run_id for run in due_runs], ["open", "stopped later", "spoken to"], "what is due")
    expect([run.entries for run in due_runs], [1, 1, 2], "their numbers of entries")
    lines = await store.read("spoken to")
    expect(
        (due_runs[2].first, due_runs[2].last),
        (lines[0], lines[-1]),
        "the first and last line of one",
    )
    await _add(store, "stopped later", 2, STOP)
    ((message, _),) = await store.inbox("spoken to")
    await _add(store, "spoken to", 3, NOTE, message)
    due = {run.run_id for run in await other.due()}
    expect(due, {"open", "spoken to"}, "what is due after a stop, and a word that was taken")
    await _add(store, "spoken to", 4, STOP)
    await _add(store, "stopped", 3, NOTE)
    due = {run.run_id for run in await other.due()}
    expect(due, {"open", "stopped"}, "what is due after a stop that something follows")
    await _close(store, other)


async def a_fork_is_due_by_its_own_lines(make: Make) -> None:
    """A fork of a run that stopped is due, and says what it shares."""
    store = await _shared(make)
    await store.append(append("r", await store.create("r"), 1))
    await _add(store, "r", 2, STOP)
    base = (await store.runs())[0]
    epoch = await store.create("fork", Base("r", 1))
    expect(await store.due(), [], "what is due while a fork has no line of its own")
    await store.append(append("fork", epoch, 2))
    (due,) = await store.due()
    expect((due.run_id, due.base), ("fork", Base("r", 1)), "the fork that is due")
    expect(due.first, base.first, "its first line")
    await _add(store, "fork", 3, STOP)
    expect(await store.due(), [], "what is due when the fork has stopped")
    await _close(store)


async def a_killed_process_loses_its_claims(address: str) -> None:
    """What a process has claimed that ends without a word is free; what it let go is free before.

    A process that is frozen keeps its claims.
    """
    store = open_store(address)
    shared = _claims(store)
    command = [sys.executable, "-m", "clew_testing.claimant", address, "r", "s"]
    async with await anyio.open_process(command, stdin=subprocess.PIPE, stderr=None) as process:
        try:
            line = await process.stdout.receive() if process.stdout is not None else b""
            expect(line, b"claimed\n", "what the other process says")
            process.send_signal(signal.SIGSTOP)
            expect(await shared.claim("r"), False, "what a frozen process has")
        finally:
            process.kill()
        await process.wait()
    with anyio.move_on_after(PATIENCE):
        while not await shared.claim("r"):  # noqa: ASYNC110 - no event tells of another's end
            await anyio.sleep(0.01)
    expect(await shared.claim("s"), True, "what a killed process had")
    expect(await shared.claim("r"), False, "what was claimed since")
    await store.close()


async def _add(store: Store, run_id: str, seq: int, body: bytes, *taken: int) -> None:
    """A line with this body, in the run's first epoch."""
    line = Line(seq, 1_790_000_000_000 + 100 + seq, 1, body, b"#")
    await store.append(Append(run_id, 1, (line,), taken=taken))


class ClaimingStore(Store, Locks, Protocol):
    """A store that workers share."""


def _claims(store: Store) -> Locks:
    if not isinstance(store, Locks):
        message = "this store has no claims: give it the methods of clew.stores.Locks"
        raise ConfigError(message)
    return store


async def _shared(make: Make) -> ClaimingStore:
    store = await make()
    _claims(store)
    return cast("ClaimingStore", store)


async def _close(*stores: Store) -> None:
    for store in stores:
        await store.close()


CLAIMS: Final[tuple[Check, ...]] = (
    a_claim_is_had_once,
    claims_are_of_any_name_and_number,
    closing_lets_go,
    what_waits_for_work_is_due,
    a_fork_is_due_by_its_own_lines,
)
"""Every check that takes `make`."""
