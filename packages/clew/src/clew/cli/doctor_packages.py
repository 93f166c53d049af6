"""What `clew doctor` says of the packages beside clew: which cannot be used, and why."""

from collections.abc import Iterator
from typing import Any

from clew import ConfigError
from clew.cli.finding import Finding
from clew.support.entry_points import CORE, everything, package_name
from clew.support.error_text import described
from clew.support.street import PACKAGES
from clew.support.wings import DOCTOR, find, load, names


def examined() -> Iterator[Finding]:
    """What other packages have looked at themselves."""
    for area in names(DOCTOR):
        try:
            yield from [Finding(area, *found) for found in find(DOCTOR, area)()]
        except ConfigError:
            pass  # told of the package
        except Exception as error:  # noqa: BLE001 - other people's code may raise anything
            yield Finding("package", area, usable=False, detail=f"failed: {described(error)}")


def strangers() -> Iterator[Finding]:
    """What packages that are not of clew add, where it cannot be imported; each fault once."""
    others = [one for one in everything() if package_name(one) not in {CORE, *PACKAGES}]
    faults = dict.fromkeys((package_name(entry), _fault(entry)) for entry in others)
    yield from (Finding("package", name, usable=False, detail=why) for name, why in faults if why)


def _fault(entry: Any) -> str:
    """Why an entry point cannot be used; "" where it can."""
    try:
        load(entry)
    except ConfigError as error:
        return str(error)
    return ""
