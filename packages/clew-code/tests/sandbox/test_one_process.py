"""A program that is a single process: it starts no other, and the kernel holds its memory."""

import sys
from pathlib import Path

import pytest

from clew_code.sandbox import CommandResult, Sandbox, SandboxLimits, kernel
from tests.sandbox.attempts import Attempt
from tests.sandbox.escapes import program, world
from tests.sandbox.one_process import ATTEMPTS, MEMORY

pytestmark = [
    pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}"),
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),
]

QUICK = {"fork by its number", "posix_spawn", "files in memory"}
FEW, MANY = SandboxLimits(memory=MEMORY, processes=64), SandboxLimits()


def named(attempt: Attempt) -> str:
    return attempt.name


async def made(attempt: Attempt, limits: SandboxLimits, *, single_process: bool) -> CommandResult:
    """What comes of an attempt in a sandbox."""
    with world() as around:
        box = Sandbox(root=str(around.root), limits=limits, single_process=single_process)
        return await box.run(program(attempt, around), seconds=120, limit=20_000)


async def ran(root: Path, code: str) -> CommandResult:
    """What comes of a program that is a single process."""
    box = Sandbox(root=str(root), limits=FEW, single_process=True)
    return await box.run([sys.executable, "-c", code], seconds=120, limit=20_000)


@pytest.mark.parametrize("attempt", [one for one in ATTEMPTS if one.name in QUICK], ids=named)
async def test_a_few_attempts_are_held(attempt: Attempt) -> None:
    ended = await made(attempt, FEW, single_process=True)
    assert "ESCAPED" not in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=named)
async def test_every_attempt_is_held(attempt: Attempt) -> None:
    ended = await made(attempt, FEW, single_process=True)
    assert "ESCAPED" not in ended.stdout
    assert ended.code is not None, "it did not end"


@pytest.mark.slow
@pytest.mark.parametrize("attempt", [one for one in ATTEMPTS if one.plain], ids=named)
async def test_it_succeeds_where_a_program_may_be_many(attempt: Attempt) -> None:
    ended = await made(attempt, MANY, single_process=False)
    assert "ESCAPED" in ended.stdout, ended.stderr


async def test_it_gets_its_memory_and_not_a_byte_more(tmp_path: Path) -> None:
    """What it may write to is counted by the kernel when it asks for it, so no watch is late."""
    code = """
import mmap
private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
keep = []
try:
    while True: keep.append(mmap.mmap(-1, mmap.PAGESIZE, flags=private))
except (OSError, MemoryError): pass
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(status["VmData"].split()[0])
"""
    ended = await ran(tmp_path, code.replace("mmap.PAGESIZE,", "64 * mmap.PAGESIZE,"))
    had = int(ended.stdout) * 1024
    assert MEMORY - 1_000_000 < had <= MEMORY, ended


async def test_an_error_of_memory_is_the_programs_own(tmp_path: Path) -> None:
    code = (
        "try: x = b'x' * 200_000_000\nexcept MemoryError: print('caught', len(b'x' * 50_000_000))"
    )
    assert (await ran(tmp_path, code)).stdout == "caught 50000000\n"


async def test_it_has_threads(tmp_path: Path) -> None:
    code = """
import threading
threading.stack_size(1_000_000)
meeting, met = threading.Barrier(17), []
def work(number):
    meeting.wait()
    met.append(number)
threads = [threading.Thread(target=work, args=[number]) for number in range(16)]
for thread in threads: thread.start()
meeting.wait()
for thread in threads: thread.join()
print(sorted(met) == list(range(16)))
"""
    ended = await ran(tmp_path, code)
    assert ended.stdout == "True\n", ended.stderr
