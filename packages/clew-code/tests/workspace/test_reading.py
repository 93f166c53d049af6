"""Looking at files: listed, read in pages, searched; what is ignored, what no path reaches."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clew import ToolError
from clew.testing import act
from clew_code.workspace.root import Root
from tests.workspace.folder import one, without_remark


def put(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


async def looked(root: Path, tool: str, **args: Any) -> str:
    return without_remark((await one(root, act(tool, **args))).text)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    put(
        tmp_path,
        {
            "readme.md": "# Read me\n",
            "src/a.py": "x = 1\n",
            "src/deep/b.py": "y = 2\n",
            "src/deep/c.txt": "z\n",
            "build/out.o": b"\0\1",
            "node_modules/left/pad.js": "no",
            ".hidden/secret": "no",
            ".gitignore": "# built\nbuild/\n*.log\n!keep.log\n/top.txt\ndocs/*.tmp\n\\#odd\n[a-\n",
            "noise.log": "no",
            "keep.log": "yes",
            "top.txt": "no",
            "src/top.txt": "yes",
            "docs/x.tmp": "no",
            "docs/y.md": "yes",
            "#odd": "no",
        },
    )
    return tmp_path


async def test_ignored_and_hidden_files_are_left_out(tree: Path) -> None:
    listed = await looked(tree, "list_files")
    assert listed.splitlines() == [
        "docs/",
        "docs/y.md  (3 bytes)",
        "keep.log  (3 bytes)",
        "readme.md  (10 bytes)",
        "src/",
        "src/a.py  (6 bytes)",
        "src/deep/",
        "src/deep/b.py  (6 bytes)",
        "src/deep/c.txt  (2 bytes)",
        "src/top.txt  (3 bytes)",
    ]
    hidden = await looked(tree, "list_files", hidden=True)
    assert ".hidden/secret" in hidden
    assert ".git/" not in hidden


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("*.py", ["src/a.py", "src/deep/b.py"]),
        ("src/*.py", ["src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/deep/b.py"]),
        ("src/**", ["src/a.py", "src/deep/b.py", "src/deep/c.txt", "src/top.txt"]),
        ("?.{py,txt}", ["src/a.py", "src/deep/b.py", "src/deep/c.txt"]),
        ("[ab].py", ["src/a.py", "src/deep/b.py"]),
        ("[!a].py", ["src/deep/b.py"]),
        ("[z-a].py", []),
    ],
)
async def test_a_glob_names_files(tree: Path, names: str, found: list[str]) -> None:
    listed = await looked(tree, "list_files", glob=names)
    lines = [line.partition("  ")[0] for line in listed.splitlines()]
    assert lines == (found or ["nothing fits"])


async def test_rules_of_folders_above_hold_below(tree: Path) -> None:
    put(tree, {"src/deep/d.log": "no", "src/deep/.gitignore": "c.*\n"})
    assert await looked(tree, "list_files", path="src/deep") == "src/deep/b.py  (6 bytes)"
    (tree / "empty").mkdir()
    assert await looked(tree, "list_files", path="empty") == "the folder is empty"


async def test_rules_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    put(tmp_path, {"a.txt": "a\n", "sub/b.txt": "b\n", "sub/.gitignore": "/b.*\n"})
    (tmp_path / ".gitignore").mkdir()
    listed = await looked(tmp_path, "list_files")
    assert listed.splitlines() == ["a.txt  (2 bytes)", "sub/"]


async def test_a_folder_that_goes_away_meanwhile_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = Root.entries

    def gone(self: Root, path: str) -> Any:
        if path == "sub":
            raise ToolError("there is no folder 'sub'")
        return entries(self, path)

    monkeypatch.setattr(Root, "entries", gone)
    put(tmp_path, {"a.txt": "a\n", "sub/b.txt": "b\n"})
    assert (await looked(tmp_path, "list_files")).splitlines() == ["a.txt  (2 bytes)", "sub/"]


async def test_a_search_that_takes_too_long_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew_code.workspace.read_tools.SECONDS", 1)
    put(tmp_path, {"a.txt": "a" * 50 + "\n"})
    seen = await one(tmp_path, act("grep", pattern="(a+)+b"))
    assert "the search took over 1 s" in seen.text


async def test_a_search_that_fails_is_an_error_of_the_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = ["python3", "-c", "raise SystemExit('no search today')"]
    monkeypatch.setattr("clew_code.workspace.read_tools.script", lambda module: failing)
    seen = await one(tmp_path, act("grep", pattern="a"))
    assert (seen.code, seen.outcome) == ("crashed", "not_done")
    assert "no search today" in seen.detail


async def test_links_and_pipes_are_named_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    assert (await looked(tmp_path, "list_files")).splitlines() == ["out  (link)", "pipe  (other)"]


async def test_a_folder_with_many_files_says_how_many_are_left(tmp_path: Path) -> None:
    put(tmp_path, {f"f{n:04}": "" for n in range(450)})
    assert (await looked(tmp_path, "list_files")).endswith(
        "[… 50 more: name a folder below, or a glob]"
    )


async def test_files_beyond_those_looked_at_are_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew_code.workspace.read_tools.LOOKED", 3)
    put(tmp_path, {f"f{n}": "" for n in range(5)})
    assert len((await looked(tmp_path, "list_files")).splitlines()) == 3


async def test_a_file_is_read_in_pages(tmp_path: Path) -> None:
    put(tmp_path, {"long.txt": "".join(f"line {n}\n" for n in range(1, 1001))})
    first = await looked(tmp_path, "read_file", path="long.txt")
    assert first.startswith("long.txt: lines 1-300 of 1000, version ")
    assert first.endswith("[lines 301-1000: read on with first=301]")
    middle = await looked(tmp_path, "read_file", path="long.txt", first=500, last=501)
    assert middle.splitlines()[1].split() == ["500", "line", "500"]
    last = await looked(tmp_path, "read_file", path="long.txt", first=999)
    assert "read on" not in last


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("dangling.txt", "nowhere"),
        ("dangling.txt", "a/b/c"),
        ("dangling.txt", "./dangling2.txt"),
        ("dir/link", "nothing"),
        ("dir/link.md", "../nothing.md"),
        ("l", "m"),
        ("twice", "dangling.txt"),
        (".hidden", "none"),
        ("Ä.txt", "none"),
        ("a b.txt", "none"),
    ],
)
@pytest.mark.parametrize("tool", ["read_file", "edit_file"])
async def test_a_link_to_nothing_is_named(
    tmp_path: Path, path: str, target: str, tool: str
) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / "dangling.txt").symlink_to("nowhere")
    if path != "dangling.txt":
        (tmp_path / path).symlink_to(target)
    more = {} if tool == "read_file" else {"old_text": "a", "new_text": "b"}
    said = await looked(tmp_path, tool, path=path, **more)
    assert f"there is no file {path!r}: it is a link to something that is not there" in said
    assert "did you mean" not in said


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"path": "gone.txt"}, "there is no file 'gone.txt': list_files says what there is"),
        ({"path": "A.txt"}, "there is no file 'A.txt': did you mean 'a.txt'?"),
        ({"path": "a.md"}, "did you mean 'a.txt'?"),
        ({"path": "no/a.txt"}, "there is no folder 'no' either"),
        ({"path": "a.txt", "first": 9}, "a.txt has 2 lines: line 9 is behind its end"),
        ({"path": "a.txt", "first": 2, "last": 1}, "last is 1, before first, 2"),
        ({"path": "folder"}, "folder is a folder, not a file"),
        ({"path": "."}, ". is a folder, not a file"),
        ({"path": "a.txt/b"}, "is not a folder"),
        ({"path": "../x"}, "leads out of the folder"),
        ({"path": "folder/../../x"}, "leads out of the folder"),
        ({"path": "/etc/passwd"}, "leads out of the folder"),
        ({"path": "out/passwd"}, "is a link that leads out of the folder"),
        ({"path": "round"}, "is a link that leads to itself"),
        ({"path": ".git/config"}, "is git's own"),
        ({"path": "pipe"}, "pipe is a pipe, not a file"),
        ({"path": "binary"}, "binary"),
        ({"path": "n" * 300}, "a name in the path is too long"),
    ],
)
async def test_what_cannot_be_read_is_told(tmp_path: Path, args: dict[str, Any], why: str) -> None:
    put(tmp_path, {"a.txt": "one\ntwo\n", "binary": b"\x7fELF\0\0\1" * 99})
    (tmp_path / "folder").mkdir()
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "round").symlink_to("round")
    os.mkfifo(tmp_path / "pipe")
    seen = await one(tmp_path, act("read_file", **args))
    assert not seen.ok
    assert why in seen.text


async def test_links_inside_are_followed(tmp_path: Path) -> None:
    put(tmp_path, {"src/a.txt": "here\n"})
    (tmp_path / "src" / "up").symlink_to("../src/a.txt")
    (tmp_path / "whole").symlink_to(tmp_path / "src")
    (tmp_path / "src" / "top").symlink_to(tmp_path / "src" / "a.txt")
    for path in (
        "src/up",
        "src/top",
        "whole/a.txt",
        str(tmp_path / "src" / "a.txt"),
        "./src/./a.txt",
    ):
        assert "here" in await looked(tmp_path, "read_file", path=path)


async def test_empty_and_minified_files_are_named_as_such(tmp_path: Path) -> None:
    put(tmp_path, {"empty": "", "app.js": "function a(){return 1};" * 2000})
    assert await looked(tmp_path, "read_file", path="empty") == "empty is empty"
    shown = await looked(tmp_path, "read_file", path="app.js")
    assert "minified code" in shown
    assert len(shown) < 3_000


async def test_a_page_has_a_size_too(tmp_path: Path) -> None:
    put(tmp_path, {"wide.txt": "".join(f"{n} {'word ' * 60}\n" for n in range(300))})
    shown = await looked(tmp_path, "read_file", path="wide.txt")
    assert len(shown) < 41_000
    assert "read on with first=" in shown


async def test_a_file_that_is_too_big_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew_code.workspace.root.MAX_BYTES", 10)
    put(tmp_path, {"big": "x" * 11})
    assert "big has 11 bytes, and 10 are read" in await looked(tmp_path, "read_file", path="big")


async def test_lines_are_found_with_their_places(tree: Path) -> None:
    found = await looked(tree, "grep", pattern=r"[xy] = \d")
    assert found == "2 lines match in 2 of 7 files\nsrc/a.py:1: x = 1\nsrc/deep/b.py:1: y = 2"
    assert "readme.md:1: # Read me" in await looked(tree, "grep", pattern="READ", ignore_case=True)
    assert "src/a.py" not in await looked(tree, "grep", pattern="=", path="src/deep")
    assert "src/deep/b.py:1: y = 2" in await looked(tree, "grep", pattern="=", glob="b.*")
    assert "no" in await looked(tree, "grep", pattern="nowhere to be found")


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"pattern": "("}, "regular expression"),
        ({"pattern": "x", "path": "gone"}, "gone"),
        ({"pattern": "x", "path": "../.."}, "leads out of the folder"),
    ],
)
async def test_a_search_that_makes_no_sense_is_told(
    tree: Path, args: dict[str, Any], why: str
) -> None:
    seen = await one(tree, act("grep", **args))
    assert not seen.ok
    assert why in seen.text
