"""The one writer of a run: events in, entries on the store, the fold after it.

The order is always encode, commit, fold, tell. Whatever the fold or a listener has seen is stored.
"""

import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, Self

import anyio
import msgspec

from clew.concurrency.uncut import Uncut
from clew.core.at_work import AtWork, Sibling
from clew.core.blobs import split_blobs, with_blobs, without_blobs
from clew.core.codes import EFFECTFUL
from clew.core.contents import Observation, text_parts
from clew.core.entries import Entry, decode
from clew.core.events import (
    SCHEMA,
    AnyEvent,
    Attempt,
    Forked,
    Note,
    Ruling,
    Settled,
    Started,
    Stop,
    Suspended,
    Thought,
    Woken,
)
from clew.core.inbox import admitted
from clew.core.listeners import Listener, Progress
from clew.core.redaction import Redaction
from clew.core.settling import due, stopped
from clew.core.stores import Append, Base, Line, Store
from clew.core.trajectory import Call, Trajectory
from clew.core.values import encode
from clew.support.error_text import message_of
from clew.support.errors import (
    ConfigError,
    PartError,
    RunExistsError,
    RunNotFoundError,
    StoreDamagedError,
    StoreError,
    StoreNewerError,
)
from clew.support.parts import short_repr
from clew.support.run_ids import new_run_id

LOG: Final = logging.getLogger("clew")

Clock = Callable[[], int]
"""Unix time in milliseconds."""


def wall_clock() -> int:
    """The system's clock, in Unix milliseconds."""
    return time.time_ns() // 1_000_000


def barrier(event: AnyEvent) -> bool:
    """Whether the event must be safe on the disk, with all before it, before anything follows."""
    if isinstance(event, Observation):
        return event.effect in EFFECTFUL
    return isinstance(event, (Attempt, Ruling, Settled, Woken, Stop))


def chain(before: bytes, seq: int, at: int, epoch: int, body: bytes) -> bytes:
    """Hash of a line (BLAKE2b, 16 bytes) over its place, time, epoch, body and the hash before."""
    prefix = b"%d %d %d " % (seq, at, epoch)
    return hashlib.blake2b(before + prefix + body, digest_size=16).digest()


async def load(store: Store, run_id: str) -> Trajectory:
    """Read a run without opening it.

    Raises `StoreError` where it is unknown, from a newer clew, or a line does not match its hash.
    """
    trajectory = Trajectory(run_id)
    await catch_up(trajectory, store)
    trajectory.foreign = await foreign_entries(store, run_id)
    return trajectory


async def foreign_entries(store: Store, run_id: str) -> int:
    """The number of the last entry that came from outside; a store that knows none has none."""
    number = getattr(store, "foreign", None)  # of clew.stores.Owns
    return 0 if number is None else await number(run_id)


async def catch_up(trajectory: Trajectory, store: Store) -> None:
    """Add the stored entries that follow those it has."""
    before = trajectory.entries[-1].hash if trajectory.entries else b""
    for entry in await stored(store, trajectory.run_id, len(trajectory), before):
        trajectory.add(entry)


async def stored(
    store: Store,
    run_id: str,
    after: int,
    before: bytes | None,
    lines: Sequence[Line] | None = None,
) -> list[Entry]:
    """The stored entries over `after`; `before` is the hash of that one, None: unknown.

    `lines` are theirs, if they were read before.
    """
    entries: list[Entry] = []
    for line in await store.read(run_id, after) if lines is None else lines:
        if before is not None and not _follows(line, before):
            message = f"run {run_id}: entry {line.seq} was changed after it was written"
            raise StoreDamagedError(message)
        before = line.hash
        event = await _event(store, run_id, line)
        entries.append(Entry(line.seq, line.at, line.epoch, event, line.hash))
    return entries


def _follows(line: Line, before: bytes) -> bool:
    """Whether a line is unchanged since it was written."""
    try:
        return line.hash == chain(before, line.seq, line.at, line.epoch, line.body)
    except TypeError:  # by hand, a value of another type may be put into some stores
        return False


async def _event(store: Store, run_id: str, line: Line) -> AnyEvent:
    try:
        return await with_blobs(store, known_event(line.body))
    except StoreNewerError as error:
        raise StoreNewerError(f"run {run_id}: entry {line.seq}: {error}") from error
    except (ValueError, RecursionError) as error:  # no event, no JSON, no text
        message = f"run {run_id}: entry {line.seq} is not readable here ({error}); restore a copy"
        raise StoreError(message) from error


