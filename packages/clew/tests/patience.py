"""How long a test waits for what it awaits."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

PATIENCE: Final = 300.0
"""Seconds until a test that hangs fails. A guard and nothing else: no test may come near it, on
however busy a machine, and none may need it to pass. Under `faulthandler_timeout` of pyproject."""


async def once_begun(call: Callable[[int], Awaitable[Any]], sign: str) -> tuple[Any, int]:
    """What a call came to at its deadline, and the deadline, which left it the time to begin.

    It had where the result has the sign in it. Else the machine is busy, and more time is given.
    """
    for seconds in (2, 8, 32, 128):
        found = await call(seconds)
        if sign in found.text:
            break
    return found, seconds
