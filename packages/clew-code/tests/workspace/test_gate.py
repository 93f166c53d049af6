"""Calls that change one file at once: both land, or one is refused and says why."""

import fcntl
import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, Limits, MemoryStore, Observation, delegate, read, run
from clew.testing import ScriptedModel, act, acts, finish
from clew_code.workspace import gate as gate_module
from clew_code.workspace import workspace_tools
from tests.workspace.folder import ran

TEXT = "".join(f"line {n}\n" for n in range(16))


def edit(path: str, n: int) -> Any:
    return act("edit_file", path=path, old_text=f"line {n}\n", new_text=f"changed {n}\n")


def patch(path: str, *lines: str, kind: str = "Update") -> Any:
    text = "\n".join(["*** Begin Patch", f"*** {kind} File: {path}", *lines, "*** End Patch"])
    return act("apply_patch", patch=text)


def write(path: str, text: str, **more: Any) -> Any:
    return act("write_file", path=path, content=text, overwrite=True, **more)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text(TEXT)
    (folder / "link.txt").symlink_to("a.txt")
    (folder / "way").symlink_to("sub")
    (folder / "sub" / "b.txt").write_text(TEXT)
    return folder


@pytest.mark.parametrize(
    ("first", "second", "file"),
    [
        (edit("a.txt", 1), edit("a.txt", 2), "a.txt"),
        (edit("a.txt", 1), edit("./a.txt", 2), "a.txt"),
        (edit("a.txt", 1), edit("sub/../a.txt", 2), "a.txt"),
        (edit("a.txt", 1), edit("link.txt", 2), "a.txt"),
        (edit("a.txt", 1), edit("ROOT/a.txt", 2), "a.txt"),
        (edit("sub/b.txt", 1), edit("way/b.txt", 2), "sub/b.txt"),
        (edit("a.txt", 1), patch("a.txt", "-line 2", "+changed 2"), "a.txt"),
        (
            patch("link.txt", "-line 1", "+changed 1"),
            patch("a.txt", "-line 2", "+changed 2"),
            "a.txt",
        ),
    ],
)
async def test_two_edits_of_one_file_in_one_reply_both_land(
    root: Path, first: Any, second: Any, file: str
) -> None:
    first, second = deepcopy(first), deepcopy(second)  # they are those of the other loop too
    for action in (*first.actions, *second.actions):
        if "path" in action.args:
            action.args["path"] = action.args["path"].replace("ROOT", str(root))
    seen = await ran_all(root, acts(first, second))
    assert [each.ok for each in seen] == [True, True], [each.text for each in seen]
    text = (root / file).read_text()
    assert "changed 1\n" in text
    assert "changed 2\n" in text


async def ran_all(root: Path, *moves: Any, **settings: Any) -> list[Observation]:
    count = sum(len(move.actions) for move in moves)
    agent = Agent(
        ScriptedModel([*moves, finish("Done.")]),
        workspace_tools(root, **settings),
        limits=Limits(steps=20, tool_calls=count + 2),
    )
    store = MemoryStore()
    result = await run(agent, "Work.", store=store)
    record = await read(result.run_id, store=store)
    return [call.observation for call in record.calls[:-1] if call.observation]


async def test_many_edits_in_one_reply_all_land(root: Path) -> None:
    seen = await ran_all(root, acts(*(edit("a.txt", n) for n in range(16))))
    assert not [each.text for each in seen if not each.ok]
    assert (root / "a.txt").read_text() == TEXT.replace("line", "changed")


@pytest.mark.parametrize(
    "second",
    [
        write("a.txt", "all new\n"),
        write("link.txt", "all new\n"),
        patch("a.txt", kind="Delete"),
        patch("a.txt", "*** Move to: c.txt", kind="Update"),
    ],
)
async def test_a_file_that_a_call_of_the_same_reply_changed_is_not_replaced(
    root: Path, second: Any
) -> None:
    seen = await ran_all(root, acts(edit("a.txt", 1), second))
    said = [each.text for each in seen if not each.ok]
    made = [each for each in seen if each.ok]
    assert made, said
    if said:
        known = ("was changed by call 1.", "there is no file", "nothing was changed: that text")
        assert any(why in said[0] for why in known)
    if seen[0].ok:
        left = root / ("c.txt" if (root / "c.txt").exists() else "a.txt")
        assert "changed 1\n" in left.read_text()


@pytest.mark.parametrize(
    "change",
    [
        write("a.txt", "mine\n"),
        write("link.txt", "mine\n"),
        write("./a.txt", "mine\n"),
        patch("a.txt", kind="Delete"),
        patch("a.txt", "*** Move to: c.txt", kind="Update"),
    ],
)
async def test_a_file_that_somebody_changed_since_it_was_read_is_not_replaced(
    root: Path, change: Any
) -> None:
    def somebody(prompt: Any) -> Any:
        (root / "a.txt").write_text("somebody's\n")
        return change

    agent_moves: list[Any] = [act("read_file", path="a.txt"), somebody, finish("Done.")]
    store = MemoryStore()
    agent = Agent(ScriptedModel(agent_moves), workspace_tools(root))
    result = await run(agent, "Work.", store=store)
    seen = (await read(result.run_id, store=store)).call("2.1").observation
    assert seen is not None
    assert not seen.ok
    assert "a.txt was changed by somebody else since it was read" in seen.text
    assert (root / "a.txt").read_text() == "somebody's\n"


