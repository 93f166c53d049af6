"""Protocols that say what an object can do by the attributes it has, on every Python alike.

From 3.12 on, `isinstance` with a protocol looks only at what a class defines: an object that wraps
another and passes its methods on by `__getattr__` would be taken for one that has none.
"""

from typing import (
    Any,
    Protocol,
    _ProtocolMeta,  # pyright: ignore[reportPrivateUsage]  # no public name is a class to checkers
)

_ASKED = dict[type, tuple[str, ...]]()
"""The names that each protocol asks for, with those of the protocols that it extends."""


class Structural(_ProtocolMeta):
    """The metaclass of protocols that may be asked for with `isinstance`.

    An object has a member if the attribute can be read from it and is not None.
    """

    def __init__(
        self, name: str, bases: tuple[type, ...], members: dict[str, Any], /, **more: Any
    ) -> None:
        super().__init__(name, bases, members, **more)
        if _is_protocol(self):
            _ASKED[self] = _asked(self)

    def __instancecheck__(self, instance: object) -> bool:
        """Whether the object can do this, or inherits from it."""
        names = _ASKED.get(self)
        if names is None:  # it implements a protocol
            return super().__instancecheck__(instance)
        inherits = type(instance).__mro__.count(self) > 0
        return inherits or all(getattr(instance, name, None) is not None for name in names)


def _asked(protocol: type) -> tuple[str, ...]:
    asked = [base for base in protocol.__mro__ if _is_protocol(base)]
    names = [name for base in asked for name in (*base.__dict__, *base.__annotations__)]
    wanted = (name for name in names if name == "__call__" or not name.startswith("_"))
    return tuple(dict.fromkeys(wanted))


def _is_protocol(kind: type) -> bool:
    return kind is not Protocol and bool(kind.__dict__.get("_is_protocol", False))
