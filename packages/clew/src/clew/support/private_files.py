"""Files and folders of our own that only their owner may read, from the moment they are made.

What is there already keeps its rights: whoever shares a store gives them.
"""

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from clew.support.errors import ConfigError

_FILE: Final = 0o600
_FOLDER: Final = 0o700


def make_folder(folder: Path) -> None:
    """Have a folder there; those that are missing above it are made with it. Raises `OSError`."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=_FOLDER, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file. Raises `OSError`, such as `FileExistsError`: that file is not touched.

    (To open and close a file would take the locks from it that SQLite holds for this process.)
    """
    os.close(os.open(path.resolve(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, _FILE))


def opener(path: str, flags: int) -> int:
    """For `open(…, opener=opener)`: a file that is made by it is private."""
    return os.open(path, flags, _FILE)


def write_text(path: Path, text: str) -> None:
    """Write a file anew; half a character is written as Python shows it."""
    with open(path, "w", encoding="utf-8", errors="backslashreplace", opener=opener) as file:
        file.write(text)


@contextmanager
def new_file(path: Path) -> Generator[BinaryIO]:
    """A file to write, which has its name once it is whole and safe on the disk.

    Raises `ConfigError` where there is one of this name, or none can be written.
    """
    if path.exists():
        message = f"{path} is there already: name a new file"
        raise ConfigError(message)
    draft = path.with_name(f"{path.name}.part")
    try:
        with open(draft, "wb", opener=opener) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        message = f"{path} cannot be written ({error.strerror}): name another file"
        raise ConfigError(message) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
