"""Who is shown what happens in this context: a run at work, if somebody follows it.

What a model or a tool does is told to `LIVE` where it happens, without a listener being handed
through every call. Whoever tells looks at `followed` first: nobody may be there.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final, Protocol


class Live(Protocol):
    """A run at work."""

    followed: bool
    """Whether anybody follows it."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        ...

    @property
    def began(self) -> int:
        """When its record began, in Unix milliseconds: another run may have its id elsewhere."""
        ...

    def calling(self, call: str, tool: str, attempt: int) -> None:
        """An attempt of a call begins."""
        ...

    def retrying(self, attempt: int, of: int, why: str, wait: float, call: str = "") -> None:
        """Attempt number `attempt` follows in so many seconds; of the model, where no call is."""
        ...

    def text_again(self, piece: str) -> None:
        """A piece of the text of another attempt at the reply under way."""
        ...

    def arguments(self, index: int, name: str, piece: str) -> None:
        """A piece of the arguments of a call in the reply under way."""
        ...

    def hearing(self, hear: Callable[[str], bool]) -> Callable[[str], bool]:
        """What takes the pieces of a reply, and passes them on to `hear`."""
        ...


LIVE: Final[ContextVar[Live | None]] = ContextVar("clew.live", default=None)


def tell_again(piece: str) -> bool:
    """Tell whoever follows of a piece of a further attempt, whose first one was shown otherwise.

    It is wanted to its end, so this is False.
    """
    if piece and (live := LIVE.get()) is not None and live.followed:
        live.text_again(piece)
    return False


def tell_arguments(index: int, name: str, piece: str) -> None:
    """Tell whoever follows of a piece of a call's arguments; calls of a reply go by an index."""
    if piece and (live := LIVE.get()) is not None and live.followed:
        live.arguments(index, name, piece)
