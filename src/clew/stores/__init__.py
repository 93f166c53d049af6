"""Where records lie: memory, readable files, an SQLite file (the default), PostgreSQL."""

import importlib
import os
from pathlib import Path

from clew.errors import StoreError
from clew.extras import install
from clew.protocols import Store
from clew.stores.jsonl import JsonlStore
from clew.stores.memory import MemoryStore
from clew.stores.postgres_address import has_password, is_address, scheme_of, shown
from clew.stores.sqlite import SqliteStore

__all__ = [
    "JsonlStore", "MemoryStore", "SqliteStore", "default_place", "has_password", "is_address",
    "open_store", "scheme_of", "shown",
]  # fmt: skip


def open_store(where: str | Path | None = None) -> Store:
    """Open the store at `where`, making it if it is missing. Raises `StoreError`.

    `memory:` is a `MemoryStore`; a folder (one that is there, or a name that ends in a slash or in
    `.jsonl`) is a `JsonlStore`; `postgresql://…` is a `PostgresStore`, which connects when it is
    first used, and an address of anything else is refused; any other path is the file of a
    `SqliteStore`. None means `$CLEW_STORE`, or else the file `runs.sqlite` in the user's data
    folder.
    """
    named = str(where or os.environ.get("CLEW_STORE") or default_place())
    if named in {"memory:", ":memory:"}:
        return MemoryStore()
    if is_address(named):
        return _postgres(named)
    if scheme_of(named):
        message = f"{shown(named)} is no store: name a file, a folder/ or postgresql://…"
        raise StoreError(message)
    path = Path(named).expanduser()
    folder = os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises where one may not look
    if folder or path.suffix == ".jsonl" or named.endswith(("/", os.sep)):
        return JsonlStore(path)
    return SqliteStore(path)


def _postgres(address: str) -> Store:
    """The store of an optional extra, loaded when its address is given."""
    try:
        store: Store = importlib.import_module("clew.stores.postgres").PostgresStore(address)
    except ImportError as error:
        missing = (error.name or "libpq").partition(".")[0]  # for its want psycopg names nothing
        message = f"a PostgreSQL store needs {missing}: {install('postgres')}"
        raise StoreError(message) from error
    return store


def default_place() -> Path:
    """The user's own store, where the platform keeps such data."""
    dirs = importlib.import_module("platformdirs")  # dear to import, and most name their store
    folder: Path = dirs.user_data_path("clew", appauthor=False)
    return folder / "runs.sqlite"
