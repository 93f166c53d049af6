"""Which functions have a parameter for the context, and whether deps are of the type it names."""

import functools
import inspect
import types
import typing
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final, NamedTuple, Union

from clew.deps.run_context import RunContext
from clew.support.errors import ConfigError

ANY: Final = (Any, object, None, type(None))
"""Types of deps that a run without deps has too."""

_IN_ORDER: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class ContextParameter(NamedTuple):
    """A parameter of type `RunContext[…]`; `kind` is the type of the deps, None for any or none."""

    name: str
    kind: Any


def deps_kind(annotation: Any) -> ContextParameter | None:
    """What a type says of the context; None for another type. The name is left empty."""
    bare = typing.get_args(annotation)[0] if _is(annotation, Annotated) else annotation
    if bare is RunContext:
        return ContextParameter("", None)
    if typing.get_origin(bare) is not RunContext:
        return None
    (kind,) = typing.get_args(bare)
    optional = any(each in ANY for each in _options(kind))
    return ContextParameter("", None if optional else kind)


def context_parameter(part: Callable[..., Any]) -> ContextParameter | None:
    """The parameter of a part that the context fills, if there is one.

    Raises `ConfigError` where its annotations name what its module does not have.
    """
    inner: Any = part.func if isinstance(part, functools.partial) else part
    function: Any = inner if inspect.isroutine(inner) else _call_of(inner)
    written: dict[str, Any] = getattr(function, "__annotations__", {})
    if any(isinstance(each, str) for each in written.values()):
        written = _resolved(function, written)
    for name, annotation in written.items():
        if name != "return" and (known := deps_kind(annotation)) is not None:
            return ContextParameter(name, known.kind)
    return None


def rule_takes_context(rule: Callable[..., Any]) -> bool:
    """Whether an approval rule takes the context: by type, or as a second parameter without one.

    A lambda cannot say types. Raises `ConfigError` as `context_parameter` does.
    """
    if context_parameter(rule) is not None:
        return True
    try:
        parameters = inspect.signature(rule).parameters.values()
    except (TypeError, ValueError):  # it does not tell what it takes
        return False
    needed = [each for each in parameters if each.default is each.empty and each.kind in _IN_ORDER]
    return (
        len(needed) == len(("arguments", "ctx")) and needed[1].annotation is inspect.Parameter.empty
    )


def _call_of(part: object) -> Any:
    """What is called where an object is: a method of its type, which has the annotations."""
    return getattr(type(part), "__call__", None)  # noqa: B004 - its annotations are read


def _resolved(function: Any, written: dict[str, Any]) -> dict[str, Any]:
    """Annotations that are texts, as what they name."""
    try:
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        if not any("RunContext" in str(each) for each in written.values()):
            return {}
        name = getattr(function, "__qualname__", repr(function))
        message = (
            f"function {name}: {error}; its annotations must be names of the module, "
            "not of a function around it"
        )
        raise ConfigError(message) from error


def fits(deps: object, kind: Any) -> bool:
    """Whether a value can be of a type, as far as Python can tell without reading inside it."""
    if kind is None:
        return True
    return any(_fits(deps, each) for each in _options(kind))


def made_kind(make: Callable[..., Any]) -> Any:
    """The type that a function says it returns, what it awaits left out; None if it says none."""
    inner: Any = make.func if isinstance(make, functools.partial) else make
    if isinstance(inner, type):
        return inner
    function: Any = inner if inspect.isroutine(inner) else _call_of(inner)
    try:
        kind = typing.get_type_hints(function).get("return")
    except (NameError, TypeError):  # names of a function around it
        return None
    if isinstance(origin := typing.get_origin(kind), type) and issubclass(origin, Awaitable):
        kind = typing.get_args(kind)[-1]
    return kind


def may_be(made: Any, kind: Any) -> bool:
    """Whether a value of a type may be one of another, as far as the types make it plain."""
    return any(_may_be(one, other) for one in _options(made) for other in _options(kind))


def _may_be(made: Any, kind: Any) -> bool:
    one, other = (typing.get_origin(each) or each for each in (made, kind))
    if not (isinstance(one, type) and isinstance(other, type)) or Any in {one, other}:
        return True
    if any(getattr(each, "_is_protocol", False) for each in (one, other)):
        return True
    try:
        return issubclass(one, other) or issubclass(other, one)
    except TypeError:  # a TypedDict, and whatever else is no class at run time
        return True


def _fits(deps: object, kind: Any) -> bool:
    known = typing.get_origin(kind) or kind
    if not isinstance(known, type) or known is Any:
        return True
    if getattr(known, "_is_protocol", False) or hasattr(known, "__supertype__"):
        return True
    try:
        return isinstance(deps, known)
    except TypeError:  # a TypedDict, and whatever else is no class at run time
        return True


def _options(kind: Any) -> tuple[Any, ...]:
    union = _is(kind, Union) or typing.get_origin(kind) is types.UnionType
    return typing.get_args(kind) if union else (kind,)


def _is(annotation: Any, origin: Any) -> bool:
    return typing.get_origin(annotation) is origin
