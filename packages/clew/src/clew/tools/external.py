"""Tools that somebody else performs: a browser, a phone, a person, another team's queue."""

from typing import Any, Final, TypedDict, Unpack

from clew.core.events import Effect, Json, Trust
from clew.core.interfaces import Approve, External, Labels, Parameters, Tool
from clew.support.errors import ConfigError
from clew.support.settings import check_options
from clew.tools.schema import checked, problems

__all__ = ["ExternalOptions", "external"]

_LONGEST: Final = 100 * 366 * 86_400.0
"""A hundred years: no clock goes on for ever."""

_NOTHING: Final[Parameters] = {"type": "object", "properties": {}, "additionalProperties": False}


class ExternalOptions(TypedDict, total=False):
    """What may be said of an external tool: fields of `Tool`."""

    effect: Effect
    trust: Trust
    labels: Labels
    hidden: bool
    version: str
    examples: tuple[dict[str, Json], ...]
    approve: Approve


def external(
    name: str,
    description: str,
    parameters: Parameters | None = None,
    *,
    result: Parameters | None = None,
    timeout: float | None = None,
    fallback: Json = None,
    **options: Unpack[ExternalOptions],
) -> Tool:
    """A tool that somebody else performs: each call waits for its result (`clew.answer`).

    `parameters` and `result` are JSON Schemas. After `timeout` seconds (None: never) the call ends
    without a result, or with the `fallback`. The result is untrusted by default, and the effect
    `unsafe`. Raises `ConfigError` for what does not fit together.
    """
    check_options("an external tool", options, ExternalOptions.__annotations__)
    return checked(
        Tool(
            name, description, _NOTHING if parameters is None else parameters, not_called,
            result=result, external=waiting(timeout, fallback, result, name), **options,
        )
    )  # fmt: skip


def waiting(
    timeout: float | None, fallback: Json, result: Parameters | None, name: str
) -> External:
    """How calls of a tool wait. Raises `ConfigError` for a fallback that can be none."""
    seconds: object = timeout
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if timeout is not None and not (number and 0 < timeout <= _LONGEST):
        raise ConfigError(f"tool {name}: timeout is {timeout!r}: give seconds above 0, or None")
    if fallback is not None and timeout is None:
        raise ConfigError(f"tool {name}: a fallback needs a timeout after which it counts")
    if fallback is not None and result is not None and (wrong := problems(result, fallback)):
        raise ConfigError(f"tool {name}: its fallback does not fit its result: {wrong[0]}")
    return External(timeout, fallback)


async def not_called(args: dict[str, Json], key: str) -> Any:
    """Stands where somebody else performs a call."""
    raise ConfigError(f"call {key} is performed elsewhere, and was called here with {args}")
