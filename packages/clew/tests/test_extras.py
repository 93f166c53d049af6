"""The advice on what is missing fits the way in which clew was installed."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew import ConfigError
from clew.support.extras import CHECKOUT, install, install_package
from clew.support.street import EXTRAS, PACKAGES
from clew.support.wings import find, require

GIT = {"vcs": "git", "commit_id": "abc123"}
AT = "git+https://h/clew@abc123#subdirectory=packages"


UNKNOWN = (
    "pip install 'packages/clew[web]' (in a checkout of clew)",
    "make install WITH=x (in a checkout of clew)",
)


@pytest.mark.parametrize(
    ("noted", "extra", "package"),
    [
        (
            {"url": "file:///a%20b/clew", "dir_info": {"editable": True}},
            "pip install -e '/a b/clew[web]'",
            "pip install -e '/a b/clew-x'",
        ),
        (
            {"url": "file:///src/clew", "dir_info": {}},
            "pip install '/src/clew[web]'",
            "pip install '/src/clew-x'",
        ),
        (
            {"url": "https://h/clew", "vcs_info": GIT},
            f"pip install 'clew[web] @ {AT}/clew'",
            f"pip install 'clew-x @ {AT}/clew-x'",
        ),
        (
            {"url": "https://h/c.whl", "archive_info": {}},
            "pip install 'clew[web] @ https://h/c.whl'",
            "make install WITH=x (in a checkout of clew)",
        ),
        ({}, *UNKNOWN),
        ("no JSON", *UNKNOWN),
        (None, *UNKNOWN),
    ],
)
def test_the_advice_names_where_clew_came_from(
    noted: Any, extra: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "clew-0.1.0.dist-info"
    folder.mkdir()
    if noted is not None:
        text = noted if isinstance(noted, str) else json.dumps(noted)
        (folder / "direct_url.json").write_text(text)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert install("web") == extra
    assert install_package("clew-x") == package


@pytest.mark.parametrize("package", [name for name, adds in PACKAGES.items() if adds])
def test_what_a_package_of_clew_adds_is_told_to_need_it(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    short = package.removeprefix("clew-")
    added = [(group, name) for group, some in PACKAGES[package].items() for name in some.split()]
    for group, name in added:
        extra = EXTRAS.get((group, name))
        advice = f"make install WITH={short} {CHECKOUT}"
        if extra:
            advice = f"pip install 'packages/{package}[{extra}]' {CHECKOUT}"
        for look in (find, require):
            with pytest.raises(ConfigError) as told:
                look(group, name)
            told_in = f"{name} needs {package}, which is not installed: run {advice}"
            assert str(told.value) == told_in


def test_a_package_comes_with_those_that_it_requires(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them is on an index, where a stranger may have the name."""
    folder = tmp_path / "clew-0.1.0.dist-info"
    folder.mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    noted = {"url": "file:///src/clew", "dir_info": {}}
    (folder / "direct_url.json").write_text(json.dumps(noted))
    assert install_package("clew-evals") == "pip install '/src/clew-strategies' '/src/clew-evals'"


def test_whoever_installed_a_wheel_is_told_the_wheels_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "clew-0.1.0.dist-info"
    folder.mkdir()
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    wheel = tmp_path / "clew-0.1.0-py3-none-any.whl"
    noted = {"url": wheel.as_uri(), "archive_info": {}}
    (folder / "direct_url.json").write_text(json.dumps(noted))
    assert install_package("clew-mcp") == "make install WITH=mcp (in a checkout of clew)"
    beside = tmp_path / "clew_mcp-0.1.0-py3-none-any.whl"
    beside.touch()
    assert install_package("clew-mcp") == f"pip install '{beside}'"
