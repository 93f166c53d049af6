"""What a provider's batch interface is asked for, the same for all of them."""

import math
from collections.abc import AsyncGenerator, Sequence
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

HOURS: Final = 24
"""So long a provider takes at most; what is not done by then is `expired`."""

WAIT: Final = HOURS * 3600.0
"""The same in seconds."""

Kind: TypeAlias = Literal["answered", "refused", "expired", "canceled", "lost"]
"""What became of a request: a reply; an error of its own; none within the time; a person canceled
the batch first; or the batch ended without a word of it.
"""


class Outcome(msgspec.Struct, frozen=True):
    """What became of the request with this id. `body` is that of a reply, or of an error that came
    with the HTTP status `status`.
    """

    custom_id: str
    kind: Kind
    status: int = 200
    body: bytes = b""


class BatchState(msgspec.Struct, frozen=True):
    """How far a batch is. Where it `failed` as one, there are no outcomes, and `code` says why to
    programs.
    """

    done: int
    total: int
    ended: bool = False
    failed: str = ""
    code: str = ""


class Request(msgspec.Struct, frozen=True):
    """A request of a batch: its id, and the body that would be sent by itself."""

    custom_id: str
    body: bytes


class Handed(msgspec.Struct, frozen=True):
    """A batch that may have been handed in: what the list of the provider's batches is searched by.

    `mark` is in the batch's metadata, or else begins the ids of its `total` requests; `since` is
    Unix time in seconds; `known` are batches that are others.
    """

    mark: str
    since: float
    total: int
    known: frozenset[str] = frozenset()


class BatchApi(Protocol):
    """A provider's batch interface.

    Raises `StatusError`, `SilentError`, `LostError` and errors of httpx2, as a `Transport` does.
    """

    @property
    def max_requests(self) -> int:
        """How many requests a batch may have."""
        ...

    @property
    def max_bytes(self) -> int:
        """How long a batch may be, as `size` counts it."""
        ...

    def size(self, request: Request) -> int:
        """How many bytes of a batch a request takes."""
        ...

    async def prepare(self, requests: Sequence[Request], mark: str) -> bytes:
        """What `hand_in` sends; files go up here. Nothing is begun or paid yet."""
        ...

    async def hand_in(self, prepared: bytes) -> str:
        """Begin the batch; its id at the provider."""
        ...

    async def find(self, handed: Handed) -> str | None:
        """The id of a batch that was handed in, "" where there is none; None: it cannot be told
        before some batch has ended.
        """
        ...

    async def state(self, batch: str) -> BatchState:
        """How far it is."""
        ...

    def outcomes(self, batch: str) -> AsyncGenerator[Outcome, None]:
        """What became of each request of a batch that has ended, in any order."""
        ...

    async def cancel(self, batch: str) -> None:
        """Do no more of it; what is done stays, and is paid."""
        ...


class Timing(msgspec.Struct, frozen=True):
    """Seconds, but for `requests`.

    A batch is handed in when no run asked for `gather`, or `requests` wait; it is looked at each
    `poll`. A batch of which nobody knows whether it was handed in is looked for until `settle`
    after that.
    """

    gather: float = 10.0
    poll: float = 30.0
    settle: float = 60.0
    requests: float = math.inf
