"""The files of a folder that no path leads out of (`safe_path`).

Only regular files are opened. A written file replaces the old one atomically, or not at all. The
caller holds the lock of the folder (`gate`) from reading a file until it is replaced.
"""

import contextlib
import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from clew.support.errors import ToolError
from clew_code.workspace.protection import why_protected
from clew_code.workspace.repositories import named_by_settings
from clew_code.workspace.safe_path import MISSING, open_parent

MAX_BYTES: Final = 20_000_000
"""The largest file that is read, in bytes."""

ABSENT: Final = "-"
"""The hash of an absent file."""

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TEMPORARY: Final = ".clew-"
_LEFT_OVER: Final = re.compile(r"\.clew-[0-9a-f]{16}")
_VERSION: Final = 12


@dataclass(frozen=True, slots=True)
class File:
    """A file as read: its path below the root, bytes, permissions, owner and number of names."""

    path: str
    data: bytes
    mode: int
    owner: tuple[int, int]
    links: int = 1


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """An entry of a folder: `kind` is file, folder, link or other; `size` is in bytes."""

    name: str
    kind: str
    size: int = 0


def digest(data: bytes | None) -> str:
    """The hash of a content, or `ABSENT`."""
    return ABSENT if data is None else hashlib.sha256(data).hexdigest()[:32]


def version(data: bytes | None) -> str:
    """The version of a content, as a model is told it: the first digits of its hash."""
    return digest(data)[:_VERSION]


