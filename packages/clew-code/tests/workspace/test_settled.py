"""Changes that a worker began and did not see end: settled by what is in the folder."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, MemoryStore, Observation, read, resume, run
from clew.interfaces import Append, Attempt
from clew.testing import ScriptedModel, act, finish
from clew_code.workspace import workspace_tools

PATCH = """\
*** Begin Patch
*** Update File: a.txt
-one
+two
*** Add File: b.txt
+new
*** End Patch"""
EDIT = act("edit_file", path="a.txt", old_text="one", new_text="two")


def agent_of(root: Path, move: Any) -> Agent:
    return Agent(ScriptedModel([move, finish("Done.")]), tools=workspace_tools(root))


async def begun(root: Path, move: Any) -> MemoryStore:
    """The record of a worker that died when it had said what it was about to do."""
    whole, left = MemoryStore(), MemoryStore()
    result = await run(agent_of(root, move), "Change it.", store=whole, run_id="run")
    assert result.status == "answered"
    entries = (await read("run", store=whole)).entries
    at = next(e.seq for e in entries if isinstance(e.event, Attempt) and e.event.task)
    lines = await whole.read("run")
    epoch = await left.create("run")
    await left.append(Append("run", epoch, tuple(lines[:at])))
    return left


async def settled(root: Path, move: Any, store: MemoryStore) -> Observation:
    await resume(agent_of(root, move), "run", store=store)
    seen = (await read("run", store=store)).call("1.1").observation
    assert seen is not None
    return seen


async def test_a_change_that_was_made_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    store = await begun(tmp_path, EDIT)
    seen = await settled(tmp_path, EDIT, store)
    assert seen.text == "done before the worker stopped, and found so now: a.txt"
    assert (tmp_path / "a.txt").read_text() == "two\n"


async def test_a_change_that_was_not_made_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    store = await begun(tmp_path, EDIT)
    (tmp_path / "a.txt").write_text("one\n")
    seen = await settled(tmp_path, EDIT, store)
    assert seen.ok
    assert (tmp_path / "a.txt").read_text() == "two\n"


def other(root: Path) -> None:
    (root / "a.txt").write_text("three\n")


def folder(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").mkdir()


@pytest.mark.parametrize("meanwhile", [other, folder])
async def test_a_file_that_is_neither_is_unknown(
    tmp_path: Path, meanwhile: Callable[[Path], None]
) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    store = await begun(tmp_path, EDIT)
    meanwhile(tmp_path)
    seen = await settled(tmp_path, EDIT, store)
    assert (seen.code, seen.outcome) == ("unknown", "unknown")
    assert "a.txt is neither as it was nor as it was to be" in seen.text


async def test_half_of_a_patch_is_completed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    move = act("apply_patch", patch=PATCH)
    store = await begun(tmp_path, move)
    (tmp_path / "b.txt").unlink()
    seen = await settled(tmp_path, move, store)
    assert seen.outcome == "done"
    assert seen.text.startswith("begun before the worker stopped, and completed now")
    assert (tmp_path / "b.txt").exists()


TWO = """\
*** Begin Patch
*** Update File: a.txt
-one
+two
*** Update File: c.txt
-three
+four
*** Add File: b.txt
+new
*** Delete File: d.txt
*** End Patch"""
NOW: dict[str, str | None] = {"a.txt": "two\n", "c.txt": "four\n", "b.txt": "new\n", "d.txt": None}
BEFORE: dict[str, str | None] = {
    "a.txt": "one\n",
    "c.txt": "three\n",
    "b.txt": None,
    "d.txt": "old\n",
}


def put(root: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        if text is None:
            (root / name).unlink(missing_ok=True)
        else:
            (root / name).write_text(text)


def found(root: Path) -> dict[str, str | None]:
    paths = {name: root / name for name in NOW}
    return {name: path.read_text() if path.exists() else None for name, path in paths.items()}


@pytest.mark.parametrize("made", range(16))
async def test_whatever_part_of_a_patch_was_made_the_rest_follows(
    tmp_path: Path, made: int
) -> None:
    put(tmp_path, BEFORE)
    move = act("apply_patch", patch=TWO)
    store = await begun(tmp_path, move)
    put(tmp_path, {name: BEFORE[name] for at, name in enumerate(NOW) if not made >> at & 1})
    seen = await settled(tmp_path, move, store)
    assert seen.outcome == "done"
    assert found(tmp_path) == NOW


@pytest.mark.parametrize("name", NOW)
@pytest.mark.parametrize("made", [0, 15])
async def test_a_patch_of_which_a_person_changed_a_file_is_told(
    tmp_path: Path, name: str, made: int
) -> None:
    put(tmp_path, BEFORE)
    move = act("apply_patch", patch=TWO)
    store = await begun(tmp_path, move)
    left = {**(NOW if made else BEFORE), name: "a person's\n"}
    put(tmp_path, left)
    seen = await settled(tmp_path, move, store)
    assert seen.outcome == "unknown"
    assert f"{name} is neither as it was nor as it was to be" in seen.text
    assert found(tmp_path) == left


async def test_half_of_a_patch_whose_rest_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    move = act("apply_patch", patch=PATCH)
    store = await begun(tmp_path, move)
    (tmp_path / "b.txt").write_text("a person's\n")
    seen = await settled(tmp_path, move, store)
    assert seen.outcome == "unknown"
    assert "b.txt is neither as it was nor as it was to be. Changes made: a.txt" in seen.text
    assert (tmp_path / "b.txt").read_text() == "a person's\n"


async def test_a_file_that_changes_under_a_patch_stops_it(tmp_path: Path) -> None:
    """The second file cannot be written: it is told what was."""
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").mkdir()
    tools = {tool.name: tool for tool in workspace_tools(tmp_path)}
    patch = PATCH.replace("b.txt", "b.txt/c/d")
    (tmp_path / "b.txt" / "c").write_text("no folder\n")
    agent = Agent(
        ScriptedModel([act("apply_patch", patch=patch), finish("Done.")]), [*tools.values()]
    )
    store = MemoryStore()
    await run(agent, "Change it.", store=store, run_id="run")
    seen = (await read("run", store=store)).call("1.1").observation
    assert seen is not None
    assert not seen.ok
    assert "is not a folder" in seen.text


def git(root: Path, *args: str) -> str:
    settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(
        ["git", *settings, "-C", str(root), *args], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


COMMIT = act("git_commit", message="second", branch="work")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "a.txt").write_text("one\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message=first")
    (tmp_path / "a.txt").write_text("two\n")
    return tmp_path


@pytest.mark.parametrize("done", ["moved", "moved, and main checked out", "not moved", "gone on"])
async def test_a_commit_is_made_once(repository: Path, done: str) -> None:
    store = await begun(repository, COMMIT)
    if done != "moved":
        git(repository, "symbolic-ref", "HEAD", "refs/heads/main")
    if done == "not moved":
        git(repository, "branch", "--delete", "--force", "work")
    if done == "gone on":
        git(repository, "checkout", "--quiet", "--force", "work")
        git(repository, "commit", "--quiet", "--allow-empty", "--message=third")
    seen = await settled(repository, COMMIT, store)
    assert seen.ok
    assert "on work" in seen.text
    assert git(repository, "log", "--format=%s", "work").splitlines()[-2:] == ["second", "first"]
    assert git(repository, "symbolic-ref", "--short", "HEAD") == "work"


async def test_a_branch_that_went_elsewhere_is_unknown(repository: Path) -> None:
    store = await begun(repository, COMMIT)
    git(repository, "checkout", "--quiet", "--force", "main")
    git(repository, "branch", "--force", "work", "main")
    seen = await settled(repository, COMMIT, store)
    assert (seen.code, seen.outcome) == ("unknown", "unknown")
    assert "has no commit" in seen.text
