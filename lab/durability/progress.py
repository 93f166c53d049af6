"""A word on stderr while something takes long."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

BEGUN = time.perf_counter()


def tell(text: str) -> None:
    """Say how far it is, with the seconds since the program began; a terminal keeps one line."""
    line = f"{time.perf_counter() - BEGUN:5.0f} s  {text}"
    end = "\r" if sys.stderr.isatty() else "\n"
    sys.stderr.write(f"{line:<78}{end}")
    sys.stderr.flush()


def with_progress(
    items: Sequence[T],
    label: Callable[[T], str],
    *,
    at_once: int = 1,
    minutes: float = 0,
    since: float | None = None,
) -> Iterator[T]:
    """Each item in turn, with a word on how far it is and how long the rest may take.

    `at_once` workers take from it, so that many of the items that were given are not done. After so
    many `minutes` `since` a monotonic time (by default its first item) none is given (0: no end).
    """
    begun = time.monotonic()
    since = begun if since is None else since
    for number, item in enumerate(items):
        now = time.monotonic()
        if minutes and now - since > 60 * minutes:
            return
        done = number - at_once + 1
        left = ""
        if done > 0:
            left = f", {(now - begun) / done * (len(items) - done) / 60:.0f} min left"
        tell(f"{number} of {len(items)}{left}: {label(item)}")
        yield item
