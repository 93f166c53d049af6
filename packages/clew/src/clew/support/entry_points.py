"""The entry points of installed packages that are for clew, and whose counts where two have one."""

import functools
import importlib
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from clew.support.street import PACKAGES, SHIPPED, package_of

CORE: Final = "clew"


def counting(group: str) -> Mapping[str, Any]:
    """The entry points of a group, by name: of each name the one that counts."""
    return _counting(group, tuple(sys.path))


def everything() -> Sequence[Any]:
    """All entry points for clew, in the order in which they count: clew's own are first."""
    return _everything(tuple(sys.path))


def package_name(entry: Any) -> str:
    """The package that an entry point is of, as one writes it: `clew-web`, not `clew_web`."""
    return re.sub(r"[-_.]+", "-", entry.dist.name or "").lower()


def version_of(package: str) -> str:
    """The version of an installed package; "" where that is not known."""
    metadata = importlib.import_module("importlib.metadata")  # dear to import
    try:
        return str(metadata.version(package))
    except metadata.PackageNotFoundError:
        return ""


def versions_met(package: str, error: BaseException) -> str:
    """The versions of two packages of which the first does not find something in the second.

    Empty where that is not why an import failed.
    """
    module = (error.name or "").partition(".")[0] if isinstance(error, ImportError) else ""
    other = module.replace("_", "-")
    if module not in SHIPPED or other == package:
        return ""
    return f" ({package} {version_of(package)} met {other} {version_of(other)})"


def passed_over() -> Iterator[tuple[Any, str]]:
    """The entry points that do not count, and the package that has the name instead."""
    for entry in everything():
        of_name = counting(entry.group).get(entry.name)
        if entry is not of_name:
            owner = package_of(entry.group, entry.name)
            yield entry, owner or package_name(of_name)


def _rank(entry: Any) -> tuple[int, str]:
    """Clew's own come first, then those of its other packages, then others by package name."""
    name = package_name(entry)
    return (0 if name == CORE else 1 if name in PACKAGES else 2, name)


@functools.lru_cache(maxsize=64)
def _counting(group: str, path: tuple[str, ...]) -> Mapping[str, Any]:
    """What is a package's of clew is nobody else's, whether or not that one is installed."""
    entries: dict[str, Any] = {}
    for entry in _everything(path):
        if entry.group == group and package_of(group, entry.name) in {"", package_name(entry)}:
            entries.setdefault(entry.name, entry)
    return entries


@functools.lru_cache(maxsize=4)
def _everything(path: tuple[str, ...]) -> Sequence[Any]:
    first: dict[str, list[Any]] = {}  # of a package that lies in two folders, the first one counts
    for folder in path:
        for package, entries in _packages(folder).items():
            first.setdefault(package, entries)
    return sorted((one for entries in first.values() for one in entries), key=_rank)


@functools.cache
def _packages(folder: str) -> Mapping[str, list[Any]]:
    """The entry points of each package in a folder that adds something to clew.

    All groups are read at once, and a folder once: there are many packages in it, and each of them
    has a file to look into.
    """
    metadata = importlib.import_module("importlib.metadata")  # dear to import
    packages: dict[str, list[Any]] = {}
    for package in metadata.distributions(path=[folder]):
        if entries := [one for one in package.entry_points if one.group.startswith("clew.")]:
            packages.setdefault(package_name(entries[0]), entries)
    return packages
