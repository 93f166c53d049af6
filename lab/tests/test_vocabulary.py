"""Names say what they mean: no identifier is, or holds as a part, a word of the list below.

The words are private ones that grew here and that nobody would search for. Each spot has a better
word of its own (HOUSE of the redesign: `message`, `match`, `index`, `path`, `spec`, `max_…`).
`vocabulary.txt` counts what is left, by room; a count may only shrink, and a room that is done is
not in the list.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
LEFT: Final = Path(__file__).with_name("vocabulary.txt")
WORDS: Final = frozenset({
    "brief", "found", "given", "least", "most", "place", "places", "said", "setting", "shown",
    "whole",
})  # fmt: skip
USUAL: Final = ("not_found", "most_common")
"""What protocols and the standard library call it: an engineer would search for these."""
BETTER: Final = "give it the word an engineer would search for at that spot"


def own_files() -> list[Path]:
    """Of all packages, and of lab; programs in `durability` are written as a model writes them."""
    files = [*ROOT.glob("packages/*/src/**/*.py"), *ROOT.glob("lab/**/*.py")]
    return sorted(
        file for file in files if "programs" not in file.parts or "durability" not in file.parts
    )


def room_of(file: Path) -> str:
    """`clew/core` of a module of a package; `lab/live` of one of lab."""
    parts = file.relative_to(ROOT).parts
    return "/".join(parts[3:-1][:2]) if parts[0] == "packages" else "/".join(parts[:-1][:2])


def identifiers(source: str) -> Iterator[tuple[int, str]]:
    """The names that a source binds or uses, with their lines; tests are named by sentences."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield node.lineno, name
            case ast.keyword(arg=str(name)):
                yield node.value.lineno, name
            case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not name.startswith("test_"):
                    yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name
            case ast.alias(asname=str(name)):
                yield node.lineno, name
            case _:
                pass


def says_nothing(name: str) -> bool:
    """Whether a word of the list is this name, or a part of it."""
    plain = name.lower()
    for usual in USUAL:
        plain = plain.replace(usual, "")
    return not WORDS.isdisjoint(plain.split("_"))


def complaints(source: str) -> list[str]:
    """Each use of such a name, with its line."""
    return [
        f"line {line}: {name}: {BETTER}" for line, name in identifiers(source) if says_nothing(name)
    ]


def counts() -> Counter[str]:
    """How many uses of such names each room has."""
    by_room: Counter[str] = Counter()
    for file in own_files():
        by_room[room_of(file)] += len(complaints(file.read_text("utf-8")))
    return +by_room


def allowed() -> dict[str, int]:
    """The counts of the list."""
    lines = LEFT.read_text("utf-8").splitlines()
    return {room: int(count) for count, room in (line.split() for line in lines)}


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "def say(said): return said",
        "def was_said(): ...",
        "limits(most=3)",
        "spec.shown_calls",
        "class Place: ...",
        "match x:\n    case {'a': whole}: ...",
        "import json as given",
        "MOST_BYTES: int = 4",
        "try: ...\nexcept OSError as setting: ...",
    ],
)
def test_it_complains(source: str) -> None:
    assert complaints(source)


@pytest.mark.parametrize(
    "source",
    [
        "match = 1",
        "METHOD_NOT_FOUND = -32601",
        "Counter(words).most_common(1)",
        "foundation = placement = 1",
        "def test_what_is_said_is_found(): ...",
        "text = 'found and said'",
    ],
)
def test_it_lets_others_be(source: str) -> None:
    assert complaints(source) == []


def test_names_say_what_they_mean() -> None:
    """A room above its count has new ones; one below it has to be written down so."""
    assert dict(counts()) == allowed(), BETTER
