"""Edits, paths and places at their edges."""

import shutil
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from clew import Tool
from clew.testing import act
from clew_code.workspace import workspace_tools
from tests.workspace.folder import one

LINES = "".join(f"line {n}\n" for n in range(1, 101))


@pytest.mark.parametrize(
    ("text", "args", "why"),
    [
        ("a\n", {"old_text": "", "new_text": "b"}, "shorter than 1 character"),
        ("a\n", {"old_text": "a", "new_text": "a"}, "the same: that changes nothing"),
        ("aaa\n", {"old_text": "aa", "new_text": "b"}, "that text overlaps itself"),
        ("a\na\n", {"old_text": "a", "new_text": "b", "matches": 3}, "2 matches at lines 1, 2"),
        ("", {"old_text": "a", "new_text": "b"}, "f is empty"),
        ("a\n" * 20, {"old_text": "a\n", "new_text": "b\n"}, "…"),
        (LINES, {"old_text": "line 7\nline 9\n", "new_text": "b\n"}, "Nearest"),
        (LINES, {"old_text": "\n".join(f"nine {n}" for n in range(60)), "new_text": "b"}, "more"),
        ("a  b\n", {"old_text": "a b", "new_text": "c"}, "only blanks differ"),
        ("ab\n", {"old_text": "a b", "new_text": "c"}, "only blanks differ"),
        ("abc\ndef\n", {"old_text": "abc\ndef\nghi", "new_text": "c"}, "Nearest"),
        ("abcd\n", {"old_text": "bcd", "new_text": "x"}, "inside of a word"),
        ("abc\n", {"old_text": "abc", "new_text": "x\n"}, "end both alike"),
        ("abc\nd\n", {"old_text": "abc\n", "new_text": "x"}, "end both alike"),
        ("  abc\n", {"old_text": "abc", "new_text": "x\n  y"}, "begins behind the blanks"),
    ],
)
async def test_an_edit_that_may_be_a_slip_changes_nothing(
    tmp_path: Path, text: str, args: dict[str, Any], why: str
) -> None:
    (tmp_path / "f").write_text(text)
    seen = await one(tmp_path, act("edit_file", path="f", **args))
    assert not seen.ok
    assert why in seen.text
    assert (tmp_path / "f").read_text() == text


async def test_as_many_places_as_were_said_are_changed(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n" * 12)
    move = act("edit_file", path="f", old_text="a\n", new_text="b\n", matches=12)
    seen = await one(tmp_path, move)
    assert seen.text.startswith("f: replaced at lines 1, 2, 3")
    assert (tmp_path / "f").read_text() == "b\n" * 12


async def awaited(tool: Tool, args: dict[str, Any]) -> Any:
    called = tool.call(args, "run:1.1")
    assert isinstance(called, Awaitable)
    return await called


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
async def test_a_name_that_no_file_has(tmp_path: Path, path: str) -> None:
    read = next(t for t in workspace_tools(tmp_path) if t.name == "read_file")
    with pytest.raises(Exception, match=r"NUL character|contains a name that cannot be encoded"):
        await awaited(read, {"path": path})


async def test_a_folder_that_went_away(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    tools = workspace_tools(root)
    shutil.rmtree(root)
    read = next(t for t in tools if t.name == "list_files")
    with pytest.raises(Exception, match="the folder itself cannot be opened"):
        await awaited(read, {})
