"""`python -m recordings` as a person starts it: what fails it, and what does not."""

import gzip
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recordings.data import ROOT, VARIABLE
from tests.recordings import exchanged, redriven, talks
from tests.recordings.test_loops import STUCK
from tests.recordings.test_loops import record as looping

pytestmark = pytest.mark.slow

Record = dict[str, Any]


def started(
    folder: Path, records: Sequence[Record], parts: str
) -> subprocess.CompletedProcess[str]:
    """The program over these records; it prints its report and keeps nothing."""
    (folder / talks.PROMPTS).write_text(json.dumps(talks.TOOLS), encoding="utf-8")
    with gzip.open(folder / "some.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(one)}\n" for one in records)
    return subprocess.run(
        [sys.executable, "-m", "recordings", "--print", "--parts", parts],
        cwd=ROOT / "lab",
        env=os.environ | {VARIABLE: str(folder), "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )


FEVER = redriven.KINDS["react-fever"]
TURNS = sum(len(one["turns"]) for one in FEVER)


def test_it_says_how_many_turns_it_compared_of_those_given(tmp_path: Path) -> None:
    done = started(tmp_path, FEVER, "material,text,native,stateful")
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^compared 0\.\d+ \(\d+\) of {TURNS} turns$", done.stderr, re.MULTILINE)
    assert "| turns compared, of those given |" in done.stdout


def test_below_half_it_fails(tmp_path: Path) -> None:
    """Turns in a record of no known form were given, and nothing of them was compared."""
    strange = {"id": "strange", "turns": [{"said": "Search[Oder]"}] * (TURNS + 1), "tools": 3}
    done = started(tmp_path, [*FEVER, strange], "text,native,stateful")
    assert done.returncode == 1
    assert "missed: Turns compared: turns compared, of those given: 0.3" in done.stderr


def test_turns_recorded_otherwise_than_said_are_not_compared(tmp_path: Path) -> None:
    records: list[Record] = json.loads(json.dumps(FEVER))
    for one in records:
        for turn in one["turns"]:
            for action in turn["actions"]:
                action["arg"] = "something else"
    done = started(tmp_path, records, "text")
    assert done.returncode == 1
    assert "missed: Turns compared" in done.stderr
    assert "recorded otherwise than plainly said" in done.stdout


def test_a_loop_that_ends_well_by_luck_does_not_fail_it(tmp_path: Path) -> None:
    done = started(tmp_path, [looping("lucky", STUCK, em=1)], "loops")
    assert done.returncode == 0, done.stderr
    assert "were stopped in their loop (luck) | 1 | 1 |" in done.stdout


def test_reminders_of_clew_do_not_fail_it(tmp_path: Path) -> None:
    """After so much text clew says the person's words again, which no recording has."""
    seen = "It is dry. " * 3_000
    looked = [
        talks.asked([talks.call(f"c{number}", "find_bed", {"name": f"bed {number}"})], seen)
        for number in range(4)
    ]
    long = talks.record("long", "garden", *looked, talks.told("All are dry.", "###STOP###"))
    done = started(tmp_path, [long], "native")
    assert done.returncode == 0, done.stderr
    assert "clew's own reminders in these prompts, which no recording has | 0 |" not in done.stdout


AZURE = "https://a-place.openai.azure.com/openai/deployments/a-model/chat/completions"
FILTERED = {"index": 0, "finish_reason": "content_filter", "content_filter_results": {}}


def test_a_choice_without_a_message_does_not_fail_it(tmp_path: Path) -> None:
    """Azure's filter answers so."""
    body = {"model": "a-model", "choices": [FILTERED], "usage": exchanged.USED}
    asked = exchanged.answered(AZURE, exchanged.chat_request(messages=[]), body)
    done = started(tmp_path, [exchanged.record("azure", asked)], "wire")
    assert done.returncode == 0, done.stderr
    assert "(not judged)" not in done.stdout
