"""What can be called and is no plain function: partials, objects with `__call__`, positional-only
parameters. Each is made into a function that takes its arguments by name.
"""

import functools
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, cast

from clew.support.errors import ConfigError

_NEW_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def as_function(value: Any) -> Any:
    """The function itself, or one that calls what was given with arguments by name.

    The arguments that a partial has bound are no parameters of it. What cannot be called, a class
    and a generator are returned as they are. Raises `ConfigError` for a builtin that does not say
    which parameters it has.
    """
    inner: Any = value
    is_partial: bool = isinstance(inner, functools.partial)
    bound: Mapping[str, Any] = {}
    if is_partial:
        partial = cast("functools.partial[Any]", inner)
        inner, bound = partial.func, partial.keywords
    kind = cast("Any", type(inner))
    target: Any = inner if _is_routine(inner) else getattr(kind, "__call__", None)  # noqa: B004 - it is read
    if isinstance(inner, type) or not callable(value) or not _is_routine(target):
        return value
    if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
        return target
    try:
        signature = inspect.signature(value)
    except ValueError as error:
        message = f"{inner.__name__} does not say which parameters it has: call it in a def"
        raise ConfigError(message) from error
    positional = [one for one in signature.parameters.values() if one.kind is one.POSITIONAL_ONLY]
    if value is target and not positional:
        return value
    made = _by_name(value, positional, awaited=inspect.iscoroutinefunction(target))
    parameters = [
        one.replace(kind=one.POSITIONAL_OR_KEYWORD) if one in positional else one
        for one in signature.parameters.values()
        if one.name not in bound
    ]
    own = getattr(inner, "__name__", None)
    made.__name__ = own or _NEW_WORD.sub("_", kind.__name__).lower()
    made.__doc__ = target.__doc__ or inspect.getdoc(kind)
    made.__annotations__ = dict(getattr(target, "__annotations__", {}))
    with suppress(NameError):  # whoever reads it says what is wrong with the name
        made.__annotations__ = typing.get_type_hints(target, include_extras=True)
    made.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined] # inspect reads it
    return made


def _is_routine(value: object) -> bool:
    """Whether it is a function or a method."""
    return inspect.isroutine(value)


def _by_name(
    value: Callable[..., Any], positional: list[inspect.Parameter], *, awaited: bool
) -> Callable[..., Any]:
    def placed(values: dict[str, Any]) -> list[Any]:
        return [values.pop(one.name, one.default) for one in positional]

    async def awaiting(**values: Any) -> Any:
        return await value(*placed(values), **values)

    def calling(**values: Any) -> Any:
        return value(*placed(values), **values)

    return awaiting if awaited else calling
