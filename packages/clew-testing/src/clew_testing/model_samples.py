"""What the contract for models is checked with: how a model is made, what it is asked and told."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from clew import Call, Observation, Step, Usage
from clew.codecs import by_name
from clew.core.events import Fingerprints
from clew.interfaces import Model, Part, Prompt, Reply, Thought
from clew_testing.codec_samples import TEXT, prompt_spec, tool
from clew_testing.model_script import Delay, Fail, Say

Script: TypeAlias = Sequence[Say | Fail | Delay]
"""What a model says, one entry for each completion, in order.

The prompt also determines the entry: the first for a prompt without a thought, the second for one
with one thought.
"""


def as_it_is(name: str) -> str:
    """The name itself."""
    return name


@dataclass(frozen=True)
class ModelFactory:
    """Opens models to test.

    `alias` translates a tool's name for a provider that does not accept every name; the script's
    calls use it.
    """

    open: Callable[[Script], AbstractAsyncContextManager[Model]]
    alias: Callable[[str], str] = as_it_is


Check: TypeAlias = Callable[[ModelFactory], Awaitable[None]]
"""A part of the contract; raises `AssertionError` in one line if it is broken."""

PATIENCE: Final = 30.0
"""Seconds after which a model that gives no sign is given up."""

WORDS: Final = "Ariadne gave Theseus a ball of thread – a clew, κλωστή, 🧶 –\nand he came back."
TOOLS: Final = (
    tool("look", "read", {"query": TEXT}),
    tool("zoo.animal-2", "read", {"query": TEXT}),
    tool("9.lives." + "x" * 56, "read", {"query": TEXT}),
)
"""Names that every provider takes, and such as some refuse: dots, a digit first, 64 signs."""

PIXEL: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d494844520000000100000001080600000"
    "01f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)

ASSISTANT_TURN: Final = Part("assistant", "A ball of thread.")
MORE: Final = Part("user", "Tell me more.")
NATIVE: Final = by_name("native")


def ask(*parts: Part, **more: Any) -> Prompt:
    """A prompt with a question and what came since."""
    head = (Part("system", "Be brief."), Part("user", "What is a clew?"))
    return Prompt(head, parts, **more)


def collect_text(pieces: list[str], enough: str = "") -> Callable[[str], bool]:
    """An `on_text` that keeps the pieces, and wants no more after a certain word."""

    def on_text(piece: str) -> bool:
        pieces.append(piece)
        return bool(enough) and enough in "".join(pieces)

    return on_text


def alike(reply: Reply) -> Reply:
    """A reply without what may differ in a stream: a usage that was only estimated, and the wire
    items, which come in other pieces (whose they are stays).
    """
    usage = Usage() if reply.usage.estimated else reply.usage
    wire = reply.wire and msgspec.structs.replace(reply.wire, items=None)
    return msgspec.structs.replace(reply, usage=usage, wire=wire)


def stepped(number: int, reply: Reply) -> tuple[Part, ...]:
    """A reply as the native codec puts it into the next prompt, with a result for each call."""
    asked = prompt_spec(tools=TOOLS, known=frozenset(each.name for each in TOOLS))
    read = NATIVE.parse(asked, reply)
    thought = Thought(
        reply, Fingerprints("", "", "", ""), read.text, read.actions, read.answer, read.fault
    )
    calls = [
        Call(f"{number}.{number_in_step}", each)
        for number_in_step, each in enumerate(read.actions, start=1)
    ]
    for call in calls:
        call.observation = Observation(content={"key": call.key})
    return NATIVE.render(asked, Step(number, thought, tuple(calls)))
