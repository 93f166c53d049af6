"""The line before a model: one for all runs of the process that ask it with the same key.

It keeps a rate that was set, and it closes for everybody while the provider says that it is asked
too much. Who came first goes first, also after having been refused. Event loops and threads share
it: what is worked out under the lock is short, and all waiting is done outside of it.
"""

import bisect
import hashlib
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakValueDictionary

import msgspec

from clew.core.contents import Usage
from clew.core.tools import Retry
from clew.models.http.retry import Busy, Sleep, backoff
from clew.models.rate import Rate
from clew.support.errors import ModelError

LOG: Final = logging.getLogger("clew.models")

SLACK: Final = 1 / 60
"""The part of its time that a rate is stretched by: requests take a while to reach the server."""

GAP: Final = 0.02
"""Seconds between the first requests after a closing: the next refusal is to find most of the line
still waiting."""

EASE: Final = 0.95
"""What an answer to one of them makes of the seconds between the next."""

LOOK: Final = 1.0
"""Seconds after which whoever waits for tokens looks again, since estimates were corrected; whoever
has long to wait looks after a quarter of that."""

SOON: Final = 0.001
LEARN: Final = 0.2
"""How much one reply changes what is expected of the next."""


class Sent(msgspec.Struct, eq=False):
    """A request that went out, and what it takes; `counted` while it weighs on the rate."""

    at: float
    tokens: int
    counted: bool


class Ticket(msgspec.Struct, eq=False):
    """A completion's place in the line, kept until it is over, however often it has to try.

    Of its next request, `size` are the bytes and `tokens` what it is expected to take. It waits
    `wait` seconds before it asks for the first time, and need not look before `look`.
    """

    number: int
    joined: float
    size: int = 0
    tokens: int = 0
    wait: float = 0.0
    look: float = 0.0
    sent: Sent | None = None


