"""Which server a tool is from, and rankings in which no server takes all places."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from clew.core.tools import ToolSpec

T = TypeVar("T")

_PREFIX: Final = re.compile(r"([^._/:]+)[._/:]")


def server_of(tool: ToolSpec) -> str:
    """What is before the first `_`, `.`, `/` or `:` of its name, as in names of tools over MCP.

    A name without any of them is a server of its own.
    """
    match = _PREFIX.match(tool.name)
    return tool.name if match is None else match[1]


def round_robin(ranked: Iterable[T], of: Callable[[T], str], limit: int) -> list[T]:
    """A ranking in rounds: in each, every server has at most so many places, best first."""
    seen = Counter[str]()
    rounds: dict[int, list[T]] = {}
    for each in ranked:
        server = of(each)
        rounds.setdefault(seen[server] // limit, []).append(each)
        seen[server] += 1
    return [each for number in sorted(rounds) for each in rounds[number]]
