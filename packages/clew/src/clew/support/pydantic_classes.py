"""Classes that pydantic reads and writes, and msgspec does not: paths, addresses, fractions.

Nothing here needs pydantic unless such a class is met.
"""

import importlib
from functools import lru_cache
from typing import Any

from clew.support.extras import install, installed


def type_adapter(kind: Any) -> Any:
    """Pydantic's `TypeAdapter` of any type; pydantic must be installed."""
    return importlib.import_module("pydantic").TypeAdapter(kind)


@lru_cache
def adapter_of(kind: type) -> Any:
    """What pydantic reads and writes values of the class with, as JSON.

    Raises `TypeError`, which says what to do, for a class of which it has no schema, and where it
    is not installed.
    """
    name = kind.__name__
    other = f"make {name} a dataclass, or take what it is made from"
    if not installed("pydantic"):
        message = (
            f"msgspec does not read {name}; pydantic may: run {install('pydantic')}, or {other}"
        )
        raise TypeError(message)
    try:
        adapter = type_adapter(kind)
        adapter.json_schema(mode="serialization")
    except Exception as error:  # its errors are of many classes
        message = f"neither msgspec nor pydantic reads {name}: {other}"
        raise TypeError(message) from error
    return adapter
