"""docs/errors.md has every class of error, every code and every end, in the words of the code."""

import importlib
import inspect
import pkgutil
import re
import typing
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from clew import ClewError
from clew.core import codes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "errors.md").read_text("utf-8")
PACKAGES = sorted(path.name for path in ROOT.glob("packages/*/src/clew*") if path.is_dir())


NAME = re.compile(r"`(?:[\w.]+\.)?(\w+)`")
PATH = re.compile(r"`([\w.]+)\.(\w+)`")


def every_class(base: type[ClewError]) -> Iterator[type[ClewError]]:
    for each in base.__subclasses__():
        yield each
        yield from every_class(each)


def classes() -> dict[str, type[ClewError]]:
    """All errors of all packages: what a module does not import, nobody can meet."""
    for name in PACKAGES:
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                with suppress(ImportError):  # an extra that is not installed
                    importlib.import_module(module.name)
    ours = (each for each in every_class(ClewError) if each.__module__.startswith("clew"))
    return {each.__name__: each for each in ours if not each.__name__.startswith("_")}


def rows(heading: str, column: int = 0) -> dict[str, list[str]]:
    """The cells of the tables below a heading, by each name of their first one."""
    text = PAGE[PAGE.index(heading) :].partition("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return {name: row for row in cells for name in NAME.findall(row[column])}


def values(alias: object) -> set[str]:
    """The words of a Literal, or of a union of them."""
    parts = typing.get_args(alias)
    return {word for part in parts for word in ([part] if isinstance(part, str) else values(part))}


def test_every_class_has_a_row_with_its_own_first_sentence() -> None:
    listed, known = rows("## Raised in Python"), classes()
    assert listed.keys() == known.keys(), "give a new error a row, with what to do"
    by_row = {" ".join(row): row for row in listed.values()}
    for row in by_row.values():
        told = [inspect.cleandoc(known[name].__doc__ or "") for name in NAME.findall(row[0])]
        first = [" ".join(text.split("\n\n")[0].split()) for text in told]
        assert len(row) == 3
        assert any(text.startswith(row[1]) for text in first) or "Foreign" in row[0], row


def test_every_class_is_imported_from_where_the_page_says() -> None:
    public = (ROOT / "lab" / "tests" / "public_names.txt").read_text("utf-8").split()
    known = classes()
    for name, row in rows("## Raised in Python").items():
        (module,) = (module for module, its in PATH.findall(row[0]) if its == name)
        assert f"{module}.{name}" in public
        with suppress(ImportError):  # an extra that is not installed
            assert getattr(importlib.import_module(module), name) is known[name]


@pytest.mark.parametrize(
    ("heading", "alias", "but"),
    [
        ("## Read by the model", codes.Code, {""}),
        ("## How a run ends", codes.Status | codes.BoundCode, {"answered"}),
    ],
)
def test_every_code_has_a_row(heading: str, alias: object, but: set[str]) -> None:
    assert rows(heading).keys() == values(alias) - but
    assert all(row[-1] for row in rows(heading).values())


def test_a_code_is_said_to_be_called_as_the_core_has_it() -> None:
    unmade = {name for name, row in rows("## Read by the model").items() if row[2] == "no"}
    assert unmade == codes.UNMADE
