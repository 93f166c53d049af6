"""Nothing gets out of an executor that tries to, and most of it would without."""

import subprocess
import sys

import pytest

from clew_code.sandbox import kernel
from tests.code.attempts import ATTEMPTS, KEY, Attempt
from tests.code.escapes import all_of, program, trial, tried
from tests.sandbox.escapes import SECRET, world

pytestmark = pytest.mark.slow

LONG = {"memory", "time"}
FEW, FEWER = 2, 8
"""One attempt in so many is made here, of those that take long or need the sandbox fewer: a run of
clew each. `python -m tests.code.escapes` makes all, which takes half an hour.
"""

MOST = 160_000_000
"""Bytes that all processes of a program may have: its 100 MB, and clew's own two beside it."""

WALLS = pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}")


def named(attempt: Attempt) -> str:
    return f"{attempt.kind}: {attempt.name}"


QUICK = [one for one in ATTEMPTS if one.kind not in LONG]
SLOW = [one for one in ATTEMPTS if one.kind in LONG]


@pytest.mark.share(4)
@pytest.mark.parametrize("attempt", [*QUICK[::FEW], *SLOW[::FEWER]], ids=named)
def test_monty_holds_it(attempt: Attempt) -> None:
    held, words = tried("monty", attempt)
    assert held, words


@WALLS
@pytest.mark.share(3)
@pytest.mark.parametrize("attempt", all_of("process")[::FEWER], ids=named)
def test_the_sandbox_holds_it(attempt: Attempt) -> None:
    held, words = tried("process", attempt)
    assert held, words


@WALLS
@pytest.mark.parametrize("name", ["a fork bomb", "all memory", "all memory, in many processes"])
def test_memory_is_held_by_the_kernel_not_by_a_watch_that_may_be_late(name: str) -> None:
    attempt = next(one for one in all_of("process") if one.name == name)
    with world() as around:
        seen = trial("process", program(attempt, around), around)
    assert seen.broken() == ""
    assert 0 < seen.memory < MOST


@pytest.mark.parametrize("attempt", [one for one in ATTEMPTS if one.plain], ids=named)
def test_it_succeeds_where_nothing_holds_it(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, SECRET)
    with world() as around:
        done = subprocess.run(
            [sys.executable, "-I", "-c", program(attempt, around)],
            cwd=around.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        outside = around.folder / "outside"
        kept = (outside / "secret").is_file() and (outside / "secret").read_text() == SECRET
        around.victim.poll()
        assert SECRET in done.stdout or around.harmed() or not kept, done.stderr


def test_there_are_sixty_at_least() -> None:
    assert len({named(attempt) for attempt in ATTEMPTS}) == len(ATTEMPTS) >= 60