@dataclass
class RequestQueue:
    """The line. Nobody goes before `shut`; `refused` is since when the provider only refuses.

    Times are those of `now`, in seconds.
    """

    name: str = ""
    rate: Rate | None = None
    clock: Callable[[], float] = time.monotonic
    shut: float = 0.0
    refused: float | None = None
    _shut_at: float = 0.0
    _closings: int = 0
    _line: list[Ticket] = field(default_factory=list[Ticket])
    _log: deque[Sent] = field(default_factory=deque[Sent])
    _tokens: int = 0
    _gap: float = 0.0
    _next: float = 0.0
    _per_byte: float = 0.25
    _written: float = 0.0
    _ahead: float = 0.0
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> float:
        """The line's clock."""
        return self.clock() + self._ahead

    async def sleep(self, seconds: float, sleep: Sleep) -> None:
        """Wait; a `sleep` that only pretends to is believed, and the line's clock follows it."""
        until = self.now() + seconds
        await sleep(seconds)
        with self._lock:
            if (left := until - self.now()) > seconds / 2:
                self._ahead += left

    def ticket(self) -> Ticket:
        """The place of a completion that begins now."""
        return Ticket(next(self._numbers), self.now())

    async def pass_through(self, ticket: Ticket, size: int, sleep: Sleep) -> None:
        """Wait until a request of `size` bytes may go out; it is counted from then on."""
        self.line_up(ticket, size)
        try:
            told, wait = ticket.wait > 0, ticket.wait or self.ask(ticket)
            while wait:
                if not told:
                    LOG.info(
                        "%s: a run waits in line, %d before it", self.name, self._before(ticket)
                    )
                    told = True
                await self.sleep(wait, sleep)
                wait = self.ask(ticket)
        finally:
            if ticket.sent is None:
                self.leave(ticket)

    def line_up(self, ticket: Ticket, size: int) -> None:
        """Take the place in the line that belongs to the ticket."""
        with self._lock:
            ticket.size, ticket.sent = size, None
            ticket.tokens = round(size * self._per_byte + self._written)
            ticket.look = self.now() + ticket.wait
            bisect.insort(self._line, ticket, key=lambda one: one.number)

    def leave(self, ticket: Ticket) -> None:
        """Give the place up."""
        with self._lock:
            self._line.remove(ticket)

    def ask(self, ticket: Ticket) -> float:
        """How many seconds to wait before asking again; 0 means go.

        Whoever asks lets all go who may, in their order: those before, who wake up in no order of
        their own, find that out when they ask.
        """
        with self._lock:
            now = self.now()
            ticket.wait, ticket.look = 0.0, now
            while self._line and self._line[0].look <= now and self._wait(0, now) <= 0:
                self._let_go(self._line.pop(0), now)
            if ticket.sent is not None:
                return 0.0
            wait = max(self._wait(self._line.index(ticket), now), SOON)
            ticket.look = now + wait
            return wait

    def answered(self, ticket: Ticket, usage: Usage) -> None:
        """The provider answered the ticket's request: what that took corrects what was expected."""
        with self._lock:
            self.refused = None
            sent = ticket.sent
            if sent is not None and sent.at >= self._shut_at:
                self._closings = 0
                self._gap = self._gap * EASE if self._gap > SOON else 0.0
            if sent is None or usage.estimated:
                return
            self._per_byte += LEARN * (usage.input / max(ticket.size, 1) - self._per_byte)
            self._written += LEARN * (usage.output - self._written)
            self._correct(sent, usage.tokens)

    def refuse(self, ticket: Ticket, why: Busy, retry: Retry, patience: float) -> None:
        """The provider refused the ticket's request for being asked too much: close the line.

        It opens when the provider said, or else after a wait that grows from closing to closing.
        Raises `ModelError` where nobody was answered for `patience` seconds by then; the line stays
        as it is.
        """
        with self._lock:
            now = self.now()
            sent = ticket.sent or Sent(now, 0, counted=False)
            self._correct(sent, 0)
            self.refused = now if self.refused is None else self.refused
            wait = self._closed_for(why, sent, retry, now)
            if now + wait - max(self.refused, ticket.joined) > patience:
                raise ModelError(
                    f"{why}; the next try is due in {wait:.0f} s, which is beyond the patience of "
                    f"{patience:.0f} s"
                ) from why
            ticket.wait = wait
            news = self.shut <= now < now + wait
            self.shut, self._shut_at = max(self.shut, now + wait), now
            self._gap, self._next = GAP, 0.0
        if news:
            LOG.warning("%s; whoever asks it waits %.1f s", why, wait)

    def _closed_for(self, why: Busy, sent: Sent, retry: Retry, now: float) -> float:
        """The wait that a refusal means; those of requests sent before a closing add nothing."""
        if sent.at < self._shut_at:
            return max(self.shut - now, why.after or 0.0)
        self._closings += 1
        if why.after is None:
            return backoff(retry, self._closings - 1)
        min_wait = backoff(retry, self._closings - 2) if self._closings > 1 else 0.0
        return max(why.after, min_wait)

    def _before(self, ticket: Ticket) -> int:
        with self._lock:
            return self._line.index(ticket)

    def _let_go(self, ticket: Ticket, now: float) -> None:
        ticket.sent = Sent(now, ticket.tokens, counted=self.rate is not None)
        if self.rate is not None:
            self._log.append(ticket.sent)
            self._tokens += ticket.tokens
        self._gap = self._gap if self._line else 0.0
        self._next = now + self._gap

    def _correct(self, sent: Sent, tokens: int) -> None:
        if sent.counted:
            self._tokens += tokens - sent.tokens
        sent.tokens = tokens

    def _wait(self, index: int, now: float) -> float:
        """For how long the one at this place of the line has to wait at least; 0 or less: not."""
        wait = self.shut - now
        if self._gap:
            wait = max(wait, self._next - now) + index * self._gap
        if self.rate is not None:
            full = self._full(self.rate, index, now)
            if self.rate.tokens is not None:
                full = min(full, max(full / 4, LOOK))
            wait = max(wait, full)
        return wait

    def _full(self, rate: Rate, index: int, now: float) -> float:
        """How long the rate leaves no room for all who are at this place or before it."""
        window = rate.seconds * (1 + SLACK)
        while self._log and self._log[0].at <= now - window:
            gone = self._log.popleft()
            gone.counted = False
            self._tokens -= gone.tokens
        if not self._log:
            return 0.0
        until = float("-inf")
        if rate.requests is not None:
            over = len(self._log) + index + 1 - rate.requests
            if over > 0:
                until = self._log[min(over, len(self._log)) - 1].at
        if rate.tokens is not None:
            wanted = sum(min(one.tokens, rate.tokens) for one in self._line[: index + 1])
            over = self._tokens + wanted - rate.tokens
            for sent in self._log:
                if over <= 0:
                    break
                over -= sent.tokens
                until = max(until, sent.at)
        return until + window - now


_PACES: Final[WeakValueDictionary[tuple[str, str, str], RequestQueue]] = WeakValueDictionary()
_PACES_LOCK: Final = threading.Lock()


def pace_of(name: str, address: str, key: str, rate: Rate | None) -> RequestQueue:
    """The line before a model at an address with a key; the rate given last counts for all."""
    secret = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
    with _PACES_LOCK:
        queue = _PACES.get((name, address, secret))
        if queue is None:
            queue = _PACES[name, address, secret] = RequestQueue(name)
        if rate is not None:
            queue.rate = rate
        return queue
