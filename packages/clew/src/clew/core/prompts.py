"""What goes to a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from clew.core.contents import Adapted, Attachment, RawCall, Wire
from clew.core.tools import Parameters, ToolSpec

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

Calls: TypeAlias = Literal["auto", "none", "required"]
"""Whether a reply may call tools, must not, or must."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Part:
    """One immutable message of a prompt, independent of the provider.

    An assistant's part may carry the `calls` it made and the `wire` items only its own model reads;
    a tool's part answers the call `call_id` of the tool `name`. A user's and a tool's may have
    `attachments`: a model that does not take one gets its text. `encoded` remembers, per encoder,
    the bytes a model made of it: each part is encoded once.
    """

    role: Role
    text: str
    calls: tuple[RawCall, ...] = ()
    call_id: str = ""
    name: str = ""
    wire: Wire | None = None
    attachments: tuple[Attachment, ...] = ()
    encoded: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)


class Prompt(msgspec.Struct, frozen=True, gc=False):
    """The input of a model: head, the steps so far, and a tail that is new each time.

    `tools` are the shown ones (empty in text formats, whose head describes them). With `calls`
    "none" the model must not call any, with "required" it must. The reply should end at a `stop`
    sequence. `reply_schema` is a JSON Schema for the reply's text, for providers that can enforce
    one. `seed` is the agent's, for a model whose replies follow from the prompt and a seed.
    `grammar` is all that the reply may be, in GBNF, for a model that has `"grammar": true` in its
    `params`. `adapted` is how the last request of the run had to differ from its prompt.
    The `purpose` is a thought, or what a person's words ask for (`Planned`).
    """

    head: tuple[Part, ...]
    parts: Sequence[Part]
    tail: tuple[Part, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    calls: Calls = "auto"
    stop: tuple[str, ...] = ()
    reply_schema: Parameters | None = None
    seed: int = 0
    grammar: str = ""
    adapted: Adapted | None = None
    purpose: Literal["think", "plan"] = "think"

    def __iter__(self) -> Iterator[Part]:
        """All parts in order."""
        yield from self.head
        yield from self.parts
        yield from self.tail
