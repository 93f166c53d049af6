"""The files of a folder that no path leads out of (`beneath`).

Only ordinary files are opened. What is written takes the place of the old file at once, or not at
all.
"""

import contextlib
import hashlib
import os
import secrets
import stat
from dataclasses import dataclass
from typing import Final

from clew.core.errors import ToolError
from clew.toolbox.workspace.beneath import MISSING, way_to

MOST_BYTES: Final = 20_000_000
"""Bytes of a file that is read whole."""

ABSENT: Final = "-"
"""Stands for the hash of a file that is not there."""

_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TEMPORARY: Final = ".clew-"


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was read: its path below the root, its bytes, its rights and owner."""

    path: str
    data: bytes
    mode: int
    owner: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """What lies in a folder: `kind` is file, folder, link or other; `size` is in bytes."""

    name: str
    kind: str
    size: int = 0


def digest(data: bytes | None) -> str:
    """The name of a content, or of there being none."""
    return ABSENT if data is None else hashlib.sha256(data).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, by its real path. All methods raise `ToolError`, with nothing done."""

    path: str

    def read(self, path: str) -> File:
        """An ordinary file of at most `MOST_BYTES`."""
        found = self.find(path)
        if found is None:
            raise ToolError(f"there is no file {path!r}{self._near(path)}")
        return found

    def find(self, path: str) -> File | None:
        """The same; None if nothing is there."""
        with way_to(self.path, path, missing=True) as (folder, name, where):
            if not name:
                raise ToolError(f"{where} is a folder, not a file")
            return None if folder == MISSING else self._load(folder, name, where)

    def where(self, path: str) -> str:
        """The path below the root that a path leads to, whether a file is there or not."""
        with way_to(self.path, path, missing=True) as (_, name, where):
            if not name:
                raise ToolError(f"{where} is a folder, not a file")
            return where

    def _load(self, folder: int, name: str, where: str) -> File | None:
        try:
            kind = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(kind.st_mode):
                raise ToolError(f"{where} is {_kind(kind.st_mode)}, not a file")
            opened = os.open(name, _FILE, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as error:  # pragma: no cover - an administrator may read everything
            raise ToolError(f"{where} cannot be read: {error.strerror}") from error
        with os.fdopen(opened, "rb") as file:
            is_now = os.fstat(opened)
            if not stat.S_ISREG(is_now.st_mode):  # pragma: no cover - swapped just now
                raise ToolError(f"{where} is {_kind(is_now.st_mode)}, not a file")
            if is_now.st_size > MOST_BYTES:
                size = f"{is_now.st_size:,} bytes, and {MOST_BYTES:,} are read"
                raise ToolError(f"{where} has {size}: use a command that reads a part of it")
            data = file.read(MOST_BYTES + 1)
        mode, owner = stat.S_IMODE(is_now.st_mode), (is_now.st_uid, is_now.st_gid)
        return File(where, data[:MOST_BYTES], mode, owner)

    def entries(self, path: str) -> tuple[str, list[Entry]]:
        """The path of a folder below the root, and what is in it, by name."""
        with way_to(self.path, path, folder=True) as (folder, _, where):
            found: list[Entry] = []
            with os.scandir(folder) as inside:
                for each in inside:
                    with contextlib.suppress(FileNotFoundError):
                        seen = each.stat(follow_symlinks=False)
                        kind = _KINDS.get(stat.S_IFMT(seen.st_mode), "other")
                        found.append(Entry(_written(each.name), kind, seen.st_size))
        return where, sorted(found, key=lambda entry: entry.name)

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder at this path."""
        try:
            with way_to(self.path, path, folder=True):
                return True
        except ToolError:
            return False

    def replace(self, path: str, data: bytes | None, *, before: str, like: File | None) -> None:
        """Put the content in the place of the file, if its hash is `before`; None removes it.

        On disk when this returns. The rights are those of `like`. A folder that is missing is made.
        """
        with way_to(self.path, path, make=data is not None) as (folder, name, where):
            if not name:
                raise ToolError(f"{where} is a folder, not a file")
            now = self._load(folder, name, where)
            if digest(None if now is None else now.data) != before:
                raise ToolError(f"{where} was changed meanwhile: read it again")
            try:
                if data is None:
                    os.unlink(name, dir_fd=folder)
                else:
                    _put(folder, name, data, like, new=now is None)
                os.fsync(folder)
            except FileExistsError as error:  # pragma: no cover - made just now
                raise ToolError(f"{where} was made meanwhile: read it first") from error

    def _near(self, path: str) -> str:
        """A hint where the file may be meant that is not there."""
        folder, _, name = path.rstrip("/").rpartition("/")
        try:
            inside = [entry.name for entry in self.entries(folder or ".")[1]]
        except ToolError:
            return f": there is no folder {folder!r} either; list_files says what there is"
        alike = [one for one in inside if one.lower() == name.lower()]
        close = alike or [one for one in inside if one.split(".")[0] == name.split(".")[0]]
        hint = f"did you mean {close[0]!r}?" if close else "list_files says what there is"
        return f": {hint}"


def _put(folder: int, name: str, data: bytes, like: File | None, *, new: bool) -> None:
    """Write a file beside the old one and move it there; a new one must not be there yet."""
    temporary = _TEMPORARY + secrets.token_hex(8)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(temporary, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(data)
            file.flush()
            if like is not None:
                _dress(opened, like)
            os.fsync(opened)
        if new:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


def _dress(opened: int, like: File) -> None:
    """Give a file the owner, as far as that is allowed, and the rights of another."""
    with contextlib.suppress(PermissionError):
        os.fchown(opened, *like.owner)
    os.fchmod(opened, like.mode & 0o777)


_KINDS: Final = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}


def _kind(mode: int) -> str:
    names = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return names.get(stat.S_IFMT(mode), "something else")


def _written(name: str) -> str:
    """A name as text; bytes that are none are shown as they are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
