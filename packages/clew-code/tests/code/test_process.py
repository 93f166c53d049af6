"""Programs in CPython in the sandbox: what they can do, how they end, and that nothing stays."""

import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psutil
import pytest

from clew import ToolError
from clew_code.programs.interface import (
    CodeLimits,
    Finished,
    PendingCall,
    ProgramFailed,
    ProgramState,
    Raised,
    Returned,
    Session,
)
from clew_code.programs.process import SandboxedPython
from clew_code.sandbox import Sandbox, kernel
from tests.sandbox.sources import IMPORTS, SOURCES

pytestmark = pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}")

CALM = CodeLimits(seconds=60, stretch=60, memory=400_000_000)


@asynccontextmanager
async def session(
    limits: CodeLimits = CALM, *, files: str = "", seed: str = "seed"
) -> AsyncGenerator[Session]:
    async with SandboxedPython(files=files).open(limits, ["page", "send"], seed) as opened:
        yield opened


async def ended(opened: Session, program: str, *results: Returned | Raised) -> ProgramState:
    """What comes of a program that is given these results, and must ask for as many."""
    came = await opened.start(program)
    for result in results:
        assert isinstance(came, PendingCall), came
        came = await opened.resume(result)
    return came


def error(came: ProgramState, *, lost: bool = False) -> str:
    assert isinstance(came, ProgramFailed), came
    assert came.lost is lost, came
    return came.error


async def test_a_program_calls_functions_and_its_variables_stay() -> None:
    async with session() as here:
        came = await here.start("x = page('a', deep=[1, None])\nprint(x)\nx['n'] + 1")
        assert came == PendingCall("page", ("a",), {"deep": [1, None]})
        assert await here.resume(Returned({"n": 41})) == Finished("42")
        assert here.printed() == "{'n': 41}\n"
        assert here.printed() == ""
        assert await here.start("def f(): return x") == Finished("")
        assert await here.start("f()") == Finished("{'n': 41}")
        assert await here.start("") == Finished("")


async def test_a_call_that_fails_is_an_exception_and_an_error_has_its_line() -> None:
    async with session() as here:
        caught = "try:\n    page()\nexcept ValueError as e:\n    print(e)"
        assert await ended(here, caught, Raised("ValueError", "no such page")) == Finished("")
        assert here.printed() == "no such page\n"
        text = error(await ended(here, "a = 1\npage()", Raised("Unheard", "gone")))
        assert text.splitlines()[1:3] == ['  File "main.py", line 2, in <module>', "    page()"]
        assert text.endswith("RuntimeError: gone")
        assert "string" not in text
        assert "SyntaxError" in error(await here.start("1 +"))
        assert "SystemExit: 3" in error(await here.start("raise SystemExit(3)"))
        assert len(error(await here.start("raise ValueError('x' * 100_000)"))) < 5_000
        shy = "class E(Exception):\n    def __str__(self): raise E\nraise E"
        assert "E" in error(await here.start(shy))
        assert await here.start("a") == Finished("1")


async def test_of_what_is_printed_the_beginning_is_kept() -> None:
    async with session(CodeLimits(seconds=60, stretch=60, output=100)) as here:
        assert await here.start("import os\nprint('a' * 80)\nos.write(1, b'from outside\\n')") == (
            Finished("13")
        )
        assert here.printed() == f"{'a' * 80}\nfrom outside\n"
        came = await ended(here, "print('b' * 300)\npage()\nprint('c' * 300)", Returned())
        assert came == Finished("")
        assert here.printed().startswith("b" * 100 + "\n[… more was printed")
        flood = "while True: print('x' * 100_000)"
        assert "File too large" in error(await here.start(flood))
        assert len(here.printed()) < 200
        await here.start("print('after')")
        assert here.printed() == "after\n"