async def test_a_file_that_was_read_or_written_by_the_run_is_replaced(root: Path) -> None:
    seen = await ran(
        root,
        act("read_file", path="a.txt"),
        write("a.txt", "one\n"),
        write("a.txt", "two\n"),
        act("edit_file", path="a.txt", old_text="two", new_text="three"),
        write("a.txt", "four\n"),
        write("sub/b.txt", "never read\n"),
    )
    assert all(each.ok for each in seen), [each.text for each in seen]
    assert (root / "a.txt").read_text() == "four\n"


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("write_file", {"content": "x", "overwrite": True}),
        ("edit_file", {"old_text": "line 1\n", "new_text": "x\n"}),
    ],
)
async def test_a_write_may_carry_the_version_that_it_is_meant_for(
    root: Path, tool: str, args: dict[str, Any]
) -> None:
    (first,) = await ran(root, act("read_file", path="a.txt"))
    version = first.versions["a.txt"]
    assert f"version {version}" in first.text
    (root / "a.txt").write_text(TEXT + "more\n")
    (refused,) = await ran(root, act(tool, path="a.txt", version=version, **args))
    assert "nothing was changed: a.txt has version" in refused.text
    (root / "a.txt").write_text(TEXT)
    (made,) = await ran(root, act(tool, path="a.txt", version=version, **args))
    assert made.ok


async def test_a_version_of_a_file_that_is_gone_is_refused(root: Path) -> None:
    (seen,) = await ran(root, act("write_file", path="new.txt", content="x", version="abc"))
    assert "there is no such file" in seen.text
    assert not (root / "new.txt").exists()


async def test_a_file_that_a_sub_agent_changed_is_not_replaced_unseen(root: Path) -> None:
    below = Agent(ScriptedModel([edit("a.txt", 1), finish("Changed.")]), workspace_tools(root))
    helper = delegate(below, name="helper", description="Changes a file.")
    moves = [act("read_file", path="a.txt"), act("helper", task="Go."), write("a.txt", "x\n")]
    agent = Agent(ScriptedModel([*moves, finish("Done.")]), [*workspace_tools(root), helper])
    store = MemoryStore()
    result = await run(agent, "Work.", store=store)
    seen = (await read(result.run_id, store=store)).call("3.1").observation
    assert seen is not None
    assert "changed by somebody else since it was read" in seen.text
    assert "changed 1" in (root / "a.txt").read_text()


async def test_what_a_dead_writer_left_is_swept(root: Path) -> None:
    for name in (".clew-0123456789abcdef", "sub/.clew-fedcba9876543210"):
        (root / name).write_text("half")
    (root / ".clew-notes").write_text("a person's")
    listed, *_ = await ran(root, act("list_files", hidden=True), edit("a.txt", 1))
    assert "0123456789abcdef" not in listed.text
    assert not (root / ".clew-0123456789abcdef").exists()
    assert (root / ".clew-notes").exists()
    await ran(root, edit("sub/b.txt", 1))
    assert not (root / "sub" / ".clew-fedcba9876543210").exists()


LEFT = ".clew-00112233445566ff"
ENDS = {
    "an edit": ("", edit("a.txt", 1)),
    "an edit below": ("sub", edit("sub/b.txt", 1)),
    "through a link": ("sub", edit("way/b.txt", 1)),
    "a file over another": ("", write("a.txt", "all new\n")),
    "a new file": ("", act("write_file", path="new.txt", content="new\n")),
    "a new file below": ("sub", act("write_file", path="sub/new.txt", content="new\n")),
    "a patch": ("", patch("a.txt", "-line 2", "+changed 2")),
    "a patch that removes": ("", patch("a.txt", kind="Delete")),
    "a patch that adds": ("sub", patch("sub/c.txt", "+new", kind="Add")),
    "a patch that moves": ("sub", patch("a.txt", "*** Move to: sub/a.txt")),
}


@pytest.mark.parametrize(("place", "change"), ENDS.values(), ids=ENDS)
async def test_any_change_sweeps_its_folder_of_what_a_dead_writer_left(
    root: Path, place: str, change: Any
) -> None:
    for folder in ("", "sub"):
        (root / folder / LEFT).write_text("half")
        (root / folder / ".clew-short").write_text("a person's")
    read_first = act("read_file", path="a.txt")
    *_, seen = await ran(root, read_first, deepcopy(change))
    assert seen.ok, seen.text
    assert not (root / place / LEFT).exists()
    assert {(root / each / ".clew-short").read_text() for each in ("", "sub")} == {"a person's"}


async def test_a_folder_that_another_program_holds_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate_module, "WAIT", 0.05)
    folder = os.open(root, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        (seen,) = await ran(root, edit("a.txt", 1))
    finally:
        os.close(folder)
    assert "other changes in the same folder took over" in seen.text
    assert (root / "a.txt").read_text() == TEXT


async def test_a_refused_new_file_leaves_no_folder(root: Path) -> None:
    (seen,) = await ran(root, act("write_file", path="x/y/z.txt", content="a", version="1"))
    assert not seen.ok
    assert not (root / "x").exists()


async def test_hard_links_are_told(root: Path) -> None:
    os.link(root / "a.txt", root / "hard.txt")
    (seen,) = await ran(root, edit("hard.txt", 1))
    assert "1 other names of this file (hard links) keep the old content" in seen.text
    assert (root / "a.txt").read_text() == TEXT


HOLDER = """
import fcntl, os, sys
folder = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(folder, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""


async def test_the_lock_of_a_process_that_died_is_free(root: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        process.kill()
        process.wait()
        (seen,) = await ran(root, edit("a.txt", 1))
    assert seen.ok
