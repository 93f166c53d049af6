"""What may become of a reply on its way: it never closes, and perhaps is asked for again.

Each takes the reply, and how often its request has come by now.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from clew_testing.model_script import Cut, Delay, Drop, Fail, Say, Turn

SOON: Final = 1500
"""So many bytes of a stream come before its connection is lost: some of its pieces."""
TRIES: Final = 3
"""How often a provider is asked for a reply."""


def untroubled(reply: Say, times: int) -> Turn:
    """Nothing."""
    del times
    return reply


def limit(reply: Say, times: int) -> Turn:
    """The reply is cut at the limit of its length."""
    if times > 1:
        return reply
    text = reply.text or ""
    calls = [(name, (args or "")[: len(args or "") * 2 // 3]) for name, args in reply.calls]
    return replace(reply, text=text[: len(text) * 2 // 3], calls=calls, finish="length")


def connection(reply: Say, times: int) -> Turn:
    """The connection is lost in the first attempts, and the last is whole."""
    return Cut(reply, SOON // times) if times < TRIES else reply


def line(reply: Say, times: int) -> Turn:
    """The connection is lost in each attempt, so that the reply is what came of it."""
    return Cut(reply, SOON) if times <= TRIES else reply


def gone(reply: Say, times: int) -> Turn:
    """No attempt is answered: the run stays open, until it is taken up."""
    return Drop() if times <= TRIES else reply


def busy(reply: Say, times: int) -> Turn:
    """The first attempt is refused, the second is lost, the third is whole."""
    return (Fail(503), Cut(reply, SOON), reply)[min(times, TRIES) - 1]


def left(reply: Say, times: int) -> Turn:
    """The reply stops in the middle, until whoever waits for it ends."""
    return Delay(reply, SOON) if times == 1 else reply


TROUBLES: Final[Mapping[str, Callable[[Say, int], Turn]]] = {
    each.__name__: each for each in (untroubled, limit, connection, line, gone, busy, left)
}
