"""Programs in the folder: their output, their end, and what is asked before."""

from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, Observation, pending_approvals, run
from clew.testing import ScriptedModel, act, finish
from clew_code.workspace import workspace_tools
from tests.workspace.folder import one


async def done(root: Path, **args: Any) -> Observation:
    return await one(root, act("run_command", **args))


async def test_output_and_exit_code_are_observed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    seen = await done(tmp_path, command="pwd; echo no >&2; exit 3", folder="sub")
    assert seen.ok
    assert seen.text.startswith("exit code 3, after ")
    assert f"--- stdout\n{tmp_path}/sub" in seen.text
    assert "--- stderr\nno" in seen.text
    assert "(no output)" in (await done(tmp_path, argv=["true"])).text


async def test_what_does_not_end_is_stopped(tmp_path: Path) -> None:
    for seconds in (1, 5, 25):  # a busy machine may take longer to start the program
        seen = await done(tmp_path, command="echo begun; sleep 600", seconds=seconds)
        assert (seen.code, seen.outcome) == ("timeout", "unknown")
        if "begun" in seen.text:
            break
    assert "begun" in seen.text
    killed = await done(tmp_path, command="kill -9 $$")
    assert "signal 9" in killed.text or "exit code 137" in killed.text


async def test_a_program_that_takes_too_much_is_stopped(tmp_path: Path) -> None:
    seen = await one(
        tmp_path,
        act("run_command", command="head -c 9000000 /dev/zero > big; echo $?"),
        limits={"file": 1_000_000},
    )
    assert (tmp_path / "big").stat().st_size <= 1_000_000
    assert "exit code" in seen.text or "crashed" in seen.text


async def test_a_program_that_fills_the_memory_is_stopped(tmp_path: Path) -> None:
    program = "import time; x = bytearray(10**9); x[::4096] = b'1' * len(x[::4096]); time.sleep(60)"
    seen = await one(
        tmp_path, act("run_command", argv=["python3", "-c", program]), limits={"memory": 2 * 10**8}
    )
    assert "exit code 1" in seen.text or seen.code == "crashed"


async def test_a_git_folder_that_a_command_made_is_named(tmp_path: Path) -> None:
    seen = await done(tmp_path, command="mkdir .git")
    assert "the command made .git, a git repository without programs" in seen.text


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({}, "give either command"),
        ({"command": "true", "argv": ["true"]}, "give either command"),
        ({"argv": ["a\0b"]}, "NUL character"),
        ({"command": "true", "folder": "gone"}, "there is no folder"),
        ({"argv": ["/no/such/program"]}, "no"),
    ],
)
async def test_what_cannot_be_run_is_told(tmp_path: Path, args: dict[str, Any], why: str) -> None:
    seen = await done(tmp_path, **args)
    assert why in seen.text


async def test_where_walls_lack_a_person_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew_code.workspace.tools.kernel", Lacking)
    store = MemoryStore()
    model = ScriptedModel([act("run_command", command="true"), finish("Done.")])
    agent = Agent(model, tools=workspace_tools(tmp_path))
    assert (await run(agent, "Go.", store=store)).status == "held"
    [waiting] = await pending_approvals(store=store)
    assert waiting.why == (
        "this machine's sandbox is not complete (no walls): the program may reach more than the "
        "folder. Allow it?"
    )
    free = Agent(model, tools=workspace_tools(tmp_path, unsafe_kernel=True))
    assert (await run(free, "Go.", store=store)).status == "answered"


class Lacking:
    """A kernel that has nothing."""

    lacks = "no walls"


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"only": ["edit"]}, "there is no workspace tool 'edit'"),
        ({"limits": {"memery": 1}}, "there is no sandbox limit 'memery'"),
    ],
)
def test_settings_that_do_not_fit(tmp_path: Path, settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        workspace_tools(tmp_path, **settings)
    with pytest.raises(ConfigError, match="there is no folder"):
        workspace_tools(tmp_path / "gone")


@pytest.mark.parametrize(
    "command",
    [
        "yes | head -1",
        "seq 1000000 | head -2",
        "cat /dev/zero | head -c 3 >/dev/null",
        "python3 -c 'import os; os.kill(os.getpid(), 13)' | cat",
        "(while :; do echo x; done) | head -1",
        "yes | tr y n | head -3",
        "set -o pipefail; yes | head -1",
        "tr -dc a < /dev/urandom | head -c 1",
        "printf '%s\\n' {1..200000} | head -1",
        "sh -c 'yes' | head -1",
    ],
)
async def test_a_closed_pipe_ends_a_program_without_a_word(command: str, tmp_path: Path) -> None:
    seen = await done(tmp_path, command=command)
    assert seen.text.startswith("exit code")
    assert "Broken pipe" not in seen.text
    assert ("exit code 141" in seen.text) is ("pipefail" in command)


async def test_the_signal_of_a_closed_pipe_ends_a_program(tmp_path: Path) -> None:
    seen = await done(tmp_path, command="kill -PIPE $$; echo on")
    assert seen.text.startswith("ended by signal 13")


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("sleep 500 &", "sleep 500"),
        ("sleep 501 & sleep 502 & echo two", "sleep 502"),
        ("nohup sleep 503 >/dev/null 2>&1 &", "sleep 503"),
        ("setsid sleep 504 >/dev/null 2>&1 & sleep 0.2", "sleep 504"),
        ("(sleep 505 &)", "sleep 505"),
        ("sleep 506 & exit 3", "sleep 506"),
        ("sleep 507 & kill -9 $$", "sleep 507"),
        ("cat /dev/zero >/dev/null &", "cat /dev/zero"),
        ("sleep 508 & wait -n & echo x", "sleep 508"),
        ("sleep 0.01 & wait", ""),
        ("true | cat", ""),
        ("echo done", ""),
    ],
)
async def test_what_was_left_running_is_named(command: str, named: str, tmp_path: Path) -> None:
    seen = await done(tmp_path, command=command)
    assert ("still running when the command ended" in seen.text) is bool(named)
    assert named in seen.text
