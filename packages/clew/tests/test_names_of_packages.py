"""Whose a name is that several packages add, and which versions of packages meet."""

import os
import re
from itertools import permutations
from pathlib import Path

import pytest

from clew import __version__
from clew.support.street import PACKAGES
from clew.support.wings import find
from tests.cli.shell import clew

NAMES = [
    (package, group, name)
    for package, adds in PACKAGES.items()
    for group, names in adds.items()
    for name in names.split()
]


def install(folder: Path, package: str, entries: str, source: str, version: str = "1.0") -> Path:
    """Install a package of one module, which has what it adds to clew."""
    module = package.replace("-", "_")
    info = folder / f"{module}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(entries)
    (folder / f"{module}.py").write_text(source)
    return folder


def doctor(*folders: Path) -> list[str]:
    """What `clew doctor` says of packages with these installed too."""
    path = os.pathsep.join([*map(str, folders), os.environ.get("PYTHONPATH", "")])
    done = clew("doctor", env={"PYTHONPATH": path})
    assert done.code == 0, done.err
    return [" ".join(line.split()) for line in done.out.splitlines() if "package  " in line]


@pytest.mark.parametrize(("package", "group", "name"), NAMES)
def test_a_name_of_a_package_of_clew_is_nobody_elses(
    package: str, group: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = f"[{group}]\n{name} = {{module}}:OWN\n"
    stranger = install(tmp_path / "a", "aaa", entries.format(module="aaa"), "OWN = 'aaa'")
    monkeypatch.setattr("sys.path", [str(stranger)])
    with pytest.raises(Exception, match=f"needs {package}, which is not installed"):
        find(group, name)
    module = f"own_{package.replace('-', '_')}"
    own = install(tmp_path / "b", package, entries.format(module=module), "")
    (own / f"{module}.py").write_text("OWN = 'ours'")
    for order in permutations([str(stranger), str(own)]):
        monkeypatch.setattr("sys.path", [*order])
        assert find(group, name) == "ours"


def test_of_two_strangers_the_order_is_by_name_and_doctor_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [
        install(tmp_path / name, name, f"[clew.tools]\ntwice = {name}:OWN\n", f"OWN = '{name}'")
        for name in ("zebra", "apple")
    ]
    for order in permutations(folders):
        said = "twice of clew.tools belongs to apple: this one is not used"
        assert f"-- package zebra {said}" in doctor(*order)
        monkeypatch.setattr("sys.path", [*map(str, order)])
        assert find("clew.tools", "twice") == "apple"


def test_doctor_says_which_name_of_a_stranger_is_taken(tmp_path: Path) -> None:
    entries = "[clew.tools]\nweb_search = stranger:OWN\n[clew.models]\noffline = stranger:OWN\n"
    lines = doctor(install(tmp_path, "stranger", entries, "raise SystemExit('not imported')"))
    assert [line for line in lines if "stranger" in line] == [
        "-- package stranger web_search of clew.tools belongs to clew-web: this one is not used",
        "-- package stranger offline of clew.models belongs to clew: this one is not used",
    ]


def test_doctor_says_which_versions_there_are(tmp_path: Path) -> None:
    other = install(tmp_path, "clew-testing", "", "", "0.0.9")
    lines = doctor(other)
    assert any(
        line.startswith(f"-- package clew-testing 0.0.9 does not fit clew {__version__}: ")
        for line in lines
    )
    installed = [line for line in lines if line.startswith("ok")]
    assert all(f" {__version__} installed" in line for line in installed)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("raise RuntimeError('boom')", "cannot be imported: RuntimeError: boom"),
        (
            "from clew.core import nothing",
            r".*cannot import name 'nothing' from 'clew\.core' .* \(clew-web \S+ met clew \S+\)",
        ),
    ],
)
def test_a_broken_package_is_not_said_to_be_usable(tmp_path: Path, source: str, why: str) -> None:
    entries = "[clew.tools]\nweb_search = clew_web:web_search\n"
    folder = install(tmp_path, "clew-web", entries, source, __version__)
    assert [it for it in doctor(folder) if re.fullmatch(f"-- package clew-web {why}", it)]


def test_an_error_between_packages_says_which_versions_met(tmp_path: Path) -> None:
    entries = "[clew.tools]\nweb_search = clew_web:web_search\n"
    folder = install(tmp_path, "clew-web", entries, "import clew.nothing", "0.0.9")
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    words = ("ask", "Why?", "--model", "offline", "--tools", "web_search")
    done = clew(*words, env={"PYTHONPATH": path})
    assert done.code == 2
    assert done.err.endswith(f"(clew-web 0.0.9 met clew {__version__})\n")
