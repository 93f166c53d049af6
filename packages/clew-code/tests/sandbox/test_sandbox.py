"""Programs in the sandbox: what they can do, how they end, and what a lesser kernel means."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from clew import ConfigError
from clew_code.sandbox import CommandResult, Sandbox, SandboxError, SandboxLimits, kernel
from clew_code.sandbox.kernel import landlock_wall
from tests.sandbox.sources import IMPORTS, SOURCES

pytestmark = pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}")


async def ran(root: Path, *argv: str, seconds: float = 30, limit: int = 20_000) -> CommandResult:
    return await Sandbox(root=str(root)).run(argv, seconds=seconds, limit=limit)


async def test_a_program_works_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    ended = await ran(tmp_path, "sh", "-c", "cat a.txt; echo two > b.txt; pwd; exit 3")
    assert (ended.code, ended.stdout) == (3, f"one\n{tmp_path}\n")
    assert (tmp_path / "b.txt").read_text() == "two\n"
    assert (tmp_path / "b.txt").stat().st_uid == os.getuid()


async def test_this_python_and_its_packages_are_there(tmp_path: Path) -> None:
    ended = await ran(tmp_path, "python", "-c", "import anyio, sys; print(sys.prefix)")
    assert (ended.code, ended.stdout.strip()) == (0, sys.prefix)


async def test_programs_reach_each_other_inside(tmp_path: Path) -> None:
    code = """
import socket
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
client.sendall(b"hello")
print(server.accept()[0].recv(5).decode())
"""
    ended = await ran(tmp_path, "python", "-c", code)
    assert ended.stdout == "hello\n", ended.stderr


async def test_a_folder_that_may_only_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    box = Sandbox(root=str(tmp_path), writable=False)
    ended = await box.run(["sh", "-c", "cat a.txt; echo x > a.txt"], seconds=30, limit=9_000)
    assert ended.stdout == "one\n"
    assert ended.code != 0
    assert (tmp_path / "a.txt").read_text() == "one\n"


async def test_further_places_can_be_read(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (other / "data").write_text("42")
    for readable, code in (((), 1), ((str(other),), 0)):
        box = Sandbox(root=str(root), readable=readable)
        ended = await box.run(["cat", str(other / "data")], seconds=30, limit=9_000)
        assert ended.code == code


async def test_variables_come_in_by_name_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANTED", "yes")
    monkeypatch.setenv("SECRET_KEY", "no")
    ended = await Sandbox(root=str(tmp_path)).run(
        ["env"], seconds=30, limit=9_000, env=["WANTED"], variables={"MORE": "too"}
    )
    names = {line.partition("=")[0] for line in ended.stdout.splitlines()}
    assert {"WANTED", "MORE", "PATH", "HOME"} <= names
    assert not names & {"SECRET_KEY", "CLEW_SANDBOX"}


async def test_with_the_network_this_machine_is_reached(tmp_path: Path) -> None:
    code = "import socket, sys; print(socket.create_connection(('127.0.0.1', int(sys.argv[1]))))"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        box = Sandbox(root=str(tmp_path), network=True)
        ended = await box.run(["python", "-c", code, port], seconds=30, limit=9_000)
    assert ended.code == 0, ended.stderr


async def test_what_no_program_can_be_given_is_told(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="null byte"):
        await ran(tmp_path, "echo", "a\0b")
    with pytest.raises(SandboxError, match="null byte"):
        async with Sandbox(root=str(tmp_path)).start(["echo", "a\0b"]):
            pass


async def test_a_program_that_is_talked_to(tmp_path: Path) -> None:
    async with Sandbox(root=str(tmp_path)).start(["cat"]) as talk:
        await talk.input.send(b"hello")
        assert await talk.output.receive() == b"hello"
        await talk.input.aclose()
        assert await talk.why_it_ended() == "it ended with code 0"
    async with Sandbox(root=str(tmp_path)).start(["sh", "-c", "echo so >&2; exit 3"]) as talk:
        assert await talk.why_it_ended() == "so"


async def test_a_program_that_is_talked_to_ends_at_its_limits(tmp_path: Path) -> None:
    limits = SandboxLimits(memory=60_000_000)
    grow = "import time; kept = b'x' * 300_000_000; time.sleep(600)"
    async with Sandbox(root=str(tmp_path), limits=limits).start(["python", "-c", grow]) as talk:
        assert await talk.why_it_ended() == "it used more than 60,000,000 bytes of memory"


def test_versions_of_landlock() -> None:
    none, old, new = (landlock_wall(version) for version in (0, 3, 7))
    assert (none.built, old.built, new.built) == (False, True, True)
    assert "the kernel has none" in none.detail
    assert "from version 6 on" in old.detail
    assert new.detail == "version 7"


async def test_a_program_that_is_not_there_is_told_and_nothing_was_done(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="nosuchprogram cannot be run: No such file"):
        await ran(tmp_path, "nosuchprogram")


async def test_a_signal_and_the_deadline_are_told(tmp_path: Path) -> None:
    ended = await ran(tmp_path, "python", "-c", "import os; os.kill(os.getpid(), 11)")
    assert ended.code == -signal.SIGSEGV
    for seconds in (0.5, 5, 25):  # a busy machine may take longer to start the program
        ended = await ran(tmp_path, "sh", "-c", "echo begun; sleep 60", seconds=seconds)
        assert ended.code is None
        if ended.stdout:
            break
    assert ended.stdout == "begun\n"


async def test_a_cancelled_call_leaves_no_process(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(ran, tmp_path, "sh", "-c", "exec 3> fifo; echo x >&3; sleep 60")
            with await anyio.to_thread.run_sync(open, fifo) as held:
                assert held.readline() == "x\n"
                scope.cancel()
                with anyio.CancelScope(shield=True):
                    read = held.readline
                    assert await anyio.to_thread.run_sync(read) == ""  # its writer has gone


LESSER = """
import anyio, json, sys
from clew_code.sandbox import Sandbox, SandboxError, kernel
async def main():
    root, outside = sys.argv[1:]
    said = {"lacks": kernel().lacks}
    try:
        await Sandbox(root=root).run(["true"], seconds=20, limit=99)
    except SandboxError as error:
        said["refused"] = str(error)
    box = Sandbox(root=root, weak=True)
    for name, line in {
        "inside": "echo x > made; cat made; echo y > $TMPDIR/z; cat $TMPDIR/z",
        "outside": f"cat {outside}/secret",
        "write": f"echo x > {outside}/made",
    }.items():
        ended = await box.run(["sh", "-c", line], seconds=20, limit=999)
        said[name] = [ended.code, ended.stdout]
    code = "import socket; socket.create_connection(('127.0.0.1', 1))"
    ended = await box.run(["python", "-c", code], seconds=20, limit=9999)
    said["network"] = ended.stderr.strip().splitlines()[-1]
    print(json.dumps(said))
