"""Patterns that somebody else wrote: matched in a time linear in the text, or not at all.

Python's `re` goes back and tries again: forty letters and `(a+)+$` take for ever, and the event
loop with them.
"""

from functools import lru_cache
from typing import Final

import jsonschema_rs

_BYTES: Final = 1 << 16
"""How large a compiled pattern may be: a step over one character may take a time like that."""

LINEAR: Final = jsonschema_rs.RegexOptions(size_limit=_BYTES, dfa_size_limit=1 << 20)
"""How a validator treats patterns that must not take long; one that looks about has no place."""


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> jsonschema_rs.Draft202012Validator | None:
    try:
        return jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=LINEAR)
    except ValueError:
        return None


def is_linear(pattern: str) -> bool:
    """Whether the pattern can be matched in linear time, and is a small one."""
    return _compiled(pattern) is not None


def may_match(pattern: str, text: str) -> bool:
    """Whether the text holds the pattern; True where that cannot be said in linear time."""
    check = _compiled(pattern)
    return check is None or check.is_valid(text)
