"""What a search did not look at is said: nothing found and not looked at are not the same."""

from pathlib import Path
from typing import Any

import pytest

from clew.testing import act
from tests.workspace.folder import one

GREP = {"pattern": "needle"}


def put(root: Path, name: str, data: bytes | int) -> None:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(data, int):
        with file.open("wb") as opened:
            opened.truncate(data)
    else:
        file.write_bytes(data)


@pytest.mark.parametrize(
    ("files", "tool", "args", "said"),
    [
        ({"big.log": 20_000_001}, "grep", GREP, "looked at 0 files; left out 1 too large"),
        ({"a.bin": b"\0needle"}, "grep", GREP, "looked at 0 files; left out 1 binary"),
        ({"a.png": b"\x89PNG\0", "b.txt": b"x"}, "grep", GREP, "at 1 file; left out 1 bin"),
        ({".gitignore": b"*.log\n", "a.log": b"needle"}, "grep", GREP, "1 ignored by .gitignore"),
        ({".github/a.yml": b"needle"}, "grep", GREP, "looked at 0 files; left out 1 hidden"),
        ({"node_modules/a.js": b"needle"}, "grep", GREP, "1 folders that tools make"),
        ({"a.txt": b"needle", "b.bin": b"\0"}, "grep", GREP, "at 1 file; left out 1 b"),
        ({"a.py": b"x", "b.bin": b"\0"}, "grep", {**GREP, "glob": "*.{py,bin}"}, "1 binary"),
        ({"a/.gitignore": b"*\n", "a/x": b""}, "list_files", {}, "1 hidden, 1 ignored"),
        ({".gitignore": b"*\n", "x": b"", "y": b""}, "list_files", {}, "2 ignored"),
        ({".venv/x": b""}, "list_files", {"hidden": True}, "1 folders that tools make"),
        ({".hidden": b""}, "list_files", {}, "nothing to list here\n[looked at 0 files"),
        ({".hidden.py": b""}, "list_files", {"glob": "*.py"}, "nothing fits\n[looked at 0 files"),
    ],
    ids=map(str, range(13)),
)  # fmt: skip
async def test_what_was_left_out_is_said(
    tmp_path: Path, files: dict[str, bytes | int], tool: str, args: dict[str, Any], said: str
) -> None:
    for name, data in files.items():
        put(tmp_path, name, data)
    assert said in (await one(tmp_path, act(tool, **args))).text


async def test_links_are_counted(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", b"needle")
    (tmp_path / "link").symlink_to("a.txt")
    seen = await one(tmp_path, act("grep", **GREP))
    assert seen.text.endswith("[looked at 1 file; left out 1 links, devices and pipes]")


async def test_where_nothing_was_left_out_nothing_is_said(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", b"needle")
    assert "looked at" not in (await one(tmp_path, act("grep", **GREP))).text
    assert "looked at" not in (await one(tmp_path, act("list_files"))).text
    assert (await one(tmp_path, act("list_files", path="."))).text == "a.txt  (6 bytes)"
