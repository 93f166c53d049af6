"""Types that only pydantic reads, behind a stand-in that looks like one of its models.

`Annotated[int, Field(ge=1)]`, a union of models, a pydantic dataclass: pydantic's `TypeAdapter`
knows them, and msgspec does not. Nothing here needs pydantic unless such a type is met.
"""

import dataclasses
import types
import typing
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final, Union, cast

import msgspec

from clew.core.tools import Parameters
from clew.core.values import Json
from clew.support.errors import ConfigError
from clew.support.extras import install, installed
from clew.support.pydantic_classes import type_adapter

_FOREIGN: Final = frozenset({"pydantic", "annotated_types"})
_READ_OTHERWISE: Final = (bytes, bytearray, memoryview)
"""Base64 to msgspec, and text to pydantic."""

_UNIONS: Final = (Union, types.UnionType)


class _TakesAll(type):
    """msgspec asks whether what was read is of the type: what pydantic read, is."""

    def __instancecheck__(cls, read: object) -> bool:
        return True


class PydanticType(metaclass=_TakesAll):
    """A type as pydantic reads it, with the two methods of its models that are used."""

    adapter: ClassVar[Any]

    @classmethod
    def model_json_schema(cls, *, ref_template: str, mode: str) -> Parameters:
        """The schema. Raises `TypeError` for a type that has none."""
        return cast("Parameters", cls.adapter.json_schema(ref_template=ref_template, mode=mode))

    @classmethod
    def model_validate_json(cls, body: bytes, *, strict: bool) -> Any:
        """The value as the type. Raises pydantic's `ValidationError`."""
        return cls.adapter.validate_json(body, strict=strict)


def adapted(kind: Any, where: str) -> Any:
    """The type itself, or a stand-in for one that says what only pydantic keeps.

    A description beside it stays outside. Raises `ConfigError`, naming `where`, for a type that
    neither library reads alone, and where pydantic is not installed.
    """
    if not any(_is_foreign(part) for part in mentioned(kind, set())):
        try:
            msgspec.json.Decoder(kind)
        except TypeError as error:
            _refuse_other_readings(kind, where, error)
        except Exception:  # noqa: BLE001 - such as a name that is not defined: its schema tells it
            return kind
        else:
            return kind
    inner, outside = _split(kind)
    if mixed := next(filter(_is_msgspec, mentioned(inner, set())), None):
        message = (
            f"{where}: {_name(mixed)} is read by msgspec, and what stands beside it by pydantic; "
            "write bounds as pydantic.Field(…), and types as dataclasses or pydantic models"
        )
        raise ConfigError(message)
    if not installed("pydantic"):
        message = f"{where}: {kind!r} needs pydantic: run {install('pydantic')}"
        raise ConfigError(message)
    try:
        adapter = type_adapter(inner)
    except Exception as error:
        message = f"{where}: {str(error).partition(chr(10))[0]}"
        raise ConfigError(message) from error
    made = _TakesAll(_name(inner), (PydanticType,), {"adapter": adapter})
    return Annotated[(made, *outside)] if outside else made


def _refuse_other_readings(kind: Any, where: str, error: TypeError) -> None:
    """Raise `ConfigError` for what msgspec refuses and pydantic would read otherwise, or not.

    It refuses unions of classes that only their fields tell apart.
    """
    what = f"{where}: {error}"
    tagged = "msgspec Structs with tag=True"
    for part in mentioned(kind, set()):
        if isinstance(part, type) and issubclass(part, msgspec.Struct):
            name = part.__name__
            tag = f"write class {name}(msgspec.Struct, tag=True)"
            cure = tag if "tagged" in str(error) else f"make {name} a dataclass"
            message = f"{what}; {cure}"
            raise ConfigError(message) from error
        if part in _READ_OTHERWISE or (isinstance(part, type) and is_named_tuple(part)):
            message = f"{what}, and pydantic reads {_name(part)} otherwise; write {tagged}"
            raise ConfigError(message) from error
    if not installed("pydantic"):
        message = f"{what}; pydantic may read it: run {install('pydantic')}, or write {tagged}"
        raise ConfigError(message) from error


