"""Failures that a person has read: which class each belongs to, and what happened, in a line."""

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

import msgspec

from live.configurations import BASE, BEFORE
from live.others.systems import BY_NAME
from live.outcomes import Measured

LISTED: Final = Path(__file__).with_name("failures.jsonl")
COMMON: Final = 20
COLUMNS: Final = (f"`{BASE}`", f"`{BEFORE}`", "others of clew", *BY_NAME)


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


def section(measurements: Sequence[Measured]) -> str:
    """The classes with how often, and the failures themselves."""
    wrong = {
        (one.system, one.configuration, one.task) for one in measurements if not one.outcome.right
    }
    read_ones = [one for one in read() if (one.system, one.configuration, one.task) in wrong]
    lines = ["## Failures, read by hand", ""]
    if not read_ones:
        return "\n".join([*lines, "Not read yet."])
    kinds = Counter(one.kind for one in read_ones)
    text = (
        f"{len(read_ones)} of {len(wrong)} wrong outcomes were read, clew's in their records and "
        "most of the others' by their answers, and classed (`lab/live/failures.jsonl`); a class is "
        "the first thing that went wrong."
    )
    whose = Counter((one.kind, _column(one)) for one in read_ones)
    lines += [
        text,
        "",
        f"| class | {' | '.join(COLUMNS)} |",
        f"|---|{'---|' * len(COLUMNS)}",
        *(
            f"| {kind} | {' | '.join(str(whose[kind, name] or '') for name in COLUMNS)} |"
            for kind, _ in kinds.most_common()
        ),
        "",
        "| configuration | task | class | what happened |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {one.configuration} | `{one.task[:40]}` | {one.kind} | {one.note} |"
        for one in _some(read_ones, [kind for kind, _ in kinds.most_common()])
    ]
    return "\n".join(lines)


def _column(one: Failure) -> str:
    if one.system != "clew":
        return one.system
    return f"`{one.configuration}`" if one.configuration in {BASE, BEFORE} else "others of clew"


def _some(failures: Sequence[Failure], kinds: Sequence[str]) -> list[Failure]:
    """Of each class one, then of each another, those of the base first."""
    ranked = sorted(failures, key=lambda one: (one.configuration != BASE, one.system != "clew"))
    queues = [[one for one in ranked if one.kind == kind] for kind in kinds]
    rounds = zip_longest(*queues)
    return [one for turn in rounds for one in turn if one is not None][:COMMON]
