"""What there is to measure by: how many records of which kind, and what could not be read."""

from collections import Counter
from typing import Final

from recordings.data import Unread, files, lines
from recordings.forms import UNKNOWN, kind_of, like, strange
from recordings.part import LEAST, Figure, Part, share

TEXT: Final = """\
What a record is, is told by its own form; what a file is called says nothing. Listed and left out
are lines that hold no record, files that end too early, and records whose form is none of the
known ones, or whose fields hold something else.
"""


def measure(sample: int) -> Part:
    """All files, whatever the sample."""
    del sample
    kinds, alike, left_out = Counter[str](), Counter[str](), list[str]()
    for path in files():
        for number, one in enumerate(lines(path), start=1):
            if isinstance(one, Unread):
                left_out.append(str(one))
                continue
            alike[like(one)] += 1
            if why := strange(one):
                left_out.append(f"{path.name}, line {number}: {why}")
            else:
                kinds[kind_of(one)] += 1
    rows = [
        share(f"{kind}, of the form that is known", kinds[kind], found, least=LEAST)
        for kind, found in sorted(alike.items())
        if kind != UNKNOWN
    ]
    rows.append(Figure("left out", f"{len(left_out):,}", f"{kinds.total() + len(left_out):,}"))
    return Part("The material", TEXT, rows, left_out)
