"""Read a few lines of a run without all that follow them, from whatever store."""

from collections.abc import Callable
from typing import Any

from clew.core.stores import Line, Store
from clew.stores.interface import Pages
from clew.stores.user_store import unguarded


async def read_page(store: Store, run_id: str, after: int, limit: int) -> list[Line]:
    """The first `limit` lines of a run over number `after`.

    A store that cannot read pages reads all that follow.
    """
    return (await read_some(store, run_id, after, limit))[: max(limit, 0)]


async def read_some(store: Store, run_id: str, after: int, limit: int) -> list[Line]:
    """The first `limit` lines of a run over number `after`, or all that follow.

    So nothing is read again for the next lines where a store cannot read pages.
    """
    if isinstance(store, Pages) and _reads_alike(unguarded(store)):
        return await store.read_page(run_id, after, limit)
    return await store.read(run_id, after)


def _reads_alike(store: Any) -> bool:
    """Whether pages and lines are read by one class.

    Who extends or wraps a store that ships, and changes what `read` gives, as by a cipher, knows
    nothing of pages: those would come as they lie there.
    """
    return _reader(store.read) == _reader(store.read_page)


def _reader(method: Callable[..., Any]) -> tuple[int, type | None]:
    """The object whose method it is, and the class that has it."""
    its: object = getattr(method, "__self__", None)
    name: str = getattr(method, "__name__", "")
    return id(its), next((kind for kind in type(its).__mro__ if name in vars(kind)), None)
