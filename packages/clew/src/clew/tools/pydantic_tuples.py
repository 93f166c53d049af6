"""Named tuples within what pydantic reads: asked for as objects, as anywhere else.

pydantic reads an object for one as well as a list, and its schema has the list alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from clew.core.tools import Parameters
from clew.core.values import Json
from clew.support.schema_parts import keywords
from clew.tools.named_tuples import as_object
from clew.tools.pydantic_types import is_named_tuple


def name_fields(kind: Any, schema: Parameters) -> None:
    """Make the schemas of named tuples in that of a model, or of a stand-in, those of objects."""
    adapter = getattr(kind, "adapter", None)
    core = (
        getattr(kind, "__pydantic_core_schema__", None) if adapter is None else adapter.core_schema
    )
    tuples = {each.__name__: each for each in _named_tuples(core, set())}
    if not tuples:
        return
    named = dict[str, Any]()
    for where, name, listed in [*_listed(schema, "#", "")]:
        fits = [tuples[name]] if name in tuples else [*tuples.values()]
        match = next((it for it in fits if _is_list_of(it, listed)), None)
        if match is not None:
            for item in listed["prefixItems"]:
                item.pop("title", None)
            as_object(match, listed)
            named[where] = match
    _name_defaults(schema, "#", named)


def _named_tuples(core: Any, seen: set[int]) -> Iterator[Any]:
    """The named tuples in what pydantic knows of a type, whatever it calls them there."""
    if id(core) in seen:
        return
    seen.add(id(core))
    if isinstance(core, Mapping):
        core = [*cast("Mapping[str, Any]", core).values()]
    if isinstance(core, list | tuple):
        for each in cast("list[Any]", core):
            yield from _named_tuples(each, seen)
    elif isinstance(core, type) and is_named_tuple(cast("type[Any]", core)):
        yield core


def _listed(node: Json, where: str, name: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The parts of a schema that list what is in a tuple: where, under which name, and the part."""
    if isinstance(node, list):
        for number, each in enumerate(cast("Sequence[Json]", node)):
            yield from _listed(each, f"{where}/{number}", "")
    elif fields := keywords(node):
        if isinstance(fields.get("prefixItems"), list):
            yield where, name, fields
        for key, inner in [*fields.items()]:
            yield from _listed(inner, f"{where}/{key}", key)


def _is_list_of(kind: Any, listed: Mapping[str, Any]) -> bool:
    """Whether a schema lists the fields of a named tuple: pydantic has their names as titles."""
    items = [keywords(each) for each in listed["prefixItems"]]
    titles = [it.get("title") for it in items]
    names = [name.replace("_", " ").title().strip() for name in kind._fields]
    if len(titles) != len(names) or not any(titles):
        return False
    return all(title in {None, name} for title, name in zip(titles, names, strict=True))


def _name_defaults(node: Json, where: str, named: Mapping[str, Any]) -> None:
    """Write the defaults of what is an object now as objects too."""
    if isinstance(node, list):
        for number, each in enumerate(cast("Sequence[Json]", node)):
            _name_defaults(each, f"{where}/{number}", named)
    elif fields := keywords(node):
        kind = named.get(str(fields.get("$ref") or where))
        if kind is not None and isinstance(usual := fields.get("default"), list):
            values = cast("Sequence[Json]", usual)
            fields["default"] = dict(zip(kind._fields, values, strict=False))
        for key, inner in fields.items():
            _name_defaults(inner, f"{where}/{key}", named)
