"""Every attempt to get out of the sandbox, and its result.

`python -m tests.sandbox.escapes` prints them as a table; with `--bubblewrap` that of bubblewrap
stands beside it (`escapes.md`).
"""

import contextlib
import ctypes
import json
import os
import secrets
import select
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from clew_code.sandbox import CommandResult, Sandbox, SandboxLimits
from clew_code.sandbox.sandbox import SYSTEM
from tests.sandbox.attempts import ATTEMPTS, HEAD, Attempt
from tests.sandbox.kernel_attempts import KERNEL

LIMITS = SandboxLimits(cpu=2, memory=400_000_000, processes=60, file=100_000_000, disk=300_000_000)
SECRET = "swordfish"
EVERY = (*ATTEMPTS, *KERNEL)


@dataclass
class World:
    """What is outside: a secret, listeners that hear nothing, a process that must live."""

    folder: Path
    victim: "subprocess.Popen[bytes]"
    heard: list[str] = field(default_factory=list[str])
    listeners: dict[str, socket.socket] = field(default_factory=dict[str, socket.socket])
    told: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def root(self) -> Path:
        return self.folder / "root"

    def harmed(self) -> str:
        """What was done to it, or ""."""
        outside = self.folder / "outside"
        if sorted(path.name for path in outside.iterdir()) != ["secret", "socket"]:
            return "a file outside"
        if (outside / "secret").read_text() != SECRET:
            return "the secret was changed"
        if self.victim.poll() is not None:
            return "a process outside was ended"
        hooks = self.root / ".git" / "hooks"
        if not hooks.is_dir() or list(hooks.iterdir()):
            return "git's hooks were changed"
        if "evil" in (self.root / ".git" / "config").read_text():
            return "git's settings were changed"
        arrived = [name for name, one in self.listeners.items() if _arrived(one)] + self.heard
        return f"a listener heard {arrived[0]}" if arrived else ""


@contextlib.contextmanager
def world() -> Iterator[World]:
    """A world for one attempt, taken down after it."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="escapes-")))
        outside, root = folder / "outside", folder / "root"
        outside.mkdir()
        (root / ".git" / "hooks").mkdir(parents=True)
        (root / ".git" / "config").write_text("[core]\n")
        (outside / "secret").write_text(SECRET)
        victim = stack.enter_context(subprocess.Popen(["sleep", "600"]))
        stack.callback(victim.kill)
        made = World(folder, victim)
        tcp, udp = socket.create_server(("127.0.0.1", 0)), socket.socket(type=socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", 0))
        abstract, path = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        name = f"clew-escapes-{secrets.token_hex(8)}"
        abstract.bind("\0" + name)
        path.bind(str(outside / "socket"))
        for listener in (abstract, path):
            listener.listen()
        for said, listener in (
            ("TCP", tcp), ("UDP", udp), ("an abstract socket", abstract), ("a socket", path),
        ):  # fmt: skip
            stack.callback(_close, listener)
            made.listeners[said] = listener
            _listen(listener, said, made.heard)
        key = 0x636C6577
        memory = ctypes.CDLL(None).shmget(key, 8, 0o1600)
        stack.callback(ctypes.CDLL(None).shmctl, memory, 0, None)
        made.told = {
            "outside": str(outside), "root": str(root), "victim": victim.pid,
            "address": "127.0.0.1", "tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1],
            "abstract": name, "shm_key": key,
        }  # fmt: skip
        yield made


def _close(listener: socket.socket) -> None:
    with contextlib.suppress(OSError):
        listener.shutdown(socket.SHUT_RDWR)  # which ends the thread that waits
    listener.close()


def _arrived(listener: socket.socket, seconds: float | None = 0) -> bool:
    """Whether anything waits to be received."""
    return bool(select.select([listener], [], [], seconds)[0])


def _listen(listener: socket.socket, said: str, heard: list[str]) -> None:
    def work() -> None:
        _arrived(listener, None)
        heard.append(said)  # before it is taken: whoever looks finds it waiting, or heard
        with contextlib.suppress(OSError):
            if listener.type == socket.SOCK_DGRAM:
                listener.recv(10)
            else:
                listener.accept()[0].close()

    threading.Thread(target=work, daemon=True).start()


def program(attempt: Attempt, around: World) -> list[str]:
    """The command that makes the attempt."""
    return [sys.executable, "-I", "-c", HEAD + attempt.code, json.dumps(around.told)]


async def tried(attempt: Attempt) -> tuple[bool, str]:
    """Whether the sandbox held the attempt, and its result in a few words."""
    os.environ["CLEW_ESCAPES_KEY"] = SECRET
    with world() as around:
        box = Sandbox(root=str(around.root), limits=LIMITS, network=attempt.network)
        ended = await box.run(program(attempt, around), seconds=attempt.seconds, limit=20_000)
        if attempt.name == "outlive the call":
            await anyio.sleep(4)  # longer than the process that was left behind would wait
        harm = around.harmed()
        if (around.root / "late").exists():
            harm = "a process lived on"
    held = not harm and "ESCAPED" not in ended.stdout and SECRET not in ended.stdout
    return held, harm or _words(ended)


def _words(ended: CommandResult) -> str:
    if ended.code is None:
        return "ended at its deadline"
    if ended.why:
        return f"ended: {ended.why}"
    if ended.cut:
        return f"{ended.cut:,} bytes of output left out"
    lines = [line for line in (ended.stderr + "\n" + ended.stdout).splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if "Error" in line), (lines or [""])[-1])
    words = last.removeprefix("OSError: ").split(": '")[0].strip()
    return words or (f"ended by signal {-ended.code}" if ended.code < 0 else "nothing came of it")


NOT_BESIDE = {
    *(attempt.name for attempt in ATTEMPTS[-10:]),
    *("restart the machine", "write the kernel's core pattern", "set the clock", "load a module"),
    *("change the machine's name", "make a device for the disk", "write to /dev/mem or a disk"),
    *("swap", "quotas", "the kernel's log", "make /usr writable", "write to /usr", "write to /etc"),
    *("all of memory past the watch, whose own limits are 0", "a real-time scheduler"),
    *("accounting of processes", "hang up the terminal", "ports of the machine"),
}
"""What uses this machine up or changes it: not tried where nothing is known to hold it."""


def bubblewrap(attempt: Attempt, around: World) -> list[str]:
    """The same attempt in bubblewrap, with the places that clew's sandbox shows."""
    root = str(around.root)
    places = dict.fromkeys([*SYSTEM, sys.base_prefix, sys.prefix])
    return [
        *(
            "bwrap",
            "--unshare-all",
            "--unshare-user",
            "--die-with-parent",
            "--new-session",
            "--cap-drop",
            "ALL",
        ),
        *(["--share-net"] if attempt.network else []),
        *("--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp"),
        *(word for place in places for word in ("--ro-bind-try", place, place)),
        *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", root, root),
        *("--ro-bind", f"{root}/.git", f"{root}/.git", "--chdir", root),
        *program(attempt, around),
    ]


