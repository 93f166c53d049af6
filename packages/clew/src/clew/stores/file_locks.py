"""Claims as locks of the kernel, which frees them with the process that holds them.

A store has one file for them, of which a claim locks one byte, so that any number of claims take
one descriptor. Nothing is ever written to it. Two names whose hash is the same exclude each other:
that makes a run wait and harms nothing.

The kernel keeps such locks for a process, not for a descriptor: it lets a process lock a byte
twice, and drops all its locks in a file with the first descriptor of that which is closed. So a
process has one descriptor for each such file, and a table of what it locked.
"""

import hashlib
import os
import sys
import threading
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from clew.stores.refusals import failed

if sys.platform == "win32":  # pragma: no cover - its own module
    import msvcrt
else:
    import fcntl

_Identity: TypeAlias = tuple[int, int]
"""What tells files apart, whatever they are called: device and number."""


class _File(msgspec.Struct):
    """A file that is open for its locks: the bytes that this process has locked in it."""

    descriptor: int
    bytes: set[int] = msgspec.field(default_factory=set[int])


class _Process:
    """The lock files of this process; a forked child has none of its parent's locks."""

    def __init__(self) -> None:
        self.files: dict[_Identity, _File] = {}
        self.lock = threading.Lock()

    def forget(self) -> None:  # pragma: no cover - a forked child of a test measures nothing
        """Begin anew, in a child: what stands in the table is its parent's."""
        inherited, self.files, self.lock = self.files, {}, threading.Lock()
        for file in inherited.values():
            os.close(file.descriptor)


_process: Final = _Process()

if sys.platform != "win32":  # pragma: no branch - nothing forks there
    os.register_at_fork(after_in_child=_process.forget)


class FileClaims:
    """The claims of one store; `path` is the file that all processes lock, made when needed with
    the rights of the `store`.
    """

    def __init__(self, path: Path, store: Path) -> None:
        self.path = path
        self._store = store
        self._held: dict[str, _Identity] = {}

    def claim(self, name: str) -> bool:
        """Take the lock called so; False where anybody has it. Raises `StoreError`."""
        offset = _offset(name)
        with _process.lock:
            try:
                identity = self._open_file()
                try:
                    return self._try_lock(name, offset, identity)
                finally:
                    _close_idle(identity)
            except OSError as error:
                raise failed(self.path, error) from error

    def _try_lock(self, name: str, offset: int, identity: _Identity) -> bool:
        file = _process.files[identity]
        if offset in file.bytes or not _locked(file.descriptor, offset):
            return False
        file.bytes.add(offset)
        self._held[name] = identity
        return True

    def release(self, name: str) -> None:
        """Let go of a claim of this store; of any other, nothing."""
        identity = self._held.pop(name, None)
        with _process.lock:
            file = _process.files.get(identity) if identity is not None else None
            if identity is None or file is None:  # not ours, or the parent's of a forked child
                return
            offset = _offset(name)
            file.bytes.discard(offset)
            _unlock(file.descriptor, offset)
            _close_idle(identity)

    def release_all(self) -> None:
        """Let go of every claim of this store."""
        for name in list(self._held):
            self.release(name)

    def _open_file(self) -> _Identity:
        """The file, opened unless this process has it open: then a second descriptor would harm."""
        if (identity := self._identity()) in _process.files:
            return identity
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, self._rights())
        status = os.fstat(descriptor)
        identity = (status.st_dev, status.st_ino)
        _process.files[identity] = _File(descriptor)
        return identity

    def _rights(self) -> int:
        """Those of the store: whoever may write there may claim."""
        return self._store.stat().st_mode & 0o666

    def _identity(self) -> _Identity:
        try:
            status = self.path.stat()
        except FileNotFoundError:
            return (0, 0)
        return (status.st_dev, status.st_ino)


def _offset(name: str) -> int:
    """The byte that stands for a name."""
    digest = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) >> (33 if sys.platform == "win32" else 2)  # as far as files reach


def _close_idle(identity: _Identity) -> None:
    """Close a file in which this process has no lock."""
    if not _process.files[identity].bytes:
        os.close(_process.files.pop(identity).descriptor)


if sys.platform == "win32":  # pragma: no cover - its own calls

    def _locked(descriptor: int, offset: int) -> bool:
        os.lseek(descriptor, offset, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(descriptor: int, offset: int) -> None:
        os.lseek(descriptor, offset, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:

    def _locked(descriptor: int, offset: int) -> bool:
        """Lock a byte; False where another process has it."""
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
        except (BlockingIOError, PermissionError):  # which of them is up to the system
            return False
        return True

    def _unlock(descriptor: int, offset: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, offset)
