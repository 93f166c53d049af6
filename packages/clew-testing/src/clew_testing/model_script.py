"""What a model behind a server says, in no provider's words."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from clew import Usage


@dataclass(frozen=True)
class Say:
    """A reply, in no provider's words.

    Attributes:
        text: What is said; None where the provider's form has a place for nothing.
        calls: (name, arguments' text or None for no such key) of each call.
        finish: How it ended: "" for whichever fits, "length", "filter" or "refusal" in the
            provider's own word, any other word as it is, None for no word at all.
        usage: What it took, written as the provider does; a mapping is sent as it is (None: counted
            by the server, {}: left out).
        refusal: What is said in the place of a reply.
        reasoning: Thinking before the reply.
        more: Further keys in the provider's own form, where a service has a place for them.
        model: The model that answered (empty: the one that was asked).
    """

    text: str | None = ""
    calls: Sequence[tuple[str, str | None]] = ()
    finish: str | None = ""
    usage: Usage | Mapping[str, Any] | None = None
    refusal: str | None = None
    reasoning: str = ""
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])
    model: str = ""


@dataclass(frozen=True)
class Fail:
    """An error in the service's own format."""

    status: int
    message: str = "scripted error"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Send:
    """Raw bytes, whatever was requested."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200


@dataclass(frozen=True)
class Cut:
    """The connection is lost after `at` bytes of the body of another entry (0: after the head)."""

    of: "Say | Fail | Send"
    at: int = 0


@dataclass(frozen=True)
class Drop:
    """The connection is lost before anything is answered."""


@dataclass(frozen=True)
class Delay:
    """No answer for as long as the server runs; `at` bytes of the body of `of` come first."""

    of: "Say | Send | None" = None
    at: int = 0


Turn: TypeAlias = Say | Fail | Send | Cut | Drop | Delay
Script: TypeAlias = Iterable[Turn] | Callable[[dict[str, Any]], Turn]
"""What to answer, in order; or a function from a request's body to the answer."""
