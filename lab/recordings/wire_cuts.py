"""A stream in pieces, however it is divided, and broken off anywhere."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import anyio
import msgspec

from clew import ModelError
from clew.codecs import by_name
from clew.core.codec import PromptSpec
from clew.core.contents import RawCall, Reply
from clew.core.prompts import Prompt
from clew.models.http.endpoint import Endpoint
from clew.tools.finish import answer_schema, finish_tool
from recordings.inside import APIS, Pieces, over
from recordings.wire_exchanges import Exchange

_DIVISIONS: Final = 100
_ANSWER: Final = answer_schema(str)
_PROMPT_SPEC: Final = PromptSpec("", (), finish_tool(_ANSWER), _ANSWER)

Counted = tuple[int, int]
"""So many right, of so many."""


@dataclass(frozen=True)
class Cuts:
    """What came of cutting streams."""

    split: Counted = (0, 0)
    bytewise: Counted = (0, 0)
    divided: Counted = (0, 0)
    broken: Counted = (0, 0)
    misses: tuple[str, ...] = ()

    def __add__(self, other: "Cuts") -> "Cuts":
        def both(one: Counted, two: Counted) -> Counted:
            return one[0] + two[0], one[1] + two[1]

        return Cuts(
            both(self.split, other.split),
            both(self.bytewise, other.bytewise),
            both(self.divided, other.divided),
            both(self.broken, other.broken),
            (*self.misses, *other.misses),
        )


def cut(exchange: Exchange, sample: int = 1) -> Cuts:
    """Cut one stream; of the places, every `sample`th."""
    return anyio.run(_cut, exchange, sample)


async def _cut(exchange: Exchange, sample: int) -> Cuts:
    data, carrier, misses = exchange.reply, Pieces([exchange.reply]), list[str]()
    model, prompt = over(APIS[exchange.form](exchange.model), carrier), exchange.prompt
    reply = await _completed(model, prompt)

    async def same(*pieces: bytes, how: str) -> bool:
        carrier.pieces = pieces
        if (read := await _completed(model, prompt)) == reply:
            return True
        misses.append(f"{exchange.id}: {how}: read otherwise: {read!r}"[:300])
        return False

    offsets = range(1, len(data), sample)
    split = [await same(data[:at], data[at:], how=f"split at {at}") for at in offsets]
    single = [data[at : at + 1] for at in range(len(data))]
    bytewise = await same(*single, how="byte by byte")
    chance = random.Random(len(data))
    divided = [
        await same(*_divided(data, chance), how=f"division {number}")
        for number in range(max(1, _DIVISIONS // sample))
    ]
    broken: list[bool] = []
    for at in offsets:
        carrier.pieces = [data[:at]]
        why = _invented(await _completed(model, prompt), reply)
        broken.append(not why)
        misses += [f"{exchange.id}: broken off at {at}: {why}"[:300]] if why else []
    return Cuts(
        (sum(split), len(split)),
        (int(bytewise), 1),
        (sum(divided), len(divided)),
        (sum(broken), len(broken)),
        tuple(misses),
    )


async def _completed(model: Endpoint, prompt: Prompt) -> Reply | None:
    """The reply; None for an error."""
    try:
        return await model.complete(prompt, lambda _: False)
    except ModelError:
        return None


def _divided(data: bytes, chance: random.Random) -> Sequence[bytes]:
    """Data in pieces of many lengths."""
    often = chance.choice((2, 5, 50, 500))
    ordered = sorted(chance.sample(range(1, len(data)), min(often, len(data) - 1)))
    return [data[one:two] for one, two in zip([0, *ordered], [*ordered, len(data)], strict=True)]


def _invented(reply: Reply | None, complete: Reply | None) -> str:
    """What is wrong with a reply of a stream that broke off; "" where nothing is."""
    if reply is None:
        return ""
    if complete is None or not complete.text.startswith(reply.text):
        return f"text that was not sent: {reply.text!r}"
    if reply.finish != "cut":
        same = msgspec.structs.replace(reply, usage=complete.usage, wire=complete.wire)
        same = msgspec.structs.replace(same, model=complete.model, reasoning=complete.reasoning)
        return "" if same == complete else f"taken for the whole: {reply!r}"
    if not all(_begins(call, complete.calls) for call in reply.calls):
        return f"calls that were not sent: {reply.calls!r}"
    parsed = by_name("native").parse(_PROMPT_SPEC, reply)
    return "" if parsed.fault and not parsed.actions else f"would be acted on: {parsed!r}"


def _begins(call: RawCall, raw_calls: Sequence[RawCall]) -> bool:
    """Whether a call is the beginning of one that was sent."""
    return any(
        other.name.startswith(call.name)
        and (other.arguments or "").startswith((call.arguments or "").removesuffix("{}"))
        for other in raw_calls
    )
