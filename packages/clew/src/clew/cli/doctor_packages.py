"""What `clew doctor` says of the packages beside clew: which cannot be used, and why."""

import importlib
from collections.abc import Iterator
from typing import Any

from clew import ConfigError, __version__
from clew.cli.finding import Finding
from clew.support.entry_points import (
    CORE,
    everything,
    package_name,
    passed_over,
    version_of,
    versions_met,
)
from clew.support.error_text import described
from clew.support.extras import install_package, installed
from clew.support.street import PACKAGES
from clew.support.wings import DOCTOR, find, load, names


def examined() -> Iterator[Finding]:
    """What other packages have looked at themselves."""
    for area in names(DOCTOR):
        try:
            yield from [Finding(area, *row) for row in find(DOCTOR, area)()]
        except ConfigError:
            pass  # told of the package
        except Exception as error:  # noqa: BLE001 - other people's code may raise anything
            yield Finding("package", area, usable=False, detail=f"failed: {described(error)}")


def shipped(name: str) -> Finding:
    """Whether a package of clew is installed, of clew's version, and can be imported."""
    if not installed(name.replace("-", "_")):
        return Finding("package", name, usable=False, detail=install_package(name))
    version = version_of(name)
    if version != __version__:
        detail = f"{version or 'no version'} does not fit clew {__version__}"
        return Finding("package", name, usable=False, detail=f"{detail}: {install_package(name)}")
    why = _import_fault(name)
    for entry in everything():
        if not why and package_name(entry) == name and not entry.extras:
            why = _fault(entry)
    return Finding("package", name, not why, why or f"{version} installed")


def _import_fault(name: str) -> str:
    """Why a package cannot be imported; "" where it can."""
    try:
        importlib.import_module(name.replace("-", "_"))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever it is, doctor goes on
        return f"cannot be imported: {described(error)}{versions_met(name, error)}"
    return ""


def strangers() -> Iterator[Finding]:
    """What is wrong with packages that are not of clew, each fault once.

    What they add cannot be imported, or has a name that is another's: that is not imported at all.
    """
    over = {id(entry): owner for entry, owner in passed_over()}
    faults: dict[tuple[str, str], None] = {}
    for entry in everything():
        if (name := package_name(entry)) not in {CORE, *PACKAGES}:
            owner = over.get(id(entry))
            taken = f"{entry.name} of {entry.group} belongs to {owner}: this one is not used"
            faults[name, taken if owner else _fault(entry)] = None
    yield from (Finding("package", name, usable=False, detail=why) for name, why in faults if why)


def _fault(entry: Any) -> str:
    """Why an entry point cannot be used; "" where it can."""
    try:
        load(entry)
    except ConfigError as error:
        return str(error)
    return ""
