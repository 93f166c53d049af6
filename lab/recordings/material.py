"""What there is to measure by: how many records of which kind, and what could not be read."""

from collections import Counter
from typing import Final

from recordings.data import Unread, files, lines
from recordings.forms import UNKNOWN, kind_of, like, strange
from recordings.part import MINIMUM, Figure, Part, share

TEXT: Final = """\
A record is recognised by its own form, whatever its file is called. Left out, and listed: lines
without a record, truncated files, and records of an unknown form or with unexpected fields.
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
        share(f"{kind}, of the form that is known", kinds[kind], group, minimum=MINIMUM)
        for kind, group in sorted(alike.items())
        if kind != UNKNOWN
    ]
    rows.append(Figure("left out", f"{len(left_out):,}", f"{kinds.total() + len(left_out):,}"))
    return Part(
        "The material", TEXT, rows, left_out,
        finding="all records are of a form that this program knows", lead=("left out",),
    )  # fmt: skip
