"""Whose lines a store has: a mark beside each line that this user's processes wrote.

Whoever wrote a record wrote every word of it, so nothing within it tells whose it is. A mark stands
beside its line, in the store's own tables and in no export. It is made with a key that lies outside
of every store, in the user's data folder, over the run's id and the line's hash, which chains all
lines before it. So a line that was imported, or written into the file by anybody else, has none.
"""

import logging
import os
import secrets
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from clew.stores import default_location
from clew.support.errors import ConfigError
from clew.support.private_files import make_folder

KEY: Final = "key"
"""Name of the file with the key, in the user's data folder."""

MARK_BYTES: Final = 16

LOG: Final = logging.getLogger("clew")

_UNKEPT: Final = secrets.token_bytes(32)
"""The key of this process alone, where none can be kept."""


def user_key() -> bytes:
    """The user's key; of several processes that make it at once, all have the first one's.

    Where none can be kept it is this process's own, with a warning: what it wrote is nobody's
    afterwards. Raises `ConfigError` for a file that holds no key.
    """
    path = default_location().parent / KEY
    try:
        if not path.exists():
            _make(path)
        key = bytes.fromhex(path.read_text("ascii"))
    except OSError as error:
        LOG.warning("runs are not marked as yours, for no key can be kept: %s", error)
        return _UNKEPT
    except ValueError:
        key = b""
    if len(key) != len(_UNKEPT):
        message = f"{path} is no key: delete it (what was begun with it is then not yours any more)"
        raise ConfigError(message)
    return key


def mark(key: bytes, run_id: str, of: bytes) -> bytes:
    """The mark of a line with this hash, or of a message with this body, of the run."""
    return blake2b(run_id.encode() + b"\0" + of, key=key, digest_size=MARK_BYTES).digest()


def _make(path: Path) -> None:
    make_folder(path.parent)
    draft = path.with_name(f"{KEY}.{secrets.token_hex(8)}")
    opened = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
    with os.fdopen(opened, "w") as file:
        file.write(secrets.token_hex(len(_UNKEPT)))
    with suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()
