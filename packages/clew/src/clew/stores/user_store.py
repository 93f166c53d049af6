"""A store of one's own: whatever it does wrong is one error that names it, as with any part.

Stores that ship are taken as they are: they raise `StoreError` and nothing else.
"""

from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Any, Final, cast

import anyio
import msgspec

from clew.core.stores import Line, RunInfo, Store
from clew.stores.interface import Placed
from clew.support.errors import ClewError
from clew.support.parts import broken, wrong

_GIVES: Final[Mapping[str, tuple[Any, str]]] = {
    **dict.fromkeys(("create", "open", "epoch", "size", "foreign"), (int, "a whole number")),
    **dict.fromkeys(("append", "claim"), (bool, "True or False")),
    **dict.fromkeys(("post", "close", "forget", "release", "adopt"), (None, "nothing")),
    "blob": (bytes, "bytes"),
    **dict.fromkeys(("read", "read_page"), (list[Line], "a list of clew.interfaces.Line")),
    "inbox": (list[tuple[Any, Any]], "a list of pairs, an id and a body"),
    **dict.fromkeys(
        ("runs", "select", "due"), (list[RunInfo], "a list of clew.interfaces.RunInfo")
    ),
    "ids": (list[str], "a list of texts"),
}
"""What the methods of stores give (`clew.core.stores`); a store has those of what it can do."""


def guarded(store: Store) -> Store:
    """The store, with what it raises, and gives in the wrong type, made into a `PartError`."""
    return cast("Store", _Guarded(store))


def unguarded(store: Store) -> Store:
    """The user's own store."""
    return store.store if isinstance(store, _Guarded) else store


def location_of(store: Store) -> Hashable:
    """What tells where a store keeps its runs, whatever object of this process has it open."""
    store = unguarded(store)
    return store.location if isinstance(store, Placed) else id(store)


class _Guarded:
    """Stands before a store; whatever is no method of stores is the store's own."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __getattr__(self, name: str) -> Any:
        own = getattr(self.store, name)
        if own is None or name not in _GIVES:
            return own
        kind = type(self.store)
        return _checked(f"the store {kind.__module__}.{kind.__qualname__} ({name})", name, own)


def _checked(what: str, name: str, method: Callable[..., Awaitable[Any]]) -> Any:
    gives, wanted = _GIVES[name]

    async def checked(*args: Any, **more: Any) -> Any:
        try:
            answer = await method(*args, **more)
        except (ClewError, KeyboardInterrupt, anyio.get_cancelled_exc_class()):
            raise
        except BaseException as error:
            raise broken(what, error) from error
        if name == "append" and answer is None:
            return False  # it says nothing of its inbox, and is asked
        try:
            return msgspec.convert(answer, gives)
        except msgspec.ValidationError as error:
            raise wrong(what, answer, wanted) from error

    return checked
