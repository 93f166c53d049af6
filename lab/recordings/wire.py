"""Recorded HTTP exchanges: each is read as its body says, whole, in pieces and broken off.

A real server on this machine sends the recorded bytes, the official clients are in between, and
what the adapters make of them is compared with a plain reading of the JSON (`wire_bodies`).
"""

import multiprocessing
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final

import anyio
import msgspec

from clew import ClewError
from clew.core.contents import Reply
from recordings.data import records
from recordings.forms import Record
from recordings.part import Figure, Judging, Part, count
from recordings.wire_bodies import arguments
from recordings.wire_cuts import Cuts, cut
from recordings.wire_exchanges import Exchange, exchanges
from recordings.wire_provider import Provider, send
from recordings.wire_talks import rebuilt, talks

_LARGE: Final = 100_000
"""From so many places to cut on, processes share the work."""

_VARYING: Final = re.compile(
    rb'"(?:id|created|created_at|system_fingerprint|obfuscation)": ?[^,}]+'
)
"""What differs between streams that say the same."""


@dataclass
class WireTally:
    """What was counted on the way."""

    read: Counter[str] = field(default_factory=Counter[str])
    right: Counter[str] = field(default_factory=Counter[str])
    misses: list[str] = field(default_factory=list[str])
    judging: Judging = field(default_factory=Judging)

    def take(self, what: str, where: str, *wrong: str) -> None:
        """Count one thing, right where nothing is wrong with it."""
        self.read[what] += 1
        self.right[what] += not wrong
        self.misses += [f"{where}: {what}: {line}" for line in wrong]


def differences(exchange: Exchange, reply: Reply) -> Iterator[str]:
    """Where a reply says otherwise than the body."""
    told = exchange.told
    calls = tuple((call.name, arguments(call.arguments)) for call in reply.calls)
    usage = reply.usage
    took = (usage.input, usage.output, usage.cached, usage.reasoning)
    for what, written, read in (
        ("text", told.text, reply.text),
        ("calls", told.calls, calls),
        ("finish", told.finish, reply.finish),
        ("usage", told.usage, None if usage.estimated else took),
    ):
        if written != read:
            yield f"{what}: the body says {written!r}, read was {read!r}"[:300]


async def _read(exchange: Exchange, provider: Provider, *, streamed: bool) -> list[str]:
    """What is wrong with an exchange as it was read over HTTP."""
    provider.turns = [send(exchange)]
    try:
        model = provider.model(exchange)
        reply = await model.complete(exchange.prompt, (lambda _: False) if streamed else None)
    except ClewError as error:
        told = exchange.failed and " ".join(exchange.error.split())[:100] in str(error)
        return [] if told or exchange.partial or _unreadable(exchange) else [f"an error: {error}"]
    if exchange.failed:
        return [f"read as a reply, though it is an error: {exchange.error!r}"]
    if exchange.partial:
        return [] if reply.finish == "cut" else ["taken for the whole, though its end is missing"]
    return list(differences(exchange, reply))


async def _over_http(tally: WireTally, taken: Sequence[Exchange]) -> None:
    """Read all exchanges over HTTP, then rebuild their conversations."""
    provider = Provider()
    with provider.server:
        for one in taken:
            with tally.judging.one(one.id):
                await _both(tally, one, provider)
        for talk in talks(taken):
            with tally.judging.one(f"{talk.id}, rebuilt"):
                for _, why in await rebuilt(talk, provider):
                    tally.take(REBUILT.format(talk.form), talk.id, *filter(None, [why]))
        await provider.close()


async def _both(tally: WireTally, one: Exchange, provider: Provider) -> None:
    """Read an exchange as it came, and a plain one also where a stream was asked for."""
    if one.failed:
        what = "errors told in the provider's words"
    elif one.partial:
        what = "streams recorded without their end"
    else:
        what = f"{one.form}, {'streams' if one.streamed else 'plain replies'}"
    tally.take(what, one.id, *(await _read(one, provider, streamed=one.streamed)))
    if not one.streamed:
        what = "plain replies where a stream was asked for"
        tally.take(what, one.id, *(await _read(one, provider, streamed=True)))


