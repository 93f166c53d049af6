"""Resolve paths below a folder without ever leaving it.

The walk opens one folder after another (`openat` with `O_NOFOLLOW`). It follows links itself
instead of letting the kernel do so, so a link that is swapped in meanwhile has no effect.
"""

import contextlib
import errno
import os
import unicodedata
from collections.abc import Generator
from typing import Final

from clew.support.errors import ToolError

GIT_FOLDER: Final = ".git"
"""Git's own folder, which no tool reads or writes: its hooks and settings name programs."""

MISSING: Final = -1
"""The folder descriptor of a path whose folders do not exist."""

_LINKS: Final = 40
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def folded(name: str) -> str:
    """A name as the least exact file system compares it: without case, forms and unseen signs."""
    if name.isascii():
        return name.casefold().rstrip(" .")
    told = "".join(sign for sign in name if unicodedata.category(sign) != "Cf")
    return unicodedata.normalize("NFKC", told).casefold().rstrip(" .")


class _PathWalk:
    """A walk: the path components left, and the open folders of those already passed."""

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
        """The path walked so far, from the root."""
        return "/".join([*self.steps, *more]) or "."

    def up(self) -> None:
        """Go to the parent folder."""
        if not self.steps:
            raise ToolError(f"{self.path!r} leads out of the folder: use a path inside it")
        os.close(self.opened.pop())
        self.steps.pop()

    def follow(self, target: str) -> None:
        """Continue with the target of a link."""
        self.links += 1
        if self.links > _LINKS:
            raise ToolError(f"{self.path!r} is a link that leads to itself")
        words = _words(self.root, target, link=self.path)
        while target.startswith("/") and self.steps:
            self.up()
        self.rest[:0] = words

    def enter(self, word: str, *, make: bool) -> bool:
        """Open the next folder. False if it does not exist."""
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(word, dir_fd=self.opened[-1])
        try:
            self.opened.append(os.open(word, _FOLDER, dir_fd=self.opened[-1]))
        except FileNotFoundError:
            return False
        except OSError as error:
            none = error.errno in {errno.ENOTDIR, errno.ELOOP}
            problem = "is not a folder" if none else f"cannot be opened: {error.strerror}"
            raise ToolError(f"{self.where(word)!r} {problem}") from error
        self.steps.append(word)
        return True

    def close(self) -> None:
        """Close all folders."""
        for fd in self.opened:
            os.close(fd)


@contextlib.contextmanager
def open_parent(
    root: str, path: str, *, make: bool = False, folder: bool = False, missing: bool = False
) -> Generator[tuple[int, str, str]]:
    """Open the parent folder of a path: its descriptor, the last name, and the resolved path.

    If the path is a folder (required with `folder`), that folder is opened and the name is "".
    Missing folders are created with `make`; with `missing` they are allowed (`MISSING`).
    Raises `ToolError`.
    """
    way = _PathWalk(root, path)
    try:
        while way.rest:
            word = way.rest.pop(0)
            if word == "..":
                way.up()
            elif folded(word) == GIT_FOLDER:
                raise ToolError(f"{path!r} is git's own: use the tools git_… instead")
            elif (target := _link(word, way.opened[-1])) is not None:
                way.follow(target)
            elif not way.rest and not folder:
                yield way.opened[-1], word, way.where(word)
                return
            elif not way.enter(word, make=make):
                rest = [word, *way.rest]
                if not missing or ".." in rest or GIT_FOLDER in map(folded, rest):
                    hint = "list_files says what there is"
                    raise ToolError(f"there is no folder {way.where(word)!r}: {hint}")
                yield MISSING, rest[-1], way.where(*rest)
                return
        yield way.opened[-1], "", way.where()
    finally:
        way.close()


def _words(root: str, path: str, link: str = "") -> list[str]:
    """The components of a path. An absolute path must begin with the root."""
    if "\0" in path or not path:
        raise ToolError("a path is empty or has a NUL character in it")
    if path.startswith("/"):
        top = root.rstrip("/") + "/"
        if not (path.rstrip("/") + "/").startswith(top):
            subject = f"{link!r} is a link that leads" if link else f"{path!r} leads"
            raise ToolError(f"{subject} out of the folder: use a path inside it, from its top")
        path = path[len(top) :]
    return [word for word in path.split("/") if word not in {"", "."}]


def _link(word: str, folder: int) -> str | None:
    """The target of a link; None for anything else."""
    try:
        return os.readlink(word, dir_fd=folder)
    except UnicodeEncodeError as error:
        raise ToolError("the path contains a name that cannot be encoded") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ToolError("a name in the path is too long") from error
        return None
