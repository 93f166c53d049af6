"""Requests gathered into batches: handed in together, looked at until they have ended, told.

No task of its own does it: of the runs that wait for a reply one leads, for as long as it waits
itself, and another goes on where that one has its reply or is cancelled. Whatever was handed in is
in the ledger; who leads knows nothing that is not there.
"""

import hashlib
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Final, NamedTuple

import anyio
import anyio.to_thread
import httpx2
import msgspec

from clew.models.batches.interface import BatchApi, Outcome, Request, Timing
from clew.models.batches.ledger import BatchRow, Ledger, Wanted
from clew.models.http.failures import (
    FailureSource,
    LostError,
    ProviderError,
    SilentError,
    StatusError,
    failure,
)
from clew.models.http.retry import TryAgain
from clew.support.errors import ModelError

LOG: Final = logging.getLogger("clew.models")

PASSES: Final = (LostError, SilentError, httpx2.HTTPError, msgspec.MsgspecError)
"""What may pass by itself: the connection, not the request, was at fault."""

CHUNK: Final = 500
"""So many outcomes are stored at once."""

TRIES: Final = 8
"""So often in a row nothing is heard of the provider before the runs are told; waits double."""

LONGEST: Final = 600.0
"""The longest wait between two looks, in seconds, while nothing is heard."""

UNAVAILABLE: Final = frozenset({408, 409, 425, 429})
FULL: Final = "token_limit_exceeded"
"""OpenAI's word for more tokens in batches than the account may have there at a time."""


class Asked(msgspec.Struct, eq=False):
    """A request of a run that waits: where it stands, and what became of it."""

    api: BatchApi
    wanted: Wanted
    body: bytes
    batch: int = 0
    """The batch that it is in, 0 where it is in none."""
    id: int = 0
    outcome: Outcome | None = None
    error: Exception | None = None
    woken: anyio.Event = msgspec.field(default_factory=anyio.Event)

    @property
    def settled(self) -> bool:
        """Whether it waits no longer."""
        return self.outcome is not None or self.error is not None


class Asker(NamedTuple):
    """Whose requests they are: of a model at an address (`scope`), of an account, by this name."""

    scope: str
    account: str
    name: str


