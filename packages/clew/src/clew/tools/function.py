"""`@tool`: a typed Python function becomes a `Tool`."""

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, Final, Generic, TypedDict, TypeVar, Unpack, overload

import typing_extensions

from clew.concurrency.tasks import Threaded
from clew.core.call_context import CALL
from clew.core.codes import Effect, Trust
from clew.core.contents import Observation
from clew.core.tools import Approve, Attempts, External, Labels, Parameters, Retry, Tool
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.support.error_text import described
from clew.support.errors import ConfigError
from clew.support.parts import text_of
from clew.support.settings import check_options
from clew.tools.callables import as_function
from clew.tools.schema import checked
from clew.tools.signature import (
    Signature,
    arguments_refused,
    asked_again,
    read,
    returned,
)

__all__ = ["FunctionTool", "ToolOptions", "as_tool", "settings", "tool"]

_OF_ATTEMPTS: Final = ("timeout", "retry", "probe")

F = TypeVar("F", bound=Callable[..., Any])
F_co = typing_extensions.TypeVar("F_co", covariant=True, default=Callable[..., Any])
"""The function's own type; without a bound, so that tools of several types are a list of tools."""


class _CalledAs(Generic[F_co]):
    """What is called as its `function` is, and has the type of that."""

    function: F_co
    __call__: F_co  # as a type alone: a method would have one type for all functions

    def __init_subclass__(cls) -> None:
        """Give it the method that the type stands for."""
        super().__init_subclass__()
        type.__setattr__(cls, "__call__", _call)


def _call(made: _CalledAs[Callable[..., Any]], *args: Any, **named: Any) -> Any:
    """Call the function it was made of."""
    return made.function(*args, **named)


@dataclass(frozen=True, repr=False)
class FunctionTool(Tool, _CalledAs[F_co]):
    """A tool made from a function, which can be called like that function."""

    _: KW_ONLY
    function: F_co = field(compare=False)
    deps: Any = field(default=None, compare=False)
    """The type of deps that its context parameter wants; None for any, or none."""
    attaches: tuple[type, ...] = field(default=(), compare=False)
    """The kinds of attachments that its return annotation names."""


class ToolOptions(TypedDict, total=False):
    """What may be said of a tool beside its function: fields of `Tool` and `Attempts`, `inline`.

    `name` and `description` stand for the function's own, `result` for the schema of its return
    annotation. An `external` function is a stub: somebody else performs its calls (`clew.answer`),
    each within `timeout` seconds if that is given. An `inline` function runs on the event loop
    instead of in a thread: for pure functions that take microseconds.
    """

    name: str
    description: str
    effect: Effect
    timeout: float
    retry: Retry
    trust: Trust
    labels: Labels
    probe: Callable[[dict[str, Json], str], Awaitable[Any]]
    repair: Callable[[dict[str, Json]], tuple[dict[str, Json], str] | None]
    result: Parameters
    hidden: bool
    version: str
    examples: tuple[dict[str, Json], ...]
    approve: Approve
    external: bool | External
    inline: bool


@overload
def tool(function: F, /) -> FunctionTool[F]: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[F], FunctionTool[F]]: ...
def tool(
    function: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]
) -> FunctionTool | Callable[[F], FunctionTool[F]]:
    """Make a tool from a typed function: `@tool`, or `@tool(effect="read", timeout=5)`.

    Schema and descriptions come from the signature and the docstring (Google, NumPy or Sphinx
    style). An `async` function is cancelled at its deadline. Any other runs in a thread, which
    nobody can stop, so at its deadline the outcome is unknown (`process_tool` can be stopped). The
    default effect is `unsafe`. Raises `ConfigError` if something is missing or has no schema.
    """
    if function is not None:
        return as_tool(function, options)

    def decorate(decorated: F) -> FunctionTool[F]:
        return as_tool(decorated, options)

    return decorate


def as_tool(original: F, options: ToolOptions) -> FunctionTool[F]:
    """The tool of a function. Raises `ConfigError`."""
    function = as_function(original)
    elsewhere = bool(options.get("external"))
    signature = read(function, text_result=elsewhere)
    inline = options.get("inline", False)
    awaited = inspect.iscoroutinefunction(function)
    if inline and elsewhere:
        message = f"function {signature.name}: it is performed elsewhere, so nothing is inline"
        raise ConfigError(message)
    if inline and (awaited or options.get("effect") != "pure"):
        message = f'function {signature.name}: only a def with effect="pure" may be inline'
        raise ConfigError(message)

    def arguments_of(args: dict[str, Json], key: str) -> dict[str, Any] | Observation | Verdict:
        try:
            return signature.arguments(args, key)
        except ValueError as error:
            return asked_again(arguments_refused(signature.name, error), key)

    give = partial(returned, signature.name, tuples=signature.tuples, fills=signature.fills)

    async def awaiting(args: dict[str, Json], key: str) -> Any:
        fit = arguments_of(args, key)
        return give(await function(**fit)) if isinstance(fit, dict) else fit

    def calling(args: dict[str, Json], key: str) -> Any:
        fit = arguments_of(args, key)
        return give(function(**fit)) if isinstance(fit, dict) else fit

    async def at_once(args: dict[str, Json], key: str) -> Any:
        return calling(args, key)

    check_options("a tool", options, ToolOptions.__annotations__)
    tool_options = settings(signature, options)
    call: Callable[[dict[str, Json], str], Awaitable[Any]] = Threaded(calling, _post_late_result)
    if awaited or inline:
        call = awaiting if awaited else at_once
    made = FunctionTool(
        call=call, function=original, deps=signature.deps, attaches=signature.attaches,
        **tool_options,
    )  # fmt: skip
    return checked(made)


def settings(signature: Signature, options: ToolOptions) -> dict[str, Any]:
    """Fields of a `Tool` by what was read and what was said; what was said comes first."""
    chosen: dict[str, Any] = {name: value for name, value in options.items() if name != "inline"}
    if external := chosen.pop("external", None):
        chosen["external"] = _external(external, chosen, chosen.get("name", signature.name))
    if attempts := {name: chosen.pop(name) for name in _OF_ATTEMPTS if name in chosen}:
        chosen["attempts"] = Attempts(**attempts)
    return {
        "name": signature.name,
        "description": signature.description,
        "parameters": signature.parameters,
        "result": signature.result,
    } | chosen


def _external(external: object, chosen: dict[str, Any], name: str) -> object:
    """How calls wait that somebody else performs; takes the `timeout` from what was `chosen`."""
    known = External() if external is True else external
    if "timeout" not in chosen or not isinstance(known, External):
        return known
    if known.timeout is not None:
        raise ConfigError(f"tool {name}: its timeout is given twice: keep that of External")
    return replace(known, timeout=chosen.pop("timeout"))


def _post_late_result(value: Any, error: BaseException | None) -> None:
    """What came of a call that was left behind in its thread."""
    if (made := CALL.get()) is not None:
        made.late(text_of(value) if error is None else described(error))
