"""Streams that are collected as garbage while another begins or ends, in the same thread."""

import threading
from collections.abc import Callable

import pytest

from clew.agent.streaming.followers import FOLLOWERS, Follower, add, remove

SECONDS = 30
"""So long a change that takes no time may take."""


class Collected:
    """A store's identity: looked up, it lets go of a stream once, as a collection would."""

    def __init__(self, let_go: Callable[["Collected"], None]) -> None:
        self._let_go, self._left = let_go, 2

    def __hash__(self) -> int:
        """Let go at the second look, when the change has begun."""
        self._left -= 1
        if self._left == 0:
            self._let_go(self)
        return 1


@pytest.mark.parametrize("change", [add, remove])
def test_a_stream_may_be_collected_while_another_is_changed(
    change: Callable[[tuple[Collected, str], Follower], None],
) -> None:
    dropped, kept, changed = Follower("r"), Follower("r"), Follower("r")
    owner = Collected(lambda it: remove((it, "r"), dropped))
    key = (owner, "r")
    FOLLOWERS[key] = (dropped, kept) if change is add else (dropped, kept, changed)

    thread = threading.Thread(target=change, args=(key, changed), daemon=True)
    thread.start()
    thread.join(SECONDS)

    assert not thread.is_alive(), "it waits for its own thread"
    expected = (kept, changed) if change is add else (kept,)
    assert FOLLOWERS.pop(key) == expected
