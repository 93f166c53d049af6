"""Each wing can be taken away: nothing below it imports it, and the rest works without it.

A wing goes with what stands upon it: its commands, and wings that use it. Its tests and its lines
in the table of entry points go too.
"""

import ast
import functools
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pytest

from tests import unmeasured

ROOT = Path(__file__).parents[3]
HOUSE = ROOT / "packages" / "clew"
SOURCE, TESTS = "packages/clew/src", "packages/clew/tests"

WINGS = (
    "evidence",
    "memory",
    "models.anthropic",
    "models.gemini",
    "models.local",
    "models.offline",
    "models.openai",
    "otel",
    "retention",
    "screens",
    "testing.servers",
    "toolbox.docs",
)
ABOVE = ("cli", *WINGS)
"""What may stand upon a wing."""

EXCEPTIONS: dict[tuple[str, str], str] = {}
"""Who below imports which wing all the same, and why."""

BY_NAME: dict[str, str] = {
    # Tests of the core that need a wing and do not import it, with what they need it for.
    "core/test_secrets.py::test_an_origin_that_held_a_secret_is_known_again": "the model of an"
    " origin has a name, and those that need no key are the offline rules",
}

PARTS = 6
"""In how many parts the tests of the core run without wings; the full check draws one."""


def _inside(module: str, rooms: Collection[str]) -> bool:
    return any(f"{module}.".startswith(f"clew.{room}.") for room in rooms)


@functools.cache
def _modules() -> Mapping[str, Path]:
    """All modules of the package and of its tests, by their names."""
    found: dict[str, Path] = {}
    for base, folder in ((HOUSE / "src", "clew"), (HOUSE, "tests")):
        for path in (base / folder).rglob("*.py"):
            parts = path.relative_to(base).with_suffix("").parts
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(module=str(base)):
                for alias in node.names:
                    inside = f"{base}.{alias.name}"
                    yield inside if inside in _modules() else base
            case _:
                pass


@functools.cache
def _users() -> Mapping[str, set[str]]:
    """Who imports a module."""
    found: dict[str, set[str]] = {}
    for name, path in _modules().items():
        for it in _imports(path):
            found.setdefault(it, set()).add(name)
    return found


def _gone(wings: Collection[str]) -> set[str]:
    """The modules of these wings, and all that stands upon them."""
    found: set[str] = set()
    new = {name for name in _modules() if _inside(name, wings)}
    while new:
        found |= new
        new = {user for name in new for user in _users().get(name, ())} - found
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A place for a copy of the tree."""
    return tmp_path / "tree"


def _copy_without(wings: Collection[str], tree: Path, *folders: str) -> list[str]:
    """Copy the tree without these wings. Gives the modules of the package that are left.

    Bytecode goes with it: it is only taken for a file that is there, and to compile all takes most
    of the time.
    """
    gone = {_modules()[name] for name in _gone(wings)}

    def left_out(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if Path(folder, name) in gone]

    for folder in folders:
        shutil.copytree(ROOT / folder, tree / folder, ignore=left_out)
    shutil.copy2(ROOT / "pyproject.toml", tree)
    text = (HOUSE / "pyproject.toml").read_text("utf-8")
    kept = [line for line in text.splitlines() if not _is_line_of(line, wings)]
    table = tomllib.loads("\n".join(kept))["project"]["entry-points"]
    info = tree / SOURCE / "clew-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: clew\nVersion: 0.1.0\n")
    lines = (
        f"[{group}]\n" + "".join(f"{name} = {what}\n" for name, what in entries.items())
        for group, entries in table.items()
    )
    (info / "entry_points.txt").write_text("\n".join(lines))
    rest = [name for name, path in _modules().items() if path not in gone]
    return sorted(name for name in rest if name.startswith("clew"))


def _is_line_of(line: str, wings: Collection[str]) -> bool:
    name, _, what = line.partition(" = ")
    return bool(name) and _inside(what.strip('"').partition(":")[0].partition(" ")[0], wings)


def _environment(tree: Path) -> dict[str, str]:
    """That of this process, but that nothing is measured: what is run there is a copy."""
    kept = unmeasured.environment()
    return {**kept, "PYTHONPATH": str(tree / SOURCE), "PYTHONDONTWRITEBYTECODE": "1"}


IMPORTS = """
import importlib, sys
for name in sys.argv[1:]:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(*sorted(name for name in sys.modules if name.startswith("clew")))
"""


@pytest.mark.parametrize("wing", WINGS)
def test_nothing_below_a_wing_imports_it(wing: str) -> None:
    package = {name for name in _gone([wing]) if name.startswith("clew")}
    below = {name for name in package if not _inside(name, ABOVE)}
    assert below == {name for name, which in EXCEPTIONS if which == wing}
    assert len(package) < len([name for name in _modules() if name.startswith("clew")]) / 2


@pytest.mark.slow
@pytest.mark.share(6)
@pytest.mark.parametrize("wing", WINGS)
def test_without_a_wing_all_below_it_is_imported(wing: str, tree: Path) -> None:
    rest = _copy_without([wing], tree, SOURCE)
    left = [name for name in rest if not _inside(name, WINGS)]  # the others load big libraries
    command = [sys.executable, "-c", IMPORTS, *left]
    done = subprocess.run(
        command, cwd=tree, env=_environment(tree), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not [name for name in done.stdout.split() if _inside(name, [wing])]


def _ends_well(command: list[str], tree: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=tree, env=_environment(tree), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


@pytest.mark.slow
def test_without_all_wings_the_rest_has_its_types(tree: Path) -> None:
    _copy_without(WINGS, tree, SOURCE)
    if (ROOT / ".mypy_cache").exists():  # what it knows of modules that have not changed
        shutil.copytree(ROOT / ".mypy_cache", tree / "cache")
    _ends_well(["mypy", "--cache-dir", str(tree / "cache"), SOURCE], tree)


@pytest.mark.slow
@pytest.mark.share(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_without_all_wings_the_rest_passes_the_tests_of_the_core(tree: Path, part: int) -> None:
    _copy_without(WINGS, tree, SOURCE, TESTS, "docs")
    files = sorted(str(path.relative_to(tree)) for path in tree.glob(f"{TESTS}/core/test_*.py"))
    tests = ["pytest", *files[part::PARTS], "-q", "-n", "0", "-m", "not slow"]
    tests += [word for test in BY_NAME for word in ("--deselect", f"{TESTS}/{test}")]
    _ends_well([*tests, "-p", "no:cacheprovider"], tree)


@pytest.mark.slow
def test_without_all_wings_the_tests_of_the_core_are_all_found(tree: Path) -> None:
    _copy_without(WINGS, tree, SOURCE, TESTS, "docs")
    _ends_well(["pytest", f"{TESTS}/core", "-qq", "-n", "0", "--collect-only"], tree)
