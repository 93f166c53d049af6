"""Where records lie: in memory, in readable files, or in an SQLite file (the default)."""

import os
from pathlib import Path

import platformdirs

from clew.protocols import Store
from clew.stores.jsonl import JsonlStore
from clew.stores.memory import MemoryStore
from clew.stores.sqlite import SqliteStore

__all__ = ["JsonlStore", "MemoryStore", "SqliteStore", "open_store"]


def open_store(where: str | Path | None = None) -> Store:
    """Open the store at `where`, making it if it is missing. Raises `StoreError`.

    `memory:` is a `MemoryStore`; a folder (one that is there, or a name that ends in a slash or in
    `.jsonl`) is a `JsonlStore`; any other path is the file of a `SqliteStore`. None means
    `$CLEW_STORE`, or else the file `runs.sqlite` in the user's data folder.
    """
    named = str(where or os.environ.get("CLEW_STORE") or default_place())
    if named in {"memory:", ":memory:"}:
        return MemoryStore()
    path = Path(named).expanduser()
    folder = os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises where one may not look
    if folder or path.suffix == ".jsonl" or named.endswith(("/", os.sep)):
        return JsonlStore(path)
    return SqliteStore(path)


def default_place() -> Path:
    """The user's own store, where the platform keeps such data."""
    return platformdirs.user_data_path("clew", appauthor=False) / "runs.sqlite"