_OTHERS: Final = "it was written by another version of clew"


def known_event(body: bytes) -> AnyEvent:
    """The event of a line; a field that is not known is passed over.

    Raises `StoreNewerError` for what is written whole, and is no event that this version knows.
    """
    try:
        event = decode(body)
    except msgspec.ValidationError as error:  # its kind is not known, or a value of a closed list
        message = f"{_OTHERS} ({error}): open it with that one"
        raise StoreNewerError(message) from error
    if isinstance(event, Started) and event.schema > SCHEMA:
        message = f"{_OTHERS} (schema {event.schema}): open it with that one"
        raise StoreNewerError(message)
    return event


async def _is_empty(store: Store, run_id: str) -> bool:
    """Whether the run exists and has no entry."""
    try:
        return not await store.read(run_id)
    except RunNotFoundError:
        return False


async def _created(store: Store, run_id: str, base: Base | None = None) -> int:
    """Create the run; one whose worker died before its first entry is opened."""
    try:
        return await store.create(run_id, base)
    except RunExistsError as error:
        if not await _is_empty(store, run_id):
            raise error from None
        return await store.open(run_id)


def _unrecordable(run_id: str, event: AnyEvent, error: Exception) -> StoreError | PartError:
    """The error that says whose value no record can hold, and why."""
    whose = f"what is to be recorded ({type(event).__name__})"
    if isinstance(event, Thought):
        whose = f"what the model {event.reply.model!r} said, or the codec made of it"
    match error:
        case UnicodeEncodeError():
            why = f"a text holds half a character ({error.reason}): mend it"
        case RecursionError():
            why = "a value is nested too deeply to be written: flatten it"
        case _:
            why = f"no record can hold this ({message_of(error)}): mend it and resume the run"
            return PartError(f"run {run_id}: {whose}: {why}")
    return StoreError(f"run {run_id}: {whose}: {why}")


class _PendingCommit:
    """Events waiting for their commit, and its outcome."""

    __slots__ = ("done", "error", "events", "taken")

    def __init__(self, events: tuple[AnyEvent, ...], taken: tuple[int, ...]) -> None:
        self.events = events
        self.taken = taken
        self.done: anyio.Event | None = None
        self.error: Exception | None = None


def _fail(waiting: Iterable[_PendingCommit], error: Exception) -> None:
    """Pass the error to every waiting task."""
    for one in waiting:
        one.error = error
        if one.done is not None:
            one.done.set()


