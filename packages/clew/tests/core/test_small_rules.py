"""Rules of the helpers that all rooms share: names, encodings, parts that packages add."""

import errno
import os
from dataclasses import dataclass, field
from importlib.metadata import Distribution, distribution, entry_points
from typing import Any

import pytest

from clew import ConfigError, RunContext, tool
from clew.deps.parameters import fits, rule_takes_context
from clew.deps.run_context import call_context
from clew.support.nearest_name import near_names
from clew.support.parts import stable_name
from clew.support.text_encoding import decoded, is_same_in_all
from clew.support.wings import MODELS, load, missing_package, require


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("gpt", ["gpt-4.1-mini", "gpt-5"]), ("cluade", ["claude"]), ("", []), ("xyzzy", [])],
)
def test_names_that_are_near(wrong: str, near: list[str]) -> None:
    assert near_names(wrong, ["gpt-4.1-mini", "gpt-5", "claude"]) == near


@pytest.mark.parametrize(
    ("character", "name", "same"),
    [("a", "cp1252", True), ("€", "ascii", False), ("é", "utf-8", True)],
)
def test_a_character_that_all_encodings_write_alike(character: str, name: str, same: bool) -> None:
    assert is_same_in_all(character, name) is same


def test_a_page_that_says_a_wrong_encoding_is_shown_with_a_note() -> None:
    wrong = decoded(b"caf\xe9", charset="utf-8")
    assert (wrong.text, wrong.sure) == ("caf�", False)
    assert "said to be utf-8, which it is not" in wrong.note
    right = decoded("café".encode("cp1252"), charset="cp1252")
    assert right.text == "café"
    assert decoded("café".encode(), charset="utf-8").note == ""


@dataclass
class Entry:
    """An entry point of a package."""

    error: BaseException
    name: str = "mine"
    value: str = "my_package:thing"
    group: str = MODELS
    extras: list[str] = field(default_factory=list[str])
    dist: Distribution = field(default_factory=lambda: distribution("clew"))

    def load(self) -> Any:
        raise self.error


@pytest.mark.parametrize("package", ["clew", "pytest"])
@pytest.mark.parametrize("extras", [[], ["documents"]])
def test_a_package_that_is_missing_is_named_with_the_command(
    package: str, extras: list[str]
) -> None:
    error = ModuleNotFoundError("No module named 'nowhere'", name="nowhere")
    with pytest.raises(ConfigError, match="mine needs nowhere, which is not installed: run"):
        load(Entry(error, extras=extras, dist=distribution(package)))


@pytest.mark.parametrize("error", [RuntimeError("boom"), ImportError("cannot", name="os.path")])
def test_a_package_that_fails_is_told_in_one_line(error: BaseException) -> None:
    with pytest.raises(ConfigError, match=r"mine cannot be imported from my_package:thing"):
        load(Entry(error))


def test_a_person_who_interrupts_an_import_is_heard() -> None:
    with pytest.raises(KeyboardInterrupt):
        load(Entry(KeyboardInterrupt()))


def test_a_name_that_nothing_adds_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"nothing here has the name nothing in clew\.models"):
        require(MODELS, "nothing")
    assert [*entry_points(group=MODELS)]


@pytest.mark.parametrize(
    ("error", "package"),
    [
        (ModuleNotFoundError("x", name="nowhere"), "nowhere"),
        (ImportError("x", name="nowhere.inside"), "nowhere"),
        (ImportError("x", name="os.path"), ""),
        (ImportError("x"), ""),
    ],
)
def test_which_package_an_import_lacks(error: ImportError, package: str) -> None:
    assert missing_package(error) == package


@pytest.mark.parametrize(
    ("value", "kind", "does"),
    [(1, None, True), (1, int, True), (1, str, False), (1, int | str, True)],
)
def test_deps_of_a_type(value: object, kind: Any, does: bool) -> None:
    assert fits(value, kind) is does


def test_a_rule_that_does_not_tell_what_it_takes_gets_the_arguments() -> None:
    assert not rule_takes_context(dict.update)
    assert rule_takes_context(lambda args, ctx: bool(args and ctx))


async def test_outside_of_a_run_a_context_has_no_call_to_report_to() -> None:
    context: RunContext[Any] = call_context("r:1.1")
    assert (context.run_id, context.call) == ("r", "1.1")
    await context.begun("a task")


def test_a_set_is_named_in_order() -> None:
    @dataclass(frozen=True)
    class Part:
        names: frozenset[str] = frozenset({"b", "a"})

        def __repr__(self) -> str:
            return "Part({'b', 'a'})"

    @dataclass(frozen=True)
    class Odd:
        def __repr__(self) -> str:
            return "Odd({not a set}, {'a': 1})"

    assert stable_name(Part()).endswith("Part({'a', 'b'})")
    assert "{not a set}" in stable_name(Odd())


def test_types_that_are_not_defined_are_told_where_the_schema_is_made() -> None:
    @dataclass
    class Half:
        other: "Missing"  # type: ignore[name-defined]  # noqa: F821 - that is the case

    def make() -> Half:
        """Make it."""
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(ConfigError):
        tool(make)
