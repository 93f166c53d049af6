"""Worker processes by the dozen: forks of one process that has imported what they need.

A fork is a process like any other, to be stopped and killed. They all end with the nursery, and
the nursery with the program that uses it, however that ends.
"""

import ctypes
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec

ROOT: Final = Path(__file__).resolve().parents[2]
PATH: Final = os.pathsep.join(
    map(str, (ROOT / "packages/clew/src", ROOT / "lab", *sorted(ROOT.glob("packages/*"))))
)
"""Where a program finds clew, what measures it, and the tests of all packages."""
_DIE_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG in <linux/prctl.h>


class Nursery:
    """Starts workers, signals them and waits for their end, as long as its context lasts.

    `modules` are imported before the first is started.
    """

    def __init__(self, *modules: str) -> None:
        path = PATH
        self._process = subprocess.Popen(
            [sys.executable, "-m", "durability.nursery", "durability.worker", *modules],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the program; this ends when that does
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def start(self, orders: msgspec.Struct, *, entry: str = "durability.worker:serve") -> int:
        """Start a worker; its process id. `entry` is a function of one of the modules."""
        return self._ask("start", entry, msgspec.to_builtins(orders))

    def signal(self, pid: int, number: signal.Signals) -> bool:
        """Send a signal; False where the worker has ended."""
        return bool(self._ask("signal", pid, int(number)))

    def kill(self, pid: int) -> float:
        """`kill -9`; the time when it was dead."""
        self._ask("kill", pid)
        return time.time()

    def wait(self, pid: int) -> int:
        """Wait for its end; its exit code."""
        return self._ask("wait", pid)

    def alive(self, pid: int) -> bool:
        """Whether it has not ended."""
        return bool(self._ask("signal", pid, 0))

    def _ask(self, *order: Any) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            message = f"the nursery of the workers ended with {self._process.wait()}"
            raise RuntimeError(message)
        return int(line)


class _Children:
    """The forks of this process, and how those that ended did."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.modules = {name: importlib.import_module(name) for name in modules}
        self.running: set[int] = set()
        self.ended: dict[int, int] = {}
        gc.freeze()

    def obey(self, what: str, *words: Any) -> int:
        if what == "start":
            return self._start(*words)
        pid = int(words[0])
        if what == "signal":
            self._reap(pid, os.WNOHANG)
            if pid in self.running:
                os.kill(pid, words[1])
            return pid in self.running
        if what == "kill" and pid in self.running:
            os.kill(pid, signal.SIGKILL)
        self._reap(pid, 0)
        return self.ended[pid]

    def end(self) -> None:
        for pid in list(self.running):
            os.kill(pid, signal.SIGKILL)
            self._reap(pid, 0)

    def _reap(self, pid: int, how: int) -> None:
        if pid in self.running and (reaped := os.waitpid(pid, how))[0]:
            self.running.discard(pid)
            self.ended[pid] = os.waitstatus_to_exitcode(reaped[1])

    def _start(self, entry: str, orders: dict[str, Any]) -> int:
        if child := os.fork():
            self.running.add(child)
            return child
        code = 1
        try:
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
            with Path(os.devnull).open("r+b") as nothing:
                os.dup2(nothing.fileno(), 0)
                os.dup2(2, 1)  # what it prints is not for who asks the nursery
            module, _, name = entry.partition(":")
            work = getattr(self.modules[module], name)
            work(msgspec.convert(orders, next(iter(work.__annotations__.values()))))
            code = 0
        except BaseException:  # noqa: BLE001 - the fork ends here, whatever it was
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)


def main() -> None:
    """Obey the lines of standard input until there are no more."""
    children = _Children(sys.argv[1:])
    try:
        for line in sys.stdin:
            sys.stdout.write(f"{int(children.obey(*json.loads(line)))}\n")
            sys.stdout.flush()
    finally:
        children.end()


if __name__ == "__main__":
    main()
