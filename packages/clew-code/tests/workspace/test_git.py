"""Git in a folder: what differs, and commits on branches that are not the default one."""

import subprocess
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from clew.testing import act
from clew_code.sandbox import Sandbox, SandboxError
from tests.workspace.folder import one, ran, tools_of

PERSON = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]


def git(root: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", *PERSON, "-C", str(root), *args], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "a.txt").write_text("one\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message=first")
    return tmp_path


async def told(root: Path, tool: str, **args: Any) -> str:
    return (await one(root, act(tool, **args))).text


async def test_what_differs_is_shown(repository: Path) -> None:
    assert await told(repository, "git_status") == "## main"
    assert await told(repository, "git_diff") == "no tracked file differs from HEAD"
    (repository / "a.txt").write_text("two\n")
    (repository / "b.txt").write_text("new\n")
    status = await told(repository, "git_status")
    assert status.splitlines() == ["## main", " M a.txt", "?? b.txt"]
    assert "-one\n+two" in await told(repository, "git_diff")
    assert "no tracked file" in await told(repository, "git_diff", path="b.txt")
    assert "since is a commit" in await told(repository, "git_diff", since="--output=/tmp/x")
    assert "git diff:" in await told(repository, "git_diff", since="nowhere")


@pytest.mark.slow
async def test_a_commit_goes_to_a_branch_of_its_own(repository: Path) -> None:
    (repository / "a.txt").write_text("two\n")
    (repository / "b.txt").write_text("new\n")
    refused = await told(repository, "git_commit", message="second")
    assert "main is the default branch" in refused
    first, second = await ran(
        repository,
        act("git_commit", message="second", branch="work/one", paths=["a.txt"]),
        act("git_commit", message="third"),
    )
    assert first.text.endswith("on work/one")
    assert second.text.endswith("on work/one")
    assert git(repository, "log", "--format=%s %an") == "third clew\nsecond clew\nfirst Ada"
    assert git(repository, "rev-parse", "main") == git(repository, "rev-parse", "HEAD~2")
    assert git(repository, "status", "--short") == ""


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"branch": "work"}, "there is nothing to commit"),
        ({"branch": "a..b"}, "is not a valid branch name"),
        ({"branch": "-x"}, "is not a valid branch name"),
        ({"branch": "other"}, "branch other is at another commit than the files"),
    ],
)
async def test_a_commit_that_cannot_be_made_moves_no_branch(
    repository: Path, args: dict[str, Any], why: str
) -> None:
    git(repository, "checkout", "--quiet", "-b", "other")
    (repository / "a.txt").write_text("other\n")
    git(repository, "commit", "--quiet", "--all", "--message=other")
    git(repository, "checkout", "--quiet", "main")
    before = git(repository, "for-each-ref")
    seen = await one(repository, act("git_commit", message="m", **args))
    assert not seen.ok
    assert why in seen.text
    assert git(repository, "for-each-ref") == before


async def test_without_a_branch_one_has_to_be_named(repository: Path) -> None:
    git(repository, "checkout", "--quiet", "--detach")
    (repository / "a.txt").write_text("two\n")
    assert "no branch is checked out" in await told(repository, "git_commit", message="m")
    assert "on found" in await told(repository, "git_commit", message="m", branch="found")


