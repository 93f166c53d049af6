"""What of a tool can be searched for: its name, its description, its parameters, as plain words."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

from clew.core.interfaces import Parameters, ToolSpec
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
    def text(self) -> str:
        """All of it in one line."""
        return f"{self.name}: {self.description} {self.words}"


def document(tool: ToolSpec) -> Document:
    """What can be searched for of a tool."""
    return Document(split(tool.name), tool.description, " ".join(_schema_words(tool.parameters)))


def split(text: str) -> str:
    """The words of a text, with identifiers (camelCase, snake_case, dots, base64) taken apart."""
    return " ".join(_WORD.findall(_BOUNDARY.sub(" ", text)))


def _schema_words(schema: Parameters) -> Iterator[str]:
    """Names, descriptions and allowed values of all that is inside a schema, at any depth."""
    for name, inner in subschemas(schema):
        if name:
            yield split(name)
        if isinstance(inner, dict):
            told = cast("Parameters", inner)
            yield str(told.get("description", ""))
            yield from map(str, cast("list[Any]", told.get("enum") or []))
            yield from _schema_words(told)
