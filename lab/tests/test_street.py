"""The packages of the repository: what each says of itself, what it imports, and its one page."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew.support.street import EXTRAS, PACKAGES, REQUIRED, is_shipped
from tests.test_layers import BY_NAME, ROOT, hidden_imports, sizes

HOUSES = sorted(path.parent for path in ROOT.glob("packages/*/pyproject.toml"))
FURTHER = [house for house in HOUSES if house.name != "clew"]
EACH = pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.name)
EACH_FURTHER = pytest.mark.parametrize("house", FURTHER, ids=lambda house: house.name)
IMPORT_BY_NAME = {  # who may import a module whose name is data, in packages but clew
    "clew_evals/environments/packages.py": "a world's package is dear to import",
    "clew_mcp/cli/serve_mcp.py": "the SDK is dear to import, and --help needs none of it",
    "clew_serve/api/evaluation.py": "clew-evals is optional, and dear to import",
    "clew_serve/cli.py": "the server is dear to import, and --help needs none of it",
    "clew_mcp/pinned_server.py": "the SDK is dear to import, and most runs call no such tool",
    "clew_mcp/pins.py": "platformdirs is dear to import, and pins lie beside an agent file",
}
PRIVATE_USES = Path(__file__).with_name("private_uses.txt")
PUBLIC = set(Path(__file__).with_name("public_names.txt").read_text("utf-8").split())
OPTIONAL = {  # what a package uses of another one without requiring it
    "clew-evals": {"clew-web": "two environments are answered with the paper's tools"},
    "clew-serve": {"clew-evals": "an evaluation in a store is a page"},
}


def project(house: Path) -> dict[str, Any]:
    results: dict[str, Any] = tomllib.loads((house / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]
    return results


def named(requirement: str) -> str:
    return re.split(r"[^\w-]", requirement)[0]


def module_of(house: Path) -> str:
    return house.name.replace("-", "_")


def sources(house: Path) -> list[Path]:
    return sorted((house / "src" / module_of(house)).rglob("*.py"))


@EACH
def test_it_says_what_it_is(house: Path) -> None:
    about = project(house)
    assert about["name"] == house.name
    assert about["version"] == project(ROOT / "packages" / "clew")["version"]
    assert "urls" not in about
    versions = [it for it in about["classifiers"] if re.search(r":: 3\.\d+$", it)]
    assert [it.rpartition(" ")[2] for it in versions] == ["3.11", "3.12", "3.13"]
    assert (house / "src" / module_of(house) / "py.typed").is_file()
    assert (house / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert list((house / "tests").rglob("test_*.py"))


@EACH
def test_its_page_is_one_page(house: Path) -> None:
    page = (house / "README.md").read_text("utf-8")
    assert page.startswith(f"# {house.name}\n")
    for word in ("**Its public names**", "**It needs**", f"pytest packages/{house.name}"):
        assert word in page
    assert len(page.split()) <= 2300
    assert not re.search(r"pip install '?clew", page), "an index may have another of that name"


@EACH
def test_it_requires_the_others_by_version_and_in_no_extra(house: Path) -> None:
    about = project(house)
    ours = {other.name for other in HOUSES}
    required = [one for one in about["dependencies"] if named(one) in ours]
    assert all(re.fullmatch(r"clew[\w-]*==\d+\.\d+\.\d+", one) for one in required)
    assert ("clew" in map(named, required)) == (house.name != "clew")
    extras = [one for some in about.get("optional-dependencies", {}).values() for one in some]
    assert not [one for one in extras if named(one) in ours]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0]


@EACH
def test_it_imports_of_the_others_what_it_requires(house: Path) -> None:
    allowed = {named(one) for one in project(house)["dependencies"]} | {house.name}
    allowed |= {*OPTIONAL.get(house.name, {})}
    ours = {module_of(other): other.name for other in HOUSES}
    imported = {
        (path.name, ours[it]) for path in sources(house) for it in imports(path) if it in ours
    }
    assert {(path, package) for path, package in imported if package not in allowed} == set()


def private_uses(house: Path) -> set[str]:
    """What a package imports of clew that is no public name: `package module.name`."""
    nodes = (node for path in sources(house) for node in ast.walk(ast.parse(path.read_text())))
    taken = {
        f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "clew"
        for alias in node.names
    }
    return {f"{house.name} {name}" for name in taken - PUBLIC}


def test_what_packages_use_of_clews_inside_is_listed_and_only_shrinks() -> None:
    """A package is built of public names; what it needs beyond them is in private_uses.txt."""
    listed = set(PRIVATE_USES.read_text("utf-8").splitlines())
    results = {use for house in FURTHER for use in private_uses(house)}
    assert results - listed == set(), "use a public name, or give clew one"
    assert listed - results == set(), "take out of the list what nobody uses any more"


@EACH_FURTHER
def test_it_keeps_the_rules_of_files(house: Path) -> None:
    source = house / "src"
    complaints = [it for path in sources(house) for it in sizes(path, source)]
    for path in sources(house):
        if path.relative_to(source).as_posix() not in IMPORT_BY_NAME:
            complaints += hidden_imports(path, source)
    assert complaints == []
    assert not {*BY_NAME} & {*IMPORT_BY_NAME}


def test_who_may_import_by_name_is_still_there() -> None:
    there = {
        path.relative_to(house / "src").as_posix() for house in FURTHER for path in sources(house)
    }
    assert {*IMPORT_BY_NAME} <= there


@EACH
def test_what_it_adds_is_there(house: Path) -> None:
    for group, entries in project(house).get("entry-points", {}).items():
        for name, value in entries.items():
            module, _, attribute = value.partition(" ")[0].partition(":")
            loaded = importlib.import_module(module)
            assert not attribute or hasattr(loaded, attribute), f"{group} {name}"


def test_clew_knows_what_the_others_add() -> None:
    """So it can say which package is missing; one that it does not know may come all the same."""
    for package, groups in PACKAGES.items():
        points = project(ROOT / "packages" / package).get("entry-points", {})
        added = {group: names for group, names in points.items() if group.startswith("clew.")}
        known = {group: set(names.split()) for group, names in groups.items()}
        assert known == {group: set(entries) for group, entries in added.items()}
        extras = {
            (group, name): value.partition("[")[2].removesuffix("]")
            for group, entries in added.items()
            for name, value in entries.items()
        }
        assert extras == {key: EXTRAS.get(key, "") for key in extras}
        needs = map(named, project(ROOT / "packages" / package)["dependencies"])
        assert [*REQUIRED.get(package, ())] == [one for one in needs if one in PACKAGES]


@EACH
def test_clew_tells_its_classes_from_those_of_a_user(house: Path) -> None:
    """What ships is trusted with its deadlines and errors; a user's own is guarded."""
    assert is_shipped(type("Own", (), {"__module__": f"{module_of(house)}.a.b"}))
    assert not is_shipped(type("Own", (), {"__module__": f"{module_of(house)}_of_mine"}))


@EACH_FURTHER
def test_it_is_installed_by_its_own_name_and_by_the_short_one(house: Path) -> None:
    script = [sys.executable, str(ROOT / "scripts" / "packages.py")]
    short = house.name.removeprefix("clew-")
    told = [subprocess.check_output([*script, name], text=True) for name in (house.name, short)]
    assert told[0] == told[1]
    assert house.name in told[0].split()