class Waves:
    """All requests for one model at one address that wait in this event loop."""

    def __init__(self, ledger: Ledger, who: Asker, source: FailureSource, timing: Timing) -> None:
        self._ledger = ledger
        self._scope, self._account, self._name = who
        self._source = source
        self._timing = timing
        self._live: list[Asked] = []
        self._delivered: set[int] = set()
        self._leading = False
        self._joined = anyio.Event()
        self._quiet_at = self._look_at = self._again_at = 0.0
        self._failures = 0
        self._limit = timing.requests
        self._one_at_a_time = False

    async def outcome(self, api: BatchApi, run: str, body: bytes) -> Outcome:
        """What becomes of a request, be it that it was asked before. Raises what failed with it."""
        asked = self._ask(api, run, body)
        self._live.append(asked)
        try:
            while not asked.settled:
                if self._leading:
                    await asked.woken.wait()
                    asked.woken = anyio.Event()
                else:
                    await self._lead(api)
        finally:
            self._live.remove(asked)
            if not self._leading and self._live:
                self._live[0].woken.set()
        if asked.error is not None:
            raise asked.error
        assert asked.outcome is not None  # noqa: S101 - it is settled
        self._delivered.add(asked.id)
        if asked.outcome.kind != "answered":  # nothing was paid; who asks again wants it anew
            self._ledger.spend(asked.id)
        return asked.outcome

    def _ask(self, api: BatchApi, run: str, body: bytes) -> Asked:
        """Where the request stands: new, in a batch, or known by now."""
        digest = hashlib.blake2b(body, digest_size=20).hexdigest()
        mine = {asked.id for asked in self._live if asked.id}
        rows = self._ledger.requests(self._scope, run, digest)
        for used in self._delivered.intersection(it.id for it in rows):  # of no use to the run
            self._ledger.spend(used)
        row = next((it for it in rows if it.id not in mine | self._delivered), None)
        if row is None:
            self._quiet_at = anyio.current_time() + self._timing.gather
            self._joined.set()
            return Asked(api, Wanted(run, digest), body)
        asked = Asked(api, Wanted(run, digest), body, row.batch, row.id)
        asked.outcome = self._ledger.outcome(row.id) if row.known else None
        if asked.outcome is None:
            check_account(self._ledger.batch(row.batch), self._account)
        self._look_at = 0.0
        self._joined.set()
        return asked

    @property
    def _waiting(self) -> list[Asked]:
        return [asked for asked in self._live if not asked.batch and not asked.settled]

    @property
    def _open(self) -> list[int]:
        """The batches that somebody waits for."""
        return [*dict.fromkeys(it.batch for it in self._live if it.batch and not it.settled)]

    async def _lead(self, api: BatchApi) -> None:
        self._leading = True
        try:
            await self._round(api)
        finally:
            self._leading = False

    async def _round(self, api: BatchApi) -> None:
        """The one next thing: hand a batch in, look at those that are there, or wait."""
        now, waiting, open_batches = anyio.current_time(), self._waiting, self._open
        may = bool(waiting) and not (self._one_at_a_time and open_batches)
        full = len(waiting) >= min(self._limit, api.max_requests)
        start = self._again_at if full else max(self._quiet_at, self._again_at)
        if may and now >= start:
            await self._hand_in(api, waiting)
        elif open_batches and now >= self._look_at:
            for batch in open_batches:
                await self._look(api, batch)
            self._look_at = anyio.current_time() + self._pause
        else:
            due = [start] if may else []
            due += [self._look_at] if open_batches else []
            with anyio.CancelScope(deadline=min(due)):
                await self._joined.wait()
            self._joined = anyio.Event()

    @property
    def _pause(self) -> float:
        """Seconds until the next look."""
        return min(self._timing.poll * 2.0**self._failures, max(LONGEST, self._timing.poll))

    # ------------------------------------------------------------- handing in

    async def _hand_in(self, api: BatchApi, waiting: Sequence[Asked]) -> None:
        """Hand in as many as a batch takes."""
        chosen = self._fitting(api, waiting)
        if not chosen:
            return
        async with self._ledger.handing_in():
            wanted = [asked.wanted for asked in chosen]
            row, ids = await anyio.to_thread.run_sync(
                self._ledger.begin, self._scope, self._account, self._name, wanted
            )
            for asked, request in zip(chosen, ids, strict=True):
                asked.batch, asked.id = row.id, request
            try:
                requests = [Request(_custom_id(row, it.id), it.body) for it in chosen]
                prepared = await api.prepare(requests, row.mark)
                self._ledger.sending(row.id)
                self._accepted(row, await api.hand_in(prepared))
            except StatusError as error:
                self._not_taken(row, chosen, error)
            except PASSES as error:
                self._unheard(error)

    def _fitting(self, api: BatchApi, waiting: Sequence[Asked]) -> list[Asked]:
        """The first that fit into a batch; one that fits into none is told so."""
        chosen: list[Asked] = []
        size = 0
        for asked in waiting:
            needed = api.size(Request("-" * 64, asked.body))
            if needed > api.max_bytes:
                trouble = ProviderError(413, f"a batch takes {api.max_bytes:,} bytes")
                self._settle(asked, StatusError(trouble))
                continue
            size += needed
            if size > api.max_bytes or len(chosen) >= min(self._limit, api.max_requests):
                break
            chosen.append(asked)
        return chosen

    def _accepted(self, row: BatchRow, remote: str) -> None:
        self._ledger.sent(row.id, remote)
        self._failures = 0
        self._look_at = anyio.current_time() + self._timing.poll
        LOG.info("%s: %d requests are handed in, as %s", self._name, row.total, remote)

    def _not_taken(self, row: BatchRow, chosen: Sequence[Asked], error: StatusError) -> None:
        """The provider answered with an error: where that may pass, later; else the runs know.

        A server that failed may have taken the batch all the same; that is looked for.
        """
        if error.trouble.status >= 500 or error.trouble.status in {408, 409}:
            self._unheard(error)
            return
        self._ledger.forget(row.id)
        for asked in chosen:
            asked.batch = asked.id = 0
        if error.trouble.status in UNAVAILABLE:
            self._unheard(error)
            return
        problem = failure(self._source, error.trouble, error.headers)
        for asked in chosen:
            self._settle(asked, as_model_error(problem))

    def _unheard(self, error: Exception) -> None:
        """The provider is not reached, or has no time: try again, and tell the runs in the end."""
        self._failures += 1
        why = error.trouble.message if isinstance(error, StatusError) else repr(error)
        why = self._source.tell(why)
        now = anyio.current_time()
        self._again_at = self._look_at = now + self._pause
        if self._failures < TRIES:
            LOG.warning("%s: %s; the next try is in %.0f s", self._name, why, self._pause)
            return
        self._failures = 0
        message = f"{self._name}: {why}; what was handed in goes on there: resume the run"
        for asked in self._live:
            self._settle(asked, ModelError(message))

    # ----------------------------------------------------------------- looking

    async def _look(self, api: BatchApi, batch: int) -> None:
        """See how far a batch is; what became of its requests, where it has ended."""
        try:
            row = self._ledger.batch(batch)
            there = row if row.remote or row.ended is not None else await self._find(api, batch)
            if there is not None and (there.ended is not None or await self._has_ended(api, there)):
                self._tell(batch)
        except StatusError as error:
            if error.trouble.status >= 500 or error.trouble.status in UNAVAILABLE:
                self._unheard(error)
                return
            problem = as_model_error(failure(self._source, error.trouble, error.headers))
            self._fail(batch, problem)
        except ModelError as error:
            self._fail(batch, error)
        except PASSES as error:
            self._unheard(error)

    async def _find(self, api: BatchApi, batch: int) -> BatchRow | None:
        """The batch whose handing in nobody saw the end of: it is there, or it is asked anew."""
        async with self._ledger.handing_in():
            row = self._ledger.batch(batch)  # whoever handed it in may have got that far
            if row.remote:
                return row
            remote = "" if row.sending is None else await api.find(self._ledger.handed(row))
            if remote:
                self._accepted(row, remote)
                return self._ledger.batch(batch)
            late = row.sending is None or time.time() > row.sending + self._timing.settle
            if remote == "" and late:
                self._ledger.forget(batch)
                for asked in self._of(batch):
                    asked.batch = asked.id = 0
        return None

    async def _has_ended(self, api: BatchApi, row: BatchRow) -> bool:
        """Whether it has; then all that became of it is in the ledger."""
        state = await api.state(row.remote)
        self._failures = 0
        if state.done != row.done:
            self._ledger.advanced(row.id, state.done)
            LOG.info(
                "%s: %d of %d requests of %s are done",
                *(self._name, state.done, state.total, row.remote),
            )
        if not state.ended:
            return False
        if state.code == FULL and row.total > 1:
            self._make_room(row)
            return False
        if not state.failed:
            await self._collect(row, api.outcomes(row.remote))
        failed = f"batch {row.remote} failed: {self._source.tell(state.failed)}"
        await anyio.to_thread.run_sync(self._ledger.end, row, failed if state.failed else "")
        return True

    def _make_room(self, row: BatchRow) -> None:
        """The account may have fewer tokens in batches: hand in half as many, one by one."""
        self._limit, self._one_at_a_time = max(1, row.total // 2), True
        self._ledger.forget(row.id)
        for asked in self._of(row.id):
            asked.batch = asked.id = 0
        LOG.warning("%s: the account takes fewer tokens in batches: smaller ones", self._name)

    async def _collect(self, row: BatchRow, outcomes: AsyncGenerator[Outcome, None]) -> None:
        """Store what became of each request; an id that is none of the batch's says nothing."""
        chunk: list[tuple[int, Outcome]] = []
        async with aclosing(outcomes):
            async for outcome in outcomes:
                mark, _, request = outcome.custom_id.rpartition("-")
                if mark == row.mark and request.isdecimal():
                    chunk.append((int(request), outcome))
                if len(chunk) == CHUNK:
                    await anyio.to_thread.run_sync(self._ledger.store, chunk)
                    chunk = []
        await anyio.to_thread.run_sync(self._ledger.store, chunk)

    # ----------------------------------------------------------------- telling

    def _of(self, batch: int) -> list[Asked]:
        return [asked for asked in self._live if asked.batch == batch]

    def _tell(self, batch: int) -> None:
        for asked in self._of(batch):
            asked.outcome = self._ledger.outcome(asked.id)
            asked.woken.set()

    def _fail(self, batch: int, error: Exception) -> None:
        for asked in self._of(batch):
            self._settle(asked, error)

    def _settle(self, asked: Asked, error: Exception) -> None:
        asked.error = error
        asked.woken.set()


def check_account(row: BatchRow, account: str) -> None:
    """Raise `ModelError` for a batch of another account, which nobody here may look at.

    An older clew noted no account. Then the provider says whose a batch is; but whether one was
    handed in at all is not to be seen with another key.
    """
    if row.account == account or (not row.account and (row.remote or row.sending is None)):
        return
    name = row.remote or row.mark
    message = f"batch {name} was handed in with another key (account {row.account}): set that one,"
    if not row.account:
        message = (
            f"batch {name} was perhaps handed in by an older clew, with a key it did not note:"
        )
        message += " look for it at the provider,"
    raise ModelError(f"{message} or give it up: clew records batches --forget {name}")


def _custom_id(row: BatchRow, request: int) -> str:
    """Letters, digits and - only, at most 64, unique in its batch: the rules of both providers."""
    return f"{row.mark}-{request}"


def as_model_error(problem: Exception) -> Exception:
    """A refusal that would pass by itself, where nobody tries again."""
    return ModelError(str(problem)) if isinstance(problem, TryAgain) else problem
