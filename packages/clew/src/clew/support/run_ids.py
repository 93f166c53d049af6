"""What the id of a run may be: one rule for runs that are begun, forked, submitted or imported."""

import os
import re
import time
from typing import Final

from clew.support.errors import ConfigError
from clew.support.short_text import cut

LAST: Final = "last"
"""What people write for the newest run, whose id they need not know."""

_ID: Final = re.compile(
    "(?!.*[\u115f\u1160\u3164\uffa0])"  # letters, says Unicode, that nobody sees
    r"\w[\w.:@+=-]*(/\w[\w.:@+=-]*)*"
)
"""People copy an id into shells, tables and addresses, and it names a folder of logs.

So it has no space, control character or sign of a shell, is no option, and leads out of no folder.
"""


def new_run_id() -> str:
    """A fresh id: sorts by time, has 32 random bits, is safe in file names and shells."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(4).hex()}"


def wrong_id(run_id: str) -> str:
    """What is wrong with the id of a run; "" if nothing is."""
    if run_id == LAST:
        return f"{run_id!r} means the newest run, whichever that is"
    if _ID.fullmatch(run_id) is None:
        return (
            f"{cut(repr(run_id), 300)} may have letters, digits and any of _ - . : @ + = only, or "
            "several such names with a / between them, each begun by a letter, a digit or _"
        )
    return ""


def check_run_id(run_id: object) -> None:
    """Raise `ConfigError` unless a run that is begun may have this id; "" stands for a new one."""
    if not isinstance(run_id, str):
        message = f"run_id is {cut(repr(run_id), 300)}: give a text"
        raise ConfigError(message)
    if run_id and (wrong := wrong_id(run_id)):
        message = f"no run can have this id: {wrong}; choose another"
        raise ConfigError(message)
