"""Tools that somebody else performs: a browser, a phone, a person, another team's queue."""

from typing import Any, Final, TypedDict, Unpack

from clew.core.codes import Effect, Trust
from clew.core.tools import Approve, External, Labels, Parameters, Tool
from clew.core.values import Json
from clew.support.errors import ConfigError
from clew.support.settings import check_options
from clew.tools.schema import checked

__all__ = ["ExternalOptions", "external"]

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
            result=result, external=External(timeout, fallback), **options,
        )
    )  # fmt: skip


async def not_called(args: dict[str, Json], key: str) -> Any:
    """Stands where somebody else performs a call."""
    raise ConfigError(f"call {key} is performed elsewhere, and was called here with {args}")