@dataclass(frozen=True, slots=True)
class Root:
    """A folder, by its real path. All methods raise `ToolError` with nothing done.

    `protected` are files and folders, by their real paths, that are not written.
    """

    path: str
    protected: tuple[str, ...] = ()

    def read(self, path: str) -> File:
        """A regular file of at most `MAX_BYTES`."""
        file = self.find(path)
        if file is None:
            raise ToolError(f"there is no file {path!r}{self._suggestion(path)}")
        return file

    def find(self, path: str) -> File | None:
        """The same, or None if there is no file."""
        with open_parent(self.path, path, missing=True) as (folder, name, where):
            if not name:
                raise ToolError(f"{where} is a folder, not a file")
            return None if folder == MISSING else self._load(folder, name, where)

    def where(self, path: str) -> str:
        """The resolved path below the root, whether the file exists or not."""
        with open_parent(self.path, path, missing=True) as (_, name, where):
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
            if is_now.st_size > MAX_BYTES:
                size = f"{is_now.st_size:,} bytes, and {MAX_BYTES:,} are read"
                raise ToolError(f"{where} has {size}: use a command that reads a part of it")
            data = file.read(MAX_BYTES + 1)
        mode, owner = stat.S_IMODE(is_now.st_mode), (is_now.st_uid, is_now.st_gid)
        return File(where, data[:MAX_BYTES], mode, owner, is_now.st_nlink)

    def entries(self, path: str) -> tuple[str, list[FolderEntry]]:
        """The resolved path of a folder, and its entries by name."""
        with open_parent(self.path, path, folder=True) as (folder, _, where):
            entries: list[FolderEntry] = []
            with os.scandir(folder) as inside:
                for each in inside:
                    if _LEFT_OVER.fullmatch(each.name):
                        continue  # of a writer: the next change in this folder removes what is left
                    with contextlib.suppress(FileNotFoundError):
                        seen = each.stat(follow_symlinks=False)
                        kind = _KINDS.get(stat.S_IFMT(seen.st_mode), "other")
                        entries.append(FolderEntry(_display_name(each.name), kind, seen.st_size))
        return where, sorted(entries, key=lambda entry: entry.name)

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder at this path."""
        try:
            with open_parent(self.path, path, folder=True):
                return True
        except ToolError:
            return False

    def refuse_protected(self, paths: Iterable[str]) -> None:
        """Refuse to write what decides which programs run or what the agent may do."""
        named = named_by_settings(self.path)
        for path in paths:
            with open_parent(self.path, path, missing=True) as (_, _, where):
                why = why_protected(self.path, where, self.protected, named)
            if why:
                raise ToolError(f"{where} is not written: {why}; ask the person to change it")

    def open_folder(self, path: str, *, make: bool) -> int | None:
        """A descriptor of the folder that a path is in; None if there is none and none is made."""
        with open_parent(self.path, path, make=make, missing=not make) as (folder, name, where):
            if not name:
                raise ToolError(f"{where} is a folder, not a file")
            return None if folder == MISSING else os.open(".", _FOLDER, dir_fd=folder)

    @staticmethod
    def sweep(folder: int) -> None:
        """Remove what writers that died left in a folder, whose lock the caller holds."""
        with os.scandir(folder) as inside:
            left = [each.name for each in inside if _LEFT_OVER.fullmatch(each.name)]
        for name in left:
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=folder)

    def replace(
        self,
        path: str,
        data: bytes | None,
        *,
        before: str,
        like: File | None,
        executable: bool | None = None,
    ) -> None:
        """Replace a file's content if its current hash is `before`; None removes the file.

        On disk when this returns. Permissions come from `like`; missing folders are created.
        """
        with open_parent(self.path, path, make=data is not None) as (folder, name, where):
            if not name:
                raise ToolError(f"{where} is a folder, not a file")
            now = self._load(folder, name, where)
            if digest(None if now is None else now.data) != before:
                raise ToolError(f"{where} was changed meanwhile: read it again")
            try:
                if data is None:
                    os.unlink(name, dir_fd=folder)
                else:
                    _write_file(folder, name, data, like, executable=executable, new=now is None)
                os.fsync(folder)
            except FileExistsError as error:  # pragma: no cover - made just now
                raise ToolError(f"{where} was made meanwhile: read it first") from error
            except FileNotFoundError as error:  # pragma: no cover - removed just now
                raise ToolError(f"{where} or its folder was removed meanwhile") from error

    def _suggestion(self, path: str) -> str:
        """A suggestion for a path that does not exist."""
        folder, _, name = path.rstrip("/").rpartition("/")
        try:
            inside = [entry.name for entry in self.entries(folder or ".")[1]]
        except ToolError:
            return f": there is no folder {folder!r} either; list_files says what there is"
        if name in inside:
            return ": it is a link to something that is not there"
        alike = [one for one in inside if one.lower() == name.lower()]
        close = alike or [one for one in inside if one.split(".")[0] == name.split(".")[0]]
        hint = f"did you mean {close[0]!r}?" if close else "list_files says what there is"
        return f": {hint}"


def _write_file(
    folder: int, name: str, data: bytes, like: File | None, *, executable: bool | None, new: bool
) -> None:
    """Write a temporary file and rename it into place; a new file must not exist yet."""
    temporary = _TEMPORARY + secrets.token_hex(8)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(temporary, flags, 0o666, dir_fd=folder)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(data)
            file.flush()
            _set_permissions(opened, like, executable=executable)
            os.fsync(opened)
        if new:
            _rename_new(folder, temporary, name)
        else:
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


def _rename_new(folder: int, temporary: str, name: str) -> None:
    """Give a file its name. Raises `FileExistsError` if there is one of that name."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}:
            raise
        # A file system without hard links: the lock of the folder keeps other tools out.
        with contextlib.suppress(FileNotFoundError):
            os.lstat(name, dir_fd=folder)
            raise FileExistsError(name) from error
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def _set_permissions(opened: int, like: File | None, *, executable: bool | None) -> None:
    """Permissions, and the owner as far as allowed, from another file; whether it may be run."""
    mode = stat.S_IMODE(os.fstat(opened).st_mode)
    if like is not None:
        with contextlib.suppress(PermissionError):
            os.fchown(opened, *like.owner)
        mode = like.mode & 0o777
    if executable is not None:
        mode = mode | ((mode & 0o444) >> 2) if executable else mode & ~0o111
    if like is not None or executable is not None:
        os.fchmod(opened, mode)


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


def _display_name(name: str) -> str:
    """A name as text; invalid bytes are escaped."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
