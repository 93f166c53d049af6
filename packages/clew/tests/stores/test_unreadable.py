"""What an error of the operating system says to do can be done."""

import errno
import os

import pytest

from clew.stores.refusals import unreadable

SPENT = "too many files open"
RIGHTS = "change its rights"
COPY = "restore a copy"


@pytest.mark.parametrize(
    ("number", "said", "unsaid"),
    [
        (errno.EMFILE, SPENT, RIGHTS),
        (errno.ENFILE, SPENT, RIGHTS),
        (errno.EACCES, RIGHTS, SPENT),
        (errno.EPERM, RIGHTS, SPENT),
        (errno.EIO, COPY, RIGHTS),
        (errno.EISDIR, COPY, RIGHTS),
        (errno.ESTALE, COPY, RIGHTS),
    ],
)
def test_the_hint_fits_the_error(number: int, said: str, unsaid: str) -> None:
    message = str(unreadable("runs/r.jsonl", OSError(number, os.strerror(number))))
    assert message.startswith("runs/r.jsonl ")
    assert said in message
    assert unsaid not in message
