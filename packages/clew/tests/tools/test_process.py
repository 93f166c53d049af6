import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

from clew.concurrency.tasks import stoppable
from clew.core.contents import Observation
from clew.core.tools import Tool
from clew.core.values import Json
from clew.support.errors import ConfigError, ToolError
from clew.toolbox.calc import calculate
from clew.tools.process import load, process_tool
from clew.tools.schema import problems
from tests.patience import PATIENCE, once_begun

pytestmark = pytest.mark.both_loops

KEY = "run-1:1.1"
MODULE = '''
import asyncio
import ctypes
import os
import signal
import sys
import time
from dataclasses import dataclass

from clew.support.errors import ToolError
from clew.core.contents import Evidence
from clew.core.contents import Observation
from clew import RunContext
from clew.tools import tool
from clew.tools.process import process_tool

print("imported")


@dataclass
class Place:
    name: str
    height: float = 0.0


def grow(place: Place, ctx: RunContext, by: float = 1.0) -> Place:
    """Make a place higher.

    Args:
        place: which
        by: how much
    """
    print("printed", ctx.key)
    os.write(1, b"to the descriptor")
    os.system("echo from a child")
    return Place(place.name, place.height + by)


async def later(word: str) -> str:
    """Say it later."""
    await asyncio.sleep(0)
    return word * 2


def own_loop() -> int:
    """Run a loop of its own."""
    async def one() -> int:
        return 1
    return asyncio.run(one())


def find() -> Observation:
    """Find something."""
    return Observation(content={"x": 1}, evidence=(Evidence("d1", "text", 0.5),))


def refuse() -> None:
    """Refuse."""
    raise ToolError("not\\nhere")


def fail() -> None:
    """Fail."""
    raise ZeroDivisionError("by zero")


def leave() -> None:
    """Leave."""
    print("last words", flush=True)
    os._exit(7)


def quit() -> None:
    """Quit."""
    sys.exit(3)


def nothing() -> object:
    """Return what is no JSON."""
    return object()


def much() -> str:
    """Return much."""
    return "x" * 17_000_000


def hang(line: str) -> None:
    """Hang, with a child that hangs in a session of its own."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    fd = os.open(line, os.O_WRONLY)
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    print("begun", flush=True)
    os.write(fd, b"begun")
    while True:
        time.sleep(600)


def leave_behind(line: str) -> str:
    """Leave something running that belongs to nobody."""
    fd = os.open(line, os.O_WRONLY)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(fd, b"begun")
            time.sleep(600)
        os._exit(0)
    os.wait()
    return "left"


@process_tool(effect="pure", timeout=200, cpu=20, memory=2_000_000_000)
def apart(number: int) -> list[int]:
    """Say who works on a number.

    Args:
        number: any
    """
    return [number, os.getpid()]


def burn() -> None:
    """Burn."""
    print("burning", flush=True)
    while True:
        pass


def swell() -> int:
    """Swell."""
    return len(b"x" * 300_000_000)


def swell_over() -> int:
    """Swell over."""
    raise MemoryError


def abort() -> None:
    """Abort."""
    os.abort()


def kill_above() -> None:
    """Kill who watches."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


def outer():
    def inner() -> None:
        """Inner."""
    return inner


class Shop:
    @staticmethod
    def price(count: int) -> int:
        """Say the price."""
        return 3 * count

    def cost(self) -> int:
        """Say the cost."""
        return 1


small = lambda: 1


@tool
def ready() -> None:
    """Ready."""


renamed = grow
grow_again = ready
'''


