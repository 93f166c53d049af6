"""Patches in both formats, as models write them: applied where they can only mean one place."""

from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    Call,
    MemoryStore,
    Observation,
    Trajectory,
    Verdict,
    read,
    resume,
    rule,
    run,
)
from clew.testing import ScriptedModel, act, finish
from clew_code.workspace import workspace_tools
from clew_code.workspace.root import Root
from tests.workspace.folder import one

CODE = """\
class A:
    def run(self):
        x = 1
        return x

    def stop(self):
        x = 2
        return x


class B:
    def run(self):
        x = 1
        return x
"""


DIFF = """\
diff --git a/code.py b/code.py
index 1..2 100644
--- a/code.py
+++ b/code.py
@@ -6,3 +6,4 @@ class A:
     def stop(self):
         x = 2
+        x += 1
         return x
"""


async def patched(root: Path, patch: str) -> Observation:
    return await one(root, act("apply_patch", patch=patch))


def v4a(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


@pytest.fixture
def code(tmp_path: Path) -> Path:
    (tmp_path / "code.py").write_text(CODE)
    return tmp_path


async def test_one_patch_adds_changes_moves_and_removes(code: Path) -> None:
    (code / "old.txt").write_text("old\n")
    (code / "gone.txt").write_text("gone\n")
    seen = await patched(
        code,
        v4a(
            *("*** Update File: code.py", "@@ class B:", "@@     def run(self):"),
            *("-        x = 1", "+        x = 3", "         return x"),
            *("*** Add File: new/file.txt", "+one", "+two"),
            *("*** Update File: old.txt", "*** Move to: moved.txt", "-old", "+new"),
            *("*** Delete File: gone.txt",),
        ),
    )
    assert seen.ok, seen.text
    assert (code / "code.py").read_text() == "x = 3".join(CODE.rsplit("x = 1", 1))
    assert (code / "new" / "file.txt").read_text() == "one\ntwo\n"
    assert (code / "moved.txt").read_text() == "new\n"
    assert not (code / "old.txt").exists()
    assert not (code / "gone.txt").exists()


@pytest.mark.parametrize(
    ("lines", "before", "after"),
    [
        (["-b", "+B"], "a\nb\nc\n", "a\nB\nc\n"),
        ([" a", "+x", " b"], "a\nb\n", "a\nx\nb\n"),
        (["-c", "*** End of File"], "c\na\nc\n", "c\na\n"),
        (["+d", "*** End of File"], "a\n", "a\nd\n"),
        ([" b", "+c", "*** End of File"], "a\nb", "a\nb\nc"),
        (["-b"], "a\nb", "a"),
        (["-a", " b"], "a\nb", "b"),
        ([" a", "-b", "+B", " c", "+d"], "a\nb\nc\n", "a\nB\nc\nd\n"),
        (["@@", "-b", "+B", "@@", "-d", "+D"], "a\nb\nc\nd\n", "a\nB\nc\nD\n"),
        (["-b", "+B"], "a\r\nb\r\n", "a\r\nB\r\n"),
    ],
)
async def test_a_hunk_touches_its_lines_only(
    tmp_path: Path, lines: list[str], before: str, after: str
) -> None:
    (tmp_path / "f").write_bytes(before.encode())
    seen = await patched(tmp_path, v4a("*** Update File: f", *lines))
    assert seen.ok, seen.text
    assert (tmp_path / "f").read_bytes().decode() == after


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["-        x = 1", "+        x = 9"], "has 2 matches, at lines 3, 13"),
        (["-        y = 1", "+        y = 9"], "Nearest"),
        (["@@ class C:", "-        x = 1"], "no line 'class C:' is there"),
        (["@@ class A:", "@@     def stop", "-        x = 1"], "not below"),
        (["+z"], "has no line that is there already"),
        (["         x = 1"], "neither removes nor adds a line"),
        (["@@ def stop(self):", "-        x = 2", "@@ class A:", "-        x = 2"], "hunk 2"),
        (["?what"], "begins with none of"),
        ([], "the patch has no lines for it"),
    ],
)
async def test_a_hunk_without_its_one_place_changes_nothing(
    code: Path, lines: list[str], why: str
) -> None:
    seen = await patched(code, v4a("*** Update File: code.py", *lines))
    assert not seen.ok
    assert why in seen.text
    assert (code / "code.py").read_text() == CODE


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ("nonsense", "there is no file in the patch"),
        (DIFF.replace("code.py", "../code.py"), "leads out of the folder"),
        (v4a("-a"), "line 2 of the patch is below no '*** Update File: PATH'"),
        (v4a("*** Add File: new.txt", "-a"), "all lines of a file that is added begin with '+'"),
        (v4a("*** Add File: code.py", "+a"), "code.py"),
        (v4a("*** Update File: gone.py", "-a", "+b"), "there is no file 'gone.py'"),
        (v4a("*** Delete File: gone.py"), "there is no file 'gone.py'"),
        (v4a("*** Update File: ../x", "-a", "+b"), "leads out of the folder"),
        ("--- a/code.py\n+++ b/code.py\n@@ what\n-a\n", "code.py"),
    ],
)
async def test_a_patch_that_cannot_be_meant_is_told(code: Path, patch: str, why: str) -> None:
    seen = await patched(code, patch)
    assert not seen.ok
    assert why in seen.text


