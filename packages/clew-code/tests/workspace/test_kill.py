"""`kill -9` at every write of a run that changes files: nothing twice, nothing lost in silence."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest

from clew import open_store, read
from clew.core.trajectory import Trajectory
from clew_code.sandbox import kernel
from tests.workspace.mortal import RUN

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}"),
]

WRITES = 26  # of the whole run, which is told where it differs
WANTED = {
    "a.txt": "one\none and a half\ntwo\ntwo and a half\nthree!\n",
    "b/c.txt": "c\n",
    "made.txt": "made\n",
    "new.txt": "new\n",
}

Work = Callable[..., tuple[int, list[str]]]


@pytest.fixture(scope="module")
def work() -> Iterator[Work]:
    """Let a process work: its exit status and what it said."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.workspace.mortal"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:  # fmt: skip

        def one(place: Path, kill_at: int = 0, when: str = "after") -> tuple[int, list[str]]:
            assert process.stdin
            assert process.stdout
            words = [str(place / "runs.sqlite"), str(place / "root"), kill_at, when]
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
            said: list[str] = []
            while not (line := process.stdout.readline()).startswith("status "):
                assert line
                said.append(line)
            return int(line.split()[1]), said

        yield one


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one commit, to be copied."""
    root = tmp_path_factory.mktemp("template") / "root"
    root.mkdir()
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    (root / "old.txt").write_text("old\n")
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "First")
    return root


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def record_of(place: Path) -> Trajectory:
    async def reading() -> Trajectory:
        store = open_store(place / "runs.sqlite")
        try:
            return await read(RUN, store=store)
        finally:
            await store.close()

    return anyio.run(reading)


def files(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(root)): path.read_text() for path in found}


def judged(place: Path) -> int:
    """Hold what is left against what was meant; gives how many calls are unknown."""
    root, record = place / "root", record_of(place)
    left = files(root)
    log = left.pop("log.txt", "")
    assert left == WANTED
    assert git(root, "log", "--format=%s", "work").split("\n")[:-1] == ["All of it", "First"]
    assert git(root, "log", "--format=%s", "main").split("\n")[:-1] == ["First"]
    *changes, command, _ = record.calls
    assert [call.observation.outcome for call in changes if call.observation] == ["done"] * 5
    assert command.observation is not None
    unknown = command.observation.outcome == "unknown"
    assert log == "ran\n" or (unknown and not log)  # never twice, and what is unknown is said so
    return unknown


def test_the_number_of_writes(tmp_path: Path, folder: Path, work: Work) -> None:
    shutil.copytree(folder, tmp_path / "root")
    status, said = work(tmp_path, 1_000)
    assert (status, json.loads(said[-1])) == (0, ["answered", WRITES])
    assert judged(tmp_path) == 0


@pytest.mark.share(4)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kill_at", range(1, WRITES + 1))
def test_killed_at_any_write(
    tmp_path: Path, folder: Path, work: Work, kill_at: int, when: str
) -> None:
    shutil.copytree(folder, tmp_path / "root")
    assert work(tmp_path, kill_at, when)[0] == -signal.SIGKILL
    assert work(tmp_path)[0] == 0
    judged(tmp_path)


def test_killed_again_and_again(tmp_path: Path, folder: Path, work: Work) -> None:
    shutil.copytree(folder, tmp_path / "root")
    kills = 0
    while work(tmp_path, 3, "before" if kills % 2 else "after")[0] == -signal.SIGKILL:
        kills += 1
        assert kills < 4 * WRITES
    assert kills > 5
    judged(tmp_path)


def begun(work: Work, place: Path) -> None:
    """Kill the run when the record says what the patch will do, and before it does it."""
    for kill_at in range(1, WRITES + 1):
        shutil.rmtree(place / "root", ignore_errors=True)
        for file in place.glob("runs.sqlite*"):
            file.unlink()
        shutil.copytree(place / "template", place / "root")
        work(place, kill_at, "after")
        tried = [call.attempts for call in record_of(place).calls[2:]]
        if tried and tried[0] and tried[0][-1].task:
            return
    pytest.fail("no attempt of the patch has its hashes")


def test_a_patch_that_was_begun_is_completed(tmp_path: Path, folder: Path, work: Work) -> None:
    shutil.copytree(folder, tmp_path / "template")
    begun(work, tmp_path)
    text = "one\none and a half\ntwo\ntwo and a half\nthree\n"
    (tmp_path / "root" / "a.txt").write_text(text)  # as if killed after the first file
    assert work(tmp_path)[0] == 0
    seen = record_of(tmp_path).calls[2].observation
    assert seen is not None
    assert seen.text.startswith("begun before the worker stopped, and completed now")
    judged(tmp_path)


def test_a_file_that_was_changed_since_is_named(tmp_path: Path, folder: Path, work: Work) -> None:
    shutil.copytree(folder, tmp_path / "template")
    begun(work, tmp_path)
    (tmp_path / "root" / "a.txt").write_text("a person was here\n")
    work(tmp_path)
    seen = record_of(tmp_path).calls[2].observation
    assert seen is not None
    assert (seen.ok, seen.outcome) == (False, "unknown")
    said = "a.txt is neither as it was nor as it was to be. Changes none was made for certain"
    assert said in seen.text
    assert (tmp_path / "root" / "a.txt").read_text().startswith("a person")
