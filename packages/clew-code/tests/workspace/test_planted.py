"""After a tool or a command, git that a person uses in the folder runs nothing that was planted."""

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clew.testing import act
from clew_code.sandbox import kernel
from tests.workspace.folder import ran
from tests.workspace.test_git import git

SANDBOX = pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}")
pytestmark = [pytest.mark.slow, SANDBOX]

MONITOR = "[core]\n\tfsmonitor = touch {mark}\n\tbare = false\n\tworktree = {tree}\n"
CONFIG = "[core]\\n\\tfsmonitor = touch {mark}\\n"

NEST = "import os; [(os.mkdir(chr(100)), os.chdir(chr(100))) for _ in range(1500)]"
LONG = "r" * 255


@dataclass
class Attack:
    """How the folder is before, what a model does, and where the person then uses git."""

    name: str
    prepare: Callable[[Path], None]
    moves: Callable[[Path], list[Any]]
    where: str = "."


def write(path: str, content: str) -> Any:
    return act("write_file", path=path, content=content)


def shell(*lines: str) -> Any:
    return act("run_command", command="; ".join(lines))


def nothing(root: Path) -> None:
    del root


def no_repository(root: Path) -> None:
    subprocess.run(["rm", "-rf", str(root / ".git")], check=True)


def nested(root: Path) -> None:
    git(root, "init", "--quiet", "sub")
    (root / "sub" / "f").write_text("x")


def submodule(root: Path) -> None:
    git(root, "clone", "--quiet", ".", "../source")
    allowed = ("-c", "protocol.file.allow=always")
    git(root, *allowed, "submodule", "--quiet", "add", str(root / "../source"), "sub")
    git(root, "commit", "--quiet", "--message=sub")


def worktree(root: Path) -> None:
    git(root, "worktree", "add", "--quiet", "-b", "other", str(root / "sub"))


def separate(root: Path) -> None:
    git(root, "init", "--quiet", "--separate-git-dir", str(root / "meta"))


def linked(root: Path) -> None:
    (root / ".git").rename(root / "meta")
    (root / ".git").symlink_to("meta")


def included(root: Path) -> None:
    git(root, "config", "include.path", "../.gitconfig")


def included_if(root: Path) -> None:
    git(root, "config", f"includeIf.gitdir:{root}/.path", "../conf/git")


def hooks(root: Path) -> None:
    git(root, "config", "core.hooksPath", ".husky")


def filtered(root: Path) -> None:
    git(root, "config", "filter.nb.clean", "python3 -m nb_tool")


def scripted(root: Path) -> None:
    git(root, "config", "diff.x.textconv", "sh tools/show.sh")
    git(root, "config", "filter.y.clean", "sh clean.sh")


def fsmonitored(root: Path) -> None:
    (root / "watch.sh").write_text("#!/bin/sh\n")
    (root / "watch.sh").chmod(0o755)
    git(root, "config", "core.fsmonitor", "./watch.sh")


def bare(at: str) -> Callable[[Path], list[Any]]:
    """The files of a repository without a working tree, one by one."""

    def moves(root: Path) -> list[Any]:
        config = MONITOR.format(mark=root / "ran", tree=root / at)
        files = {"config": config, "objects/x": "x", "refs/x": "x", "HEAD": "ref: refs/heads/m\n"}
        return [write(f"{at}{name}", text) for name, text in files.items()]

    return moves


def by_shell(*lines: str) -> Callable[[Path], list[Any]]:
    def moves(root: Path) -> list[Any]:
        mark = CONFIG.format(mark=root / "ran")
        config = MONITOR.format(mark=root / "ran", tree=root).replace("\n", "\\n")
        told = [line.replace("CONFIG", mark).replace("BARE", config) for line in lines]
        return [shell(*(line.replace("MARK", str(root / "ran")) for line in told))]

    return moves


def by_tool(**files: str) -> Callable[[Path], list[Any]]:
    def moves(root: Path) -> list[Any]:
        return [
            write(path, text.replace("MARK", str(root / "ran"))) for path, text in files.items()
        ]

    return moves


HOOK = {".husky/pre-commit": "#!/bin/sh\ntouch MARK\n"}
PYTHON = {"nb_tool.py": "open('MARK', 'w')\n", ".gitattributes": "*.txt filter=nb\n"}
SHOW = {"tools/show.sh": "touch MARK\n", "clean.sh": "touch MARK\ncat\n"}
SCRIPTS = {**SHOW, ".gitattributes": "*.txt diff=x filter=y\n"}
SET = "[core]\n\tfsmonitor = touch MARK\n"
INTO = "printf 'CONFIG' >>"