async def test_an_endless_program_is_told_and_its_variables_stay() -> None:
    async with session(CodeLimits(seconds=60, stretch=0.3)) as here:
        text = error(await here.start("x = 7\nwhile True: pass"))
        assert "line 2" in text
        assert "TimeoutError: time limit exceeded" in text
        assert await here.start("x") == Finished("7")


async def test_a_program_that_catches_everything_is_ended_from_outside() -> None:
    deaf = "import signal\nsignal.signal(signal.SIGPROF, signal.SIG_IGN)\nwhile True: pass"
    async with session(CodeLimits(seconds=0.3, stretch=0.3)) as here:
        assert "took over 0.3 s" in error(await here.start(deaf), lost=True)
        assert "took over" in error(await here.start("1"), lost=True)


async def test_memory_calls_and_processes_are_limited() -> None:
    async with session(CodeLimits(seconds=60, stretch=60, memory=100_000_000)) as here:
        grow = "keep = []\nwhile True: keep.append(b'x' * 20_000_000)"
        assert error(await here.start(grow)).endswith("MemoryError")
        assert await here.start("kept, keep = len(keep), []\nkept") == Finished("4")
        assert await here.start("len(b'x' * 50_000_000)") == Finished("50000000")
    async with session() as here:
        for start in (
            "os.fork()",
            "subprocess.run('true')",
            "os.posix_spawn('/bin/sh', ['sh'], {})",
        ):
            text = error(await here.start(f"import os, subprocess\n{start}"))
            assert "PermissionError: [Errno 1] Operation not permitted" in text
    async with session(CodeLimits(seconds=60, stretch=60, calls=2)) as here:
        came = await ended(here, "while True: page()", Returned(), Returned())
        assert "over 2 calls" in error(came, lost=True)
    async with session() as here:
        assert "ended with code 3" in error(await here.start("import os\nos._exit(3)"), lost=True)
        assert "ended with code 3" in error(await here.start("1"), lost=True)
    async with session() as here:
        text = error(await here.start("import os\nos.kill(os.getpid(), 11)"), lost=True)
        assert f"signal {signal.SIGSEGV.value}" in text


FORGE = (
    "import os\nfor fd in range(3, 9):\n    try: os.write(fd, {text!r})\n    except OSError: pass\n"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"nonsense\n", "wrote into the conversation"),
        (b'{"printed": "", "left_out": false, "ask": "shell", "args": [], "named": {}}\n', "shell"),
        (b'{"printed": "", "left_out": false, "ask": ["page"], "args": [], "named": {}}\n', "conv"),
        (b'{"printed": "", "left_out": false, "ask": "page", "args": 1, "named": {}}\n', "conv"),
        (b"[" * 200_000 + b"\n", "wrote into the conversation"),
        (b"x" * 5_000_000, "bytes at once"),
    ],
)
async def test_what_a_program_forges_ends_its_session(text: bytes, said: str) -> None:
    long = "text = b'x' * 5_000_000\n" + FORGE.replace("{text!r}", "text")
    program = long if len(text) > 1_000_000 else FORGE.format(text=text)
    if text.startswith(b"[["):
        program = "text = b'[' * 200_000 + b'\\n'\n" + FORGE.replace("{text!r}", "text")
    async with session() as here:
        assert said in error(await here.start(program), lost=True)


async def test_a_forged_call_is_a_call_like_any_other() -> None:
    call = b'{"printed": "", "left_out": false, "ask": "page", "args": [], "named": {}}\n'
    async with session() as here:
        assert await here.start(FORGE.format(text=call)) == PendingCall("page")


async def test_arguments_are_json_and_not_too_long() -> None:
    async with session() as here:
        assert "its argument 1 what JSON cannot carry" in error(await here.start("page({1})"))
        assert "Circular" in error(await here.start("a = []\na.append(a)\npage(a)"))
        laughs = "a = ['x' * 100]\nfor _ in range(9): a = [a] * 10\n"
        assert "1,000,000 characters" in error(await here.start(f"{laughs}page(a)"))
        assert "1,000,000 characters" in error(await here.start("'x' * 2_000_000"))


