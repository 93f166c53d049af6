"""How long a schema of somebody else may take: what a server sends must not stop the process.

The validator follows every reference each time it comes to it, and does not look at the clock.
Thirty definitions that each refer twice to the next make a thousand million examinations of one
value. So the work is estimated first.
"""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from clew.core.values import Json, encode
from clew.support.schema_parts import at, keywords
from clew.tools.schema import subschemas

MAX_WAYS: Final = 20_000
"""Examinations of one value by one schema."""

MAX_WORK: Final = 5_000_000
"""Examinations by one check, or characters that patterns look at: about a second."""

MAX_PATTERNS: Final = 200
"""Patterns that look at one value."""

_SAME_VALUE: Final = (
    "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas",
)  # fmt: skip
"""Keywords whose schemas examine the value itself, and not what is in it."""


def ways(schema: Json) -> int:
    """How often one value may be examined, at most; `MAX_WAYS` + 1 stands for all above."""
    document = _Document(schema)
    return max(document.count(each, _own_cost) for each in document.all())


def patterns(schema: Json) -> int:
    """How many patterns may look at one value, at most."""
    document = _Document(schema)
    return max(document.count(each, _own_patterns) for each in document.all())


def work(schema: Json, value: Json) -> int:
    """How many examinations a value may cost, about; more than `MAX_WORK` is too much."""
    document = _Document(schema)
    if (looks := patterns(schema)) and looks * len(encode(value)) > MAX_WORK:
        return MAX_WORK + 1
    size, levels = _extent(value)
    if (once := ways(schema)) > MAX_WAYS:
        return MAX_WORK + 1
    total = size * once
    if document.is_recursive():
        passed_on = max(document.count(each, _goes_on) for each in document.all())
        for _ in range(levels):
            total *= max(passed_on, 1)
            if total > MAX_WORK:
                break
    return total


def _own_cost(schema: dict[str, Json]) -> int:
    """What a schema asks by itself."""
    lists = (schema.get("enum"), schema.get("patternProperties"))
    return 1 + sum(len(_inside(each)) for each in lists)


def _own_patterns(schema: dict[str, Json]) -> int:
    """How many patterns a schema has for a value: for a text, or for the names in an object."""
    beside = keywords(schema.get("propertyNames"))
    return (
        ("pattern" in schema)
        + ("pattern" in beside)
        + len(_inside(schema.get("patternProperties")))
    )


def _goes_on(schema: dict[str, Json]) -> int:
    """Whether a schema asks anything of what is in the value: 1 or 0."""
    inside = [keyword for keyword in schema if keyword not in (*_SAME_VALUE, "$defs", "$ref")]
    return int(any(True for _ in subschemas({key: schema[key] for key in inside})))


def _extent(value: Json) -> tuple[int, int]:
    """How many values there are in a value, itself among them, and in how many levels."""
    size, levels, layer = 0, 0, [value]
    while layer:
        size, levels = size + len(layer), levels + 1
        layer = [inner for each in layer for inner in _inside(each)]
    return size, levels


def _inside(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return list(keywords(value).values())
    return msgspec.convert(value, list[Json]) if isinstance(value, list) else []


class _Document:
    """A schema with those inside it."""

    def __init__(self, root: Json) -> None:
        self._root = root

    def all(self) -> Iterator[dict[str, Json]]:
        """Every schema of the document."""
        left = [keywords(self._root)]
        while left:
            schema = left.pop()
            yield schema
            left += (keywords(inner) for _, inner in subschemas(schema))

    def count(self, schema: dict[str, Json], cost: Callable[[dict[str, Json]], int]) -> int:
        """The cost of a schema and of all that examine the same value with it."""
        return self._count(schema, cost, {})

    def _count(
        self,
        schema: dict[str, Json],
        cost: Callable[[dict[str, Json]], int],
        known: dict[str, int],
    ) -> int:
        beside: dict[str, Json] = {key: schema[key] for key in _SAME_VALUE if key in schema}
        total = cost(schema)
        total += sum(self._count(keywords(inner), cost, known) for _, inner in subschemas(beside))
        if isinstance(reference := schema.get("$ref"), str):
            if reference not in known:
                known[reference] = 0  # while it is followed: it is not followed again
                known[reference] = self._count(self._target(reference), cost, known)
            total += known[reference]
        return min(total, MAX_WAYS + 1)

    def is_recursive(self) -> bool:
        """Whether a schema refers to itself, be it by way of others."""
        return any(
            self._reaches(self._target(reference), reference, set())
            for reference in {each.get("$ref") for each in self.all()}
            if isinstance(reference, str)
        )

    def _reaches(self, schema: dict[str, Json], wanted: str, seen: set[str]) -> bool:
        for each in _Document(schema).all():
            reference = each.get("$ref")
            if reference == wanted:
                return True
            if isinstance(reference, str) and reference not in seen:
                seen.add(reference)
                if self._reaches(self._target(reference), wanted, seen):
                    return True
        return False

    def _target(self, reference: str) -> dict[str, Json]:
        path = reference.removeprefix("#").split("/")[1:]
        steps = [step.replace("~1", "/").replace("~0", "~") for step in path]
        return keywords(at(self._root, steps))