def _unreadable(exchange: Exchange) -> bool:
    """Whether the answer is none at all: then an error is all that can be made of it."""
    try:
        exchange.told  # noqa: B018 -- reading it is the test
    except (LookupError, TypeError, ValueError, StopIteration, msgspec.MsgspecError):
        return True
    return False


REBUILT: Final = "requests of rebuilt conversations, {}"


def distinct(taken: Iterable[Exchange]) -> list[Exchange]:
    """The streams that say something of their own: of those that differ in ids and times, one."""
    seen: dict[bytes, Exchange] = {}
    for one in taken:
        if one.streamed and not (one.failed or one.partial):
            seen.setdefault(_VARYING.sub(b"", one.reply), one)
    return list(seen.values())


def _all_cuts(streams: Sequence[Exchange], sample: int) -> Cuts:
    """Cut all streams; much work is shared by processes."""
    if sum(len(one.reply) for one in streams) < _LARGE * sample:
        return sum((cut(one, sample) for one in streams), Cuts())
    spawn, lowest = multiprocessing.get_context("spawn"), min(os.cpu_count() or 1, 8)
    plain = (replace(one) for one in streams)  # without what was worked out and cannot be sent
    longest_first = sorted(plain, key=lambda one: -len(one.reply))
    with ProcessPoolExecutor(lowest, mp_context=spawn) as pool:
        return sum(pool.map(cut, longest_first, [sample] * len(streams)), Cuts())


def measure(sample: int) -> Part:
    """Hold recorded exchanges against clew's adapters."""
    return evidence(records("wire", sample=sample), sample)


def evidence(recorded: Iterable[Record], sample: int = 1) -> Part:
    """What these exchanges show; of the places to cut a stream at, every `sample`th is taken."""
    tally = WireTally()
    taken, out = list[Exchange](), Counter[str]()
    for record in recorded:
        with tally.judging.one(record.get("id")):
            some, others = exchanges([record])
            taken += some
            out += others
    anyio.run(_over_http, tally, taken)
    streams = distinct(taken)
    cuts = _all_cuts(streams, sample)
    figures = [count(what, tally.right[what], of, exactly=of) for what, of in tally.read.items()]
    figures += [*_cut_figures(cuts), *tally.judging.figures()]
    times = sorted(Counter(one.provider for one in taken).items())
    told = ", ".join(f"{name} {number}" for name, number in times)
    left = "; ".join(f"{why} ({number})" for why, number in out.most_common())
    text = f"""\
{len(taken):,} completions in recorded HTTP exchanges ({told};
`elsewhere`: compatible hosts without a name in clew). A server on this machine sends the recorded
bytes to the official clients. Text, calls with decoded arguments, finish reason and usage must be
those of a plain reading of the JSON. Of {sum(one.streamed for one in taken)} streams,
{len(streams)} differ in more than ids and times. Each is read split in two at every place, byte by
byte, in 100 random divisions, and broken off at every place: then only a reply marked as cut, an
error, or (after the provider's word of the end) the whole is right.

Conversations are rebuilt by runs: each request must pass the strict rules of `clew.testing` and the
types of the official client, and signed parts must come back as they were recorded.

Left out: {left or "nothing"}.
"""
    return Part(
        "Wire: recorded exchanges",
        text,
        figures,
        [*tally.judging.misses, *tally.misses, *cuts.misses],
        finding="replies are read rightly, however a stream is split or broken off",
        lead=(
            "plain replies where a stream was asked for",
            "streams split in two, at every place",
            "streams broken off, at every place",
        ),
    )


def _cut_figures(cuts: Cuts) -> list[Figure]:
    named = (
        ("streams split in two, at every place", cuts.split),
        ("streams byte by byte", cuts.bytewise),
        ("streams in random divisions", cuts.divided),
        ("streams broken off, at every place", cuts.broken),
    )
    return [count(what, good, of, exactly=of) for what, (good, of) in named if of]
