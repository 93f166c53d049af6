"""A copy of git's index to stage a commit in, and what is in progress in a repository.

Git stages into the copy, so that only objects can be written while it looks at files. The copy
takes the place of the index under git's own lock, `index.lock`.
"""

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from clew import ToolError
from clew_code.workspace.repositories import names_in

_OURS: Final = b"clew\0"
"""The content of an `index.lock` of clew's: one that nobody holds is left of a dead process."""

_IN_PROGRESS: Final = (
    ("MERGE_HEAD", "a merge", "git merge --continue"),
    ("rebase-apply/applying", "an am", "git am --continue"),
    ("rebase-merge", "a rebase", "git rebase --continue"),
    ("rebase-apply", "a rebase", "git rebase --continue"),
    ("CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue"),
    ("REVERT_HEAD", "a revert", "git revert --continue"),
    ("sequencer", "a series of cherry-picks or reverts", "git cherry-pick --continue"),
    ("BISECT_START", "a bisection", "git bisect reset"),
    ("BISECT_LOG", "a bisection", "git bisect reset"),
)

_AT_THE_TOP: Final = (".gitignore", ".gitattributes", ".gitmodules")
_SMALL: Final = ("info", "refs")
"""Folders of `.git` that are looked into: the others can be large."""


def git_folder(root: str) -> str:
    """The folder `.git`. Raises `ToolError` if it is not there, or is a link or a file."""
    folder = os.path.join(root, ".git")
    if os.path.isdir(folder) and not os.path.islink(folder):
        return folder
    if os.path.lexists(folder):
        raise ToolError(
            "the repository of this folder lies elsewhere (a linked worktree or a submodule), "
            "where no tool may write: a person commits there"
        )
    raise ToolError("the folder is not a git repository: run_command can make one (git init)")


def check_readable(root: str) -> None:
    """Refuse what git would wait for without end: pipes and devices. Raises `ToolError`."""
    for path in _read_by_git(root):
        with contextlib.suppress(OSError):
            mode = os.stat(path).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                where = os.path.relpath(path, root)
                raise ToolError(f"{where} is a pipe or a device, which no git can read: remove it")


def _read_by_git(root: str) -> Iterator[str]:
    """What git opens whatever it is asked for."""
    yield from (os.path.join(root, name) for name in _AT_THE_TOP)
    git = os.path.join(root, ".git")
    waiting = [git, *(os.path.join(git, name) for name in _SMALL)]
    while waiting:
        folder = waiting.pop()
        names, folders = names_in(folder)
        yield from (os.path.join(folder, name) for name in names)
        waiting += [os.path.join(folder, name) for name in folders if folder != git]


def check_nothing_in_progress(git: str) -> None:
    """Refuse to commit while git is in the middle of something. Raises `ToolError`."""
    for name, what, command in _IN_PROGRESS:
        if os.path.lexists(os.path.join(git, name)):
            raise ToolError(
                f"{what} is in progress (.git/{name}): a person finishes it ({command}) or gives "
                "it up; nothing was committed"
            )


@dataclass(frozen=True, slots=True)
class Staging:
    """A folder with a copy of the index, and a list of files that are never staged."""

    folder: str
    git: str

    @property
    def index(self) -> str:
        """The copy."""
        return os.path.join(self.folder, "index")

    @property
    def excludes(self) -> str:
        """The list."""
        return os.path.join(self.folder, "excludes")

    def empty(self) -> Self:
        """An index without an entry, in a folder below."""
        folder = os.path.join(self.folder, "part")
        os.mkdir(folder)
        shutil.copyfile(self.excludes, os.path.join(folder, "excludes"))
        return type(self)(folder, self.git)

    def install(self) -> None:
        """Put the copy in the place of the index."""
        temporary = os.path.join(self.git, f".clew-{secrets.token_hex(8)}")
        with Path(self.index).open("rb") as copy, Path(temporary).open("xb") as file:
            shutil.copyfileobj(copy, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, os.path.join(self.git, "index"))


@contextlib.contextmanager
def staging(git: str) -> Generator[Staging]:
    """Lock the index, which the caller alone does in clew (`gate`), and copy it.

    Raises `ToolError` if git is at work.
    """
    lock = os.path.join(git, "index.lock")
    _take(git, lock)
    try:
        with tempfile.TemporaryDirectory(prefix="clew-") as made:
            index = Staging(os.path.realpath(made), git)
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(os.path.join(git, "index"), index.index)
            Path(index.excludes).write_text(f".clew-{'[0-9a-f]' * 16}\n", "utf-8")
            yield index
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(lock)


def _take(git: str, lock: str) -> None:
    """Make `index.lock` in one step, with its content."""
    temporary = os.path.join(git, f".clew-{secrets.token_hex(8)}")
    Path(temporary).write_bytes(_OURS)
    try:
        with contextlib.suppress(OSError):
            if Path(lock).read_bytes() == _OURS:
                os.unlink(lock)
        os.link(temporary, lock)
    except FileExistsError as error:
        raise ToolError(
            "git is at work in this folder (.git/index.lock is there): try again when it has ended"
        ) from error
    finally:
        os.unlink(temporary)


def conflict_line(data: bytes) -> int:
    """The line at which the first unresolved conflict begins; 0 for none."""
    begun, parted = 0, False
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.rstrip(b"\r")
        if line == b"<<<<<<<" or line.startswith(b"<<<<<<< "):
            begun, parted = number, False
        elif begun and line == b"=======":
            parted = True
        elif begun and parted and (line == b">>>>>>>" or line.startswith(b">>>>>>> ")):
            return begun
    return 0
