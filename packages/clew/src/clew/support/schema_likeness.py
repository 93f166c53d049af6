"""A value of the form that a JSON Schema asks for, with the fields that somebody tried to give."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from clew.support.json_values import Json
from clew.support.nearest_name import nearest
from clew.support.schema_examples import example
from clew.support.schema_parts import keywords, target

_DEEPEST: Final = 8


def example_like(schema: Json, tried: Json) -> Json:
    """A small value of the right form, with every field of `tried` that the schema knows.

    Fields that are nearly the name of one count as that, in objects and lists within it too.
    """
    return _like(schema, tried, schema, 0)


def with_fields_of(value: Json, other: Json) -> Json:
    """The value, with those fields of the other one that it lacks, at every level."""
    if _kind(value) == _kind(other) == "object":
        mine, theirs = keywords(value), keywords(other)
        both = {name: with_fields_of(mine[name], theirs.get(name)) for name in mine}
        return {**both, **{name: each for name, each in theirs.items() if name not in mine}}
    if (items := _items(value)) and (others := _items(other)):
        return [with_fields_of(items[0], others[0]), *items[1:]]
    return other if value is None else value  # None: a default without its fields


def _items(value: Json) -> list[Json]:
    """The items of a list; none of anything else."""
    items: list[Json] = value if _kind(value) == "array" else []
    return items


def _kind(value: object) -> str:
    """The type that a schema calls it by, of those that have parts; else ""."""
    return "object" if isinstance(value, dict) else "array" if isinstance(value, list) else ""


def _like(schema: Json, tried: Json, root: Json, depth: int) -> Json:
    form = _chosen(schema, tried, root, depth)
    if form is not None and _kind(tried) == "object":
        return _object_like(form, keywords(tried), root, depth)
    if form is not None and _kind(tried) == "array":
        return _list_like(form, _items(tried), root, depth)
    return example(_rooted(schema, root))


def _chosen(schema: Json, tried: Json, root: Json, depth: int) -> dict[str, Any] | None:
    """The form of an object or a list, whichever was tried, behind references and choices."""
    fields = keywords(schema)
    kind = _kind(tried)
    if not kind or depth > _DEEPEST:
        return None
    if "$ref" in fields:
        return _chosen(target(fields["$ref"], root), tried, root, depth + 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        forms = (_chosen(each, tried, root, depth + 1) for each in fields.get(keyword, ()))
        if (form := next((each for each in forms if each is not None), None)) is not None:
            return form
    return fields if fields.get("type") == kind else None


def _object_like(
    form: Mapping[str, Any], tried: Mapping[str, Json], root: Json, depth: int
) -> dict[str, Json]:
    known, others = keywords(form.get("properties")), form.get("additionalProperties")
    meant = {nearest(name, known): value for name, value in tried.items()}
    names = {*form.get("required", ()), *meant}
    like = {
        name: _like(inner, meant.get(name), root, depth + 1)
        for name, inner in known.items()
        if name in names
    }
    free = {name: each for name, each in tried.items() if nearest(name, known) is None}
    if isinstance(others, dict):
        like |= {name: _like(others, each, root, depth + 1) for name, each in free.items()}
    return like


def _list_like(
    form: Mapping[str, Any], tried: Sequence[Json], root: Json, depth: int
) -> list[Json]:
    """A list of one item, which has the fields of all that were tried."""
    fields: dict[str, Json] = {}
    for each in tried:
        fields |= keywords(each)
    items = form.get("items", True)
    inner: Json = fields or (tried[0] if tried else None)
    return [_like(items, inner, root, depth + 1)]


def _rooted(schema: Json, root: Json) -> Json:
    """The schema with the definitions of its root, into which its references lead."""
    named = {
        name: each for name, each in keywords(root).items() if name in {"$defs", "definitions"}
    }
    return {**named, **keywords(schema)} if named else schema
