"""Who began a run: a seal over its origin, made with a key that lies outside of every store.

An origin says what an agent is made of: programs, modules, servers, folders. Whoever wrote a record
wrote its origin too, and nothing within a store tells whose it is. So what a user begins is sealed
with a key of that user, on that machine, and an origin without that seal is somebody else's until
the user says otherwise. The seal is of the origin and of the run's id; it says nothing of what
happened in the run since.
"""

import hashlib
import logging
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from clew.core.events import Json
from clew.stores import default_location
from clew.support.errors import ConfigError
from clew.support.private_files import make_folder

SEAL: Final = "seal"
"""Key of the seal in an origin."""

KEY: Final = "key"
"""Name of the file with the key, in the user's data folder."""

TRUSTED: Final = "trusted"
"""Name of the file beside it with the seals of what somebody else began and the user trusts."""

LOG: Final = logging.getLogger("clew")

_ENCODER: Final = msgspec.json.Encoder(order="sorted")


def sealed(run_id: str, origin: Mapping[str, Json]) -> dict[str, Json]:
    """The origin with this user's seal, unless it says nothing.

    Where no key can be kept it stays without one, with a warning: nothing but the trust is lost.
    """
    bare = {name: value for name, value in origin.items() if name != SEAL}
    if not bare:
        return bare
    try:
        return {**bare, SEAL: _seal(_key(make=True), run_id, bare)}
    except OSError as error:
        LOG.warning("run %s is not marked as yours, for no key can be kept: %s", run_id, error)
        return bare


def begun_here(origin: Mapping[str, Json], run_ids: Iterable[str]) -> bool:
    """Whether this user sealed the origin for one of these runs, or has trusted it since."""
    bare = {name: value for name, value in origin.items() if name != SEAL}
    try:
        key = _key()
    except OSError:  # nothing was ever begun here, or nobody can tell
        return False
    good = {_seal(key, run_id, bare) for run_id in run_ids}
    return origin.get(SEAL) in good or not good.isdisjoint(_trusted())


def trust(run_id: str, origin: Mapping[str, Json]) -> None:
    """Remember that the user trusts this origin of this run. Raises `ConfigError`."""
    bare = {name: value for name, value in origin.items() if name != SEAL}
    try:
        line = _seal(_key(make=True), run_id, bare) + "\n"
        with os.fdopen(_private(TRUSTED, os.O_APPEND), "a") as file:
            file.write(line)
    except OSError as error:
        message = f"what you trust cannot be remembered ({error}): make {_folder()} writable"
        raise ConfigError(message) from error


def _folder() -> Path:
    return default_location().parent


def _private(name: str, flag: int) -> int:
    """A file of the data folder opened to be written, for nobody else to read."""
    make_folder(_folder())
    return os.open(_folder() / name, os.O_CREAT | os.O_WRONLY | flag, 0o600)


def _key(*, make: bool = False) -> bytes:
    """The user's key; of several processes that make it at once, all have the first one's."""
    path = _folder() / KEY
    if make and not path.exists():
        draft = f"{KEY}.{secrets.token_hex(8)}"
        with os.fdopen(_private(draft, os.O_EXCL), "w") as file:
            file.write(secrets.token_hex(32))
        with suppress(FileExistsError):
            os.link(_folder() / draft, path)
        (_folder() / draft).unlink()
    try:
        return bytes.fromhex(path.read_text("ascii"))
    except ValueError as error:
        message = f"{path} is no key: delete it (what was begun with it is then not yours any more)"
        raise ConfigError(message) from error


def _seal(key: bytes, run_id: str, origin: Mapping[str, Json]) -> str:
    message = _ENCODER.encode([run_id, origin])
    return hashlib.blake2b(message, key=key, digest_size=16).hexdigest()


def _trusted() -> set[str]:
    with suppress(FileNotFoundError):
        return set((_folder() / TRUSTED).read_text("ascii").split())
    return set()
