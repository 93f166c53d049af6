"""Monty as an executor: its limits, its dumps, and what it says where it is not well."""

import os
import signal
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from clew import ToolError
from clew_code.programs import (
    CodeLimits,
    Finished,
    Monty,
    PendingCall,
    ProgramFailed,
    Raised,
    Returned,
)

LIMITS = CodeLimits(stretch=0.5, seconds=2.0)


async def test_a_session_goes_on_from_its_dump() -> None:
    async with Monty().open(LIMITS, ["look"], "seed") as first:
        came = await first.start(
            "import random\nr = random.random()\nprint(r)\nx = look(1, a=2)\n[r, x]"
        )
        assert came == PendingCall("look", (1,), {"a": 2})
        printed, within = first.printed(), await first.dump()
        whole = await first.resume(Returned({"b": [None]}))
        assert isinstance(whole, Finished)
        between = await first.dump()
    async with Monty().open(LIMITS, ["look"], "seed") as second:
        assert await second.load(within)
        assert await second.resume(Returned({"b": [None]})) == whole
        assert second.printed() == ""
    async with Monty().open(LIMITS, ["look"], "seed") as third:
        assert await third.load(between)
        assert await third.start("[r, x]") == whole
    async with Monty().open(LIMITS, ["look"], "seed") as fourth:
        await fourth.start("import random\nprint(random.random())")
        assert fourth.printed() == printed
    async with Monty().open(LIMITS, ["look"], "seed") as fifth:
        assert await fifth.load(within)
        came = await fifth.resume(Raised("ValueError", "no"))
        assert isinstance(came, ProgramFailed)
        assert came.error.endswith("ValueError: no")
        assert not came.lost


@pytest.mark.parametrize("state", [b"", b"junk", b"wjunk", b"bjunk"])
async def test_what_is_no_dump_does_not_load(state: bytes) -> None:
    async with Monty().open(LIMITS, [], "seed") as session:
        assert not await session.load(state)


async def test_a_dump_that_waits_for_no_call_does_not_load() -> None:
    import pydantic_monty  # noqa: PLC0415 - only here

    with pydantic_monty.Monty() as pool, pool.checkout() as session:
        waits = session.feed_start("unknown")
        assert isinstance(waits, pydantic_monty.NameLookupSnapshot)
        state = waits.dump()
    async with Monty().open(LIMITS, [], "seed") as opened:
        assert not await opened.load(b"w" + state)


@pytest.mark.parametrize(
    ("program", "text", "lost"),
    [
        ("while True: pass", "time limit exceeded", True),
        ("x = [0] * 10**9", "memory limit exceeded", True),
        ("def f(): return f()\nf()", "RecursionError", False),
        (
            "while True:\n    try:\n        nothing\n    except NameError:\n        pass",
            "never",
            True,
        ),
        ("open('/etc/passwd')", "PermissionError", False),
        ("import socket", "ModuleNotFoundError", False),
        ("def (", "SyntaxError", False),
        ("nothing()", "the functions are look", False),
    ],
)
async def test_a_program_ends_and_says_how(program: str, text: str, lost: bool) -> None:
    async with Monty().open(LIMITS, ["look"], "seed") as session:
        came = await session.start(program)
        assert isinstance(came, ProgramFailed)
        assert text in came.error
        assert came.lost == lost


async def test_a_process_that_was_killed_is_a_program_that_failed() -> None:
    async with Monty().open(LIMITS, ["look"], "seed") as session:
        assert isinstance(await session.start("look()"), PendingCall)
        os.kill(session._session.worker_pid, signal.SIGKILL)  # type: ignore[attr-defined]  # noqa: SLF001 - whose process it is, nobody else knows
        came = await session.resume(Returned(1))
        assert isinstance(came, ProgramFailed)
        assert came.lost


async def test_what_is_done_in_the_wrong_order_is_said() -> None:
    async with Monty().open(LIMITS, ["look"], "seed") as session:
        with pytest.raises(RuntimeError, match="start one"):
            await session.resume(Returned(1))
        assert isinstance(await session.start("look()"), PendingCall)
        came = await session.start("1")
        assert isinstance(came, ProgramFailed)
        assert came.lost


async def test_a_function_can_be_passed_around_and_is_never_called_here() -> None:
    async with Monty().open(LIMITS, ["look"], "seed") as session:
        assert await session.start("f = look\nf(1)") == PendingCall("look", (1,))
        assert await session.resume(Returned(2)) == Finished("2")
        stub = session._functions["look"]  # type: ignore[attr-defined]  # noqa: SLF001 - nobody else has it
        with pytest.raises(AssertionError):
            stub()


async def test_of_what_is_printed_the_beginning_is_kept() -> None:
    async with Monty().open(CodeLimits(output=10), ["look"], "seed") as session:
        assert isinstance(await session.start("print('a' * 20)\nlook()\nprint('b')"), PendingCall)
        assert await session.resume(Returned(None)) == Finished()
        assert session.printed() == "aaaaaaaaaa\n[… more was printed, and is not kept]\n"


async def test_an_interpreter_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONTY_BIN", "/nowhere/monty")
    with pytest.raises(ToolError, match="the interpreter of programs does not start"):
        async with Monty().open(LIMITS, [], "seed"):
            pass


ELSEWHERE = """
import asyncio
from clew import Agent, MemoryStore, read, run
from clew.testing.models import ScriptedModel, act, finish
from clew_code.programs import run_code

async def main():
    model = ScriptedModel([act("run_code", code="print(1)"), finish("done")])
    store = MemoryStore()
    done = await run(Agent(model, [run_code()]), "Count.", store=store)
    print((await read(done.run_id, store=store)).calls[0].observation.text)

asyncio.run(main())
"""


def test_packages_in_a_folder_without_programs_are_told_what_is_missing(tmp_path: Path) -> None:
    """As where `pip install --target` put them: the program that runs programs is not beside."""
    venv.create(tmp_path, with_pip=False, symlinks=True)
    python = next(tmp_path.glob("[bS]*/python*"))  # bin, or Scripts
    folders = os.pathsep.join(dict.fromkeys([*site.getsitepackages(), *filter(None, sys.path)]))
    done = subprocess.run(
        [python, "-c", ELSEWHERE], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": folders, "PATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert "the interpreter of programs does not start: " in line
    assert "pip install pydantic-monty" in line
    assert "Traceback" not in done.stderr


async def test_a_value_that_holds_itself_many_times_does_not_come_out() -> None:
    laughs = "a = ['x' * 100]\nfor _ in range(9): a = [a] * 10\n"
    async with Monty().open(LIMITS, ["look"], "seed") as session:
        assert await session.start(f"{laughs}a") == Finished(
            "(a value of over 1,000,000 characters or parts)"
        )
        number = await session.start("10 ** 100_000")
        assert isinstance(number, Finished)
        assert "4300 digits" in number.value


async def test_the_text_of_an_error_is_cut() -> None:
    async with Monty().open(LIMITS, [], "seed") as session:
        for program in ("raise ValueError('x' * 100_000)", "x = " + "-" * 100_000 + "1"):
            came = await session.start(program)
            assert isinstance(came, ProgramFailed)
            assert len(came.error) < 5_000


async def test_a_process_that_is_ended_for_its_memory_is_lost() -> None:
    program = "a = ['x' * 100]\nfor _ in range(12): a = [a] * 10\nlen(repr(a))"
    async with Monty().open(CodeLimits(memory=30_000_000), [], "seed") as session:
        came = await session.start(program)
        assert isinstance(came, ProgramFailed)
        assert came.lost, came
