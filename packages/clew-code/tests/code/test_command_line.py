import json
import os
import select
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.core.codes import Effect
from clew.core.contents import Observation
from clew.core.tools import Tool
from clew.core.values import Json
from clew.support.errors import ConfigError, ToolError
from clew.tools.run_process import HeadAndTail, run_process
from clew.tools.schema import problems
from clew_code.command_line import program
from tests.patience import once_begun

ECHO = "import json, sys; print(json.dumps(sys.argv[1:]))"
PYTHON = (sys.executable, "-S", "-c")


def python(code: str, *argv: str, **options: Any) -> Tool:
    """A tool that runs a line of Python."""
    braces = code.replace("{", "{{").replace("}", "}}")
    return program("run", (*PYTHON, braces, *argv), "Run it.", **options)


async def came(tool: Tool, **args: Json) -> Any:
    assert problems(tool.parameters, args) == []
    found = await tool.call(args, "run-1:1.1")
    if not isinstance(found, Observation):
        assert tool.result is not None
        assert problems(tool.result, found) == []
    return found


async def echoed(tool: Tool, **args: Json) -> list[str]:
    found: list[str] = json.loads((await came(tool, **args))["stdout"])
    return found


@asynccontextmanager
async def lifeline(path: Path) -> AsyncIterator[int]:
    """A FIFO whose end is read once everybody who opened it for writing is dead."""
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield reader
    finally:
        os.close(reader)


async def next_word(reader: int) -> bytes:
    """What comes through the lifeline next; nothing when everybody is dead."""
    await anyio.wait_readable(reader)
    return os.read(reader, 1000)


# A process, with a child, that says it is alive and holds the lifeline until both are dead.
FAMILY = """
import os, signal, sys, time
{before}
line = os.open(sys.argv[1], os.O_WRONLY)
if os.fork() == 0:
    time.sleep(600)
print("begun", flush=True)
print("trouble", file=sys.stderr, flush=True)
os.write(line, b"begun")
{after}
"""


def family(before: str = "", after: str = "time.sleep(600)", **options: Any) -> Tool:
    return python(FAMILY.format(before=before, after=after), "{line}", **options)


async def test_an_exit_code_and_both_outputs_are_the_result() -> None:
    tool = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert await came(tool) == {"exit_code": 3, "stdout": "out\n", "stderr": "err\n"}
    assert tool.effect == "unsafe"


async def test_parameters_fill_elements_and_say_what_they_take() -> None:
    tool = python(
        ECHO,
        "--count={count}",
        "{word}",
        "{{{flag}}}",
        "",
        "{word}/{size}",
        parameters={
            "count": {"type": "integer", "minimum": 1, "description": "How many"},
            "flag": {"type": "boolean", "default": True},
            "size": {"type": "number", "default": 1.5},
        },
    )
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "count": {"type": "integer", "minimum": 1, "description": "How many"},
            "word": {"type": "string"},
            "flag": {"type": "boolean", "default": True},
            "size": {"type": "number", "default": 1.5},
        },
        "required": ["count", "word"],
        "additionalProperties": False,
    }
    assert await echoed(tool, count=2, word="a b") == ["--count=2", "a b", "{true}", "", "a b/1.5"]
    assert (await echoed(tool, count=2, word="", flag=False, size=2))[1:] == [
        "",
        "{false}",
        "",
        "/2",
    ]


ANY = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


@settings(max_examples=15)
@given(ANY, ANY)
def test_a_value_stays_within_its_element_whatever_it_holds(one: str, other: str) -> None:
    tool = python(ECHO, "--", "{one}", "x{other}y")

    async def run() -> list[str]:
        return await echoed(tool, one=one, other=other)

    assert anyio.run(run) == ["--", one, f"x{other}y"]


async def test_nothing_is_read_by_a_shell(tmp_path: Path) -> None:
    words = f"$(touch {tmp_path}/x); `touch {tmp_path}/x` && touch {tmp_path}/x | * ~ $HOME"
    assert await echoed(python(ECHO, "{words}"), words=words) == [words]
    assert list(tmp_path.iterdir()) == []


async def test_a_value_that_looks_like_an_option_is_refused() -> None:
    tool = python(ECHO, "{path}", "--file={path}", "--", "{path}")
    with pytest.raises(ToolError, match="path: '--exec=x' begins with '-'"):
        await tool.call({"path": "--exec=x"}, "k")
    with pytest.raises(ToolError, match="begins with '-'"):
        await python(ECHO, "{n}", parameters={"n": {"type": "integer"}}).call({"n": -1}, "k")


