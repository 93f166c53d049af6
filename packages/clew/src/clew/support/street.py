"""The other packages of clew, and what each adds: whoever asks for that and lacks it is told.

A package that is not named here adds what it likes by entry points all the same.
"""

from collections.abc import Mapping
from typing import Final

PACKAGES: Final[Mapping[str, frozenset[str]]] = {
    "clew-evals": frozenset({"clew.commands eval"}),
}
"""By package: groups of entry points with a name in them."""


def package_of(group: str, name: str) -> str:
    """The package of clew that adds this name; "" where none does."""
    found = (package for package, adds in PACKAGES.items() if f"{group} {name}" in adds)
    return next(found, "")
