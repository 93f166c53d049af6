"""What of a tool can be searched for: its name, its description, its parameters, as plain words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from clew.core.tools import Parameters, ToolSpec
from clew.core.values import Json
from clew.tools.schema import subschemas

_BOUNDARY: Final = re.compile(
    r"(?<=[^\W\d_A-Z])(?=[A-Z])"  # camelCase
    r"|(?<=[A-Z])(?=[A-Z][a-z])"  # HTTPServer
    r"|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"  # base64
)
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Document:
    """A tool as text. Identifiers are split into their words."""

    name: str
    description: str
    words: str
    """Those of its parameters."""

    @property
    def texts(self) -> tuple[str, str]:
        """What of it is embedded: what it does, and that with its parameters.

        Alone, the first misses what only a parameter says; in the second, of a tool with many
        parameters, what it does is lost among them.
        """
        does = f"{self.name}: {self.description}"
        return does, f"{does} {self.words}"


def document(tool: ToolSpec) -> Document:
    """What can be searched for of a tool."""
    words = [*_schema_words(tool.parameters)]
    words += [text for example in tool.examples for text in _texts(example)]
    return Document(split(tool.name), tool.description, " ".join(words))


def split(text: str) -> str:
    """The words of a text, with identifiers (camelCase, snake_case, dots, base64) taken apart."""
    return " ".join(_WORD.findall(_BOUNDARY.sub(" ", text)))


def _schema_words(schema: Parameters) -> Iterator[str]:
    """All that is said inside a schema, at any depth: names, titles, descriptions, values."""
    for name, inner in subschemas(schema):
        if name:
            yield split(name)
        if isinstance(inner, dict):
            told = cast("Parameters", inner)
            yield str(told.get("title", ""))
            yield str(told.get("description", ""))
            yield from map(str, cast("list[Any]", told.get("enum") or []))
            yield from _texts([told.get("const"), told.get("examples")])
            yield from _schema_words(told)


def _texts(value: Json) -> Iterator[str]:
    """The texts inside a JSON value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([*cast("Parameters", value).values()])
    elif isinstance(value, list):
        for each in cast("Sequence[Json]", value):
            yield from _texts(each)
