"""What each room of the package needs: `python -m tests.closure` prints sizes, and the list.

A room is a folder of `src/clew`, or a module beside them. Its closure is all of the package that
is imported with its modules, also through others. Whoever wants to read, test or take out a room
has to take its closure too: that is its real size.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.test_layers import PACKAGE, imported, name_of

LIST: Final = Path(__file__).parent / "closures.txt"


def graph(package: Path = PACKAGE) -> dict[str, set[str]]:
    """Which modules each module imports."""
    paths = {name_of(path, package): path for path in sorted(package.rglob("*.py"))}
    return {name: set(_imports(path, package, paths)) for name, path in paths.items()}


def _imports(path: Path, package: Path, paths: Mapping[str, Path]) -> Iterator[str]:
    """The modules that a file imports, and the packages in which they stand.

    What a package loads when it is first used is in the file for type checkers.
    """
    stub = path.with_suffix(".pyi")
    for node in ast.walk(ast.parse((stub if stub.exists() else path).read_text("utf-8"))):
        for whole in imported(node, path, package):
            name = whole if whole in paths else whole.rpartition(".")[0]
            while name in paths and name != "clew":  # of what stands above it, `__init__` is run
                yield name
                name = name.rpartition(".")[0]


def closure(modules: Iterable[str], edges: Mapping[str, set[str]]) -> set[str]:
    """These modules and all that they import, also through others."""
    reached, waiting = set[str](), [*modules]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += edges[name]
    return reached


def room(module: str) -> str:
    """The room in which a module stands."""
    return module.partition(".")[2].partition(".")[0] or module


def rooms(edges: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """The modules of each room's closure, its own among them."""
    names = sorted({room(module) for module in edges})
    return {name: closure((m for m in edges if room(m) == name), edges) for name in names}


def listed() -> dict[str, set[str]]:
    """The other rooms that each room may need."""
    lines = (line.partition(":") for line in LIST.read_text("utf-8").splitlines())
    return {name: set(others.split()) for name, _, others in lines}


def lines(modules: Iterable[str], package: Path = PACKAGE) -> int:
    """How many lines these modules have."""
    paths = {name_of(path, package): path for path in package.rglob("*.py")}
    return sum(len(paths[name].read_text("utf-8").splitlines()) for name in modules)


def main() -> None:
    """Print a table of all rooms."""
    edges = graph()
    own = {name: [m for m in edges if room(m) == name] for name in rooms(edges)}
    sys.stdout.write(
        f"{'room':<16}{'files':>6}{'lines':>8}{'closure':>9}{'lines':>8}{'rooms':>7}\n"
    )
    for name, whole in rooms(edges).items():
        others = {room(module) for module in whole} - {name}
        sizes = f"{len(own[name]):>6}{lines(own[name]):>8}{len(whole):>9}{lines(whole):>8}"
        sys.stdout.write(f"{name:<16}{sizes}{len(others):>7}\n")
    sys.stdout.write("\n")
    for name, whole in rooms(edges).items():
        others = {room(module) for module in whole} - {name}
        sys.stdout.write(" ".join([f"{name}:", *sorted(others)]) + "\n")


if __name__ == "__main__":
    main()
