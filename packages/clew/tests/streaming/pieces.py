"""A model whose replies come in pieces, and what a stream tells of the values in them."""

import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import msgspec

from clew import Agent, Entry, MemoryStore, Partial, PartialCall, Token, Withdrawn, stream
from clew.core.events import Thought
from clew.interfaces import OnText, Prompt, Reply
from clew.support.live import tell_arguments
from clew.testing import ScriptedModel
from clew.testing.models import position

NINTHS: Final = tuple(number / 9 for number in range(1, 9))


def cut_at(text: str, places: Sequence[float]) -> list[str]:
    """The text in pieces; the places of the cuts are parts of it."""
    at = sorted({0, len(text), *(int(place * len(text)) for place in places)})
    return [text[start:end] for start, end in itertools.pairwise(at)]


@dataclass(frozen=True)
class InPieces(ScriptedModel):
    """A model whose replies are cut at these parts of them."""

    cuts: Sequence[float] = field(default=(), kw_only=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        reply = self.reply(prompt, position(prompt))
        if on_text is None:
            return reply
        told = ""
        for piece in cut_at(reply.text, self.cuts):
            told += piece
            if on_text(piece):
                return msgspec.structs.replace(reply, text=told)
            await _taken()
        for number, call in enumerate(reply.calls):
            for piece in cut_at(call.arguments or "", self.cuts):
                tell_arguments(number, call.name, piece)
                await _taken()
        return reply


@dataclass(frozen=True)
class Stepwise(ScriptedModel):
    """A model that waits for a `step` before each piece of its replies."""

    step: Callable[[], Awaitable[None]] = field(kw_only=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        reply = self.reply(prompt, position(prompt))
        told = ""
        for piece in cut_at(reply.text, NINTHS):
            await self.step()
            told += piece
            if on_text is not None and on_text(piece):
                return msgspec.structs.replace(reply, text=told)
        for number, call in enumerate(reply.calls):
            for piece in cut_at(call.arguments or "", NINTHS):
                await self.step()
                tell_arguments(number, call.name, piece)
        return reply


async def _taken() -> None:
    """Let whoever follows take each value: what waits is replaced by what says more."""
    for _ in range(8):
        await anyio.lowlevel.checkpoint()


async def told_of(agent: Agent[Any]) -> list[Any]:
    """All that the stream of a run tells, taken as it comes."""
    async with stream(agent, "Tell.", store=MemoryStore(), run_id="r") as events:
        return [item async for item in events]


def partials(items: Sequence[object]) -> list[Partial[Any]]:
    """The partial values of an answer."""
    return [item for item in items if isinstance(item, Partial)]


def partial_calls(items: Sequence[object], tool: str) -> list[PartialCall]:
    """What is told of calls of a tool."""
    return [item for item in items if isinstance(item, PartialCall) and item.tool == tool]


def words(items: Sequence[object], place: str = "answer") -> str:
    """The words at a place of the answer that stand."""
    told = ""
    for item in items:
        if isinstance(item, Withdrawn):
            told = ""
        elif isinstance(item, Token) and item.field.startswith(place):
            told += item.text
    return told


def standing(items: Sequence[object]) -> str:
    """All words of the answer that stand."""
    return words(items).strip()


def thought_of(items: Sequence[object]) -> Thought:
    """The first thought."""
    events = [item.event for item in items if isinstance(item, Entry)]
    return next(event for event in events if isinstance(event, Thought))


def extends(value: Any, before: Any) -> bool:
    """Whether a value is another one with more of it; what is no text comes whole."""
    if isinstance(before, dict):
        return isinstance(value, dict) and all(
            key in value and extends(value[key], each) for key, each in before.items()
        )
    if isinstance(before, list):
        pairs = zip(value, before, strict=False) if isinstance(value, list) else ()
        return (
            isinstance(value, list)
            and len(value) >= len(before)
            and all(extends(*pair) for pair in pairs)
        )
    if isinstance(before, str):
        return isinstance(value, str) and value.startswith(before)
    return bool(value == before)


def check_growing(told: Sequence[Partial[Any] | PartialCall], whole: Any) -> None:
    """Hold partial values to growing, and to ending as the value that was read."""
    assert told, "nothing was told of the value"
    assert [each.state for each in told] == ["open"] * (len(told) - 1) + ["complete"]
    written = [each.json if isinstance(each, Partial) else each.args for each in told]
    assert written[-1] == whole
    for before, value in itertools.pairwise(written):
        assert extends(value, before), (before, value)
    for json in written:
        assert extends(whole, json), json
    assert all(each.valid == (each.value is not None) for each in partials(told))