async def test_an_option_may_be_declared_or_stand_after_two_dashes() -> None:
    declared = python(ECHO, "{path}", dashes=["path"])
    assert await echoed(declared, path="-x") == ["-x"]
    after = python(ECHO, "--file={path}", "--", "{path}")
    assert await echoed(after, path="-x") == ["--file=-x", "--", "-x"]


async def test_an_argument_with_a_nul_is_refused() -> None:
    with pytest.raises(ToolError, match="NUL"):
        await python(ECHO, "{path}").call({"path": "a\0b"}, "k")


async def test_the_environment_is_small_and_what_is_named_joins_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("MY_FLAG", "yes")
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    seen = json.loads((await came(python(code, env=["MY_FLAG", "MY_NOTHING"])))["stdout"])
    assert "MY_TOKEN" not in seen
    assert "MY_NOTHING" not in seen
    assert seen["MY_FLAG"] == "yes"
    assert seen["PATH"] == os.environ["PATH"]


async def test_it_runs_in_the_folder_that_was_named(tmp_path: Path) -> None:
    tool = python("import os; print(os.getcwd())", cwd=tmp_path)
    assert (await came(tool))["stdout"].strip() == str(tmp_path.resolve())


async def test_much_output_is_cut_in_the_middle_and_says_so() -> None:
    tool = python("print('a' * 100_000 + 'b' * 100_000)", limit=1000)
    text = (await came(tool))["stdout"]
    assert text.startswith("a" * 500 + "\n[… 199001 bytes left out …]\n")
    assert text.endswith("b" * 499 + "\n")


async def test_a_program_need_not_read_what_it_is_given() -> None:
    ran = await run_process([*PYTHON, "pass"], seconds=60, limit=100, stdin=b"x" * 10_000_000)
    assert (ran.code, ran.stdout, ran.stderr) == (0, b"", b"")


async def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    tool = python("import sys; sys.stdout.buffer.write(b'a\\xff')")
    assert (await came(tool))["stdout"] == "a\N{REPLACEMENT CHARACTER}"


async def test_standard_input_is_empty() -> None:
    assert (await came(python("import sys; print(sys.stdin.read() == '')")))["stdout"] == "True\n"


@pytest.mark.parametrize(
    ("effect", "outcome", "words"), [("read", "not_done", "."), ("unsafe", "unknown", "check that")]
)
async def test_at_the_deadline_the_whole_group_is_ended_and_its_output_kept(
    tmp_path: Path, effect: Effect, outcome: str, words: str
) -> None:
    line = str(tmp_path / "line")
    async with lifeline(tmp_path / "line") as reader:
        found, seconds = await once_begun(
            lambda seconds: came(family(effect=effect, timeout=seconds), line=line), "trouble"
        )
        assert await next_word(reader) == b"begun"
        assert await next_word(reader) == b""
    assert isinstance(found, Observation)
    assert (found.ok, found.code, found.outcome) == (False, "timeout", outcome)
    assert found.text.startswith(f"ERROR: timeout: run did not end in {seconds} s and was stopped")
    assert words in found.text
    assert found.text.endswith("begun\n\ntrouble\n")
    assert family(effect=effect, timeout=2).attempts.timeout > 2


