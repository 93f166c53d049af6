"""The tools that read and write files, in runs."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import ConfigError, ToolError
from clew.testing import act
from clew_code.workspace import NAMES, workspace_tools
from clew_code.workspace.text import decode_text
from tests.workspace.folder import one, ran, tools_of, without_remark


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("import os\n\n\ndef f():\n    return os\n")
    (tmp_path / "README.md").write_text("# Words\n")
    return tmp_path


def edit(path: str, old: str, new: str, **more: Any) -> Any:
    return act("edit_file", path=path, old_text=old, new_text=new, **more)


def test_settings_that_do_not_fit_are_told(tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"only": ["read"]}, "there is no workspace tool 'read': there are list_files"),
        ({"limits": {"ram": 1}}, "there is no sandbox limit 'ram': there are cpu, memory"),
        ({"limits": {"cpu": 0}}, "the limit cpu of a sandbox is 0"),
    ]
    for settings, said in wrong:
        with pytest.raises(ConfigError, match=said):
            workspace_tools(tmp_path, **settings)
    with pytest.raises(ConfigError, match=r"there is no folder .*none for the workspace"):
        workspace_tools(tmp_path / "none")
    assert tuple(tool.name for tool in workspace_tools(tmp_path)) == NAMES
    (only,) = workspace_tools(tmp_path, only=["grep"])
    assert only.name == "grep"


async def test_files_are_listed(root: Path) -> None:
    (root / ".gitignore").write_text("# built\n/build/\n*.log\n!kept.log\ndocs/*.tmp\n\\!x\n")
    (root / "build").mkdir()
    (root / "docs").mkdir()
    for name in ("a.log", "kept.log", "docs/x.tmp", "docs/x.md", ".hidden", "build/out", "!x"):
        (root / name).write_text("x")
    (root / "link").symlink_to("README.md")
    (root / "node_modules").mkdir()
    whole, some, deep, hidden, none = await ran(
        root,
        act("list_files"),
        act("list_files", glob="*.{py,md}"),
        act("list_files", path="docs", glob="docs/**/[!y]?m[d]"),
        act("list_files", hidden=True, glob=".h*"),
        act("list_files", glob="*.rs"),
    )
    assert without_remark(whole.text).splitlines() == [
        "README.md  (8 bytes)", "docs/", "docs/x.md  (1 bytes)", "kept.log  (1 bytes)",
        "link  (link)", "src/", "src/a.py  (35 bytes)",
    ]  # fmt: skip
    assert whole.trust == "untrusted"
    assert without_remark(some.text).splitlines() == [
        "README.md  (8 bytes)", "docs/x.md  (1 bytes)", "src/a.py  (35 bytes)",
    ]  # fmt: skip
    assert without_remark(deep.text) == "docs/x.md  (1 bytes)"
    assert without_remark(hidden.text) == ".hidden  (1 bytes)"
    assert without_remark(none.text) == "nothing fits"


async def test_many_files_and_none(tmp_path: Path) -> None:
    assert (await one(tmp_path, act("list_files"))).text == "the folder is empty"
    for number in range(410):
        (tmp_path / f"f{number:03}").touch()
    seen = await one(tmp_path, act("list_files"))
    assert seen.text.endswith("f399  (0 bytes)\n[… 10 more: name a folder below, or a glob]")


async def test_a_file_is_read_in_pages(root: Path) -> None:
    (root / "long").write_text("".join(f"line {n}\n" for n in range(1, 1001)))
    (root / "empty").touch()
    first, part, last, behind, wrong, empty = await ran(
        root,
        act("read_file", path="long"),
        act("read_file", path="long", first=998, last=999),
        act("read_file", path="long", first=900),
        act("read_file", path="long", first=1001),
        act("read_file", path="long", first=5, last=4),
        act("read_file", path="empty"),
    )
    assert re.match(r"long: lines 1-300 of 1000, version \w{12}\n  1  line 1\n", first.text)
    assert first.text.endswith("300  line 300\n[lines 301-1000: read on with first=301]")
    head, line, *_ = part.text.splitlines()
    assert head.startswith("long: lines 998-999 of 1000, version ")
    assert line == "998  line 998"
    assert last.text.endswith("1000  line 1000")
    assert "long has 1000 lines: line 1001 is behind its end" in behind.text
    assert "last is 4, before first, 5" in wrong.text
    assert empty.text == "empty is empty"


async def test_what_is_no_plain_text_is_said(root: Path) -> None:
    (root / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (root / "data").write_bytes(b"\0\1\2")
    (root / "old").write_bytes("Stra\xdfe\n".encode("latin-1"))
    (root / "wide").write_bytes("\ufeffa\r\nb\r\n".encode("utf-16-le"))
    (root / "broken").write_bytes(b"\xff\xfea")
    (root / "min.js").write_text("x=1;" * 4_000 + "needle" + ";y=2" * 4_000)
    (root / "broad").write_text(("y" * 399 + "\n") * 200)
    seen = await ran(
        root,
        *(act("read_file", path=p) for p in ("picture", "data", "old", "wide", "broken")),
        *(act("read_file", path=p) for p in ("min.js", "broad")),
        act("grep", pattern="needle"),
        act("grep", pattern="return", path="src/a.py", context=1),
        act("grep", pattern="return ("),
        act("grep", pattern="README"),
        act("grep", pattern="^y", glob="broad"),
    )
    texts = [each.text for each in seen]
    assert "picture is a PNG image (10 bytes), and no text" in texts[0]
    assert "data is binary (3 bytes)" in texts[1]
    assert re.match(r"old: lines 1-1 of 1, version \w+, cp1252\n1  Straße", texts[2])
    assert ", utf-16-le, CRLF lines\n1  a\n2  b" in texts[3]
    assert "1  \xff\xfea" in texts[4]
    assert "minified code: search it with grep" in texts[5]
    assert len(texts[5]) < 700
    assert "read on with first=" in texts[6]
    assert len(texts[6]) < 41_000
    assert "min.js:1: (minified) [… " in texts[7]
    assert "needle" in texts[7]
    assert texts[8].splitlines()[1:] == ["src/a.py-4- def f():", "src/a.py:5:     return os"]
    assert "pattern is not a regular expression" in texts[9]
    assert without_remark(texts[10]).endswith("but the names of these files do:\nREADME.md")
    assert without_remark(texts[11]).endswith("broad: [… 170 more matching lines]")


async def test_an_edit_keeps_everything_else(root: Path) -> None:
    file = root / "src" / "a.py"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\nthree")
    file.chmod(0o750)
    (seen,) = await ran(root, edit("src/a.py", "one\ntwo", "eins\nnoch eins\nzwei"))
    assert file.read_bytes() == b"\xef\xbb\xbfeins\r\nnoch eins\r\nzwei\nthree"
    assert file.stat().st_mode & 0o777 == 0o750
    assert (seen.outcome, seen.effect, seen.trust) == ("done", "idempotent", "trusted")
    (root / "latin").write_bytes(b"Stra\xdfe eins\n")
    (seen,) = await ran(root, edit("latin", "eins", "zwei"))
    assert (root / "latin").read_bytes() == b"Stra\xdfe zwei\n"


async def test_what_an_edit_refuses(root: Path) -> None:
    (root / "b").write_text("a a\n    b\n\nb\nxyxyx\n")
    (root / "e").touch()
    (root / "l").write_bytes(b"\xe4 x\n")
    moves = {
        "old_text and new_text are the same": edit("b", "b", "b"),
        "b has 2 matches at lines 2, 4, and not 1": edit("b", "b", "c"),
        "b has 2 matches at lines 2, 4, and not 3": edit("b", "b", "c", matches=3),
        "overlaps itself in b (2 matches, at lines 5, 5)": edit("b", "xyx", "c"),
        "inside of a word in line 5": edit("b", "yxyx", "c"),
        "begins behind the blanks of line 2": edit("b", "b\n\nb", "    c\n"),
        "an empty line would come after line 1": edit("b", "a a", "c\n"),
        "line 2 would be joined to it": edit("b", "a a\n", "c"),
        "e is empty": edit("e", "a", "b"),
        "there is no file 'SRC'": edit("SRC", "a", "b"),
        "src is a folder, not a file": edit("src", "a", "b"),
        "there is no folder 'none'": edit("none/a", "a", "b"),
        "'README.md' is not a folder": edit("README.md/a", "a", "b"),
        "its encoding has no '€'": edit("l", "x", "€"),
        "did you mean 'README.md'?": edit("readme.md", "a", "b"),
        "did you mean 'src/a.py'": edit("src/b.py", "a", "b"),
    }
    before = (root / "b").read_bytes()
    seen = await ran(root, *moves.values())
    for said, each in zip(moves, seen, strict=True):
        if said == "did you mean 'src/a.py'":
            assert "list_files says what there is" in each.text
        else:
            assert said in each.text
        assert (each.ok, each.outcome) == (False, "not_done")
    assert (root / "b").read_bytes() == before


async def test_all_matches_are_replaced_where_their_number_is_said(root: Path) -> None:
    (root / "b").write_text("x\n" * 12)
    (seen,) = await ran(root, edit("b", "x", "yy", matches=12))
    assert "replaced at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 …" in seen.text
    assert (root / "b").read_text() == "yy\n" * 12


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("two\n", "2\n", "1 → 1"),
        ("two", "2\n3", "1 → 2"),
        ("one\ntwo\n", "", "2 → 0"),
        ("\n", "", "1 → 0"),
    ],
)
async def test_the_lines_of_an_edit_are_counted_as_they_are_read(
    root: Path, old: str, new: str, lines: str
) -> None:
    (root / "b").write_text("one\ntwo\nthree")
    (seen,) = await ran(root, edit("b", old, new, matches=2 if old == "\n" else 1))
    assert f"; {lines} lines each, the file has" in seen.text


async def test_a_file_is_written(root: Path) -> None:
    (root / "crlf").write_bytes(b"a\r\nb\r\n")
    (root / "binary").write_bytes(b"\0")
    (root / "empty").touch()
    seen = await ran(
        root,
        act("write_file", path="n/e/w.txt", content="new\n"),
        act("write_file", path="n/e/w.txt", content="newer\n"),
        act("write_file", path="n/e/w.txt", content="new\n", overwrite=True),
        act("write_file", path="crlf", content="c\nd\n", overwrite=True),
        act("write_file", path="binary", content="c\n", overwrite=True),
        act("write_file", path="empty", content="c\n", overwrite=True),
        act("write_file", path="src", content="c\n"),
    )
    assert [each.ok for each in seen] == [True, False, False, True, True, True, False]
    assert "change it with edit_file, or say overwrite=true" in seen[1].text
    assert "has just this content" in seen[2].text
    assert (root / "crlf").read_bytes() == b"c\r\nd\r\n"
    assert (root / "n/e/w.txt").read_text() == "new\n"
    assert [path.name for path in (root / "n/e").iterdir()] == ["w.txt"]  # nothing is left behind


async def test_a_file_that_cannot_be_read_or_is_too_big(root: Path) -> None:
    tools = tools_of(root)
    (root / "big").write_bytes(b"x" * 20_000_001)
    with pytest.raises(ToolError, match="20,000,001 bytes, and 20,000,000 are read"):
        await tools["read_file"].call({"path": "big"}, "")
    os.mkfifo(root / "pipe")
    with pytest.raises(ToolError, match="pipe is a pipe, not a file"):
        await tools["read_file"].call({"path": "pipe"}, "")
    content = "x" * 20_000_001
    seen = await tools["write_file"].call({"path": "new", "content": content}, "")
    assert "new would have 20,000,001 bytes" in seen.text
    shutil.rmtree(root)
    with pytest.raises(ToolError, match="the folder itself cannot be opened"):
        await tools["list_files"].call({}, "")


@given(st.binary(max_size=200) | st.text("ab \r\n", max_size=80).map(str.encode))
def test_a_text_that_is_not_changed_has_the_bytes_of_its_file(data: bytes) -> None:
    try:
        text = decode_text(data, "x")
    except ToolError:
        return
    assert text.encode() == data
    assert text.change([]).encode() == data


@given(
    st.lists(st.tuples(st.text("ab", max_size=3), st.sampled_from(["\n", "\r\n"])), max_size=8),
    st.data(),
)
def test_a_change_touches_no_other_byte(lines: list[tuple[str, str]], data: st.DataObject) -> None:
    whole = "".join(line + end for line, end in lines)
    text = decode_text(whole.encode(), "x")
    start = data.draw(st.integers(0, len(text.body)))
    end = data.draw(st.integers(start, len(text.body)))
    new = data.draw(st.text("c", max_size=3))
    done = text.change([(start, end, new)])
    assert done.body == text.body[:start] + new + text.body[end:]
    back = done.encode().decode()
    assert back.endswith(decode_text(whole.encode(), "x").change([(0, end, "")]).encode().decode())
