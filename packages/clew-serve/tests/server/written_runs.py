"""Records that are written line by line: as long, and as hostile, as a test wants them."""

import hashlib
from collections.abc import Iterable, Sequence

from clew.interfaces import AgentSpec, AnyEvent, Append, Line, Started, Store, Text, decode, encode

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


async def write(store: Store, run_id: str, events: Sequence[AnyEvent]) -> None:
    """Write a run of these events, as a journal would."""
    epoch = await store.create(run_id)
    lines = [*_lines(events, epoch)]
    for at in range(0, len(lines), CHUNK):
        await store.append(Append(run_id, epoch, tuple(lines[at : at + CHUNK])))


def _lines(events: Iterable[AnyEvent], epoch: int) -> Iterable[Line]:
    before = b""
    for seq, event in enumerate(events, 1):
        body, at = encode(event), BEGIN + seq
        before = hashlib.blake2b(
            before + b"%d %d %d " % (seq, at, epoch) + body, digest_size=16
        ).digest()
        yield Line(seq, at, epoch, body, before)