anyio.run(main)
"""


@pytest.mark.slow
async def test_where_the_kernel_gives_no_namespaces_the_other_walls_stand(tmp_path: Path) -> None:
    """A sandbox inside a sandbox has none: a filter of the outer one refuses them."""
    (tmp_path / "outer" / "root").mkdir(parents=True)
    outside = tmp_path / "outer" / "outside"
    outside.mkdir()
    (outside / "secret").write_text("swordfish")
    box = Sandbox(root=str(tmp_path / "outer"), readable=SOURCES)
    argv = ["python", "-c", LESSER, str(tmp_path / "outer" / "root"), str(outside)]
    ended = await box.run(argv, seconds=60, limit=20_000, variables=IMPORTS)
    assert ended.code == 0, ended.stderr
    said = json.loads(ended.stdout)
    assert "namespaces: " in said["lacks"]
    assert "landlock" not in said["lacks"]
    assert "no complete sandbox (namespaces: " in said["refused"]
    assert said["inside"] == [0, "x\ny\n"]
    assert said["outside"] == [1, ""]
    assert said["write"][0] != 0
    assert "Address family not supported" in said["network"]
    assert not (outside / "made").exists()


def test_its_command_can_be_run_by_anybody(tmp_path: Path) -> None:
    command = Sandbox(root=str(tmp_path)).command(["sh", "-c", "echo hello; pwd"])
    done = subprocess.run(
        command, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"hello\n{tmp_path}\n")


@pytest.mark.parametrize("name", ["cpu", "memory", "processes", "file", "disk"])
def test_a_limit_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"the limit {name} of a sandbox is 0"):
        SandboxLimits(**{name: 0})