def _split(kind: Any) -> tuple[Any, list[Any]]:
    """A type as pydantic is to read it, and descriptions beside it, which are msgspec's."""
    if typing.get_origin(kind) is not Annotated:
        return kind, []
    bare, *beside = typing.get_args(kind)
    outside = [one for one in beside if isinstance(one, str) or _only_describes(one)]
    inside = [one for one in beside if one not in outside]
    descriptions = (getattr(one, "description", None) for one in inside)
    outside += [msgspec.Meta(description=one) for one in descriptions if isinstance(one, str)]
    return Annotated[(bare, *inside)] if inside else bare, outside


def _only_describes(beside: Any) -> bool:
    return isinstance(beside, msgspec.Meta) and beside == msgspec.Meta(
        title=beside.title, description=beside.description, examples=beside.examples
    )


def _is_foreign(part: Any) -> bool:
    """Whether only pydantic reads this: metadata, a type of its own, a union that holds a model."""
    if isinstance(part, type):
        core = hasattr(part, "__get_pydantic_core_schema__")
        return (core or hasattr(part, "__pydantic_validator__")) and not is_model(part)
    if typing.get_origin(part) in _UNIONS:
        members = [_bare(one) for one in typing.get_args(part) if one is not type(None)]
        return len(members) > 1 and any(map(is_model, members))
    return type(part).__module__.partition(".")[0] in _FOREIGN


def is_model(kind: Any) -> bool:
    """Whether this is a model of pydantic, or stands in for one."""
    return hasattr(kind, "model_json_schema")


def _is_msgspec(part: Any) -> bool:
    """Whether only msgspec reads this."""
    return isinstance(part, msgspec.Meta) or (
        isinstance(part, type) and issubclass(part, msgspec.Struct)
    )


def mentioned(kind: Any, seen: set[int]) -> Iterator[Any]:
    """A type, and all types, metadata and defaults in it that were not `seen`.

    Models of pydantic are not entered.
    """
    if id(kind) in seen:
        return
    seen.add(id(kind))
    yield kind
    for part in parts(kind):
        yield from mentioned(part, seen)


def parts(kind: Any) -> Iterator[Any]:
    """The types and metadata directly inside a type, and the defaults of its fields."""
    yield from typing.get_args(kind)
    if type(kind).__name__ == "TypeAliasType":  # of Python 3.12 on, and of typing_extensions
        yield kind.__value__
    if (named := getattr(kind, "__supertype__", None)) is not None:  # a NewType
        yield named
    if isinstance(kind, type) and _has_fields(fielded := cast("type[Any]", kind)):
        if dataclasses.is_dataclass(fielded):
            yield from (field.default for field in dataclasses.fields(fielded))
        try:
            yield from typing.get_type_hints(fielded, include_extras=True).values()
        except NameError:
            return  # the schema's maker names what is not defined


def _has_fields(kind: type[Any]) -> bool:
    if hasattr(kind, "__required_keys__"):  # a TypedDict, of `typing_extensions` too
        return True
    if dataclasses.is_dataclass(kind) or issubclass(kind, msgspec.Struct):
        return True
    return is_named_tuple(kind)


def is_named_tuple(kind: type[Any]) -> bool:
    """Whether this is a tuple whose fields have names."""
    return issubclass(kind, tuple) and hasattr(kind, "_fields")  # pyright: ignore[reportUnknownArgumentType] # a class of any kind of tuple


def _bare(kind: Any) -> Any:
    return typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind


def _name(part: Any) -> str:
    return getattr(part, "__name__", "") or repr(part)


def refuse_default(default: Json, where: str) -> None:
    """Refuse a default that is said to pydantic: nothing here would read it."""
    if type(default).__module__.partition(".")[0] in _FOREIGN:
        message = f"{where}: {default!r} is no default; write Annotated[…, pydantic.Field(…)]"
        raise ConfigError(message)
