"""Functions over data as tools: what τ-bench calls a tool, and plain functions whose first
parameter is the data.
"""

import fnmatch
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from clew import ConfigError, ToolError
from clew.interfaces import Effect, Json, Parameters
from clew.support.error_text import described
from clew.tools.schema import compile_schema
from clew.tools.signature import read, returned

Data: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class DataFunction:
    """A function over data. `apply(data, args, key)` may change the data, unless it only reads."""

    name: str
    description: str
    parameters: Parameters
    effect: Effect
    apply: Callable[[Data, dict[str, Json], str], Any]

    def __call__(self, data: Data, args: dict[str, Json], key: str) -> Any:
        """Apply it. Raises `ToolError` where it fails: then the data may be half changed."""
        try:
            return returned(self.name, self.apply(data, args, key))
        except ToolError:
            raise
        except Exception as error:
            raise ToolError(described(error)) from error

    def problems(self, args: dict[str, Json]) -> list[str]:
        """What is wrong with arguments."""
        return compile_schema(self.parameters)(args)


class _Function(msgspec.Struct):
    name: str
    description: str
    parameters: dict[str, Any]


class _Info(msgspec.Struct):
    function: _Function


def all_over(
    data: Sequence[Any], reads: Sequence[str], idempotent: Sequence[str]
) -> dict[str, DataFunction]:
    """The functions by name, with their effects.

    `reads` and `idempotent` are names, or patterns such as `get_*`; what neither names is unsafe.
    Raises `ConfigError`.
    """
    tools: dict[str, DataFunction] = {}
    for one in data:
        tool = tools_over(one, reads, idempotent)
        if tool.name in tools:
            message = f"two tools are called {tool.name}: rename one"
            raise ConfigError(message)
        tools[tool.name] = tool
    for pattern in (*reads, *idempotent):
        if not fnmatch.filter(tools, pattern):
            message = f"{pattern!r} names no tool; there are {', '.join(tools)}"
            raise ConfigError(message)
    return tools


def tools_over(data_class: Any, reads: Sequence[str], idempotent: Sequence[str]) -> DataFunction:
    """One function, or a class with `invoke` and `get_info` as those of τ-bench."""
    if hasattr(data_class, "invoke") and hasattr(data_class, "get_info"):
        return _of_class(data_class, reads, idempotent)
    if not inspect.isfunction(data_class):
        message = (
            f"{data_class!r} is neither a function over data nor a class with invoke and get_info"
        )
        raise ConfigError(message)
    first = next(iter(inspect.signature(data_class).parameters), None)
    if first is None:
        message = f"function {data_class.__name__}: its first parameter must be the data"
        raise ConfigError(message)
    signature = read(_without(data_class, first))

    def apply(data: Data, args: dict[str, Json], key: str) -> Any:
        try:
            arguments = signature.arguments(args, key)
        except ValueError as error:
            raise ToolError(str(error)) from error
        value = data_class(data, **arguments)
        return returned(signature.name, value, signature.tuples, fills=signature.fills)

    effect = _effect(signature.name, reads, idempotent)
    return DataFunction(signature.name, signature.description, signature.parameters, effect, apply)


def _of_class(data_class: Any, reads: Sequence[str], idempotent: Sequence[str]) -> DataFunction:
    try:
        info = msgspec.convert(data_class.get_info(), _Info).function
    except msgspec.ValidationError as error:
        message = f"{data_class!r}: its get_info() describes no function: {error}"
        raise ConfigError(message) from error
    parameters: Parameters = {"additionalProperties": False, **info.parameters}

    def apply(data: Data, args: dict[str, Json], key: str) -> Any:
        return data_class.invoke(data=data, **args)

    effect = _effect(info.name, reads, idempotent)
    return DataFunction(info.name, info.description, parameters, effect, apply)


def _without(function: Callable[..., Any], first: str) -> Callable[..., Any]:
    """The function as a model sees it: without the data."""

    @functools.wraps(function)
    def without_data(**args: Any) -> Any:
        return function(**args)

    signature = inspect.signature(function)
    rest = [one for one in signature.parameters.values() if one.name != first]
    without_data.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]  # inspect looks for it
    without_data.__annotations__ = {
        name: kind for name, kind in function.__annotations__.items() if name != first
    }
    return without_data


def _effect(name: str, reads: Sequence[str], idempotent: Sequence[str]) -> Effect:
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in reads):
        return "read"
    if any(fnmatch.fnmatchcase(name, pattern) for pattern in idempotent):
        return "idempotent"
    return "unsafe"
