"""Globs that a repository or a model wrote: they mean what git says, and never take for ever."""

import subprocess
from pathlib import Path

import pytest

from clew.testing import act
from clew_code.workspace.globs import glob
from clew_code.workspace.ignore import ignored, rules
from tests.workspace.folder import one, without_remark

LONG = "a" * 200
DEEP = "a/" * 60 + "c"

HOSTILE = (
    "*a" * 25 + "*b", "**/a/" * 25 + "b", "**a" * 60 + "b", "**/*a*" * 30 + "b", "**" * 90 + "b",
    "{a,b}" * 40, "*{a,aa}" * 25 + "b", "?*" * 80 + "b", "[!b]*" * 40 + "b", "a*" * 90, "***/" * 40,
)  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE)
async def test_a_glob_of_a_model_ends(tmp_path: Path, words: str) -> None:
    (tmp_path / LONG).touch()
    seen = await one(tmp_path, act("list_files", glob=words[:200]))
    assert seen.ok


@pytest.mark.parametrize("words", HOSTILE)
async def test_a_rule_of_a_repository_ends(tmp_path: Path, words: str) -> None:
    (tmp_path / ".gitignore").write_text(f"{words}\n")
    file = tmp_path / DEEP
    file.parent.mkdir(parents=True)
    file.touch()
    (tmp_path / LONG).touch()
    for tool in (act("list_files"), act("grep", pattern="x")):
        assert (await one(tmp_path, tool)).ok


async def test_rules_without_number_and_folders_without_end(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("".join(f"*x{n}*\n" for n in range(100_000)))
    folder = tmp_path
    for _ in range(400):
        folder /= "d"
    folder.mkdir(parents=True)
    seen = await one(tmp_path, act("list_files"))
    assert "1 folders too deep" in seen.text


@pytest.mark.parametrize(
    ("words", "fits", "not_"),
    [
        ("*.py", "a.py", "a/b.py"),
        ("**/*.py", "a/b/c.py", "a/b/c.pyc"),
        ("src/**/t*t.ts", "src/test.ts", "src/a/tes.ts"),
        ("src/**/t*t.ts", "src/a/b/ttt.ts", "a/src/tt.ts"),
        ("**a*b", "a/ab", "a/a/b"),
        ("*a*a", "aba", "ab"),
        ("a?c", "abc", "a/c"),
        ("a[!b]c", "axc", "a/c"),
        ("[ab]*[cd]", "axxd", "axxe"),
        ("*.{c,h}", "x.h", "x.cpp"),
        ("{a,ab}*c", "abc", "bc"),
        ("a**", "a/b/c", "b/a"),
        ("[x", "[x", "x"),
        ("a.b", "a.b", "axb"),
    ],
)
def test_what_globs_mean(words: str, fits: str, not_: str) -> None:
    assert glob(words).fullmatch(fits)
    assert not glob(words).fullmatch(not_)


async def test_the_same_by_list_files(tmp_path: Path) -> None:
    for name in ("a.py", "b/c.py", "b/c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    seen = await one(tmp_path, act("list_files", glob="**/*.py"))
    assert without_remark(seen.text).split("\n") == ["a.py  (0 bytes)", "b/c.py  (0 bytes)"]


RULES = (
    "*.log", "build/", "/top", "a/b", "**/x", "x/**", "a/**/z", "\\#hash", "\\!bang", "sp\\ ",
    "trail  ", "[ab].txt", "[!a].md", "?.c", "foo*", "*/y", "doc/*.txt", "*.{a,b}", "/a/*", "b\\*c",
    "te\\st", "**foo", "a**b", "[a-]x",
)  # fmt: skip
PATHS = (
    "a.log", "build/o", "top", "s/top", "a/b", "c/a/b", "x", "d/x", "x/1/2", "a/z", "a/q/r/z",
    "#hash", "!bang", "sp ", "sp", "trail", "a.txt", "c.txt", "b.md", "k.c", "foobar", "d/foo", "y",
    "d/y", "e/d/y", "doc/r.txt", "doc/s/r.txt", "b*c", "bxc", "test", "zfoo", "a1b", "m.{a,b}",
    "m.a", "ax", "-x",
)  # fmt: skip


def test_rules_of_a_gitignore_mean_what_git_says(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    for number, rule in enumerate(RULES):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / ".gitignore").write_text(f"{rule}\n")
    asked = [f"{number}/{path}" for number in range(len(RULES)) for path in PATHS]
    git = subprocess.run(
        ["git", "-C", str(tmp_path), "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(asked), capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert {one for one in asked if is_ignored(one)} == {*git.stdout.split("\0")} - {""}


def is_ignored(path: str) -> bool:
    """Whether the rules ignore a file of a numbered folder, or a folder on the way to it."""
    number, *steps = path.split("/")
    own = [*rules(RULES[int(number)], number)]
    folders = ("/".join([number, *steps[:depth]]) for depth in range(1, len(steps)))
    return any(ignored(own, one, folder=True) for one in folders) or ignored(
        own, path, folder=False
    )
