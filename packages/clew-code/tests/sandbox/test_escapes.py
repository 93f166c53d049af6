"""Nothing gets out of the sandbox that tries to, and most of it would without."""

import subprocess

import pytest

from clew_code.sandbox import kernel
from tests.sandbox.attempts import ATTEMPTS, Attempt
from tests.sandbox.escapes import program, tried, world
from tests.sandbox.kernel_attempts import KERNEL

QUICK = {"write a file outside", "write a hook of git", "kill a process outside", "bpf",
         "connect to this machine by TCP", "read the environment"}  # fmt: skip

pytestmark = pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}")


def named(attempt: Attempt) -> str:
    return attempt.name


@pytest.mark.parametrize("attempt", [a for a in ATTEMPTS if a.name in QUICK], ids=named)
async def test_a_few_attempts_are_held(attempt: Attempt) -> None:
    held, words = await tried(attempt)
    assert held, words


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("attempt", [*ATTEMPTS, *KERNEL], ids=named)
async def test_every_attempt_is_held(attempt: Attempt) -> None:
    held, words = await tried(attempt)
    assert held, words


@pytest.mark.slow
@pytest.mark.parametrize("attempt", [a for a in ATTEMPTS if a.plain], ids=named)
def test_it_succeeds_where_nothing_holds_it(
    attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEW_ESCAPES_KEY", "swordfish")
    with world() as around:
        done = subprocess.run(
            program(attempt, around), cwd=around.root, capture_output=True, text=True, check=False
        )
        assert "ESCAPED" in done.stdout, done.stderr


def test_there_are_forty_at_least() -> None:
    every = [*ATTEMPTS, *KERNEL]
    assert len({attempt.name for attempt in every}) == len(every) >= 130