@pytest.fixture
def jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of a user's own, in a folder that only this process knows of."""
    (tmp_path / "clew_test_jobs.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "clew_test_jobs", raising=False)
    module = load("clew_test_jobs:grow").__globals__
    return sys.modules[module["__name__"]]


async def test_a_function_runs_elsewhere_with_its_own_types(jobs: ModuleType) -> None:
    tool = process_tool("clew_test_jobs:grow", effect="read")
    assert stoppable(tool.call)
    assert tool.parameters["properties"]["by"]["description"] == "how much"
    args = {"place": {"name": "x"}}
    assert problems(tool.parameters, args) == []
    found = await tool.call(args, KEY)
    assert found == {"name": "x", "height": 1.0}
    assert tool.result is not None
    assert problems(tool.result, found) == []


@pytest.mark.slow
async def test_a_function_may_be_given_itself(jobs: ModuleType) -> None:
    tool = process_tool(jobs.later, name="echo", timeout=200)
    assert (tool.name, tool.effect) == ("echo", "unsafe")
    assert await tool.call({"word": "a"}, KEY) == "aa"
    assert await process_tool(jobs.Shop.price).call({"count": 2}, KEY) == 6


async def test_a_function_may_have_a_loop_of_its_own(jobs: ModuleType) -> None:
    assert await process_tool(jobs.own_loop).call({}, KEY) == 1


@pytest.mark.slow
async def test_it_is_another_process(jobs: ModuleType) -> None:
    tool = process_tool("os:getpid", description="Say the process.")
    assert await tool.call({}, KEY) not in {os.getpid(), await tool.call({}, KEY)}


async def test_an_observation_comes_whole(jobs: ModuleType) -> None:
    found = await process_tool(jobs.find).call({}, KEY)
    assert isinstance(found, Observation)
    assert found.content == {"x": 1}
    assert found.evidence[0].doc_id == "d1"


async def test_a_refusal_is_a_refusal(jobs: ModuleType) -> None:
    with pytest.raises(ToolError, match=r"^not here$"):
        await process_tool(jobs.refuse).call({}, KEY)


@pytest.mark.parametrize(
    ("name", "code", "outcome", "text", "detail"),
    [
        ("fail", "crashed", "unknown", "fail: ZeroDivisionError: by zero", "raise Zero"),
        ("quit", "crashed", "unknown", "quit: SystemExit: 3", "sys.exit(3)"),
        ("leave", "crashed", "unknown", "ended with exit code 7 and gave no result", "last words"),
        ("nothing", "bad_output", "done", "what JSON cannot carry", "builtins.object"),
        ("much", "bad_output", "done", "more than 16777216 bytes", ""),
    ],
)  # fmt: skip
async def test_a_failure_is_a_line_for_the_model_and_a_detail_for_people(
    jobs: ModuleType, name: str, code: str, outcome: str, text: str, detail: str
) -> None:
    found = await process_tool(f"clew_test_jobs:{name}").call({}, KEY)
    assert isinstance(found, Observation)
    assert (found.ok, found.code, found.outcome) == (False, code, outcome)
    assert found.text.startswith(f"ERROR: {code}: ")
    assert text in found.text
    assert "\n" not in found.text
    assert detail in found.detail


async def test_a_reader_that_crashes_has_done_nothing(jobs: ModuleType) -> None:
    found = await process_tool(jobs.fail, effect="read").call({}, KEY)
    assert found.outcome == "not_done"


async def test_arguments_that_do_not_fit_the_types_are_refused_there(jobs: ModuleType) -> None:
    found = await process_tool(jobs.Shop.price).call({"count": 1.0}, KEY)
    assert (found.code, found.outcome) == ("invalid_arguments", "not_done")


async def _gone(reader: int) -> bool:
    """Whether everybody who held the lifeline is dead."""
    await anyio.wait_readable(reader)
    return os.read(reader, 100) == b""


async def test_at_its_deadline_it_is_really_ended_with_its_children(
    jobs: ModuleType, tmp_path: Path
) -> None:
    line = tmp_path / "line"
    os.mkfifo(line)
    reader = os.open(line, os.O_RDONLY | os.O_NONBLOCK)
    found, seconds = await once_begun(
        lambda seconds: process_tool(jobs.hang, timeout=seconds).call({"line": str(line)}, KEY),
        "begun",
    )
    assert not await _gone(reader)
    assert await _gone(reader)
    os.close(reader)
    assert (found.ok, found.code, found.outcome) == (False, "timeout", "unknown")
    assert (
        f"hang did not end in {seconds} s and was stopped with its children; part of" in found.text
    )
    assert found.text.endswith("It had printed: imported\nbegun\n")


async def _hang(tool: Tool, line: str) -> None:
    await tool.call({"line": line}, KEY)


async def test_a_cancelled_call_ends_its_process(jobs: ModuleType, tmp_path: Path) -> None:
    line = tmp_path / "line"
    os.mkfifo(line)
    reader = os.open(line, os.O_RDONLY | os.O_NONBLOCK)
    async with anyio.create_task_group() as group:
        group.start_soon(_hang, process_tool(jobs.hang), str(line))
        assert not await _gone(reader)
        group.cancel_scope.cancel()
    assert await _gone(reader)
    os.close(reader)


async def test_a_process_that_never_reads_is_not_waited_for(jobs: ModuleType) -> None:
    tool = process_tool("clew_test_jobs:later", timeout=0.01, effect="read")
    found = await tool.call({"word": "x" * 10_000_000}, KEY)
    assert (found.code, found.outcome) == ("timeout", "not_done")
    assert "check that" not in found.text
    assert found.text.endswith("It had printed: nothing")


async def test_what_it_leaves_behind_is_ended_when_it_ends(
    jobs: ModuleType, tmp_path: Path
) -> None:
    line = tmp_path / "line"
    os.mkfifo(line)
    reader = os.open(line, os.O_RDONLY | os.O_NONBLOCK)
    assert await process_tool(jobs.leave_behind).call({"line": str(line)}, KEY) == "left"
    assert not await _gone(reader)
    assert await _gone(reader)
    os.close(reader)


WORKER = """
import sys, anyio
sys.path.insert(0, sys.argv[1])
from clew.tools.process import process_tool
anyio.run(process_tool("clew_test_jobs:hang", timeout=500).call, {"line": sys.argv[2]}, "k:1.1")
"""


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the loop of the test has no part in it
async def test_it_ends_with_the_worker_that_is_killed(jobs: ModuleType, tmp_path: Path) -> None:
    line = tmp_path / "line"
    os.mkfifo(line)
    reader = os.open(line, os.O_RDONLY | os.O_NONBLOCK)
    argv = [sys.executable, "-c", WORKER, str(tmp_path), str(line)]
    async with await anyio.open_process(argv) as worker:
        assert not await _gone(reader)
        worker.kill()
    with anyio.fail_after(PATIENCE):
        assert await _gone(reader)
    os.close(reader)


def test_a_function_can_be_marked_in_its_module(jobs: ModuleType) -> None:
    assert isinstance(jobs.apart, Tool)
    assert jobs.apart.parameters["properties"]["number"]["description"] == "any"
    assert load("clew_test_jobs:apart").__name__ == "apart"


async def test_a_marked_function_runs_elsewhere_within_its_limits(jobs: ModuleType) -> None:
    number, process = await jobs.apart.call({"number": 7}, KEY)
    assert (number, process == os.getpid()) == (7, False)


LIMITED = [
    ("burn", {"cpu": 1}, "timeout", "burn used up the 1 s of CPU time it may have and was stopped"),
    ("swell", {"memory": 100_000_000}, "crashed", "swell wanted more than the 100000000 bytes"),
    ("abort", {"memory": 100_000_000}, "crashed", "SIGABRT and gave no result; it may have 1000"),
    ("kill_above", {}, "crashed", "kill_above: its process ended with signal SIGKILL and gave no"),
]


@pytest.mark.parametrize(("name", "limits", "code", "text"), LIMITED)
async def test_what_breaks_a_limit_is_ended_and_told_which(
    jobs: ModuleType, name: str, limits: dict[str, Any], code: str, text: str
) -> None:
    found = await process_tool(f"clew_test_jobs:{name}", **limits).call({}, KEY)
    assert isinstance(found, Observation)
    assert (found.ok, found.code, found.outcome) == (False, code, "unknown")
    assert text in found.text
    assert found.text.count("\n") <= 2


@pytest.mark.slow
async def test_within_its_memory_it_goes_on(jobs: ModuleType) -> None:
    tool = process_tool(jobs.swell, memory=600_000_000, effect="pure")
    assert await tool.call({}, KEY) == 300_000_000


async def test_of_memory_without_a_limit_it_says_what_python_says(jobs: ModuleType) -> None:
    tool = process_tool("clew_test_jobs:swell_over", effect="pure")
    found = await tool.call({}, KEY)
    assert found.text == "ERROR: crashed: swell_over: MemoryError"


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"cpu": -1}, "cpu is -1: give whole seconds of CPU time, or 0"),
        ({"cpu": 0.5}, "cpu is 0.5"),
        ({"memory": 1e9}, "memory is 1000000000.0: give whole bytes"),
    ],
)
def test_limits_are_whole_numbers(jobs: ModuleType, limits: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        process_tool(jobs.burn, **limits)


def test_a_limit_that_the_system_does_not_hold_to_is_refused(
    jobs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert process_tool(jobs.burn, cpu=1).name == "burn"
    with pytest.raises(ConfigError, match="darwin holds no process to a limit of memory"):
        process_tool(jobs.burn, memory=1)


def test_a_closure_cannot_be_marked() -> None:
    with pytest.raises(ConfigError, match="stands in a module under its own name"):

        @process_tool(effect="pure")
        def inner() -> int:
            """Inner."""
            return 1


async def test_a_name_that_is_not_found_there_has_done_nothing(jobs: ModuleType) -> None:
    def late() -> int:
        """Late."""
        return 1

    late.__module__, late.__qualname__ = jobs.__name__, "late"
    with pytest.raises(ToolError, match="there is no function 'clew_test_jobs:late'"):
        await process_tool(late).call({}, KEY)


def _unreachable(jobs: ModuleType) -> list[Callable[..., Any] | str]:
    def inner() -> None:
        """Inner."""

    return [
        inner,
        lambda: 1,
        jobs.small,
        jobs.outer(),
        jobs.Shop().cost,
        functools.partial(jobs.grow, by=2.0),
        jobs.ready,
        "clew_test_jobs",
        "clew_test_jobs:",
        ":grow",
        "clew_test_jobs:no_such",
        "clew_test_jobs:outer.inner",
        "clew_test_jobs:ready",
        "clew_test_jobs:Place",
        "no_such_module_here:f",
        "..:f",
    ]


@pytest.mark.parametrize("place", range(16))
def test_what_cannot_be_found_from_another_process_is_refused(jobs: ModuleType, place: int) -> None:
    targets = _unreachable(jobs)
    assert len(targets) == 16
    with pytest.raises(ConfigError) as caught:
        process_tool(targets[place])
    assert "\n" not in str(caught.value)


def test_a_function_of_the_main_program_is_refused(jobs: ModuleType) -> None:
    def function() -> None:
        """Do it."""

    function.__module__, function.__qualname__ = "__main__", "function"
    with pytest.raises(ConfigError, match="stands in a module"):
        process_tool(function)


def test_a_deadline_is_above_zero(jobs: ModuleType) -> None:
    with pytest.raises(ConfigError, match="timeout"):
        process_tool(jobs.grow, timeout=0)


def test_inline_makes_no_sense_here(jobs: ModuleType) -> None:
    with pytest.raises(ConfigError, match="inline"):
        process_tool(jobs.grow, inline=False)


def test_a_module_s_own_function_is_found(jobs: ModuleType) -> None:
    assert load("clew.toolbox.calc:calculate") is calculate
    found: Json = process_tool(jobs.renamed).parameters
    assert found == process_tool(jobs.grow).parameters


@pytest.mark.slow
async def test_a_process_knows_little_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-secret-enough")
    monkeypatch.setenv("COLOUR", "red")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "looking.py").write_text(
        "import os\ndef look() -> list[str]:\n    '''Look.'''\n    return sorted(os.environ)\n"
    )
    bare = process_tool("looking:look", effect="read")
    known = await bare.call({}, "r:1.1")
    assert "PATH" in known
    assert not {"MY_API_KEY", "COLOUR"} & {*known}
    named = process_tool("looking:look", effect="read", env=["COLOUR"])
    assert "COLOUR" in await named.call({}, "r:1.1")
