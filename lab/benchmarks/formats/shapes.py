"""What every wire format of the benchmarks has: a server's side and a bare loop's."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

Message = dict[str, Any]
"""An item of a conversation, or another object, in a format's own words."""

PIECE: Final = 8
"""Characters of a call's arguments in one event of a stream."""


encode = msgspec.json.encode


@dataclass(frozen=True)
class Asked:
    """A request, as far as the script needs it: the goal, and the observations so far."""

    goal: str
    seen: list[str]
    model: str
    stream: bool
    told: bool = True
    """Whether a stream is to say what was used."""
    tokens: int = 0


@dataclass(frozen=True)
class Call:
    """A call of the tool, with the key of the entry to read."""

    id: str
    key: str

    @property
    def arguments(self) -> str:
        """As they are sent."""
        return encode({"key": self.key}).decode()


@dataclass(frozen=True)
class NextReply:
    """What the model says next."""

    text: str
    calls: Sequence[Call] = ()

    @property
    def tokens(self) -> int:
        """Four signs to a token, and 30 signs around each call."""
        return (len(self.text) + sum(len(call.arguments) + 30 for call in self.calls)) // 4


class Gathered(Protocol):
    """A streamed reply as it comes together."""

    def take(self, event: Message) -> None:
        """Take the data of an event."""
        ...

    def as_messages(self) -> list[Message]:
        """What goes into the conversation."""
        ...


class Format(Protocol):
    """A wire format. A module of this folder is one."""

    HEADERS: Mapping[str, str]
    """What a bare loop sends with every request."""

    def asked(self, body: bytes, path: str) -> Asked:
        """The server: read a request. Raises `ValueError` or `msgspec.DecodeError`."""
        ...

    def full_body(self, asked: Asked, reply: NextReply) -> bytes:
        """The server: the body of a plain reply."""
        ...

    def events(self, asked: Asked, reply: NextReply) -> Iterator[bytes]:
        """The server: the events of a streamed reply."""
        ...

    def address(self, url: str, *, stream: bool) -> str:
        """The bare loop: where to ask."""
        ...

    def opening(self, goal: str) -> list[Message]:
        """The bare loop: how the conversation begins."""
        ...

    def request(self, messages: list[Message], *, stream: bool = False) -> Message:
        """The bare loop: the body of a request."""
        ...

    def reply(self, body: Message) -> list[Message]:
        """The bare loop: what a plain reply adds to the conversation."""
        ...

    def gathering(self) -> Gathered:
        """The bare loop: a streamed reply of which nothing has come yet."""
        ...

    def calls(self, messages: list[Message]) -> list[Call]:
        """The bare loop: the calls in a reply."""
        ...

    def text(self, messages: list[Message]) -> str:
        """The bare loop: the text of a reply."""
        ...

    def results(self, pairs: Sequence[tuple[Call, str]]) -> list[Message]:
        """The bare loop: what calls and their observations add to the conversation."""
        ...


def words(text: str) -> list[str]:
    """The pieces in which a text is streamed."""
    return re.findall(r"\S+\s*", text)


def pieces(arguments: str) -> Iterator[str]:
    """The pieces in which a call's arguments are streamed."""
    for start in range(0, len(arguments), PIECE):
        yield arguments[start : start + PIECE]


def tokens(body: bytes) -> int:
    """How long a request was: four bytes to a token."""
    return len(body) // 4


def event(data: Message) -> bytes:
    """An event that says nothing but its data."""
    return b"data: " + encode(data) + b"\n\n"


def named_event(data: Message) -> bytes:
    """An event with its type as its name too."""
    return b"event: " + str(data["type"]).encode() + b"\ndata: " + encode(data) + b"\n\n"
