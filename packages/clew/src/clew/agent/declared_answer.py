"""The answer that an agent declares for when none is acceptable: checked when it is made."""

from typing import Any

from clew.core.values import Json
from clew.support.error_text import described
from clew.support.errors import ConfigError
from clew.support.parts import short_repr
from clew.support.short_text import one_line
from clew.tools.finish import decode_answer, encode_answer


def encoded_fallback(kind: Any, value: Any) -> Json:
    """The fallback as the record has it. Raises `ConfigError` for what is no answer of the type."""
    try:
        return encode_answer(kind, value)
    except ConfigError:
        raise
    except Exception as error:  # a type's own code may raise anything
        name = kind.__name__ if isinstance(kind, type) else repr(kind)
        message = (
            f"fallback is {short_repr(value)}, which is no {name} "
            f"({one_line(described(error))}): give an answer of that type"
        )
        raise ConfigError(message, field="fallback") from error


def decoded_fallback(kind: Any, value: Json) -> Any:
    """The fallback that an agent file has as JSON. Raises `ConfigError` for what is no answer."""
    if value is None:
        return None
    try:
        return decode_answer(kind, value)
    except ValueError as error:
        message = f"fallback is no answer of this agent: {error}; give one as JSON has it"
        raise ConfigError(message, field="fallback") from error
