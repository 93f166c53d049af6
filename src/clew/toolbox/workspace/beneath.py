"""A way down from a folder, one open folder after another, that never leads out of it.

Links are followed here and not by the kernel, so that one which is swapped in meanwhile leads
nowhere. Nothing is opened but folders.
"""

import contextlib
import errno
import os
from collections.abc import Generator
from typing import Final

from clew.core.errors import ToolError

OWN: Final = ".git"
"""The folder that only git writes, and no tool reads: its hooks and settings are programs."""

MISSING: Final = -1
"""Stands for the open folder of a path whose folders are not there."""

_LINKS: Final = 40
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _Way:
    """The words of a path that are left, and the folders that were entered for the others."""

    def __init__(self, root: str, path: str) -> None:
        self.root, self.path = root, path
        self.rest = _words(root, path)
        self.steps: list[str] = []
        self.links = 0
        try:
            self.opened = [os.open(root, _FOLDER)]
        except OSError as error:
            raise ToolError(f"the folder itself cannot be opened: {error.strerror}") from error

    def where(self, *more: str) -> str:
        """The path that was gone so far, from the root."""
        return "/".join([*self.steps, *more]) or "."

    def up(self) -> None:
        """Go back to the folder above."""
        if not self.steps:
            raise ToolError(f"{self.path!r} leads out of the folder: use a path inside it")
        os.close(self.opened.pop())
        self.steps.pop()

    def follow(self, target: str) -> None:
        """Go on where a link leads."""
        self.links += 1
        if self.links > _LINKS:
            raise ToolError(f"{self.path!r} is a link that leads to itself")
        words = _words(self.root, target, link=self.path)
        while target.startswith("/") and self.steps:
            self.up()
        self.rest[:0] = words

    def enter(self, word: str, *, make: bool) -> bool:
        """Open the next folder. False if it is not there."""
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(word, dir_fd=self.opened[-1])
        try:
            self.opened.append(os.open(word, _FOLDER, dir_fd=self.opened[-1]))
        except FileNotFoundError:
            return False
        except OSError as error:
            none = error.errno in {errno.ENOTDIR, errno.ELOOP}
            said = "is not a folder" if none else f"cannot be opened: {error.strerror}"
            raise ToolError(f"{self.where(word)!r} {said}") from error
        self.steps.append(word)
        return True

    def close(self) -> None:
        """Close all folders."""
        for fd in self.opened:
            os.close(fd)


@contextlib.contextmanager
def way_to(
    root: str, path: str, *, make: bool = False, folder: bool = False, missing: bool = False
) -> Generator[tuple[int, str, str]]:
    """The open folder of a path, the last name in it, and both as a path from the root.

    The name is "" where the path leads to a folder that is opened itself, as with `folder` it must.
    Folders that are not there are made with `make`; with `missing` they do not matter (`MISSING`).
    Raises `ToolError`.
    """
    way = _Way(root, path)
    try:
        while way.rest:
            word = way.rest.pop(0)
            if word == "..":
                way.up()
            elif word.lower() == OWN:
                raise ToolError(f"{path!r} is git's own: use the tools git_… instead")
            elif (target := _link(word, way.opened[-1])) is not None:
                way.follow(target)
            elif not way.rest and not folder:
                yield way.opened[-1], word, way.where(word)
                return
            elif not way.enter(word, make=make):
                rest = [word, *way.rest]
                if not missing or ".." in rest or OWN in map(str.lower, rest):
                    said = "list_files says what there is"
                    raise ToolError(f"there is no folder {way.where(word)!r}: {said}")
                yield MISSING, rest[-1], way.where(*rest)
                return
        yield way.opened[-1], "", way.where()
    finally:
        way.close()


def _words(root: str, path: str, link: str = "") -> list[str]:
    """The steps of a path. One that is absolute must begin with the root's own."""
    if "\0" in path or not path:
        raise ToolError("a path is empty or has a NUL character in it")
    if path.startswith("/"):
        top = root.rstrip("/") + "/"
        if not (path.rstrip("/") + "/").startswith(top):
            said = f"{link!r} is a link that leads" if link else f"{path!r} leads"
            raise ToolError(f"{said} out of the folder: use a path inside it, from its top")
        path = path[len(top) :]
    return [word for word in path.split("/") if word not in {"", "."}]


def _link(word: str, folder: int) -> str | None:
    """Where a link leads; None for everything else."""
    try:
        return os.readlink(word, dir_fd=folder)
    except UnicodeEncodeError as error:
        raise ToolError("a name in the path is no text that a file can have") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ToolError("a name in the path is too long") from error
        return None
