"""Fields that a dataclass sets itself (`field(init=False)`): no model may, as no caller can.

msgspec has them in the schema of an argument or an answer, and reads them. In a model of pydantic's
they are in the schema too, and pydantic leaves out what is said there.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, cast

import msgspec
from msgspec import inspect

from clew.core.tools import Parameters
from clew.core.values import Json
from clew.tools.typed_json import changed

_REF: Final = "#/$defs/{name}"


def hide(
    kinds: list[Any], definitions: dict[str, Parameters], hook: Callable[[Any], Parameters]
) -> None:
    """Take them out of the definitions that msgspec made of these types.

    Raises `TypeError` for one without a default, which msgspec would want of a model.
    """
    classes = [it for it in _dataclasses(inspect.multi_type_info(kinds), set()) if own_fields(it)]
    if not classes:
        return
    references, _ = msgspec.json.schema_components(
        [*classes, *kinds], schema_hook=hook, ref_template=_REF
    )
    for kind, reference in zip(classes, references, strict=False):
        for name, field in own_fields(kind).items():
            if field.default is field.default_factory is dataclasses.MISSING:
                message = f"the field {name} of {kind.__name__} is set by itself (init=False): "
                raise TypeError(f"{message}give it a default too, so that no model has to set it")
        _hide(
            own_fields(kind), definitions[str(reference["$ref"]).removeprefix(_REF.format(name=""))]
        )


def without_own_fields(kind: Any, value: Json) -> Json:
    """The JSON of a value of the type without them: reading it sets them again."""
    return changed(kind, value, _without)


def own_fields(kind: Any) -> dict[str, "dataclasses.Field[Any]"]:
    """Those of a type, by name; of what is no dataclass none."""
    named: Any = getattr(kind, "__origin__", kind)
    if not (isinstance(named, type) and dataclasses.is_dataclass(named)):
        return {}
    return {field.name: field for field in dataclasses.fields(named) if not field.init}


def _without(kind: inspect.Type, value: Json) -> Json:
    own = own_fields(kind.cls) if isinstance(kind, inspect.DataclassType) else {}
    if not own or not isinstance(value, dict):
        return value
    fields = cast("dict[str, Json]", value)
    return {name: each for name, each in fields.items() if name not in own}


def _hide(names: Iterable[str], schema: Parameters) -> None:
    for name in names:
        schema.get("properties", {}).pop(name, None)


def _dataclasses(info: Any, seen: set[int]) -> Iterator[Any]:
    """Those in what msgspec knows of a type, or of a field, that was not `seen`."""
    if isinstance(info, tuple | list):
        for each in cast("list[Any]", info):
            yield from _dataclasses(each, seen)
    elif isinstance(info, inspect.Type | inspect.Field) and id(info) not in seen:
        seen.add(id(info))
        if isinstance(info, inspect.DataclassType):
            yield info.cls
        for name in info.__struct_fields__:
            yield from _dataclasses(getattr(info, name), seen)
