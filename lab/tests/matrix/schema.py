"""The settings of an agent file, read off the types by which the reader itself takes it."""

from collections.abc import Iterator
from types import UnionType
from typing import Any, get_args, get_origin

import msgspec

from clew.agent_files import Spec

SET_BY_THE_READER = frozenset({"file"})
"""Fields of the spec that no file can say."""


def settings(kind: type[msgspec.Struct] = Spec, above: str = "") -> Iterator[str]:
    """The dotted names of all keys that hold a value: those of tables too, lists of them once."""
    for field in msgspec.structs.fields(kind):
        if above or field.name not in SET_BY_THE_READER:
            name = f"{above}{field.name}"
            inner = list(tables(field.type))
            if not inner or may_be_text(field.type):
                yield name
            for table in inner:
                yield from settings(table, f"{name}.")


def tables(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """The tables in a type, or in what it is a list, a mapping or a choice of."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for inner in get_args(kind):
        yield from tables(inner)


def may_be_text(kind: Any) -> bool:
    """Whether it may be a text in the place of a table, or a mapping to such texts."""
    if get_origin(kind) is dict:
        return may_be_text(get_args(kind)[1])
    return isinstance(kind, UnionType) and str in get_args(kind)
