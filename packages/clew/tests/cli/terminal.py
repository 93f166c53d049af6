"""A terminal with a command in it, typed at and read from as a person does."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.cli.shell import COMMAND, environment
from tests.patience import PATIENCE
from tests.warm import Process


@dataclass
class Terminal:
    """A terminal with the command in it; `seen` is all that it has shown."""

    process: Process
    end: int
    seen: str = ""

    def type(self, text: str) -> None:
        os.write(self.end, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Make its window another size, as a person drags it."""
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process.send_signal(signal.SIGWINCH)

    def shows(self, pattern: str) -> str:
        """Wait until it has shown something since the last wait; what came until then."""
        while not (found := re.search(pattern, self.seen)):
            ready, _, _ = select.select([self.end], [], [], 60)
            assert ready, f"nothing more came: {self.seen!r}"
            try:
                self.seen += os.read(self.end, 65536).decode(errors="replace")
            except OSError as error:  # how a terminal says that nobody is left in it
                raise AssertionError(self.seen) from error
        before, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return before

    def interrupts(self, pattern: str) -> str:
        """Ctrl-C until it shows: Python misses one between its prompt and its wait for a key."""
        ready: list[int] = []
        while not ready:
            self.process.send_signal(signal.SIGINT)
            ready, _, _ = select.select([self.end], [], [], 10)
        return self.shows(pattern)

    def leaves(self) -> int:
        """Read what is left and give the exit code."""
        decoder = getincrementaldecoder("utf-8")("replace")
        while True:
            try:
                if not (piece := os.read(self.end, 65536)):
                    break
            except OSError:
                break
            self.seen += decoder.decode(piece)
        return self.process.wait(PATIENCE)


@contextmanager
def terminal(*words: str, **env: str) -> Iterator[Terminal]:
    end, theirs = pty.openpty()
    process = Process(
        [*COMMAND[1:], *words], environment(TERM="xterm-256color", **env),
        stdin=theirs, stdout=theirs, stderr=theirs, session=True,
    )  # fmt: skip
    os.close(theirs)
    try:
        yield Terminal(process, end)
    finally:
        process.kill()
        process.wait()
        os.close(end)
