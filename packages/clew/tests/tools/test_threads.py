"""Plain functions in threads: kept, never queued, left behind, and waited for at the very end."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from clew import tool
from clew.concurrency.tasks import TaskResult, run_with_deadline
from clew.concurrency.threads import THREADS, Threads
from clew.tools import threads_at_work
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops

KEY = "run:1.1"
SCRIPT = """
import os, sys
from clew import Agent, MemoryStore, run_sync, tool
from clew.testing.models import ScriptedModel, act, finish

@tool(effect="read", timeout=0.05)
def work() -> str:
    "Do as the parent says."
    line = sys.stdin.readline().strip()
    print("done:", line, flush=True)
    return line

def answer():
    script = ScriptedModel([act("work"), finish("the end")])
    return run_sync(Agent(script, [work]), "Work!", store=MemoryStore()).answer
"""


def program(code: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT + code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def doing(function: Callable[[], Any]) -> Callable[[], Callable[[], None]]:
    def work() -> Callable[[], None]:
        function()
        return lambda: None

    return work


def test_a_thread_that_was_idle_too_long_ends_and_the_others_serve_on() -> None:
    threads, together = Threads(idle=0), threading.Barrier(3)
    found: list[threading.Thread] = []

    def meet() -> None:
        found.append(threading.current_thread())
        together.wait(PATIENCE)

    threads.start(doing(meet))
    threads.start(doing(meet))
    together.wait(PATIENCE)
    threads.wait()
    assert not threads.at_work
    threads.start(doing(lambda: found.append(threading.current_thread())))
    threads.wait()
    assert found[2] in found[:2]
    (ended,) = [one for one in found[:2] if one is not found[2]]
    ended.join(30)
    assert not ended.is_alive()
    assert found[2].is_alive()


def test_a_forked_process_takes_none_of_the_threads_it_has_not() -> None:
    threads = Threads()
    found: list[threading.Thread] = []
    threads.start(doing(lambda: found.append(threading.current_thread())))
    threads.wait()
    threads.forget()
    threads.start(doing(lambda: found.append(threading.current_thread())))
    threads.wait()
    assert found[0] is not found[1]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_tool_works_on_both_sides_of_a_fork() -> None:
    code = """
import anyio, warnings
# from 3.12 on Python says of each fork beside threads that it may hang: that is what is tried here
warnings.filterwarnings("ignore", ".* multi-threaded", DeprecationWarning)
@tool(effect="read")
def quick() -> str:
    "Be quick."
    return "quick"

async def call():
    return await quick.call({}, "key")

assert anyio.run(call) == "quick"
if not (child := os.fork()):
    assert anyio.run(call) == "quick"
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), anyio.run(call))
"""
    out, err = program(code).communicate(timeout=PATIENCE)
    assert (out, err) == ("7 quick\n", "")


def test_the_end_of_the_program_waits_for_a_call_that_was_left_behind() -> None:
    with program("print(answer(), flush=True)") as running:
        assert running.stdout
        assert running.stdout.readline() == "the end\n"  # the run is over, the call is not
        out, err = running.communicate("late\n", timeout=PATIENCE)
    assert (out, err, running.returncode) == ("done: late\n", "", 0)


async def test_one_call_after_another_is_made_in_one_thread() -> None:
    @tool(effect="read")
    def where() -> int:
        """Say which thread this is."""
        return threading.get_ident()

    idents = {await where.call({}, KEY) for _ in range(20)}
    assert len(idents) == 1
    assert threading.get_ident() not in idents


async def test_no_loop_is_said_to_run_in_the_thread() -> None:
    @tool(effect="read")
    def nested() -> str:
        """Run a loop of its own."""
        return anyio.run(_hello)

    assert await nested.call({}, KEY) == "hello"


async def _hello() -> str:
    await anyio.lowlevel.checkpoint()
    return "hello"


async def test_what_is_cancelled_already_begins_nothing() -> None:
    called: list[int] = []

    @tool
    def work() -> None:
        """Work."""
        called.append(1)

    with anyio.CancelScope() as scope:
        scope.cancel()
        await work.call({}, KEY)
    assert scope.cancelled_caught
    assert not called


async def test_what_comes_in_the_moment_of_a_cancellation_is_kept() -> None:
    begun, go_on = threading.Event(), threading.Event()

    @tool
    def work() -> str:
        """Work."""
        begun.set()
        go_on.wait(PATIENCE)
        return "done"

    call: Any = work.call({}, KEY)
    found: list[TaskResult] = []

    async def one() -> None:
        found.append(await run_with_deadline(call, 30, 1))

    async with anyio.create_task_group() as group:
        group.start_soon(one)
        await anyio.to_thread.run_sync(begun.wait, PATIENCE)
        go_on.set()
        while not call.claim.locked():
            time.sleep(0)  # the loop hears of its end only after the next line
        group.cancel_scope.cancel()
    assert found == [TaskResult("done")]


def test_a_program_may_ask_whether_a_thread_is_at_work() -> None:
    begun, go = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go.wait(PATIENCE)

    THREADS.start(doing(wait))
    assert begun.wait(PATIENCE)
    assert threads_at_work()
    go.set()
    THREADS.wait()
    assert not threads_at_work()
