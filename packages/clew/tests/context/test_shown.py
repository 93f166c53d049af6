"""What models are shown of clew's own words stays to the letter what it was when measured."""

import os
import subprocess
import sys

from tests.context.shown import SHOWN, shown


def test_examples_instructions_and_variants_stay_as_they_were() -> None:
    assert shown() == SHOWN.read_text("utf-8")


def test_a_new_process_makes_the_same_of_them() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.context.shown", "--print"],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.decode() == SHOWN.read_text("utf-8")
