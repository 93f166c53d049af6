"""Stores keep records: in memory, in an SQLite file (the default), in PostgreSQL."""

import importlib
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeAlias

import anyio

from clew.core.stores import Store
from clew.stores.address import has_password, is_address, scheme_of, without_password
from clew.stores.interface import Deletes, Locks, Notifies, Owns, Pages, Recovers
from clew.stores.refusals import failed
from clew.stores.user_store import guarded
from clew.support.arguments import NONE, check_argument
from clew.support.errors import (
    ConfigError,
    FencedError,
    RunBusyError,
    RunExistsError,
    RunNotFoundError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreNewerError,
    StoreUnreachableError,
)
from clew.support.street import is_shipped
from clew.support.wings import STORES, find, names

__all__ = [
    "Deletes",
    "FencedError",
    "Locks",
    "Notifies",
    "Owns",
    "Pages",
    "Recovers",
    "RunBusyError",
    "RunExistsError",
    "RunNotFoundError",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreNewerError",
    "StoreUnreachableError",
    "Where",
    "default_location",
    "has_password",
    "is_address",
    "open_store",
    "scheme_of",
    "store_at",
    "store_file",
    "without_password",
]  # fmt: skip


Where: TypeAlias = Store | str | Path | None
"""A store, or its place as `open_store` takes it."""

_WANTED: Final = 'a store, its place as "runs.sqlite", or None for the usual one'


def open_store(where: str | Path | None = None) -> Store:
    """Open the store at `where`, creating it if it is missing. Raises `StoreError`.

    `memory:` is a `MemoryStore`. `postgresql://…` is a `PostgresStore`, which connects when it is
    first used. Installed packages may add schemes; any other address is refused. Any other path is
    the file of a `SqliteStore`; a `.jsonl` file is an archive to import. None means
    `$CLEW_STORE`, else the file `runs.sqlite` in the user's data folder.
    """
    check_argument("store", where, (str, os.PathLike, NONE), _WANTED)
    named = str(where or os.environ.get("CLEW_STORE") or default_location())
    if named in {"memory:", ":memory:"}:
        return _shipped("clew.stores.memory", "MemoryStore")()
    if "://" in named and (scheme := scheme_of(named)):
        return _store_at(named, scheme)
    return _shipped("clew.stores.sqlite.store", "SqliteStore")(store_file(named))


def _shipped(module: str, name: str) -> Callable[..., Store]:
    """A store of clew's, imported when it is opened: who keeps runs elsewhere needs no SQLite."""
    try:
        opened: Callable[..., Store] = getattr(importlib.import_module(module), name)
    except OSError as error:  # a module is a file too, and there may be no descriptor left for it
        raise failed("the store", error) from error
    return opened


@asynccontextmanager
async def store_at(where: Where) -> AsyncGenerator[Store]:
    """The store at a place; it is closed afterwards if it was opened here."""
    if where is None or isinstance(where, str | Path):
        store = open_store(where)
        try:
            yield store
        finally:
            with anyio.CancelScope(shield=True):  # a database keeps whatever is not let go of
                await store.close()
    else:
        if not _is_store(where):
            check_argument("store", where, (str, Path, NONE), _WANTED)
        yield where if is_shipped(type(where)) else guarded(where)


def _is_store(candidate: object) -> bool:
    """Whether it has what every store has, which neither lists, files nor classes have."""
    methods = [getattr(candidate, name, None) for name in ("append", "read")]
    return not isinstance(candidate, type) and all(map(callable, methods))


def store_file(named: str) -> Path:
    """The file of the SQLite store at this place.

    Raises `StoreError` for a folder, or for a `.jsonl` file, which may be an archive.
    """
    path = Path(named).expanduser()
    folder = os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises where one may not look
    if folder or path.suffix == ".jsonl" or named.endswith(("/", os.sep)):
        message = (
            f"{named} is no store: name a file such as runs.sqlite; if it is an archive, "
            f"`clew records import {named}` brings its runs into a store"
        )
        raise StoreError(message)
    return path


def _store_at(address: str, scheme: str) -> Store:
    """The store that the scheme of an address names, of those that are installed."""
    try:
        opened: Callable[[str], Store] | None = find(STORES, scheme.removesuffix("://"))
    except ConfigError as error:
        raise StoreError(str(error)) from error
    if opened is None:
        known = " or ".join(["a file", *(f"{name}://…" for name in names(STORES))])
        raise StoreError(f"{without_password(address)} is no store: name {known}")
    return opened(address)


def default_location() -> Path:
    """The user's own store, in the platform's folder for such data."""
    dirs = importlib.import_module("platformdirs")  # dear to import, and most name their store
    folder: Path = dirs.user_data_path("clew", appauthor=False)
    return folder / "runs.sqlite"
