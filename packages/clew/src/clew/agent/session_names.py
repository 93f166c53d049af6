"""Names of conversations: the id of a session's run is made of its name and its owner.

So any process finds a conversation without a table of names, two that begin it at once begin one,
and owners do not share names.
"""

import hashlib
import re
import unicodedata
from typing import Final
from urllib.parse import unquote

from clew.support.errors import ConfigError
from clew.support.run_ids import wrong_id
from clew.support.settings import check_text

MAX_SESSION: Final = 100
"""Characters that the name of a session may have."""

_ID: Final = re.compile(r"session:([^@]+)(?:@[0-9a-f]{16})?")


def session_run(session: str, owner: str = "") -> str:
    """The id of the run that a session is. Raises `ConfigError` for a name that cannot be one."""
    check_text("the session", session)
    name = unicodedata.normalize("NFC", session)
    if not name.strip() or len(name) > MAX_SESSION or not name.isprintable():
        message = f"the session {session!r} cannot be named so: give 1 to {MAX_SESSION} characters"
        raise ConfigError(message, field="session")
    digest = f"@{hashlib.blake2b(owner.encode(), digest_size=8).hexdigest()}" if owner else ""
    return f"session:{''.join(map(_escaped, name))}{digest}"


def session_of(run_id: str) -> str:
    """The name of the session that a run is; "" if it is none."""
    match = _ID.fullmatch(run_id)
    return "" if match is None else unquote(match[1].replace("=", "%"))


def _escaped(char: str) -> str:
    """A character as it may stand in the id of a run."""
    if (char.isalnum() or char in "_-.") and not wrong_id(f"x{char}"):
        return char
    return "".join(f"={byte:02X}" for byte in char.encode())