async def test_the_first_commit_of_all(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=start")
    (tmp_path / "a.txt").write_text("one\n")
    assert "start is the default branch" in await told(tmp_path, "git_commit", message="m")
    done = await one(tmp_path, act("git_commit", message="m"), default_branch=True)
    assert done.text.endswith("on start")


async def test_the_default_branch_is_that_of_the_origin(repository: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    git(repository, "branch", "--move", "main", "old")
    git(repository, "branch", "main")
    git(repository, "clone", "--quiet", str(repository), str(copy))
    (copy / "a.txt").write_text("two\n")
    assert "old is the default branch" in await told(copy, "git_commit", message="m")
    assert "on main" in await told(copy, "git_commit", message="m", branch="main")


async def test_where_no_sandbox_can_be_built_git_is_not_run(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unbuilt(*given: Any, **settings: Any) -> None:
        raise SandboxError("there are no walls here")

    monkeypatch.setattr(Sandbox, "run", unbuilt)
    seen = await one(repository, act("git_status"))
    assert seen.code == "tool_error"
    assert "git was not run: there are no walls here" in seen.text


async def test_outside_of_a_run_a_commit_is_just_made(repository: Path) -> None:
    (repository / "a.txt").write_text("two\n")
    called = tools_of(repository)["git_commit"].call({"message": "m", "branch": "w"}, "run:1.1")
    assert isinstance(called, Awaitable)
    assert (await called).text.endswith("on w")


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("git_status", {}),
    ("git_diff", {}),
    ("git_diff", {"path": "a.txt"}),
    ("git_commit", {"message": "m"}),
    ("git_commit", {"message": "m", "branch": "work"}),
]


@pytest.mark.parametrize(("tool", "args"), CALLS)
@pytest.mark.parametrize("empty", [True, False])
async def test_a_folder_without_a_repository_says_so(
    tmp_path: Path, tool: str, args: dict[str, Any], empty: bool
) -> None:
    if not empty:
        (tmp_path / "a.txt").write_text("one\n")
    said = await told(tmp_path, tool, **args)
    assert "the folder is not a git repository: run_command can make one (git init)" in said


@pytest.mark.parametrize(
    ("staged", "status"),
    [
        ("echo secret > p.txt; git add p.txt", "A  p.txt"),
        ("echo other > b.txt; git add b.txt", "M  b.txt"),
        ("git rm -q b.txt", "D  b.txt"),
        ("git rm -q --cached b.txt", "D  b.txt\n?? b.txt"),
        ("git mv b.txt c.txt", "R  b.txt -> c.txt"),
        ("printf 'two\\nthree\\n' > b.txt; git add b.txt; echo four >> b.txt", "MM b.txt"),
        ("echo new > d.txt; git add -N d.txt", " A d.txt"),
        ("mkdir e; echo deep > e/f.txt; git add e", "A  e/f.txt"),
        ("chmod +x b.txt; git add b.txt", "M  b.txt"),
        ("ln -s a.txt g; git add g", "A  g"),
    ],
)
async def test_a_commit_of_some_paths_leaves_what_a_person_staged(
    repository: Path, staged: str, status: str
) -> None:
    (repository / "b.txt").write_text("two\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=second")
    git(repository, "switch", "--quiet", "--create", "w")
    subprocess.run(["sh", "-c", staged], cwd=repository, check=True)
    (repository / "a.txt").write_text("changed\n")
    done = await told(repository, "git_commit", message="mine", paths=["a.txt"])
    assert "committed" in done
    assert git(repository, "show", "--name-only", "--format=", "HEAD") == "a.txt"
    left = subprocess.run(
        ["git", "-C", str(repository), "status", "--short"],
        check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert left.rstrip("\n") == status


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ("git rm -q a.txt", "D\ta.txt"),
        ("rm a.txt", "D\ta.txt"),
        ("echo x > n.txt", "A\tn.txt"),
        ("echo x > n.txt; git add n.txt; echo y > n.txt", "A\tn.txt"),
        ("git rm -q a.txt; echo x > n.txt", "D\ta.txt\nA\tn.txt"),
    ],
)
async def test_a_commit_of_some_paths_has_them_as_they_are(
    repository: Path, change: str, shown: str
) -> None:
    git(repository, "switch", "--quiet", "--create", "w")
    subprocess.run(["sh", "-c", change], cwd=repository, check=True)
    paths = [line.split("\t")[1] for line in shown.split("\n")]
    done = await told(repository, "git_commit", message="mine", paths=paths)
    assert "committed" in done, done
    assert git(repository, "show", "--name-status", "--format=", "HEAD") == shown
    assert git(repository, "status", "--short") == ""


@pytest.mark.parametrize("branch", ["HEAD", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD"])
async def test_no_branch_has_a_name_of_git_itself(repository: Path, branch: str) -> None:
    (repository / "a.txt").write_text("two\n")
    said = await told(repository, "git_commit", message="mine", branch=branch)
    assert "is not a valid branch name" in said
    assert "committed" in await told(repository, "git_commit", message="mine", branch="x/AHEAD")


async def test_no_paths_are_not_all_paths(repository: Path) -> None:
    (repository / "a.txt").write_text("two\n")
    said = await told(repository, "git_commit", message="mine", branch="w", paths=[])
    assert "committed" not in said
