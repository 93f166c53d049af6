"""How far a stream is in a run and in the runs below it, and the place that says so as a text.

A run below is followed from the attempt of its call to the observation of it. All its entries come
before that observation. The runs of a vote have no attempts: that they serve it stands in them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from clew.agent.streaming.items import Nested
from clew.core.contents import Observation
from clew.core.entries import Entry
from clew.core.events import Attempt, Started, Stop
from clew.core.journal import stored
from clew.core.stores import Store
from clew.stores.pages import read_some
from clew.support.errors import ConfigError, RunNotFoundError
from clew.support.parts import short_repr
from clew.support.short_text import counted

_POSITION: Final = re.compile(r"[0-9]{1,15}(,[^,=]+=[0-9]{1,15})*")
_VOTE: Final = "clew:vote"
"""What the record of a vote has for its model."""
_RUNS: Final = 10_000
"""So many runs of a vote are followed at most."""
_TOO_FAR: Final = 10**15
"""No run has so many entries."""
PAGE: Final = 32
"""So many entries are read at once, if the store can read less than all of them."""

Add: TypeAlias = Callable[[Entry | Nested], object]
"""Takes what the stream yields next."""


@dataclass(slots=True)
class Branch:
    """A run, how many of its entries were seen, and the runs below that are not over."""

    run_id: str
    path: tuple[str, ...] = ()
    seq: int = 0
    hash: bytes | None = b""
    stopped: bool = False
    below: "dict[str, Branch]" = field(default_factory=dict[str, "Branch"])
    """By the keys of their calls."""
    votes: bool = False
    """Whether it is a vote."""
    over: set[str] = field(default_factory=set[str])
    """The calls of a vote that are over."""

    def branches(self) -> "Iterator[Branch]":
        """It and all below it."""
        yield self
        for each in self.below.values():
            yield from each.branches()

    def at(self, path: tuple[str, ...]) -> "Branch | None":
        """The run at a path; None where it is not known."""
        return next((each for each in self.branches() if each.path == path), None)

    def advance(self, entry: Entry) -> Entry | Nested:
        """Step over its next entry; returns it as the stream yields it."""
        self.seq, self.hash, event = entry.seq, entry.hash, entry.event
        self.stopped = isinstance(event, Stop)
        if isinstance(event, Started):
            self.votes = event.spec.model == _VOTE
        elif isinstance(event, Attempt) and event.child and event.call not in self.below:
            child = event.child
            self.below[event.call] = Branch(child, (*self.path, child))
        elif isinstance(event, Observation):
            self.below.pop(event.call, None)
            if self.votes:
                self.over.add(event.call)
        return Nested(self.path, entry) if self.path else entry

    def ends(self, entry: Entry) -> "Branch | None":
        """The run below that is over with this entry."""
        return self.below.get(entry.event.call) if isinstance(entry.event, Observation) else None

    def comes_after_runs(self, entry: Entry) -> bool:
        """Whether runs below are told before this entry, or those of a vote must be looked for."""
        return self.ends(entry) is not None or (self.votes and isinstance(entry.event, Observation))

    async def skip(self, store: Store, seq: int, below: dict[str, int] | None, start: int) -> None:
        """Go on behind entry `seq`, and in the runs below behind those with these numbers.

        Their names are ids from character `start` on. None: it is not known which had begun.
        Raises `ConfigError` where there is no such entry.
        """
        if below == {} and not self.path and await self._jump(store, seq):
            return
        below = below or {}
        while self.seq < seq and (entries := await self._page(store, min(PAGE, seq - self.seq))):
            for entry in entries:
                if entry.seq <= seq:  # else the store reads no less than all
                    self.advance(entry)
        if self.seq < seq:
            has = counted(self.seq, "entry", "entries")
            message = f"run {self.run_id} has {has}, so nothing follows entry {seq}"
            raise ConfigError(message)
        await self._find_votes(store)
        for branch in self.below.values():
            await branch.skip(store, below.get(branch.run_id[start:], 0), below, start)

    async def _jump(self, store: Store, seq: int) -> bool:
        """Go on behind an entry at which no run below was under way; False where that must be read.

        Only the first entry and that one are read.
        """
        if seq == 0:
            return True
        first = await read_some(store, self.run_id, 0, 1)
        if not first:
            return False
        (entry,) = await stored(store, self.run_id, 0, b"", first[:1])
        if isinstance(entry.event, Started) and entry.event.spec.model == _VOTE:
            return False
        lines = first[seq - 1 : seq] or (await read_some(store, self.run_id, seq - 1, 1))[:1]
        for entry in await stored(store, self.run_id, seq - 1, None, lines):
            self.advance(entry)
        return self.seq == seq and not self.below

    async def rest(self, store: Store, add: Add) -> None:
        """Add what the store has of it and all below it that was not seen."""
        while await self.next_page(store, add):
            pass

    async def next_page(self, store: Store, add: Add) -> bool:
        """Add the first of what the store has that was not seen; whether there may be more."""
        if await self._until(store, add, _never):
            return True
        await self._find_votes(store)
        for branch in list(self.below.values()):
            await branch.rest(store, add)
        return False

    async def up_to(self, store: Store, add: Add, path: tuple[str, ...], seq: int) -> None:
        """Add a page of what was not seen, up to entry `seq` of the run at a path."""
        if not path:
            await self._until(store, add, lambda: self.seq >= seq)
            return
        await self._find_votes(store)
        await self._until(store, add, lambda: self._begun(path[0]))
        if (branch := self._begun(path[0])) is not None:
            await branch.up_to(store, add, path[1:], seq)

    def _begun(self, run_id: str) -> "Branch | None":
        """The run of this id below, once it is known to have begun."""
        return next((each for each in self.below.values() if each.run_id == run_id), None)

    async def _until(self, store: Store, add: Add, enough: Callable[[], object]) -> bool:
        """Add a page of its own entries, until it is enough; what is over below comes first.

        Whether there may be more, and it was not enough.
        """
        entries = [] if enough() else await self._page(store, PAGE)
        for entry in entries:
            if self.votes and isinstance(entry.event, Observation):
                await self._find_votes(store)
            if (over := self.ends(entry)) is not None:
                await over.rest(store, add)
            add(self.advance(entry))
            if enough():
                return False
        return len(entries) >= PAGE

    async def _find_votes(self, store: Store) -> None:
        """Take up the runs of a vote that have begun, whose calls are not over."""
        if not self.votes or self.stopped:
            return
        known = {each.run_id for each in self.below.values()}
        for child in await store.ids(f"{self.run_id}.", _RUNS):
            if child in known or not child.startswith(f"{self.run_id}."):
                continue
            for entry in (await stored(store, child, 0, b""))[:1]:
                served, _, call = getattr(entry.event, "parent", "").rpartition(":")
                if served == self.run_id and call not in self.over:
                    self.below[call] = Branch(child, (*self.path, child))

    async def _page(self, store: Store, limit: int) -> list[Entry]:
        """The next entries that were not seen, `limit` of them or more."""
        try:
            lines = await read_some(store, self.run_id, self.seq, limit)
            return await stored(store, self.run_id, self.seq, self.hash, lines)
        except RunNotFoundError:
            if self.path:  # one below is on record before it is begun
                return []
            raise

    @property
    def position(self) -> str:
        """How far it is: `12`, or `12,2.1=3` where three entries of run `…-2.1` were seen too."""
        below = [each for each in self.branches() if each.path]
        start = len(self.run_id) + 1
        return ",".join([str(self.seq), *(f"{it.run_id[start:]}={it.seq}" for it in below)])


def position_of(after: int | str) -> tuple[str, tuple[int, dict[str, int] | None]]:
    """A place as a text, and as numbers: of the run, and of those below.

    The number of an entry says nothing of those: None.

    Raises `ConfigError` for what is none.
    """
    known = type(after) is int and 0 <= after < _TOO_FAR
    text = str(after) if known or isinstance(after, str) else ""
    if _POSITION.fullmatch(text) is None:
        message = "give the number of an entry, or what `position` of a stream was"
        raise ConfigError(f"after={_short(after)} is no place in a stream: {message}")
    first, *rest = text.split(",")
    pairs = [each.partition("=") for each in rest]
    below = {name: int(seq) for name, _, seq in pairs}
    return text, (int(first), below if isinstance(after, str) else None)


def _short(after: object) -> str:
    """What was given for a place, in a line; a number may have too many digits to be shown."""
    return "(a number)" if type(after) is int and abs(after) >= _TOO_FAR else short_repr(after)


def _never() -> bool:
    return False
