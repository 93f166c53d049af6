"""Commits run no program of the repository's, and none in the middle of what git has begun."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.testing import act
from clew_code.sandbox import kernel
from tests.workspace.folder import one, ran
from tests.workspace.test_git import git

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}"),
]

EVIL = "#!/bin/sh\ntouch {mark}\ngit config core.fsmonitor {mark}.sh\ncat\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "a.txt").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=first")
    git(folder, "checkout", "--quiet", "-b", "work")
    evil = folder / "evil.sh"
    evil.write_text(EVIL.format(mark=folder / "ran"))
    evil.chmod(0o755)
    return folder


def config(*pairs: str) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        for pair in pairs:
            key, _, value = pair.partition("=")
            git(root, "config", key, value.replace("EVIL", str(root / "evil.sh")))

    return plant


def attributes(text: str, *pairs: str, place: str = ".gitattributes") -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        (root / place).write_text(text)
        config(*pairs)(root)

    return plant


def hook(name: str) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        file = root / ".git" / "hooks" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text((root / "evil.sh").read_text())
        file.chmod(0o755)

    return plant


@pytest.mark.parametrize(
    "plant",
    [
        attributes("*.txt filter=x\n", "filter.x.clean=EVIL"),
        attributes("*.txt filter=x\n", "filter.x.process=EVIL", "filter.x.required=true"),
        attributes("* filter=a.b.c\n", "filter.a.b.c.clean=EVIL"),
        attributes("* filter=A=b\n", "filter.A=b.clean=EVIL"),
        attributes("*.txt filter=x\n", "filter.x.clean=EVIL", place=".git/info/attributes"),
        attributes("*.txt diff=x\n", "diff.x.textconv=EVIL", "diff.x.command=EVIL"),
        config("core.fsmonitor=EVIL"),
        config("core.hooksPath=."),
        config("diff.external=EVIL"),
        config("alias.add=!EVIL", "alias.status=!EVIL", "alias.commit-tree=!EVIL"),
        config("commit.gpgSign=true", "gpg.program=EVIL"),
        config("core.pager=EVIL", "core.editor=EVIL", "core.sshCommand=EVIL"),
        hook("pre-commit"),
        hook("post-commit"),
        hook("reference-transaction"),
        hook("post-index-change"),
    ],
    ids=map(str, range(16)),
)
async def test_nothing_of_the_repository_is_run(root: Path, plant: Callable[[Path], None]) -> None:
    plant(root)
    before = (root / ".git" / "config").read_bytes()
    (root / "a.txt").write_text("two\n")
    seen = await ran(
        root, act("git_status"), act("git_diff"), act("git_commit", message="m"), act("git_status")
    )
    assert seen[2].ok, seen[2].text
    assert not (root / "ran").exists()
    assert (root / ".git" / "config").read_bytes() == before
    assert git(root, "cat-file", "blob", "work:a.txt") == "two"


@pytest.mark.parametrize(
    "name",
    ["HEAD", "index", "config", "packed-refs", "refs/heads/x", "info/exclude", "info/attributes",
     "../.gitignore", "../.gitattributes"],
)  # fmt: skip
@pytest.mark.parametrize("device", [False, True])
async def test_what_git_would_read_for_ever_is_named(root: Path, name: str, device: bool) -> None:
    path = root / ".git" / name
    path.unlink(missing_ok=True)
    if device:
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    seen = await ran(root, act("git_status"), act("git_diff"), act("git_commit", message="m"))
    told = os.path.relpath(path, root)
    for each in seen:
        assert f"{told} is a pipe or a device, which no git can read: remove it" in each.text


async def test_filters_without_number_are_not_run(root: Path) -> None:
    attributes("*.txt filter=x\n", "filter.x.clean=EVIL")(root)
    with (root / ".git" / "config").open("a") as file:
        file.writelines(f'[filter "x{number}"]\n\tclean = cat\n' for number in range(5_000))
    (root / "a.txt").write_text("two\n")
    for each in await ran(root, act("git_status"), act("git_commit", message="m")):
        assert "the repository names 5,001 filters, and at most 200 are turned off" in each.text
    assert not (root / "ran").exists()


async def test_what_a_filter_would_have_changed_is_named(root: Path) -> None:
    attributes("*.txt filter=x\n", "filter.x.clean=EVIL")(root)
    (root / "a.txt").write_text("two\n")
    seen = await one(root, act("git_commit", message="m"))
    assert "filters are programs and were not run: a.txt (x)" in seen.text


async def test_a_nested_repository_is_not_committed(root: Path) -> None:
    git(root, "init", "--quiet", "sub")
    (root / "sub" / "f").write_text("x")
    git(root / "sub", "add", ".")
    git(root / "sub", "commit", "--quiet", "--message=x")
    git(root / "sub", "config", "core.fsmonitor", str(root / "evil.sh"))
    seen = await one(root, act("git_commit", message="m"))
    assert "sub is a git repository of its own" in seen.text
    assert not (root / "ran").exists()
    assert git(root, "rev-parse", "work") == git(root, "rev-parse", "main")


async def test_line_ends_are_stored_as_the_repository_says(root: Path) -> None:
    (root / ".gitattributes").write_text("*.txt text eol=crlf\n")
    (root / "a.txt").write_bytes(b"two\r\n")
    assert (await one(root, act("git_commit", message="m"))).ok
    assert git(root, "ls-files", "--eol", "a.txt").startswith("i/lf")


def begun(root: Path, *words: str) -> None:
    """Begin what ends in a conflict."""
    subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=a@b", "-C", str(root), *words],
        capture_output=True,
        check=False,
    )


def conflicting(root: Path) -> None:
    """Two branches that change one line."""
    (root / "a.txt").write_text("ours\n")
    git(root, "commit", "--quiet", "--all", "--message=ours")
    git(root, "checkout", "--quiet", "-b", "theirs", "main")
    (root / "a.txt").write_text("theirs\n")
    git(root, "commit", "--quiet", "--all", "--message=theirs")
    git(root, "checkout", "--quiet", "work")


def am(root: Path) -> None:
    conflicting(root)
    letter = git(root, "format-patch", "-1", "--stdout", "theirs")
    (root.parent / "letter").write_text(letter + "\n")
    begun(root, "am", str(root.parent / "letter"))


def doing(*words: str) -> Callable[[Path], None]:
    def prepare(root: Path) -> None:
        conflicting(root)
        begun(root, *words)

    return prepare


@pytest.mark.parametrize(
    ("prepare", "what"),
    [
        (doing("merge", "theirs"), "a merge is in progress"),
        (doing("merge", "--no-commit", "-s", "ours", "theirs"), "a merge is in progress"),
        (doing("cherry-pick", "theirs"), "a cherry-pick is in progress"),
        (doing("revert", "main"), "a revert is in progress"),
        (doing("rebase", "theirs"), "a rebase is in progress"),
        (am, "an am is in progress"),
        (doing("bisect", "start"), "a bisection is in progress"),
    ],
    ids=["merge", "ours", "cherry-pick", "revert", "rebase", "am", "bisect"],
)
@pytest.mark.parametrize("branch", ["", "new"])
async def test_nothing_is_committed_in_the_middle_of_something(
    root: Path, prepare: Callable[[Path], None], what: str, branch: str
) -> None:
    prepare(root)
    before = git(root, "for-each-ref")
    more = {"branch": branch} if branch else {"branch": "other"}
    seen = await one(root, act("git_commit", message="m", **more))
    assert not seen.ok
    assert what in seen.text
    assert git(root, "for-each-ref") == before


async def test_an_unmerged_path_without_a_merge_is_named(root: Path) -> None:
    (root / "a.txt").write_text("stashed\n")
    begun(root, "stash")
    (root / "a.txt").write_text("ours\n")
    git(root, "commit", "--quiet", "--all", "--message=ours")
    begun(root, "stash", "pop")
    seen = await one(root, act("git_commit", message="m"))
    assert "a.txt: a conflict is not resolved" in seen.text


CONFLICT = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> theirs\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_marks_of_a_conflict_are_named(root: Path, end: str) -> None:
    (root / "b.txt").write_bytes(f"a\n{CONFLICT}".replace("\n", end).encode())
    seen = await one(root, act("git_commit", message="m"))
    assert "b.txt has marks of a conflict from line 2 on" in seen.text
    assert git(root, "rev-parse", "work") == git(root, "rev-parse", "main")


async def test_marks_that_were_committed_before_are_no_conflict(root: Path) -> None:
    (root / "b.txt").write_text(CONFLICT)
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message=a text about conflicts")
    (root / "b.txt").write_text(CONFLICT + "more\n")
    (root / "heading").write_text("A heading\n=======\n")
    assert (await one(root, act("git_commit", message="m"))).ok


async def test_another_git_at_work_is_told_and_a_dead_clew_is_not(root: Path) -> None:
    (root / "a.txt").write_text("two\n")
    lock = root / ".git" / "index.lock"
    lock.write_bytes(b"")
    seen = await one(root, act("git_commit", message="m"))
    assert "git is at work in this folder" in seen.text
    assert lock.exists()
    lock.write_bytes(b"clew\0")
    assert (await one(root, act("git_commit", message="m"))).ok
    assert not lock.exists()
    assert git(root, "status", "--short") == ""


async def test_what_a_dead_writer_left_is_not_committed(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "sub" / ".clew-0123456789abcdef").write_text("half")
    assert (await one(root, act("git_commit", message="m"))).ok
    assert "clew" not in git(root, "ls-tree", "-r", "--name-only", "work")


def worktree(*words: str, place: str = "../tree") -> Callable[[Path], Path]:
    def make(root: Path) -> Path:
        git(root, "worktree", "add", "--quiet", *words, str(root / place))
        return root / place

    return make


def locked(root: Path) -> Path:
    git(root, "worktree", "lock", str(worktree()(root)))
    return root / "../tree"


def moved(root: Path) -> Path:
    git(root, "worktree", "move", str(worktree()(root)), str(root / "../other"))
    return root / "../other"


def of_a_bare_one(root: Path) -> Path:
    git(root, "clone", "--quiet", "--bare", ".", "../bare")
    git(root / "../bare", "worktree", "add", "--quiet", "../tree", "main")
    return root / "../tree"


def submodule(root: Path) -> Path:
    git(root, "clone", "--quiet", ".", "../source")
    allowed = ("-c", "protocol.file.allow=always")
    git(root, *allowed, "submodule", "--quiet", "add", str(root / "../source"), "part")
    return root / "part"


def apart(root: Path) -> Path:
    git(root, "init", "--quiet", "--separate-git-dir", str(root.parent / "apart"))
    return root


def linked(root: Path) -> Path:
    (root / ".git").rename(root.parent / "apart")
    (root / ".git").symlink_to(root.parent / "apart")
    return root


def gone(root: Path) -> Path:
    tree = worktree()(root)
    (root / ".git").rename(root.parent / "apart")
    return tree


def dangling(root: Path) -> Path:
    (root / ".git").rename(root.parent / "apart")
    (root / ".git").symlink_to(root.parent / "nowhere")
    return root


ELSEWHERE = [
    *(worktree("-b", "third"), worktree("--detach"), worktree("--no-checkout", "-b", "third")),
    *(worktree("-b", "third", place="inside"), worktree("-b", "third", place="../a b\u00e9")),
    *(locked, moved, of_a_bare_one, submodule, apart, linked, gone, dangling),
]
"""Folders whose repository is not in them."""


@pytest.mark.parametrize("make", ELSEWHERE, ids=range(len(ELSEWHERE)))
async def test_a_repository_elsewhere_is_said(root: Path, make: Callable[[Path], Path]) -> None:
    folder = make(root)
    for tool in (act("git_status"), act("git_diff"), act("git_commit", message="m")):
        seen = await one(folder, tool)
        assert not seen.ok
        assert "the repository of this folder lies elsewhere" in seen.text