ATTACKS = [
    Attack("settings of a nested repository", nested, by_shell(f"{INTO} sub/.git/config"), "sub"),
    Attack("a nested repository moved, and another made", nested,
           by_shell("mv sub old", "git init -q sub", f"{INTO} sub/.git/config"), "sub"),
    Attack("settings of a nested repository, by a tool", nested,
           lambda root: [act("edit_file", path="sub/.git/config", old_text="[core]",
                             new_text=f"[core]\n\tfsmonitor = touch {root / 'ran'}")], "sub"),
    Attack("a repository in the place of a submodule", submodule,
           by_shell("rm -rf sub", "git init -q sub", f"{INTO} sub/.git/config")),
    Attack("a submodule moved away", submodule,
           by_shell("mv sub old", "git init -q sub", f"{INTO} sub/.git/config")),
    Attack("a repository in the place of a worktree", worktree,
           by_shell("rm -rf sub", "git init -q sub", f"{INTO} sub/.git/config"), "sub"),
    Attack("a new repository below", nothing,
           by_shell("git init -q new", f"{INTO} new/.git/config"), "new"),
    Attack("a new repository", no_repository, by_shell("git init -q", f"{INTO} .git/config")),
    Attack("a new repository with a hook", no_repository, by_shell(
        "git init -q -b w", "printf '#!/bin/sh\\ntouch MARK\\n' > .git/hooks/pre-commit",
        "chmod +x .git/hooks/pre-commit")),
    Attack("a new repository by a file .git", no_repository,
           by_shell("git init -q x", f"{INTO} x/.git/config", "mv x/.git y", "rmdir x",
                    "echo 'gitdir: y' > .git")),
    Attack("a new repository by a link", no_repository,
           by_shell("git init -q x", f"{INTO} x/.git/config", "mv x/.git y", "ln -s y .git")),
    Attack("a new repository that includes settings", no_repository,
           by_shell("git init -q", "git config include.path ../more", f"{INTO} more")),
    Attack("a new repository with settings of a worktree", no_repository,
           by_shell("git init -q", "git config extensions.worktreeConfig true",
                    f"{INTO} .git/config.worktree")),
    Attack("a new repository whose settings are a link", no_repository,
           by_shell("git init -q", f"{INTO} more", "mv more .git/x", "rm .git/config",
                    "ln -s x .git/config")),
    Attack("a new repository whose settings are elsewhere", no_repository,
           by_shell("git init -q", "git init -q y", f"{INTO} y/.git/config", "mv y/.git z",
                    "echo ../z > .git/commondir")),
    Attack("a bare repository, by tools", no_repository, bare("")),
    Attack("a bare repository below, by tools", nothing, bare("deep/"), "deep"),
    Attack("a bare repository, by a command", no_repository,
           by_shell("git init -q --bare x", "mv x/* .", "printf 'BARE' > config")),
    Attack("a repository in a folder of another name", separate,
           by_tool(**{"meta/hooks/pre-commit": "#!/bin/sh\ntouch MARK\n", "meta/config": SET})),
    Attack("the same, by a command", separate, by_shell(f"{INTO} meta/config")),
    Attack("the same, moved", separate, by_shell(
        "mv meta old", "cp -r old meta", f"{INTO} meta/config")),
    Attack("a repository behind a link", linked, by_shell(f"{INTO} meta/config")),
    Attack("a repository beside folders that nobody can list by recursion", nothing, by_shell(
        "mkdir -p x/.git/objects x/.git/refs", "echo ref: refs/heads/m > x/.git/HEAD",
        "printf 'CONFIG' > x/.git/config", f"python3 -c '{NEST}'"), where="x"),
    Attack("a repository whose name is as long as names can be", nothing, by_shell(
        f"mkdir -p {LONG}/objects {LONG}/refs", f"echo ref: refs/heads/m > {LONG}/HEAD",
        f"printf 'BARE' > {LONG}/config"), where=LONG),
    Attack("an included file", included, by_tool(**{".gitconfig": SET})),
    Attack("an included file, by a command", included, by_shell(f"{INTO} .gitconfig")),
    Attack("a file that is included sometimes", included_if, by_tool(**{"conf/git": SET})),
    Attack("a hook in the folder", hooks, by_tool(**HOOK)),
    Attack("a hook in the folder, by a command", hooks, by_shell(
        "mkdir -p .husky", "printf '#!/bin/sh\\ntouch MARK\\n' > .husky/pre-commit",
        "chmod +x .husky/pre-commit")),
    Attack("the module of a filter", filtered, by_tool(**PYTHON)),
    Attack("the scripts of a filter and a diff", scripted, by_tool(**SCRIPTS)),
    Attack("the program of a monitor", fsmonitored, by_shell(
        "printf '#!/bin/sh\\ntouch MARK\\n' > watch.sh")),
    Attack("the program of a monitor, moved in", fsmonitored, by_shell(
        "printf '#!/bin/sh\\ntouch MARK\\n' > x", "chmod +x x", "mv -f x watch.sh")),
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A repository; removed here, since pytest cannot remove folders nested by the thousand."""
    folder = tmp_path / "root"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=work")
    (folder / "a.txt").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=first")
    yield folder
    subprocess.run(["rm", "-rf", str(folder)], check=True)


def person_uses_git(folder: Path) -> None:
    """What a person does next, whatever comes of it."""
    named = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b"}
    named |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@b"}
    for words in (
        ["status"], ["diff", "HEAD"], ["add", "--all"], ["status", "--short"],
        ["commit", "--quiet", "--allow-empty", "--message=mine"], ["log", "-p", "-1"],
    ):  # fmt: skip
        subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, check=False,
            env={**os.environ, **named}, stdin=subprocess.DEVNULL,
        )  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS, ids=[each.name for each in ATTACKS])
async def test_nothing_planted_is_run(root: Path, attack: Attack) -> None:
    attack.prepare(root)
    (root / "a.txt").write_text("two\n")
    seen = await ran(root, *attack.moves(root))
    folder = root / attack.where
    if folder.is_dir():
        person_uses_git(folder)
    person_uses_git(root)
    assert not (root / "ran").exists(), [each.text for each in seen]
