"""A store of one's own: whatever it does wrong is one error that names it, as with any part.

Stores that ship are taken as they are: they raise `StoreError` and nothing else.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from functools import cache
from types import NoneType
from typing import Any, Final, cast

import anyio

from clew.core.errors import ClewError
from clew.core.interfaces import Line, RunInfo, Store
from clew.stores.interface import Placed
from clew.support.parts import broken, of_kind

_GIVES: Final[Mapping[str, tuple[type[Any], str]]] = {
    **dict.fromkeys(("create", "open", "epoch", "size"), (int, "a whole number")),
    **dict.fromkeys(("append", "claim"), (bool, "True or False")),
    **dict.fromkeys(("post", "close", "forget", "release"), (NoneType, "nothing")),
    "blob": (bytes, "bytes"),
    "read": (list, "a list of clew.interfaces.Line"),
    "inbox": (list, "a list of pairs, an id and a body"),
    **dict.fromkeys(("runs", "due"), (list, "a list of clew.interfaces.RunInfo")),
    "ids": (list, "a list of texts"),
}
"""What the methods of stores give (`clew.core.interfaces`); a store has those of what it can do."""

_OF: Final[Mapping[str, type]] = {
    "read": Line, "inbox": tuple, "runs": RunInfo, "due": RunInfo, "ids": str,
}  # fmt: skip
"""What the lists among them hold."""


def guarded(store: Store) -> Store:
    """The store, with what it raises, and gives in the wrong type, made into a `PartError`."""
    return cast("Store", _guarded(type(store))(store))


def place_of(store: Store) -> Hashable:
    """What tells where a store keeps its runs, whatever object of this process has it open."""
    store = store.store if isinstance(store, _Guarded) else store
    return store.place if isinstance(store, Placed) else id(store)


class _Guarded:
    """Stands before a store; whatever is no method of stores is the store's own."""

    def __init__(self, store: Any) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


@cache
def _guarded(kind: type) -> type[_Guarded]:
    """A class with the methods that the store has: what it can do is seen by them."""
    methods: dict[str, Any] = {name: _method(kind, name) for name in _GIVES if hasattr(kind, name)}
    if hasattr(kind, "wakes"):
        methods["wakes"] = _wakes
    return type(kind.__name__, (_Guarded,), methods)


def _wakes(self: _Guarded) -> Any:
    return self.store.wakes()


def _method(kind: type, name: str) -> Callable[..., Awaitable[Any]]:
    what = f"the store {kind.__module__}.{kind.__qualname__} ({name})"
    gives, wanted = _GIVES[name]

    async def method(self: _Guarded, *args: Any, **more: Any) -> Any:
        try:
            found = await getattr(self.store, name)(*args, **more)
        except (ClewError, KeyboardInterrupt, anyio.get_cancelled_exc_class()):
            raise
        except BaseException as error:
            raise broken(what, error) from error
        if name == "append" and found is None:
            return False  # it says nothing of its inbox, and is asked
        of_kind(what, found, gives, wanted)
        for one in found if name in _OF else ():
            of_kind(what, one, _OF[name], wanted)
        return found

    return method