async def test_who_ignores_the_first_signal_gets_the_second(tmp_path: Path) -> None:
    deaf = partial(family, before="signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    line = str(tmp_path / "line")
    async with lifeline(tmp_path / "line") as reader:
        found, _ = await once_begun(
            lambda seconds: came(deaf(timeout=seconds), line=line), "trouble"
        )
        assert await next_word(reader) == b"begun"
        assert await next_word(reader) == b""
    assert found.code == "timeout"


async def test_silence_until_the_deadline_is_said() -> None:
    found = await came(python("import time; time.sleep(600)", timeout=0.2))
    assert found.text.endswith("It had written: nothing")


async def _run(tool: Tool, line: str) -> None:
    await tool.call({"line": line}, "k")


async def test_a_cancelled_call_leaves_nobody_behind(tmp_path: Path) -> None:
    tool = family()
    async with lifeline(tmp_path / "line") as reader, anyio.create_task_group() as group:
        group.start_soon(_run, tool, str(tmp_path / "line"))
        assert await next_word(reader) == b"begun"
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            assert await next_word(reader) == b""


async def test_a_call_cancelled_while_its_process_starts_leaves_nobody_behind(
    tmp_path: Path,
) -> None:
    tool = family()
    async with lifeline(tmp_path / "line") as reader, anyio.create_task_group() as group:
        group.start_soon(_run, tool, str(tmp_path / "line"))
        while not select.select([reader], [], [], 0.2)[0]:  # the event loop stands still meanwhile
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            assert await next_word(reader) == b"begun"
            assert await next_word(reader) == b""


async def test_a_child_left_running_is_ended_and_does_not_hold_the_result(tmp_path: Path) -> None:
    tool = family(after="sys.exit(0)")
    async with lifeline(tmp_path / "line") as reader:
        found = await came(tool, line=str(tmp_path / "line"))
        assert await next_word(reader) == b"begun"
        assert await next_word(reader) == b""
    assert found == {"exit_code": 0, "stdout": "begun\n", "stderr": "trouble\n"}


async def test_a_daemon_that_keeps_the_pipe_does_not_hold_the_result() -> None:
    code = (
        "import os, time\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os.setsid()\n"
        "    time.sleep(600)\n"
        "while os.getpgid(pid) == os.getpgid(0): pass\n"
        "print(pid)"
    )
    found = await came(python(code))
    os.kill(int(found["stdout"]), signal.SIGKILL)
    assert found["exit_code"] == 0


async def test_what_cannot_be_started_was_not_done(tmp_path: Path) -> None:
    script = tmp_path / "hello"
    script.write_text("#!/bin/sh\necho hello\n")
    script.chmod(0o755)
    tool = program("hello", [str(script)], "Say hello.")
    assert (await came(tool))["stdout"] == "hello\n"
    script.unlink()
    with pytest.raises(ToolError, match="hello could not be started"):
        await tool.call({}, "k")


async def test_a_program_is_looked_up_when_the_tool_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tool = program("list", ["ls", "/"], "List it.", effect="read")
    monkeypatch.setenv("PATH", "/nowhere")
    assert (await came(tool))["exit_code"] == 0


@pytest.mark.parametrize(
    ("argv", "options", "word"),
    [
        ([], {}, "argv is empty"),
        (["no-such-program-here"], {}, "no program 'no-such-program-here'"),
        (["{word}"], {}, "no program"),
        (["bash", "-c", "{word}"], {}, "is a shell"),
        (["/bin/sh", "x"], {}, "is a shell"),
        (["ls", "{"], {}, "write {{ and }} for braces"),
        (["ls", "{}"], {}, "only a parameter's name"),
        (["ls", "{a!r}"], {}, "only a parameter's name"),
        (["ls", "{a:>3}"], {}, "only a parameter's name"),
        (["ls", "{a.b}"], {}, "only a parameter's name"),
        (["ls"], {"parameters": {"a": {"type": "string"}}}, "no element of argv uses a"),
        (["ls", "{a}"], {"parameters": {"a": {"type": "array"}}}, "parameter a"),
        (["ls", "{a}"], {"parameters": {"a": {"enum": ["x"]}}}, "parameter a"),
        (["ls"], {"cwd": "/no/such/folder"}, "no folder /no/such/folder"),
        (["ls"], {"timeout": 0}, "timeout"),
    ],
)
def test_what_does_not_fit_is_refused_at_once(
    argv: list[str], options: dict[str, Any], word: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        program("look", argv, "Look.", **options)
    assert word in str(caught.value)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed here")
async def test_git_as_a_tool(tmp_path: Path) -> None:
    tool = program(
        "git_log",
        ("git", "log", "-n", "{count}", "--", "{path}"),
        "The last commits that touched a path.",
        parameters={"count": {"type": "integer", "minimum": 1, "default": 5}},
        effect="read",
        cwd=tmp_path,
    )
    found = await came(tool, path="x")
    assert found["exit_code"] == 128
    assert "not a git repository" in found["stderr"]


@given(st.lists(st.binary(max_size=20)), st.integers(2, 30))
def test_what_is_kept_of_a_stream_is_its_head_and_its_tail(pieces: list[bytes], limit: int) -> None:
    kept, all_bytes, half = HeadAndTail(limit), b"".join(pieces), limit // 2
    for piece in pieces:
        kept.add(piece)
    value = kept.value()
    if len(all_bytes) <= 2 * half:
        assert (value, kept.cut) == (all_bytes, 0)
    else:
        assert kept.cut == len(all_bytes) - 2 * half
        assert value.startswith(all_bytes[:half] + b"\n[")
        assert value.endswith(b"]\n" + all_bytes[-half:])
