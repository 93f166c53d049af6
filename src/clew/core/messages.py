"""What a model sends back, as plain values: its words, its calls, what they cost."""

from typing import Any, Literal, TypeAlias

import msgspec

Json: TypeAlias = Any
"""A value that JSON can carry: None, bool, int, float, str, list or dict with str keys."""

Finish: TypeAlias = Literal["stop", "calls", "declined", "length", "filter", "refusal", "cut"]
"""How a reply ended: complete (`stop`, `calls`; `declined` says that the model cannot answer, and
its text may show what was found), or cut by a limit, a filter, a refusal, a lost connection."""


class Value(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=False):
    """Base of the plain values inside events.

    What is frozen is in no cycle, so the garbage collector need not look at it: with many runs at
    once it spends a tenth of the CPU on looking.
    """


class Usage(Value, frozen=True):
    """What model replies cost: tokens, and `cost` in US dollars (None where no price is known).

    `input` counts all prompt tokens, `cached` those of them that the provider read from its cache,
    `written` those it put there; `reasoning` is the part of `output` that was hidden reasoning.
    `estimated` marks figures that the provider did not give. `at_least` is the part of a sum's cost
    that is known, where the whole `cost` is not.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    cost: float | None = None
    estimated: bool = False
    written: int = 0
    at_least: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Sum of two usages; what took tokens at an unknown cost makes that of the sum unknown."""
        cost, at_least = None, self.known_cost + other.known_cost
        if not (self.unpriced or other.unpriced) and (self.cost, other.cost) != (None, None):
            cost, at_least = at_least, 0.0
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            reasoning=self.reasoning + other.reasoning,
            cost=cost,
            estimated=self.estimated or other.estimated,
            written=self.written + other.written,
            at_least=at_least,
        )

    @property
    def known_cost(self) -> float:
        """The US dollars that are known to be spent: the cost, or the least that it can be."""
        return self.at_least if self.cost is None else self.cost

    @property
    def unpriced(self) -> bool:
        """Whether tokens were taken whose cost nobody knows."""
        return self.cost is None and self.tokens > 0

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input + self.output


class RawCall(Value, frozen=True):
    """A call as the provider wrote it: its id, the tool's name and the arguments' text, verbatim.

    `arguments` is None when the provider left the key out; in the record long ones lie in the blob
    `blob`.
    """

    name: str
    arguments: str | None = None
    id: str = ""
    blob: str = ""


class Wire(Value, frozen=True):
    """Items only the model that wrote them can read (reasoning, signatures), kept verbatim."""

    provider: str
    model: str
    items: Json = None


class Reply(Value, frozen=True):
    """What a model sent back, before any codec read it.

    `reasoning` is thinking that came as text of its own; it is kept for people and never sent back.
    `mended` names what had to be mended so that it could be read at all. `note` is what its answer
    is to be read with, for people: it is no part of the text, and never sent back.
    """

    text: str = ""
    calls: tuple[RawCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage = Usage()
    model: str = ""
    wire: Wire | None = None
    reasoning: str = ""
    mended: tuple[str, ...] = ()
    note: str = ""
