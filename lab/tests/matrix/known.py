"""Faults that the matrix finds and that are not mended yet, each with its reason.

A complaint that a known fault covers does not fail its cell. Each names a witness: the cell that
must show it. Once that cell does not, the test fails: take the fault out of the table.
"""

import re
from dataclasses import dataclass
from typing import Final

from tests.matrix.cells import Judged


@dataclass(frozen=True)
class Known:
    """A fault: why it is there, a cell that shows it, and what it looks like.

    `words` and `cells` are regular expressions: of the complaint, and of the names of the cells
    where it counts.
    """

    reason: str
    witness: str
    words: str
    cells: str

    def covers(self, judged: Judged, complaint: str) -> bool:
        """Whether a complaint of a cell is this fault."""
        here = re.fullmatch(self.cells, judged.cell.name) is not None
        return here and re.search(self.words, complaint) is not None


def unknown(judged: Judged) -> list[str]:
    """The complaints of a failed cell that no known fault covers."""
    if judged.kind != "failed":
        return []
    return [one for one in judged.words if not any(known.covers(judged, one) for known in KNOWN)]


def stale(judged: Judged) -> list[str]:
    """The known faults that a cell no longer shows, though it is their witness."""
    return [
        f"known, but it does not show: {known.reason}"
        for known in KNOWN
        if known.witness == judged.cell.name
        and not any(known.covers(judged, complaint) for complaint in judged.words)
    ]


KNOWN: Final[tuple[Known, ...]] = ()
