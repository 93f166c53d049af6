"""Records that are written line by line: as long, and as hostile, as a test wants them."""

import hashlib
from collections.abc import Iterable, Sequence

from clew.interfaces import (
    AgentSpec,
    AnyEvent,
    Append,
    Line,
    Started,
    Stop,
    Store,
    Text,
    decode,
    encode,
)

CHUNK = 1_000
BEGIN = 1_700_000_000_000
SPEC = AgentSpec("0", "scripted:test", "native/3", "")


def started(question: str = "Well?") -> Started:
    return Started((Text(question),), SPEC)


def thought(text: str) -> AnyEvent:
    prints = {"head": "", "tools": "", "params": "", "parts": ""}
    return decode(
        encode({"event": "thought", "reply": {"text": text}, "prints": prints, "text": text})
    )


def stopped() -> AnyEvent:
    return Stop("failed", "It is over.")


async def write(store: Store, run_id: str, events: Sequence[AnyEvent]) -> None:
    """Write a run of these events, as a journal would."""
    epoch = await store.create(run_id)
    lines = [*_lines(events, epoch)]
    for at in range(0, len(lines), CHUNK):
        await store.append(Append(run_id, epoch, tuple(lines[at : at + CHUNK])))


async def go_on(store: Store, run_id: str, events: Sequence[AnyEvent]) -> None:
    """Write these events behind those of a run that was written."""
    last = (await store.read(run_id))[-1]
    lines = (*_lines(events, last.epoch, last.seq + 1, last.hash),)
    await store.append(Append(run_id, last.epoch, lines))


def _lines(
    events: Iterable[AnyEvent], epoch: int, first: int = 1, before: bytes = b""
) -> Iterable[Line]:
    for seq, event in enumerate(events, first):
        body, at = encode(event), BEGIN + seq
        before = hashlib.blake2b(
            before + b"%d %d %d " % (seq, at, epoch) + body, digest_size=16
        ).digest()
        yield Line(seq, at, epoch, body, before)
