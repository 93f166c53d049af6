"""How the contract for models says what failed: in one line that begins with the check's name."""

from functools import wraps
from typing import cast

from clew_testing.model_samples import Check, ModelFactory


def in_one_line(*checks: Check) -> tuple[Check, ...]:
    """The checks, each of which raises nothing but an `AssertionError` of one line.

    What the model raised, in whatever task, is its cause.
    """
    return tuple(map(_in_one_line, checks))


def _in_one_line(check: Check) -> Check:
    name = getattr(check, "__name__", "a check")

    @wraps(check)
    async def checked(maker: ModelFactory) -> None:
        try:
            await check(maker)
        except Exception as error:  # noqa: BLE001 - whatever it is, the check failed
            raised = _only(error)
            words = " ".join(str(raised).split())
            kind = (
                ""
                if isinstance(raised, AssertionError)
                else f"{type(raised).__name__} was raised: "
            )
            raise AssertionError(f"{name}: {kind}{words}".rstrip(": ")) from raised

    return checked


def _only(error: Exception) -> Exception:
    """The error itself, or the first one of a group."""
    if not isinstance(error, ExceptionGroup):
        return error
    group = cast("ExceptionGroup[Exception]", error)
    return _only(group.exceptions[0])
