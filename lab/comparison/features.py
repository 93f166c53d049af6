"""What other systems document first, and whether clew has it: `python -m comparison.features NAME`.

`features/NAME.toml` has the first twenty features of a system's documentation in its own order;
pages that are none (installation, changelog, how to get help) are left out. Each proof that the
table names is run, and each name of the other system is looked up in an environment that has it,
before the table is printed.
"""

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import msgspec

from comparison.proofs import proofs, prove
from live.others.systems import ENVIRONMENTS, System, python_of, versions
from live.tables import table

FOLDER: Final = Path(__file__).with_name("features")
NAMES: Final = Path(__file__).parent / "inside" / "names.py"
DOCUMENTED: Final = 20
"""How many features of each system are looked at."""


class Feature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A documented feature: what it is called `there`, whether it is `here`, how, and the proof."""

    feature: str
    here: Literal["yes", "partly", "no"]
    how: str
    there: list[str] = []
    proof: str = ""


class Documented(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A system: its packages, where the order of its features is from, and the features."""

    name: str
    packages: list[str]
    order: str
    features: list[Feature]


def listed() -> dict[str, Documented]:
    """All systems, by the names of their files. Raises `msgspec.ValidationError`."""
    return {
        path.stem: msgspec.toml.decode(path.read_bytes(), type=Documented)
        for path in sorted(FOLDER.glob("*.toml"))
    }


def mistakes(system: Documented) -> Iterator[str]:
    """What is wrong with the rows themselves."""
    if len(system.features) != DOCUMENTED:
        yield f"{system.name}: {len(system.features)} features"
    known = proofs()
    for row in system.features:
        if row.here != "no" and row.proof not in known:
            yield f"{system.name}, {row.feature}: no proof {row.proof!r}"
        if row.here == "no" and row.proof:
            yield f"{system.name}, {row.feature}: proves what is not there"


def unproven(system: Documented) -> Iterator[str]:
    """Run each proof of a system once; what went wrong."""
    for name in dict.fromkeys(row.proof for row in system.features if row.proof):
        try:
            prove(name)
        except Exception as error:  # noqa: BLE001 - whatever a proof raises, it shows nothing
            yield f"{name}: {type(error).__name__}: {error}"


def missing(system: Documented, python: Path) -> list[str]:
    """The names that its packages do not have, as this interpreter sees them."""
    names = [name for row in system.features for name in row.there]
    done = subprocess.run([python, NAMES, *names], capture_output=True, text=True, check=True)
    return done.stdout.split()


def rows(system: Documented) -> Iterator[list[str]]:
    """The rows of its table."""
    for number, row in enumerate(system.features, 1):
        there = ", ".join(f"`{name.rpartition('.')[2]}`" for name in row.there) or "–"
        proof = f"[{row.proof}](#{row.proof})" if row.proof else "–"
        yield [str(number), row.feature, there, row.here, row.how, proof]


def page(system: Documented, version: str) -> Iterator[str]:
    """Its table, with a line before it."""
    counts = Counter(row.here for row in system.features)
    kinds: tuple[Literal["yes", "partly", "no"], ...] = ("yes", "partly", "no")
    summary = ", ".join(f"{kind} {counts[kind]}" for kind in kinds)
    yield f"{version}; order of {system.order}. Here: {summary}."
    yield ""
    yield table(("", "feature", "there", "here", "how", "shown by"), list(rows(system)))


def main() -> int:
    """Print one table, once all that it says was tried."""
    systems = listed()
    options = argparse.ArgumentParser(prog="python -m comparison.features", description=__doc__)
    options.add_argument("name", choices=systems)
    options.add_argument("--environments", type=Path, default=ENVIRONMENTS)
    args = options.parse_args()
    system = systems[args.name]
    installed = System(system.name, tuple(system.packages), f"features-{args.name}")
    python = python_of(installed, args.environments)
    wrong = [*mistakes(system), *unproven(system)]
    wrong += [f"{name}: {system.name} has no such name" for name in missing(system, python)]
    if wrong:
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    print(*page(system, versions(installed, args.environments)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
