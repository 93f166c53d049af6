"""Labels and owners as stores index them: each by a digest, however long and of whatever letters.

A run's first line has them, and its forks have the same. So a store notes the digests with that
line, and finds the runs with a label without a look at any line of others.
"""

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

import msgspec

MANY: Final = 1000
"""With more runs of each label than this, a page is looked for from the latest run on."""


class _Names(msgspec.Struct):
    """What the first line of a run says of whose it is."""

    labels: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    owner: str = ""


has_names: Final = re.compile(rb'"(?:labels|owner)":').search
"""Whether a first line may have labels or an owner: for most lines, that is all that is done."""

_names = msgspec.json.Decoder(_Names)


class Selection(msgspec.Struct, frozen=True):
    """Which runs are asked for: with all of the `labels`, of this `owner`, of this id."""

    labels: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    owner: str = ""
    run_id: str = ""

    @property
    def digests(self) -> list[bytes]:
        """Those that a run must have."""
        return _digests(self.labels, self.owner)


def digests_of(first: bytes) -> list[bytes]:
    """The digests of a run with this first line; none where it cannot be read."""
    if not has_names(first):
        return []
    try:
        names = _names.decode(first)
    except (ValueError, RecursionError):  # of a newer clew, or damaged
        return []
    return _digests(names.labels, names.owner)


def _digests(labels: Mapping[str, str], owner: str) -> list[bytes]:
    pairs = [*labels.items(), *([("", owner)] if owner else [])]  # no label has the name ""
    return [
        blake2b(
            f"{len(name)} {name}{value}".encode(errors="surrogatepass"), digest_size=16
        ).digest()
        for name, value in pairs
    ]
