"""Guards, codecs and settings of the context are values: nobody can change them for the others."""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest

import clew.codecs
import clew.context
import clew.guards

READERS: Final = {
    *("_CommandReader", "_Object", "_ReplyReader", "Pieces", "Scan", "StreamEnd"),
    *("_Bracket", "Marks", "_Moved"),
}
"""What reads a text keeps how far it has come."""

READ_ONCE: Final = {"_PromptDocument", "_Tool"}
"""What a prompt on record is read into, and taken from at once."""


def values() -> Iterator[type]:
    """Every Struct and dataclass that a module of these rooms defines."""
    for room in (clew.guards, clew.codecs, clew.context):
        for found in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            for kind in vars(importlib.import_module(found.name)).values():
                ours = isinstance(kind, type) and kind.__module__ == found.name
                if ours and (
                    issubclass(kind, msgspec.Struct) or hasattr(kind, "__dataclass_params__")
                ):
                    yield kind


@pytest.mark.parametrize("kind", list(values()), ids=lambda kind: kind.__qualname__)
def test_only_what_reads_a_text_can_be_changed(kind: Any) -> None:
    if issubclass(kind, msgspec.Struct):
        frozen = kind.__struct_config__.frozen
    else:
        frozen = kind.__dataclass_params__.frozen
    assert frozen != (kind.__qualname__ in READERS | READ_ONCE)
