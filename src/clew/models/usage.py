"""What a reply took: read from what a provider says, or estimated where it says nothing."""

from typing import Any

from clew.core.events import RawCall, Usage


def count(usage: dict[str, Any], *path: str) -> int:
    """The number at the path of keys; 0 where there is none."""
    value: Any = usage
    try:
        for key in path:
            if (value := value.get(key)) is None:
                return 0
    except AttributeError:  # it stands where an object should
        return 0
    return int(value) if isinstance(value, (int, float)) and value > 0 else 0


def estimate(sent: int, text: str, calls: tuple[RawCall, ...]) -> Usage:
    """Four bytes to a token, of the `sent` bytes and of the reply: rough, and marked as such."""
    written = len(text) + sum(len(call.name) + len(call.arguments or "") for call in calls)
    return Usage(input=sent // 4, output=-(-written // 4), estimated=True)
