"""Corners of a folder that its other tests do not come to."""

from pathlib import Path

import pytest

from clew import ToolError
from clew.testing import act
from clew_code.sandbox import SandboxLimits
from clew_code.workspace import workspace_tools
from clew_code.workspace.root import Root
from tests.workspace.folder import one, ran


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    root = Root(str(tmp_path))
    assert root.is_folder(".")
    assert not root.is_folder("file")
    for work in (
        lambda: root.read("."),
        lambda: root.where("."),
        lambda: root.replace(".", b"", before="-", like=None),
    ):
        with pytest.raises(ToolError, match="is a folder, not a file"):
            work()


def test_what_was_changed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("new")
    with pytest.raises(ToolError, match="file was changed meanwhile"):
        Root(str(tmp_path)).replace("file", b"x", before="-", like=None)
    assert (tmp_path / "file").read_text() == "new"


async def test_sizes_are_rounded_for_people(tmp_path: Path) -> None:
    for name, number in (("a", 9_999), ("b", 20_000), ("c", 30_000_000)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(number)
    seen = await one(tmp_path, act("list_files"))
    assert seen.text.splitlines() == ["a  (9,999 bytes)", "b  (20 kB)", "c  (30 MB)"]


async def test_limits_as_a_value(tmp_path: Path) -> None:
    assert workspace_tools(tmp_path, limits=SandboxLimits(cpu=1))


async def test_patches_that_meet_what_is_there(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text("one\n")
    twice = "*** Begin Patch\n*** Delete File: a\n*** Delete File: a\n*** End Patch"
    onto = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-one\n*** End Patch"
    added = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
    seen = await ran(tmp_path, *(act("apply_patch", patch=text) for text in (twice, onto, added)))
    texts = [each.text for each in seen]
    assert "a is in the patch twice" in texts[0]
    assert "b is there already: a cannot be moved to it" in texts[1]
    assert "a is there already: use '*** Update File: a'" in texts[2]
    assert (tmp_path / "a").read_text() == "one\n"