def bubblewrap_holds(attempt: Attempt) -> tuple[bool, str]:
    """Whether bubblewrap holds the attempt, and what came of it."""
    with world() as around:
        try:
            done = subprocess.run(
                bubblewrap(attempt, around), capture_output=True, text=True, check=False,
                timeout=attempt.seconds, errors="replace",
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return True, "ended at its deadline"
        harm = around.harmed()
    held = not harm and "ESCAPED" not in done.stdout and SECRET not in done.stdout
    return held, harm or _words(CommandResult(done.returncode, done.stdout, done.stderr))


async def main() -> None:
    """Print the table."""
    held = 0
    print("| attempt | result |\n|---|---|")
    for attempt in EVERY:
        fine, words = await tried(attempt)
        held += fine
        print(f"| {attempt.name} | {'' if fine else '**escaped** '}{words} |", flush=True)
    print(f"\n{held} of {len(EVERY)} attempts failed.")


async def compare() -> None:
    """Print the table with bubblewrap beside clew."""
    held = other = 0
    lines: list[str] = []
    for attempt in EVERY:
        fine, words = await tried(attempt)
        held += fine
        row = [attempt.name, f"{'' if fine else '**escaped** '}{words}"]
        if attempt.name in NOT_BESIDE:
            row.append("not tried")
        else:
            fine, words = bubblewrap_holds(attempt)
            other += fine
            row.append(f"{'' if fine else '**not held**: '}{words}")
        lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |")
    version = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True)
    print("# What was tried to get out of the sandbox\n")
    print(
        "`python -m tests.sandbox.escapes --bubblewrap` writes this. An attempt counts as not held"
    )
    print("if it did what its name says; some harm nobody by themselves, such as a rare socket.\n")
    print(f"The sandbox held {held} of {len(EVERY)} attempts; {version.stdout.strip()},")
    print("which has no limits and no filter of system calls unless it is handed one, held")
    print(f"{other} of the {len(EVERY) - len(NOT_BESIDE)} that may be tried without.")
    print(f"Linux {os.uname().release}, {os.uname().machine}.\n")
    print("| attempt | clew | bubblewrap |\n|---|---|---|")
    print("\n".join(lines))


if __name__ == "__main__":
    anyio.run(compare if "--bubblewrap" in sys.argv else main)
