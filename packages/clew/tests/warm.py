"""A Python that has started and imported what `clew` needs: the commands of tests are forks of it.

To start, to import and to begin measuring coverage is four fifths of the work of most commands,
and the tests run hundreds of them. A fork begins where all that is done; its pid, signals,
arguments, streams, environment, folder, exit code and end are its own.
"""

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from clew import ConfigError

ROOT = Path(__file__).parents[1]

# What commands import, some of it late: an SDK alone takes half a second.
IMPORTED = ("clew.cli", "clew.models.offline", "clew.models.openai.client")


class Process:
    """What `[sys.executable, *words]` starts, with what tests use of a `subprocess.Popen`.

    A stream that is not given is an empty one to read from, or a file that `communicate` reads.
    """

    def __init__(
        self, words: Sequence[str | bytes], env: Mapping[str, str],
        *, stdin: int | None = None, stdout: int | None = None, stderr: int | None = None,
        session: bool = False,
    ) -> None:  # fmt: skip
        self.returncode: int | None = None
        self.said = ["", "", ""]  # by stream, once it has ended
        given = (stdin, stdout, stderr)
        self._files = {
            n: tempfile.TemporaryFile()  # noqa: SIM115 - read and closed at its end
            for n, fd in enumerate(given)
            if fd is None
        }
        streams = [self._files[n].fileno() if fd is None else fd for n, fd in enumerate(given)]
        said = {
            "words": [os.fsdecode(word) for word in words],
            "env": dict(env),
            "folder": str(Path.cwd()),
            "session": session,
        }
        # What Python itself reads counts while it starts: who sets another has another.
        python = frozenset(pair for pair in env.items() if pair[0].startswith("PYTHON"))
        self._connection, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(warm(python), [b"+"], [theirs.fileno(), *streams])
        self._connection.sendall(json.dumps(said).encode() + b"\n")
        self._told = self._connection.makefile("rb")
        self.pid = int(self._told.readline())

    def wait(self, timeout: float | None = None) -> int:
        """How it ended: its exit code, or the negative number of a signal."""
        if self.returncode is None:
            if not select.select([self._connection], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self.returncode = int(self._told.readline())
            self._told.close()
            self._connection.close()
            for stream, file in self._files.items():
                with file:
                    file.seek(0)
                    self.said[stream] = file.read().decode()
        return self.returncode

    def trajectory(self, stream: int) -> str:
        """What it has written to a stream that is a file."""
        if self.returncode is not None:
            return self.said[stream]
        return os.pread(self._files[stream].fileno(), 1 << 20, 0).decode(errors="replace")

    def poll(self) -> int | None:
        """How it ended, if it has."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for its end: what it wrote to stdout and stderr."""
        self.wait(timeout)
        return self.said[1], self.said[2]

    def send_signal(self, number: int) -> None:
        """Send a signal, if it has not ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now, and its parent has seen that
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


@cache
def warm(python: frozenset[tuple[str, str]]) -> socket.socket:
    """Start the process whose forks all others are; it ends when nobody can ask it any more."""
    mine, theirs = socket.socketpair()
    others = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm"],
            stdin=theirs.fileno(), stdout=subprocess.DEVNULL,
            cwd=ROOT, env={**others, **dict(python)},
        )  # fmt: skip

    def end() -> None:
        mine.close()
        process.wait()

    atexit.register(end)
    return mine


def main() -> None:
    """Fork a process for each request, until whoever asks has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal is for the tests
    requests = socket.socket(fileno=os.dup(0))
    for name in IMPORTED:
        importlib.import_module(name)
    for section in importlib.import_module("clew.cli").COMMANDS.values():
        for entry in section:
            load(entry)
    gc.freeze()  # a fork that looks for garbage need not touch, and so copy, all of this
    while fds := socket.recv_fds(requests, 1, 4)[1]:
        if not os.fork():
            requests.close()
            serve(*fds)
            return
        for fd in fds:
            os.close(fd)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def load(entry: Any) -> None:
    """Import a command, and those of a group; not what is not installed."""
    with suppress(ConfigError):
        command = entry.load()
        for section in getattr(command, "sections", {}).values():
            for inner in section:
                load(inner)


def serve(connection: int, *streams: int) -> None:
    """Fork once more: the child is the command and ends as one, this one tells how and is gone."""
    with open(connection, "r+b", buffering=0) as told:
        said = json.loads(told.readline())
        if command := os.fork():
            for fd in streams:
                os.close(fd)
            told.write(b"%d\n" % command)
            status = os.waitpid(command, 0)[1]
            told.write(b"%d\n" % os.waitstatus_to_exitcode(status))
            os._exit(0)
    become(said, streams)
    first, *words = said["words"]
    try:
        if first == "-m":
            sys.argv, sys.path[0] = words, said["folder"]
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[0] = [first, *words], str(Path(first).parent)
            runpy.run_path(first, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, int):
            leave(end.code)
        raise
    leave(0)


def leave(code: int) -> None:
    """End as Python does, but take no module apart: that is half the work of most commands."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # which Python tells in its own way
    shutdown: Any = vars(threading)["_shutdown"]  # waits for threads, and ends those of pools
    shutdown()
    run_exit_functions: Any = vars(atexit)["_run_exitfuncs"]
    run_exit_functions()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code & 0xFF)


def become(said: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Take on all that a process gets from whoever starts it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if said["session"]:
        os.setsid()
    for fd, stream in enumerate(streams):
        os.dup2(stream, fd)
        os.close(stream)
    os.chdir(said["folder"])
    os.environ.clear()
    os.environ.update(said["env"])
    time.tzset()
    sys.stdin, sys.stdout, sys.stderr = map(
        reopened, ("r", "w", "w"), (sys.stdin, sys.stdout, sys.stderr)
    )


def reopened(mode: str, stream: Any) -> io.TextIOWrapper:
    """The same standard stream, made anew for what is behind it now."""
    fd: int = stream.fileno()
    raw = io.FileIO(fd, mode, closefd=False)
    unbuffered: bool = stream.write_through  # as PYTHONUNBUFFERED says
    ways: dict[str, Any] = {"r": io.BufferedReader, "w": io.BufferedWriter}
    return io.TextIOWrapper(
        raw if unbuffered and mode == "w" else ways[mode](raw), stream.encoding, stream.errors,
        line_buffering=fd == 2 or os.isatty(fd), write_through=unbuffered,
    )  # fmt: skip


if __name__ == "__main__":
    main()