@pytest.mark.parametrize(
    ("patch", "mended"),
    [
        (DIFF, ""),
        (DIFF.replace("-6,3 +6,4", "-9,9 +9,9"), "headers of hunks were counted anew"),
        (DIFF.replace("@@ -6,3 +6,4 @@ class A:", "@@"), "headers of hunks were counted anew"),
        (f"```diff\n{DIFF}```", "a code fence around the patch was taken off"),
        (f"apply_patch <<'EOF'\n{DIFF}\nEOF", "a here-document around the patch was taken off"),
    ],
)
async def test_a_unified_diff_is_mended_where_its_headers_miscount(
    code: Path, patch: str, mended: str
) -> None:
    seen = await patched(code, patch)
    assert seen.ok, seen.text
    assert "x = 2\n        x += 1\n" in (code / "code.py").read_text()


async def test_v4a_is_mended_where_its_frame_or_signs_are_missing(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n\nb\n")
    seen = await patched(tmp_path, "*** Update File: f\n a\n\n-b\n+c\n*** Add File: g\n+x\n\n+y")
    assert seen.ok, seen.text
    assert (tmp_path / "f").read_text() == "a\n\nc\n"
    assert (tmp_path / "g").read_text() == "x\n\ny\n"


@pytest.mark.parametrize(
    ("patch", "before", "after"),
    [
        ("--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n", None, "a\nb\n"),
        ("--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "a\n", None),
        ('--- "a/n"\t2026-01-01\n+++ "b/n"\n@@ -1 +1 @@\n-a\n+b\n', "a\n", "b\n"),
        (
            "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n",
            "a",
            "b\n",
        ),
        (
            "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n",
            "a\n",
            "b",
        ),
    ],
)
async def test_a_unified_diff_adds_removes_and_minds_the_last_line(
    tmp_path: Path, patch: str, before: str | None, after: str | None
) -> None:
    file = tmp_path / "n"
    if before is not None:
        file.write_text(before)
    seen = await patched(tmp_path, patch)
    assert seen.ok, seen.text
    assert (file.read_text() if file.exists() else None) == after


async def test_a_unified_diff_may_rename(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    seen = await patched(tmp_path, "--- a/a.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-a\n+b\n")
    assert seen.ok, seen.text
    assert (tmp_path / "b.txt").read_text() == "b\n"
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ("*** Begin Patch\n*** Update File: code.py\n-a", "does not end with '*** End Patch'"),
        (v4a(), "there is no file in the patch"),
        ("--- a/code.py\n+++ b/code.py\n@@ what\n-a\n", "is not a header '@@ -1,2 +1,3 @@'"),
        ("--- a/code.py\n+++ b/code.py\n@@ -1,5 +1,5 @@\n-a\n+b\n", "counts other lines"),
        ("--- a/code.py\n+++ b/code.py\n@@ -1 +1 @@\n-a\n+b\n+c\n", "counts other lines"),
        ("--- a/code.py\n+++ b/code.py\n@@ -1 +1 @@\n-a\n+b\n \n", "Nearest"),
    ],
)
async def test_what_a_person_gives_is_not_mended(code: Path, patch: str, why: str) -> None:
    async def asks(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("hold", "look at it") if call.action.name == "apply_patch" else None

    store = MemoryStore()
    model = ScriptedModel([act("apply_patch", patch=DIFF), finish("Done.")])
    agent = Agent(model, tools=workspace_tools(code), guards=[asks])
    held = await run(agent, "Patch it.", store=store)
    await rule(f"{held.run_id}:1.1", allow=True, args={"patch": patch}, store=store)
    await resume(agent, held.run_id, store=store)
    seen = (await read(held.run_id, store=store)).call("1.1").observation
    assert seen is not None
    assert not seen.ok
    assert why in seen.text


async def test_what_is_no_text_is_no_patch(code: Path) -> None:
    seen = await one(code, act("apply_patch", patch=3))
    assert seen.code == "invalid_arguments"


async def test_a_diff_of_two_files_is_counted_file_by_file(code: Path) -> None:
    (code / "b.txt").write_text("a\n\nb\n")
    second = "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n a\n\n-b\n+c\n\n"
    both = f"{DIFF}\ndiff --git a/b.txt b/b.txt\n{second}"
    seen = await patched(code, both)
    assert seen.ok, seen.text
    assert (code / "b.txt").read_text() == "a\n\nc\n"


async def test_a_patch_that_fails_in_the_middle_leaves_all_files_as_they_were(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Root.replace

    def full(self: Root, path: str, data: bytes | None, **settings: Any) -> None:
        if path == "second.txt":
            raise OSError(28, "No space left on device")
        replace(self, path, data, **settings)

    monkeypatch.setattr(Root, "replace", full)
    patch = v4a("*** Add File: first.txt", "+a", "*** Add File: second.txt", "+b")
    seen = await patched(code, patch)
    assert (seen.code, seen.outcome) == ("tool_error", "not_done")
    assert "second.txt cannot be written: No space left" in seen.text
    assert "all other files are as they were" in seen.text
    assert not (code / "first.txt").exists()


async def test_a_file_that_changed_meanwhile_is_left_as_it_is(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Root.replace

    def late(self: Root, path: str, data: bytes | None, **settings: Any) -> None:
        (code / path).write_text("another's\n")
        replace(self, path, data, **settings)

    monkeypatch.setattr(Root, "replace", late)
    seen = await patched(code, DIFF)
    assert (seen.code, seen.outcome) == ("tool_error", "not_done")
    assert "code.py was changed meanwhile: read it again" in seen.text
    assert (code / "code.py").read_text() == "another's\n"