class Journal:
    """A run opened for work. Make one with `create`, `fork` or `open`.

    `words` is where threads leave the results of calls that ended after their deadline; each
    becomes a note while the run is at work. `quiet` says that nothing waited in the inbox when the
    last entry was recorded. A sub-run is at work `among` others, and `at_work` are those that work
    at once for this run (`clew.core.siblings`). The application's `deps` (`clew.deps`) are never
    written.
    """

    def __init__(
        self,
        store: Store,
        epoch: int,
        trajectory: Trajectory,
        *,
        clock: Clock = wall_clock,
        secrets: Iterable[str] = (),
        listener: Listener | None = None,
    ) -> None:
        for name in ("entry", "token") if listener is not None else ():
            if not callable(getattr(listener, name, None)):
                message = f"listener is {short_repr(listener)}: give one that has {name}(…)"
                raise ConfigError(message)
        self.store = store
        self.trajectory = trajectory
        self.run_id = trajectory.run_id
        self.listener = listener
        self.words: deque[str] = deque()
        self.among: tuple[Sibling, ...] = ()
        self.deps: Any = None
        self.at_work: AtWork | None = None
        self._epoch = epoch
        self._clock = clock
        self._redaction = Redaction(secrets)
        self._queue: list[_PendingCommit] = []
        self._writing = False
        self.quiet = False

    @classmethod
    async def create(
        cls,
        store: Store,
        started: Started,
        run_id: str = "",
        then: Iterable[AnyEvent] = (),
        **circumstances: Any,
    ) -> Self:
        """Begin a new run with its first entries; `circumstances` are those of the class.

        Raises `StoreError` where the run has entries already; one whose worker died before the
        first entry is begun again.
        """
        run_id = run_id or new_run_id()
        journal = cls(store, await _created(store, run_id), Trajectory(run_id), **circumstances)
        await journal.record(started, *then)
        return journal

    @classmethod
    async def fork(
        cls,
        store: Store,
        base: Base,
        shared: Iterable[Entry],
        events: Iterable[AnyEvent],
        run_id: str = "",
        **circumstances: Any,
    ) -> Self:
        """Create a run that shares the entries of another, with the first entry of its own."""
        run_id = run_id or new_run_id()
        epoch = await _created(store, run_id, base)
        journal = cls(store, epoch, Trajectory(run_id, shared), **circumstances)
        await journal.record(*events)
        return journal

    @classmethod
    async def open(
        cls, store: Store, run_id: str, trajectory: Trajectory | None = None, **circumstances: Any
    ) -> Self:
        """Take an existing run up for work: whoever worked on it before is fenced off.

        `trajectory` is the run as just loaded: then only what came since is read.
        """
        epoch = await store.open(run_id)
        LOG.info("run %s: taken up by worker %d", run_id, epoch)
        trajectory = Trajectory(run_id) if trajectory is None else trajectory
        await catch_up(trajectory, store)
        return cls(store, epoch, trajectory, **circumstances)

    @property
    def epoch(self) -> int:
        """The worker's epoch: how often the run was created or opened."""
        return self._epoch

    def now(self) -> int:
        """The journal's clock, in Unix milliseconds."""
        return self._clock()

    def deadline(self, seconds: float) -> float:
        """The time of the event loop when so many seconds have passed since the last entry.

        Nothing has passed since one of another worker, or since a stop: that was no work.
        """
        last, passed = self.trajectory.entries[-1], 0
        if last.epoch == self._epoch and not isinstance(last.event, Stop):
            passed = max(0, self._clock() - last.at)
        return anyio.current_time() + seconds - passed / 1000

    async def record(self, *events: AnyEvent, taken: tuple[int, ...] = ()) -> None:
        """Append the events, all or none; return when they are stored and folded.

        What several tasks record while a commit is under way is committed together next. Shielded
        from cancellation. Raises `StoreError`; then nothing was recorded and the writer goes on.
        """
        waiting, uncut = _PendingCommit(events, taken), Uncut()
        self._queue.append(waiting)
        if self._writing:
            waiting.done = anyio.Event()
            await uncut.wait(waiting.done.wait)
        else:
            await self._write(uncut)  # the store sees an append to its end
        if waiting.error is not None:
            raise waiting.error
        uncut.raise_kept()

    async def _write(self, uncut: Uncut) -> None:
        self._writing = True
        batch: list[_PendingCommit] = []
        try:
            if not (
                alone := self.trajectory.step.alone
            ):  # what other calls of the step say shares the commit
                await uncut.wait(anyio.lowlevel.cancel_shielded_checkpoint)
            while self._queue:
                batch, self._queue = self._queue, []
                try:
                    entries = await self._commit(batch, uncut, alone=alone)
                except Exception as error:  # noqa: BLE001 - handed to each task that waits for it
                    _fail(batch, error)
                    entries = []
                for entry in entries:
                    self._follow(entry)
                for waiting in batch:
                    if waiting.done is not None:
                        waiting.done.set()
        except BaseException:  # the process is being ended: leave nobody waiting
            _fail((*batch, *self._queue), StoreError(f"run {self.run_id}: the writer was ended"))
            self._queue = []
            raise
        finally:
            self._writing = False

    def _follow(self, entry: Entry) -> None:
        self.trajectory.add(entry)
        event = entry.event
        if isinstance(event, (Started, Forked)):
            LOG.info("run %s: begun with %s", self.run_id, event.spec.model)
        elif isinstance(event, Attempt) and event.number > 1:
            LOG.warning("run %s: attempt %d of %s", self.run_id, event.number, event.tool)
        elif isinstance(event, Stop):
            LOG.info("run %s: stopped, %s", self.run_id, event.status)
        if self.listener is not None:
            copied = msgspec.structs.replace(entry, event=decode(encode(event)))  # its own copy
            self._notify_listener(lambda listener: listener.entry(copied))

    def token(self, text: str) -> None:
        """Show a piece of a reply to the listener as it arrives."""
        self._notify_listener(lambda listener: listener.token(text))

    def progress(self, call: str, text: str) -> None:
        """Tell the listener how far a call is, if it wants to know."""
        if isinstance(watching := self.listener, Progress):
            self._notify_listener(lambda _: watching.progress(call, text))

    def _notify_listener(self, show: Callable[[Listener], None]) -> None:
        """Call the listener. It only observes: its errors are logged."""
        if self.listener is None:
            return
        try:
            show(self.listener)
        except KeyboardInterrupt:
            raise
        except BaseException:
            LOG.exception("run %s: a listener failed; the run goes on", self.run_id)

    async def _commit(
        self, batch: Sequence[_PendingCommit], uncut: Uncut, *, alone: bool
    ) -> list[Entry]:
        last = self.trajectory.entries[-1] if self.trajectory.entries else None
        seq, before = (last.seq, last.hash) if last is not None else (0, b"")
        at = self._clock()
        lines: list[Line] = []
        entries: list[Entry] = []
        blobs: dict[str, bytes] = {}
        taken: tuple[int, ...] = ()
        urgent = False
        for waiting in batch:
            taken += waiting.taken
            for event in waiting.events:
                seq += 1
                kept, body = self._encode(event, blobs)
                before = chain(before, seq, at, self._epoch, body)
                lines.append(Line(seq, at, self._epoch, body, before))
                entries.append(Entry(seq, at, self._epoch, kept, before))
                urgent = urgent or barrier(event)
        status = event.status if isinstance(event := entries[-1].event, Stop) else "open"
        append = Append(self.run_id, self._epoch, tuple(lines), urgent, blobs, taken, alone, status)
        try:
            self.quiet = await self.store.append(append)
        except anyio.get_cancelled_exc_class() as cancelled:
            uncut.kept, self.quiet = cancelled, False
            stored = await uncut.wait(partial(self.store.read, self.run_id, lines[0].seq - 1))
            if stored != lines:
                raise
        return entries

    def _encode(self, event: AnyEvent, blobs: dict[str, bytes]) -> tuple[AnyEvent, bytes]:
        """The event as it is kept, and its bytes; long contents go to `blobs`."""
        try:
            body = encode(event)
            event = decode(body)  # what is folded is what will be read, and nobody's but ours
        except Exception as error:
            raise _unrecordable(self.run_id, event, error) from error
        if isinstance(event, Thought | Suspended) and (stored := without_blobs(event)) is not event:
            event, body = stored, encode(stored)
        if self._redaction.finds(body):
            event = self._redaction.event(event, len(self.trajectory.steps) + 1)
            body = encode(event)
        return split_blobs(event, body, blobs)

    def with_secrets(self, call: Call) -> Call | None:
        """The call with its real arguments; None if this worker does not know a redacted one."""
        return self._redaction.with_secrets(call)

    async def has_run(self, run_id: str) -> bool:
        """Whether the store has a run of this id that has begun."""
        try:
            return bool(await self.store.read(run_id))
        except RunNotFoundError:
            return False

    async def receive(self, *, next_word: bool = False) -> None:
        """Move messages from the inbox, and late results of tools, into the record.

        Queued words stay where they are; but with `next_word` a stopped run takes the first.
        """
        while self.words:
            word = text_parts(self.words[0])
            await self.record(Note(word, source="late", trust="untrusted"))
            self.words.popleft()  # only now: a store that refuses it is asked again
        for number, body in await self.store.inbox(self.run_id):
            event = admitted(self.trajectory, body)
            if isinstance(event, Note) and event.queued:
                if not next_word or self.trajectory.stop is None:
                    continue
                event = msgspec.structs.replace(event, queued=False)
            await self.record(event, taken=(number,))
        stop = self.trajectory.stop
        if stop is not None and stop.wake > 0 and (woken := due(self.trajectory, self._clock())):
            await self.record(*woken)
        if self.trajectory.stop is not None and self.stopped_before:
            await self.record(stopped(self.trajectory, self.trajectory.stop))

    @property
    def stopped_before(self) -> bool:
        """Whether the run has stopped, and what came after its stop changed nothing."""
        trajectory = self.trajectory
        return trajectory.stop is not None and not isinstance(trajectory.entries[-1].event, Stop)
