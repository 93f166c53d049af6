"""Values that a guard of the application gives a call, and vouches for.

Only what is its own counts: not what the model wrote in this call, what has that in it or stands in
it, nor what an untrusted text has as well, in any spelling. Nobody could tell whose word it is.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from clew.core.trajectory import Call
from clew.core.values import Json
from clew.guards.provenance.spellings import spelled_in_any
from clew.guards.provenance.values import is_choice, leaves, new_keys

BY_GUARD: Final = "the guard "
"""Begins the origin of such a value; the guard's name follows."""


class Vouched:
    """The arguments of a call that guards vouch for, as far as the values are their own."""

    def __init__(self, call: Call, written: Call, untrusted: Iterable[str]) -> None:
        """`written` is the call as the model wrote it; `untrusted` are texts."""
        judged = call.verdict
        amended = judged is not None and judged.verdict.kind == "amend"
        self.last = judged.by if judged is not None and amended else ""
        """The guard that changed the arguments last; "" if none did."""
        told = judged.verdict.origins if judged is not None and amended else {}
        told = {} if written.action.redacted else told
        self._by = {name: of[0].tool for name, of in told.items() if of}
        self._args, self._before, self._untrusted = call.args, written.action.args, untrusted

    def __contains__(self, value: Json) -> bool:
        """Whether some argument has the value by a guard's word."""
        return any(self.source(name, value) for name in self._by)

    def source(self, name: str, value: Json) -> str | None:
        """The guard by whose word an argument has a value, as an origin; None if by nobody's."""
        if name not in self._by or not _has(self._args.get(name), value):
            return None
        return f"{BY_GUARD}{self._by[name]}" if self._is_own(name, value) else None

    def is_new(self, values: Sequence[Json]) -> bool:
        """Whether a guard gave values, and the model wrote none of them."""
        wrote = (part for part in values for each in self._before.values() if _has(each, part))
        return bool(self.last and values) and next(wrote, None) is None

    @cached_property
    def _written(self) -> list[str]:
        """What the model wrote in the call."""
        values = [it for each in self._before.values() for it in _values(each)]
        return [str(it) for it in values if not is_choice(it)]

    def _is_own(self, name: str, value: Json) -> bool:
        if is_choice(value):
            return not _has(self._before.get(name), value)
        if spelled_in_any(value, (*self._written, *self._untrusted)):
            return False
        return not any(spelled_in_any(it, [str(value)]) for it in self._written)


def _values(value: Json) -> list[Json]:
    """The values in a JSON value, and the names of its fields."""
    return [*leaves(value), *new_keys(value, tuple)]


def _has(value: Json, part: Json) -> bool:
    """Whether a JSON value has this very part (True is no 1)."""
    return any(type(it) is type(part) and it == part for it in _values(value))
