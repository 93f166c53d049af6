"""Where records lie, and which run a person means."""

import os
import shlex
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from clew import ConfigError, SqliteStore, StoreError
from clew.interfaces import Store
from clew.stores import (
    RunNotFoundError,
    default_location,
    scheme_of,
    store_at,
    without_password,
)
from clew.support.nearest_name import did_you_mean
from clew.support.run_ids import LAST

MAX_LISTED: Final = 5
MANY: Final = 100
NEAR: Final = 200
"""So many runs that fit are counted, and so many of the last are looked at for one that is near."""


def store_location(store: str | None) -> str:
    """The place that `--store`, CLEW_STORE or the platform names."""
    return str(store or os.environ.get("CLEW_STORE") or default_location())


def redacted_location(store: str | None) -> str:
    """The same as it may be shown: an address without its password."""
    return without_password(store_location(store))


def shared_location(store: str | None) -> str:
    """The place, where another process finds it too. Raises `ConfigError`."""
    named = store_location(store)
    if named in {"memory:", ":memory:"}:
        message = (
            f"no other process sees a store in memory: name a file or postgresql://… for {named}"
        )
        raise ConfigError(message)
    return named


def exists(store: str | None) -> bool:
    """Whether anything is at the place of the store. Raises `StoreError` where one may not look.

    An address is taken for there: whoever opens it hears whether it is. So does whoever opens a
    file that is lost, while others of its store are there.
    """
    if scheme_of(store_location(store)):
        return True
    try:
        path = Path(store_location(store)).expanduser()
        return path.exists() or SqliteStore.was_at(path)
    except OSError as error:
        message = (
            f"{store_location(store)} cannot be looked at ({error.strerror}): name another store"
        )
        raise StoreError(message) from error


@asynccontextmanager
async def existing(store: str | None) -> AsyncGenerator[Store]:
    """The store at its place, where there is one: reading makes none."""
    if not exists(store):
        message = (
            f"there are no runs yet at {redacted_location(store)}: `clew ask QUESTION` makes the "
            "first"
        )
        raise ConfigError(message)
    async with store_at(store) as opened:
        yield opened


async def find_run(store: Store, named: str) -> str:
    """The id a person means: whole, its beginning where only one run has it, or `last`.

    Where none begins so: its end.
    """
    if named == LAST and (newest := await store.runs(1)):
        return newest[0].run_id
    fitting = await store.ids(named, MANY) if named and _is_text(named) else []
    if named in fitting:
        return named
    if named and _is_text(named):
        with suppress(RunNotFoundError):
            await store.inbox(named)  # raises where that run was lost, whichever others fit
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        some = ", ".join(fitting[:MAX_LISTED])
        count = f"{len(fitting)}" if len(fitting) < MANY else f"{MANY} or more"
        message = f"{named!r} fits {count} runs ({some} …): write more of the id"
        raise ConfigError(message)
    known = [info.run_id for info in await store.runs(NEAR)]
    hint = did_you_mean(named, known, "`clew runs` lists them")
    message = f"there is no run {named!r}: {hint}"
    raise ConfigError(message)


def _is_text(text: str) -> bool:
    """Whether it can be the id of a run: not with bytes that are no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def command(verb: str, run_id: str, *more: str, store: str | None = None) -> str:
    """A command line to copy: it names the store where one was given, but for its password."""
    where = ("--store", without_password(store)) if store else ()
    return shlex.join(["clew", *verb.split(), run_id, *more, *where])
