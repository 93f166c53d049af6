"""A store of somebody's own, with no more than a store must have."""

from clew import MemoryStore
from clew.interfaces import Store


class BareStore:
    """The methods of `Store`, and none by which runs are forgotten, claimed or found again."""

    def __init__(self) -> None:
        inner = MemoryStore()
        for name in vars(Store):
            if not name.startswith("_"):
                setattr(self, name, getattr(inner, name))
