"""Every line of a patch is used, known to say nothing of the files, or refused."""

import random
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from clew import Observation, ToolError
from clew.testing import act
from clew_code.workspace.root import Root, digest
from clew_code.workspace.unified_diff import parse_patch
from clew_code.workspace.write_tools import patch_plan
from tests.workspace.folder import one

LINES = "".join(f"line {n}\n" for n in range(1, 13))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "f").write_text(LINES)
    (folder / "g").write_text("one\ntwo\n")
    (folder / "empty").touch()
    (folder / "open").write_text("a\nb")
    (folder / "ä b.txt").write_text("x\n")
    return folder


def files(root: Path) -> dict[str, tuple[bytes, bool]]:
    return {
        str(path.relative_to(root)): (path.read_bytes(), bool(path.stat().st_mode & stat.S_IXUSR))
        for path in root.rglob("*")
        if path.is_file()
    }


async def patched(root: Path, *lines: str) -> Observation:
    return await one(root, act("apply_patch", patch="\n".join(lines) + "\n"))


HEAD = ("--- a/g", "+++ b/g", "@@ -1,2 +1,2 @@", " one", "-two", "+2")


@pytest.mark.parametrize(
    ("lines", "change"),
    [
        (["diff --git a/g b/h", "similarity index 100%", "rename from g", "rename to h"],
         {"g": None, "h": (b"one\ntwo\n", False)}),
        (["diff --git a/g b/h", "similarity index 100%", "copy from g", "copy to h"],
         {"h": (b"one\ntwo\n", False)}),
        (["diff --git a/g b/h", "similarity index 50%", "copy from g", "copy to h",
          "index 1..2 100644", "--- a/g", "+++ b/h", *HEAD[2:]], {"h": (b"one\n2\n", False)}),
        (["diff --git a/g b/sub/h", "similarity index 50%", "rename from g", "rename to sub/h",
          "--- a/g", "+++ b/sub/h", *HEAD[2:]], {"g": None, "sub/h": (b"one\n2\n", False)}),
        (["diff --git a/new b/new", "new file mode 100644", "index 0000000..e69de29"],
         {"new": (b"", False)}),
        (["diff --git a/new b/new", "new file mode 100755", "index 0000000..1", "--- /dev/null",
          "+++ b/new", "@@ -0,0 +1 @@", "+#!/bin/sh"], {"new": (b"#!/bin/sh\n", True)}),
        (["diff --git a/empty b/empty", "deleted file mode 100644", "index e69de29..0000000"],
         {"empty": None}),
        (["diff --git a/g b/g", "old mode 100644", "new mode 100755"],
         {"g": (b"one\ntwo\n", True)}),
        (["diff --git a/g b/g", "old mode 100644", "new mode 100755", "index 1..2", *HEAD],
         {"g": (b"one\n2\n", True)}),
        (['diff --git "a/\\303\\244 b.txt" "b/\\303\\244 b.txt"', "index 1..2 100644",
          '--- "a/\\303\\244 b.txt"', '+++ "b/\\303\\244 b.txt"', "@@ -1 +1 @@", "-x", "+y"],
         {"ä b.txt": (b"y\n", False)}),
        (["diff --git a/ä b.txt b/ä b.txt", "index 1..2 100644", "--- a/ä b.txt\t",
          "+++ b/ä b.txt\t", "@@ -1 +1 @@", "-x", "+y"], {"ä b.txt": (b"y\n", False)}),
        (["--- /dev/null", '+++ "b/tab\\there \\"q\\""', "@@ -0,0 +1 @@", "+x"],
         {'tab\there "q"': (b"x\n", False)}),
        (["--- i/g", "+++ w/g", *HEAD[2:]], {"g": (b"one\n2\n", False)}),
        (["--- g", "+++ g", *HEAD[2:]], {"g": (b"one\n2\n", False)}),
        (["diff -u a/g b/g", *HEAD], {"g": (b"one\n2\n", False)}),
        (["Index: g", "=" * 67, *HEAD], {"g": (b"one\n2\n", False)}),
        ([f"From {'0' * 40} Mon Sep 17 00:00:00 2001", "From: Ada <a@b>", "Subject: [PATCH] x", "",
          "Why.", "---", " g | 2 +-", "", "diff --git a/g b/g", "index 1..2 100644", *HEAD,
          "-- ", "2.39.5", ""], {"g": (b"one\n2\n", False)}),
        (["--- a/open", "+++ b/open", "@@ -1,2 +1,2 @@", " a", "-b", "\\ No newline at end of file",
          "+c", "\\ No newline at end of file"], {"open": (b"a\nc", False)}),
        (["--- a/open", "+++ b/open", "@@ -1,2 +1,3 @@", " a", "-b", "\\ No newline at end of file",
          "+b", "+c"], {"open": (b"a\nb\nc\n", False)}),
        (["--- a/open", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-a", "-b",
          "\\ No newline at end of file"], {"open": None}),
        (["--- a/g", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-one", "-two"], {"g": None}),
        (["--- /dev/null\r", "+++ b/new\r", "@@ -0,0 +1 @@\r", "+a\r"], {"new": (b"a\n", False)}),
        (["--- /dev/null", "+++ b/new", "@@ -0,0 +1 @@", "+a\r"], {"new": (b"a\r\n", False)}),
    ],
    ids=map(str, range(23)),
)  # fmt: skip
async def test_what_a_patch_says_is_done(
    root: Path, lines: list[str], change: dict[str, Any]
) -> None:
    wanted = files(root) | change
    seen = await patched(root, *lines)
    assert seen.ok, seen.text
    assert files(root) == {name: what for name, what in wanted.items() if what is not None}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["--- a/g", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-one", "-three"], "line 2 of it is not"),
        (["--- a/g", "+++ /dev/null", "@@ -1 +0,0 @@", "-one"], "has 2 lines"),
        (["--- a/g", "+++ /dev/null"], "has 2 lines"),
        (["diff --git a/g b/g", "deleted file mode 100644", "index 1..0000000"], "has 2 lines"),
        (["--- a/open", "+++ /dev/null", "@@ -1,2 +0,0 @@", "-a", "-b"], "ends with a newline"),
        (["diff --git a/g b/g", "index 1..2", "GIT binary patch", "literal 3"], "binary file"),
        ([*HEAD, "diff --git a/p.png b/p.png", "index 1..2 100644",
          "Binary files a/p.png and b/p.png differ"], "binary file"),
        (["diff --git a/l b/l", "new file mode 120000", "--- /dev/null", "+++ b/l",
          "@@ -0,0 +1 @@", "+g", "\\ No newline at end of file"], "about a link"),
        (["diff --git a/s b/s", "new file mode 160000", "--- /dev/null", "+++ b/s",
          "@@ -0,0 +1 @@", "+Subproject commit 1"], "about a submodule"),
        (["diff --git a/g b/g", "old mode 100644", "new mode 100600"], "the mode 100600"),
        (["diff --git a/g b/g", "old mode 100644"], "belong together"),
        (["diff --git a/g b/g", "new mode 100755"], "belong together"),
        (["diff --git a/g b/h", "rename from g"], "belong together"),
        (["diff --git a/g b/h", "rename from g", "rename to x"], "different files"),
        (["diff --git a/f b/f", *HEAD], "different files"),
        (["diff --git a/g b/g"], "no lines for it"),
        (["Only in a: x", *HEAD], "is not part of a diff"),
        (["Here is the patch:", *HEAD], "is not part of a diff"),
        ([*HEAD, "and so on"], "is not part of a diff"),
        ([*HEAD, "@@@ -1 -1 +1 @@@"], "neither removes nor adds"),
        (["diff --cc g", "index 1,2..3", *HEAD], "is not part of a diff"),
        (["--- old.txt", "+++ g", *HEAD[2:]], "names two files"),
        (["--- /dev/null", "+++ /dev/null", "@@ -0,0 +1 @@", "+x"], "names no file"),
        (["--- a/open", "+++ b/open", "@@ -1 +1 @@", "-a", "\\ No newline at end of file", "+c",
          "\\ No newline at end of file"], "is not at the end of the file"),
        (["--- a/g", "+++ b/g", "@@ -2 +2 @@", "-two", "\\ No newline at end of file", "+2",
          "\\ No newline at end of file"], "the file ends with a newline"),
        (["\\ No newline at end of file", *HEAD], "is not part of a diff"),
        (["--- a/g", "+++ b/g", "@@ -1,2 +1,2 @@", " one", "-two\r", "+two"], "LF, CRLF"),
        (["--- a/g", "+++ b/g", "@@ -1,2 +1,2 @@", " one", "-two", "+two"], "leaves g as it is"),
        (['--- "a/\\377"', '+++ "b/\\377"', "@@ -1 +1 @@", "-x", "+y"], "is not UTF-8"),
        (['--- "a/\\q"', '+++ "b/\\q"', "@@ -1 +1 @@", "-x", "+y"], "unknown escape"),
        (['--- "a/g', '+++ "b/g', *HEAD[2:]], "without an end"),
        (["*** Begin Patch", "*** Delete File: g", "-one", "*** End Patch"], "has 2 lines"),
        (["*** Begin Patch", "*** Delete File: g", " one", "*** End Patch"], "begin with '-'"),
        (["*** Begin Patch", "*** Update File: g", "-two", "+2", "*** Move to: h",
          "*** End Patch"], "a move stands once"),
        (["*** Begin Patch", "*** Update File: g", "-two", "+2", "@@ never", "*** End Patch"],
         "neither removes nor adds"),
        (["*** Begin Patch", "*** Update File: g", "-two", "*** End of File", "-one",
          "*** End Patch"], "comes after '*** End of File'"),
        (["*** Begin Patch", "*** Add File: n", "*** Move to: m", "+x", "*** End Patch"],
         "a move stands once"),
        (["*** Begin Patch", "*** Update File: g", "*** Move to: h", "*** Move to: i",
          "*** End Patch"], "a move stands once"),
    ],
    ids=map(str, range(38)),
)  # fmt: skip
async def test_what_cannot_be_done_is_refused(root: Path, lines: list[str], why: str) -> None:
    before = files(root)
    seen = await patched(root, *lines)
    assert not seen.ok, seen.text
    assert why in seen.text
    assert files(root) == before


# Lines that say nothing of the files; nor do the words behind a backslash, in any language.
SILENT = ("index ", "similarity index ", "diff -u ", "Index: ", "===")


def result(folder: Path, patch: str) -> Any:
    """What a patch comes to: the refusal, or each file before and after with its mode."""
    try:
        plan = patch_plan(Root(str(folder)), {"patch": patch})
    except ToolError as error:
        return str(error)
    return [(one.path, one.after, one.executable, one.like is None) for one in plan.changes]


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=A", "-c", "user.email=a@b", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("patches") / "root"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    for number in range(6):
        text = "".join(f"{number} line {at}\n" for at in range(20))
        (folder / f"file {number}.txt").write_text(text)
    (folder / "open.txt").write_text("a\nb\nc")
    (folder / "ünï.txt").write_text("x\ny\n")
    (folder / "empty").touch()
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=first")
    return folder


def changed(folder: Path, chance: random.Random) -> str:
    """A patch that git makes of random changes; the folder is put back."""
    for path in sorted(folder.glob("*.txt")):
        match chance.choice(["edit", "edit", "rename", "mode", "delete", "open", "leave"]):
            case "edit":
                lines = path.read_text().splitlines()
                lines[chance.randrange(len(lines))] = f"changed {chance.random()}"
                path.write_text("\n".join(lines) + chance.choice(["\n", ""]))
            case "rename":
                path.rename(path.with_suffix(".md"))
            case "mode":
                path.chmod(0o755)
            case "delete":
                path.unlink()
            case "open":
                path.write_text(path.read_text().rstrip("\n"))
            case _:
                pass
    (folder / "empty").unlink(missing_ok=True)
    (folder / "new empty").touch()
    git(folder, "add", "--all")
    patch = git(folder, "diff", "--cached", "--find-renames", "HEAD")
    wanted = files_outside_git(folder)
    git(folder, "reset", "--quiet", "--hard")
    plan = patch_plan(Root(str(folder)), {"patch": patch})
    root = Root(str(folder))
    for one_change in plan.changes:
        root.replace(
            one_change.path,
            one_change.after,
            before=_digest(folder / one_change.path),
            like=one_change.like or one_change.before,
            executable=one_change.executable,
        )
    assert files_outside_git(folder) == wanted, patch
    git(folder, "reset", "--quiet", "--hard")
    git(folder, "clean", "--quiet", "--force", "-d")
    return patch


def _digest(path: Path) -> str:
    return digest(path.read_bytes() if path.exists() else None)


def files_outside_git(folder: Path) -> dict[str, tuple[bytes, bool]]:
    return {name: what for name, what in files(folder).items() if not name.startswith(".git/")}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_line_of_a_patch_can_be_left_out_or_changed_unnoticed(
    repository: Path, seed: int
) -> None:
    """What git makes is done as git does it, and each of its lines counts."""
    patch = changed(repository, random.Random(seed))
    lines = patch.rstrip("\n").split("\n")
    whole = result(repository, patch)
    assert isinstance(whole, list), whole
    for at, line in enumerate(lines):
        if line.startswith(SILENT):
            continue
        without = "\n".join([*lines[:at], *lines[at + 1 :]])
        assert result(repository, without) != whole, f"without line {at + 1}: {line!r}\n{patch}"
        if line.startswith("@@"):
            continue  # line numbers are not used; counts are, which the next test shows
        for other in (f"~{line}", *(() if line.startswith("\\") else (f"{line}x",))):
            put = "\n".join([*lines[:at], other, *lines[at + 1 :]])
            assert result(repository, put) != whole, f"{other!r} for line {at + 1}\n{patch}"


@pytest.mark.parametrize("header", ["@@ -1,3 +1,2 @@", "@@ -1,2 +1,3 @@", "@@ -1 +1 @@", "@@"])
def test_the_counts_of_a_header_are_used(root: Path, header: str) -> None:
    patch = "\n".join(HEAD).replace(HEAD[2], header)
    with pytest.raises(ToolError):
        parse_patch(patch)


async def test_a_copy_of_a_file_that_is_changed_too_is_of_what_it_was(root: Path) -> None:
    copy = ("diff --git a/g b/h", "similarity index 100%", "copy from g", "copy to h")
    seen = await patched(root, *HEAD, *copy)
    assert seen.ok, seen.text
    assert (root / "g").read_text() == "one\n2\n"
    assert (root / "h").read_text() == "one\ntwo\n"
