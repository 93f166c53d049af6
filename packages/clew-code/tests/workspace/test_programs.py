"""Commands and git in a folder, in runs; and what becomes of them on a lesser kernel."""

import json
import subprocess
from pathlib import Path

import pytest

from clew import ConfigError
from clew.agent_files import load_agent
from clew.testing import act
from clew_code.sandbox import Sandbox, kernel
from tests.sandbox.sources import IMPORTS, SOURCES
from tests.workspace.folder import one, ran

pytestmark = pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}")


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def first_commit(root: Path) -> None:
    git(root, "add", ".")
    git(root, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "First")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "a.txt").write_text("one\n")
    first_commit(tmp_path)
    return tmp_path


def commit(message: str, **more: object) -> object:
    return act("git_commit", message=message, **more)  # type: ignore[arg-type]  # JSON, as given


async def test_commands_and_how_they_end(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    seen = await ran(
        tmp_path,
        act("run_command", command="pwd; echo oops >&2; exit 3", folder="sub"),
        act("run_command", argv=["printf", "%s|", "a b", "$HOME"]),
        act("run_command", command="true"),
        act("run_command", command="kill -SEGV $$"),
        act("run_command", command="echo begun; sleep 60", seconds=1),
        act("run_command", argv=["nosuchprogram"]),
        act("run_command"),
        act("run_command", command="true", argv=["true"]),
        act("run_command", command="a\0b"),
        act("run_command", command="printf 'old\\rnew\\n\\033[31mred\\033[0m\\n'; seq 9000"),
        act("run_command", command="mkdir .git"),
        act("run_command", command="mkdir .git/more"),
    )
    texts = [each.text for each in seen]
    assert texts[0].startswith("exit code 3, after ")
    assert texts[0].endswith(f"--- stdout\n{tmp_path}/sub\n--- stderr\noops")
    assert texts[1].endswith("--- stdout\na b|$HOME|")
    assert texts[2].endswith("(no output)")
    assert texts[3].startswith("ended by signal 11")
    assert (seen[4].code, seen[4].outcome) == ("timeout", "unknown")
    assert "did not end in 1 s" in texts[4]
    assert texts[4].endswith("begun")
    assert "nothing was run: nosuchprogram cannot be run" in texts[5]
    assert "give either command" in texts[6]
    assert "give either command" in texts[7]
    assert "NUL" in texts[8]
    assert "\nnew\nred\n1\n2\n" in texts[9]
    assert "lines left out …]" in texts[9]
    assert texts[9].endswith("\n9000")
    assert "the command made .git, a git repository without programs" in texts[10]
    assert "Read-only file system" in texts[11]
    assert all(each.trust == "untrusted" for each in seen)


async def test_what_breaks_a_limit_is_ended(tmp_path: Path) -> None:
    command = "python -c \"x = b'x' * 300_000_000; import time; time.sleep(9)\""
    seen = await one(tmp_path, act("run_command", command=command), limits={"memory": 100_000_000})
    assert (seen.ok, seen.outcome) == (False, "unknown")
    assert "it used more than 100,000,000 bytes of memory" in seen.text


@pytest.mark.slow
async def test_git_commits_on_a_branch(root: Path) -> None:
    (root / "b.txt").write_text("two\n")
    (root / "a.txt").write_text("eins\n")
    seen = await ran(
        root,
        act("git_status"),
        act("git_diff"),
        act("git_diff", path="b.txt"),
        act("git_diff", since="--output=x"),
        act("git_diff", since="nothing"),
        commit("On main"),
        commit("A name", branch="a..b"),
        commit("Some", branch="work", paths=["a.txt"]),
        commit("The rest"),
        commit("Nothing"),
        commit("Back", branch="main"),
    )
    texts = [each.text for each in seen]
    assert texts[0] == "## main\n M a.txt\n?? b.txt"
    assert "-one\n+eins" in texts[1]
    assert texts[2] == "no tracked file differs from HEAD"
    assert "since is a commit or a branch" in texts[3]
    assert "git diff: " in texts[4]
    assert "main is the default branch" in texts[5]
    assert "'a..b' is not a valid branch name" in texts[6]
    assert texts[7].endswith(" on work")
    assert texts[8].endswith(" on work")
    assert "there is nothing to commit" in texts[9]
    assert "main is the default branch" in texts[10]
    assert git(root, "log", "--format=%s <%an>", "work") == (
        "The rest <clew>\nSome <clew>\nFirst <A>"
    )
    assert git(root, "status", "--short") == ""


@pytest.mark.slow
async def test_commits_where_that_is_allowed_and_where_it_cannot_be(root: Path) -> None:
    git(root, "branch", "old")
    (root / "a.txt").write_text("two\n")
    (seen,) = await ran(root, commit("Two"), default_branch=True, author="Ada <ada@example.org>")
    assert seen.text.endswith(" on main")
    assert git(root, "log", "-1", "--format=%an %ae") == "Ada ada@example.org"
    (root / "a.txt").write_text("three\n")
    (seen,) = await ran(root, commit("Old", branch="old"))
    assert "branch old is at another commit" in seen.text
    git(root, "checkout", "--quiet", "--detach")
    (seen,) = await ran(root, commit("Nowhere"))
    assert "no branch is checked out" in seen.text
    git(root, "update-ref", "refs/remotes/origin/old", "HEAD")
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/old")
    (seen,) = await ran(root, commit("Old", branch="old"))
    assert "old is the default branch" in seen.text


async def test_a_new_repository_and_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    (seen,) = await ran(tmp_path, act("git_status"))
    assert "the folder is not a git repository" in seen.text
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (seen,) = await ran(tmp_path, commit("First", branch="start"))
    assert seen.text.endswith(" on start")
    (tmp_path / "inner").mkdir()
    (seen,) = await ran(tmp_path / "inner", act("git_status"))
    assert "the folder is not a git repository" in seen.text


async def test_what_a_repository_names_is_run_in_the_sandbox_at_most(root: Path) -> None:
    outside = root.parent / "outside"
    for key in ("core.fsmonitor", "diff.external", "core.pager", "core.sshCommand"):
        git(root, "config", key, f"touch {outside}; true")
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {outside}\n")
    hook.chmod(0o755)
    git(root, "config", "filter.evil.clean", f"touch {outside}; cat")
    (root / ".gitattributes").write_text("*.txt filter=evil\n")
    (root / "a.txt").write_text("two\n")
    seen = await ran(root, act("git_status"), act("git_diff"), commit("Two", branch="b"))
    assert [each.ok for each in seen] == [True] * 3
    assert not outside.exists()


LESSER = """
import json, subprocess, sys
from clew import Agent, MemoryStore, sync
from clew import run_sync
from clew.testing import ScriptedModel, act, finish
from clew_code.workspace import workspace_tools
store, said = MemoryStore(), []
for moves in ([act("run_command", command="echo hello")], [act("list_files")]):
    model = ScriptedModel([*moves, finish("Done.")])
    agent = Agent(model=model, tools=workspace_tools(sys.argv[1]))
    result = run_sync(agent, "Go.", store=store)
    said.append(result.status)
    if result.status == "held":
        (held,) = sync.pending_approvals(store=store)
        said.append(held.why)
        sync.rule(f"{result.run_id}:{held.call}", allow=True, store=store)
        said.append(sync.resume(agent, result.run_id, store=store).status)
        said.append(sync.read(result.run_id, store=store).calls[0].observation.text)
print(json.dumps(said))
"""


@pytest.mark.slow
async def test_where_walls_lack_a_person_is_asked(tmp_path: Path) -> None:
    """A sandbox inside a sandbox has no namespaces."""
    (tmp_path / "root").mkdir()
    box = Sandbox(root=str(tmp_path), readable=SOURCES)
    argv = ["python", "-c", LESSER, str(tmp_path / "root")]
    ended = await box.run(argv, seconds=60, limit=20_000, variables=IMPORTS)
    assert ended.code == 0, ended.stderr
    held, reason, status, text, other = json.loads(ended.stdout)
    assert (held, status, other) == ("held", "answered", "answered")
    assert "this machine's sandbox is not complete (namespaces: " in reason
    assert text.endswith("--- stdout\nhello")


def test_an_agent_file_with_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    file = tmp_path / "agent.toml"
    file.write_text('model = "offline"\ntools = []\nworkspace = "project"\n')
    assert len(load_agent(file).agent.tools) >= 10
    head = 'model = "offline"\ntools = []\n[workspace]\nroot = "project"\n'
    file.write_text(
        f'{head}only = ["grep", "read_file"]\nreadable = ["."]\n[workspace.limits]\ncpu = 5\n'
    )
    assert {"grep", "read_file"} <= set(load_agent(file).agent.engine.tools)
    assert "run_command" not in load_agent(file).agent.engine.tools
    for line, said in {
        'only = ["read"]': "there is no workspace tool 'read'",
        "limits = { ram = 1 }": "there is no sandbox limit 'ram'",
        "netwerk = true": "did you mean network?",
    }.items():
        file.write_text(f"{head}{line}\n")
        with pytest.raises(ConfigError, match=said.replace("?", "[?]")):
            load_agent(file)
    file.write_text('model = "offline"\nworkspace = "none"\n')
    with pytest.raises(ConfigError, match=r"agent.toml, line 2: there is no folder"):
        load_agent(file)