async def test_files_can_be_read_and_nothing_but_memory_written(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    async with session(files=str(tmp_path)) as here:
        assert await here.start("open('data.csv').read()") == Finished("'a,b\\n1,2\\n'")
        assert "Read-only" in error(await here.start("open('made', 'w')"))
        await here.start("open('/tmp/made', 'w').write('kept')")
        assert await here.start("open('/tmp/made').read()") == Finished("'kept'")
        assert await here.start("import msgspec\nmsgspec.json.decode(b'[1]')") == Finished("[1]")
        connect = "import socket\nsocket.create_connection(('192.0.2.1', 80), 2)"
        assert "Address family not supported" in error(await here.start(connect))
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


async def test_the_same_seed_gives_the_same_numbers_and_orders() -> None:
    program = "import random\n[random.random(), {'a', 'b', 'c', 'd'}, hash('x')]"
    found: list[ProgramState] = []
    for seed in ("one", "one", "two"):
        async with session(seed=seed) as here:
            found.append(await here.start(program))
    assert found[0] == found[1] != found[2]


async def test_it_cannot_be_dumped() -> None:
    async with session() as here:
        assert await here.dump() == b""
        assert not await here.load(b"x")


def below() -> Sequence[psutil.Process]:
    return psutil.Process().children(recursive=True)


async def test_leaving_ends_all_that_was_started() -> None:
    known = set(below())  # what earlier tests left for later ones, such as a warm Python
    async with session() as here:
        program = (
            "import threading\nover = threading.Event()\n"
            "for _ in range(16): threading.Thread(target=over.wait).start()\n"
            "threading.active_count()"
        )
        assert await here.start(program) == Finished("17")
        started = {*below()} - known
        assert len(started) == 3  # the watch, the first process of the namespace, and the program
    _, alive = psutil.wait_procs(started, timeout=30)
    assert not alive


async def test_a_cancelled_program_leaves_no_process(tmp_path: Path) -> None:
    known = set(below())
    with anyio.CancelScope() as scope:
        async with session() as here:
            await ended(here, "page()\nwhile True: pass")
            scope.cancel()
            await here.resume(Returned())
    _, alive = psutil.wait_procs([*{*below()} - known], timeout=30)
    assert not alive


async def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"no program can be run here: .*gone"):
        async with session(files=str(tmp_path / "gone")):
            pass


LESSER = """
import anyio, sys
from clew import ToolError
from clew_code.programs.interface import CodeLimits
from clew_code.programs.process import SandboxedPython
async def main():
    limits = CodeLimits(seconds=60, stretch=60, memory=1_000_000_000)
    try:
        async with SandboxedPython().open(limits, [], "x"): pass
    except ToolError as error:
        print(error)
    async with SandboxedPython(weak=True).open(limits, [], "x") as here:
        print(await here.start("6 * 7"))
        print((await here.start("open(%r).read()" % sys.argv[1])).error.splitlines()[-1])
anyio.run(main)
"""


@pytest.mark.slow
async def test_where_a_wall_is_missing_nothing_runs_unless_it_may(tmp_path: Path) -> None:
    """A sandbox inside a sandbox has no namespaces."""
    outside = tmp_path / "secret"
    outside.write_text("swordfish")
    root = tmp_path / "root"
    root.mkdir()
    box = Sandbox(root=str(root), readable=(*SOURCES, str(outside)))
    argv = ["python", "-c", LESSER, str(outside)]
    told = await box.run(argv, seconds=120, limit=9_000, variables=IMPORTS)
    refused, made, held = told.stdout.splitlines() or [told.stderr, "", ""]
    assert "no complete sandbox (namespaces: " in refused
    assert "42" in made
    assert "Permission denied" in held
    assert outside.read_text() == "swordfish"
