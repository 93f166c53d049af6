"""One change of a folder's files at a time, in this process and between processes.

Each change holds the lock of the folder that the file is in (`flock` on the folder itself, so there
are no lock files): from the reading of the file until the rename. All names of a file meet there:
relative and absolute paths, links, other cases of letters. The kernel frees the lock of a process
that dies.
"""

import contextlib
import errno
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

import anyio
from anyio import to_thread

from clew import ToolError
from clew_code.workspace.root import Root

if sys.platform != "win32":  # where there is no workspace
    import fcntl

WAIT: Final = 20.0
"""Seconds that a change waits for others in the same folder."""

_FIRST_DELAY, _MAX_DELAY = 0.001, 0.05
_TRIES: Final = 5
_REMEMBERED: Final = 10_000

Identity: TypeAlias = tuple[int, int]
"""Device and inode of a folder."""

_in_use: set[Identity] = set()  # by changes of this process
_guard: Final = threading.Lock()


@asynccontextmanager
async def exclusive(root: Root, paths: Sequence[tuple[str, bool]]) -> AsyncGenerator[None]:
    """Hold the folders of these paths; the flag says whether missing folders are created.

    Folders that were created and are still empty in the end are removed. Raises `ToolError` with
    nothing done if the folders are in use for over `WAIT` seconds.
    """
    until = time.monotonic() + WAIT
    made = await to_thread.run_sync(_missing_folders, root, paths)
    try:
        for _ in range(_TRIES):
            opened = await to_thread.run_sync(_open_folders, root, paths)
            held = list[Identity]()
            try:
                for identity in sorted(opened):  # one order for all: nobody waits in a circle
                    await _lock(opened[identity], identity, until)
                    held.append(identity)
                if await to_thread.run_sync(_same_folders, root, paths, set(opened)):
                    for folder in opened.values():
                        await to_thread.run_sync(root.sweep, folder)
                    yield
                    return
            finally:
                with _guard:
                    _in_use.difference_update(held)
                for folder in opened.values():
                    os.close(folder)
        raise ToolError("the folder is being moved or replaced: try again")
    finally:
        for folder_path in reversed(made):
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(root.path, folder_path))


@asynccontextmanager
async def exclusive_folder(path: str) -> AsyncGenerator[None]:
    """Hold one folder, by its real path, whatever is in it. Raises `ToolError` as `exclusive`."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    identity = _identity(folder)
    try:
        await _lock(folder, identity, time.monotonic() + WAIT)
        try:
            await to_thread.run_sync(Root.sweep, folder)
            yield
        finally:
            with _guard:
                _in_use.discard(identity)
    finally:
        os.close(folder)


def _open_folders(root: Root, paths: Sequence[tuple[str, bool]]) -> dict[Identity, int]:
    folders: dict[Identity, int] = {}
    try:
        for path, make in paths:
            if (folder := root.open_folder(path, make=make)) is None:
                continue
            if (identity := _identity(folder)) in folders:
                os.close(folder)
            else:
                folders[identity] = folder
    except BaseException:
        for folder in folders.values():
            os.close(folder)
        raise
    return folders


def _identity(folder: int) -> Identity:
    seen = os.fstat(folder)
    return seen.st_dev, seen.st_ino


def _same_folders(root: Root, paths: Sequence[tuple[str, bool]], locked: set[Identity]) -> bool:
    """Whether the paths still lead to the folders that are locked."""
    now = _open_folders(root, paths)
    for folder in now.values():
        os.close(folder)
    return set(now) == locked


def _missing_folders(root: Root, paths: Sequence[tuple[str, bool]]) -> list[str]:
    """The folders that do not exist and will be created, the outer ones first."""
    missing: dict[str, None] = {}
    for path, make in paths:
        steps = root.where(path).split("/")[:-1] if make else []
        for depth in range(1, len(steps) + 1):
            folder = "/".join(steps[:depth])
            if not os.path.lexists(os.path.join(root.path, folder)):
                missing[folder] = None
    return list(missing)


async def _lock(folder: int, identity: Identity, until: float) -> None:
    delay = _FIRST_DELAY
    while not _locked(folder, identity):
        if time.monotonic() > until:
            raise ToolError(
                f"other changes in the same folder took over {WAIT:g} s: nothing was changed; try "
                "again"
            )
        await anyio.sleep(delay)
        delay = min(2 * delay, _MAX_DELAY)


def _locked(folder: int, identity: Identity) -> bool:
    """Take the lock if it is free."""
    with _guard:
        if identity in _in_use:
            return False
        try:
            if sys.platform != "win32":  # pragma: no branch - as above
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in {errno.EWOULDBLOCK, errno.EACCES, errno.EINTR}:
                return False
            # A network file system may not lock folders: then this process alone is kept in order.
        _in_use.add(identity)
        return True


@dataclass(frozen=True, slots=True)
class LastChange:
    """What a tool of this process last did to a file: `reply` is the run and its step."""

    reply: str
    call: str
    version: str


_changed: "OrderedDict[tuple[str, str], LastChange]" = OrderedDict()


def remember(root: Root, path: str, key: str, version: str) -> None:
    """Remember the change that a call made; `key` is the one that the tool was given."""
    with _guard:
        _changed[root.path, path] = LastChange(*_parts(key), version)
        _changed.move_to_end((root.path, path))
        if len(_changed) > _REMEMBERED:
            _changed.popitem(last=False)
        for seen in _watching:
            if path_below := _below(seen.folder, os.path.join(root.path, path)):
                seen.changed[path_below] = version


def changed_by_sibling(root: Root, path: str, key: str) -> str:
    """The call of the same reply that last changed a file; "" if another one, or none, did."""
    reply, call = _parts(key)
    with _guard:
        last = _changed.get((root.path, path))
    return last.call if last and last.reply == reply and last.call != call and reply else ""


def _parts(key: str) -> tuple[str, str]:
    run, _, call = key.rpartition(":")
    return (f"{run}:{call.partition('.')[0]}", call) if run else ("", call)


@dataclass(eq=False, slots=True)
class Watch:
    """Changes of files that tools of this process made while a program ran in the folder."""

    folder: str
    changed: dict[str, str]


_watching: Final = list[Watch]()


@contextlib.contextmanager
def watch_changes(root: Root) -> Generator[Watch]:
    """Collect the versions of files that tools write meanwhile."""
    seen = Watch(root.path, {})
    with _guard:
        _watching.append(seen)
    try:
        yield seen
    finally:
        with _guard:
            _watching.remove(seen)


def _below(folder: str, path: str) -> str:
    top = folder.rstrip("/") + "/"
    return path[len(top) :] if path.startswith(top) else ""
