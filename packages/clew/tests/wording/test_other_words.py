"""No code reads a sentence: a build in which all of them are others does the same.

The builds are made here, and run in processes of their own (`tests.wording.deeds`).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import clew
from tests.wording.other_words import in_other_words, is_sentence, write

pytestmark = pytest.mark.slow

SOURCE = Path(clew.__file__).parent
TESTS = Path(__file__).parents[2]
_HOME = tempfile.mkdtemp()
"""Whose the records are: one user's, of all processes."""


def deeds(what: str, build: Path, folder: Path) -> Any:
    """What a build does in a folder, on the store there."""
    folder.mkdir(exist_ok=True)
    path = os.pathsep.join([str(build), str(TESTS)])
    command = [sys.executable, "-m", "tests.wording.deeds", what, str(folder / "runs.sqlite")]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": path, "XDG_DATA_HOME": _HOME}, cwd=folder,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    return json.loads(done.stdout)


class Builds(NamedTuple):
    """Builds, each in the folder that holds the package."""

    unchanged: Path
    other: Path
    """All sentences are others, in prompts too."""
    prompts: Path
    """All but what prompts are made of, which the fingerprints of a record tell."""


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    made = Builds(SOURCE.parent, *(tmp_path_factory.mktemp(name) for name in ("other", "prompts")))
    assert write(SOURCE, made.other, prompts=True) > 1_500
    assert write(SOURCE, made.prompts, prompts=False) > 1_000
    return made


@pytest.fixture(scope="module")
def begun(builds: Builds, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A folder with the records that the unchanged build wrote, and what it did."""
    folder = tmp_path_factory.mktemp("begun")
    return folder, deeds("write", builds.unchanged, folder)


def taken_on(build: Path, begun: Path, folder: Path) -> Any:
    """What a build makes of these records: it resumes, replays, forks, rewinds and lists them."""
    shutil.copytree(begun, folder)
    return deeds("read", build, folder)


def test_a_build_in_other_words_runs_and_goes_on_as_the_usual_one(
    builds: Builds, begun: tuple[Path, Any], tmp_path: Path
) -> None:
    folder, wrote = begun
    assert deeds("write", builds.other, tmp_path / "other") == wrote
    usual = taken_on(builds.unchanged, folder, tmp_path / "usual")
    assert deeds("read", builds.other, tmp_path / "other") == usual


def test_records_go_on_and_replay_in_other_words_than_they_were_written_in(
    builds: Builds, begun: tuple[Path, Any], tmp_path: Path
) -> None:
    folder, _ = begun
    usual = taken_on(builds.unchanged, folder, tmp_path / "usual")
    assert taken_on(builds.prompts, folder, tmp_path / "prompts") == usual
    assert not any("Error" in str(outcome) for outcome in usual.values())


def test_commands_and_a_worker_end_alike_in_other_words(builds: Builds, tmp_path: Path) -> None:
    usual = deeds("command", builds.unchanged, tmp_path / "usual")
    assert deeds("command", builds.other, tmp_path / "other") == usual
    assert {code for _, code, _ in usual} == {0, 2, 3, 7}


PLANTED = {
    "a charge is known by its sentence": (
        "agent/runner.py",
        'last.event.kind in {"left", "failed"}',
        "last.event.why in {_LEFT, _FAILED}",
    ),
    "a bound is known by its sentence": (
        "core/trajectory.py",
        """return self.landing is not None and self.landing not in self.step.notices""",
        """return self.landing is not None and " used" in self.landing.detail""",
    ),
}


@pytest.mark.parametrize(("file", "right", "wrong"), PLANTED.values(), ids=PLANTED.keys())
def test_a_sentence_that_code_reads_is_found(
    file: str, right: str, wrong: str, builds: Builds, tmp_path: Path
) -> None:
    planted, other = tmp_path / "planted", tmp_path / "in other words"
    shutil.copytree(SOURCE, planted / "clew", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(builds.prompts, other, ignore=shutil.ignore_patterns("__pycache__"))
    text = (SOURCE / file).read_text("utf-8")
    assert text.count(right) == 1
    (planted / "clew" / file).write_text(text.replace(right, wrong), "utf-8")
    changed, _ = in_other_words(text.replace(right, wrong), descriptions=False)
    (other / "clew" / file).write_text(changed, "utf-8")
    deeds("write", planted, tmp_path / "begun")
    usual = taken_on(planted, tmp_path / "begun", tmp_path / "usual")
    assert taken_on(other, tmp_path / "begun", tmp_path / "others") != usual


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the answer was rejected: ", True),
        ("{} unreadable replies in a row", True),
        ("; the remaining budget cannot pay for a final answer", True),
        ("tool_calls", False),
        ("ERROR: ", False),
        ("SELECT number FROM runs", False),
        (r"^(?:in|on) [a-z]+ days", False),
        ("import sys; sys.exit()", False),
        ("%s %s", False),
        ("{} of {} used", True),
    ],
)
def test_what_is_a_sentence_is_told_by_its_form(text: str, expected: bool) -> None:
    assert is_sentence(text) is expected
