"""What is measured, and how much of it."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple


class Row(NamedTuple):
    """A line of the table: `wrong` counts what was lost, came twice or was answered wrongly."""

    what: str
    figure: str
    aim: str = ""
    beside: str = ""
    wrong: int = 0


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    entries: int = 10_000
    runs: int = 1_000
    paints: int = 5
    asked: int = 15
    viewers: int = 200
    live: int = 20
    steady: int = 400
    """Entries that are written while 200 and a slow one watch."""
    reconnects: int = 1_000
    clients: int = 500
    visits: int = 3


TINY: Final = Sizes(300, 30, 1, 1, 10, 3, 60, 40, 20, 1)
"""Shows that nothing is lost, and measures nothing."""

BODY: Final = 6_200
"""Characters of a thought; its line has them twice, in the reply and read: 127 MB for 10,000."""

HEADS: Final = ("measured", "figure", "aim", "beside")


def middle(times: Sequence[float]) -> str:
    """The median of milliseconds."""
    return f"{statistics.median(times):.0f} ms"


def worst(times: Sequence[float]) -> str:
    """The greatest of milliseconds."""
    return f"worst {max(times):.0f} ms"
