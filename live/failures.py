"""Failures that a person has read: which class each belongs to, and what happened, in a line."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from live.outcomes import Measured

LISTED: Final = Path(__file__).with_name("failures.jsonl")
COMMON: Final = 20


class Failure(msgspec.Struct, frozen=True):
    """A line of `failures.jsonl`: a wrong outcome, read in its record."""

    system: str
    configuration: str
    task: str
    kind: str
    note: str


def read() -> list[Failure]:
    """All that were read."""
    if not LISTED.exists():
        return []
    return [msgspec.json.decode(line, type=Failure) for line in LISTED.read_bytes().splitlines()]


def section(found: Sequence[Measured]) -> str:
    """The classes with how often, and the failures themselves."""
    read_ones = read()
    wrong = sum(not one.outcome.right for one in found)
    lines = ["## Failures, read by hand", ""]
    if not read_ones:
        return "\n".join([*lines, "Not read yet."])
    kinds = Counter(one.kind for one in read_ones)
    text = (
        f"{len(read_ones)} of {wrong} wrong outcomes were read in their records and classed "
        "(`live/failures.jsonl`); a class is the first thing that went wrong."
    )
    lines += [
        text,
        "",
        "| class | of those read |",
        "|---|---|",
        *(f"| {kind} | {many} |" for kind, many in kinds.most_common()),
        "",
        "| configuration | task | class | what happened |",
        "|---|---|---|---|",
    ]
    common = sorted(read_ones, key=lambda one: -kinds[one.kind])[:COMMON]
    lines += [
        f"| {one.configuration} | `{one.task[:40]}` | {one.kind} | {one.note} |" for one in common
    ]
    return "\n".join(lines)
