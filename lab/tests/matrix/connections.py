"""The connections of an agent's models, wherever in it they are: a cell closes them at its end."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from clew import Agent


async def close_models(agent: Agent) -> None:
    """Close the connections of all models that the agent, or one in it, asks."""
    for model in models_in(agent, set()):
        await model.close()


def models_in(value: Any, seen: set[int]) -> Iterator[Any]:
    """All parts that hold connections, each once."""
    if id(value) in seen or isinstance(value, str | int | float | type(None)):
        return
    seen.add(id(value))
    if callable(getattr(value, "complete", None)) and callable(getattr(value, "close", None)):
        yield value
    inner: list[Any] = []
    if isinstance(value, Mapping):
        inner = [*value.values()]
    elif isinstance(value, list | tuple | frozenset | set):
        inner = [*value]
    elif is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, each.name, None) for each in fields(value)]
    for each in inner:
        yield from models_in(each, seen)
