"""The same in Inspect's viewer, where it is: `CLEW_INSPECT` is a Python that has `inspect-ai`."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.viewers.chromium import Painted, painted
from benchmarks.viewers.rows import BODY, Row, Sizes

PYTHON: Final = os.environ.get("CLEW_INSPECT", sys.executable)
WRITES: Final = Path(__file__).with_name("write_inspect_logs.py")
VIEW: Final = "from inspect_ai._cli.main import main; main()"
LONG: Final = "2026-01-01T00-00-00+00-00_long_long.eval"
MESSAGES: Final = f"#/logs/{LONG}/samples/sample/one/1/messages"
LEFT_OUT: Final = Row("Inspect's viewer left out: `CLEW_INSPECT` names no Python with it", "–")


async def long_record(
    folder: Path, browser: Any, clew: Painted, sizes: Sizes
) -> AsyncIterator[Row]:
    """A log whose one sample has as many messages, which are as long as a line of the record."""
    logs = folder / "long-logs"
    if not _write(logs, "long", sizes.entries, 2 * BODY):
        yield LEFT_OUT
        return
    with _view(logs) as url:
        each = await painted(browser, "", f"{url}{MESSAGES}", "The first words?", sizes.paints)
    beside = f"first paint {each.paint:.0f} ms, heap {each.heap:.0f} MB"
    what = f"Inspect's viewer, a sample of {sizes.entries:,} messages: words seen"
    yield Row(what, f"{each.words:.0f} ms", "", beside)
    yield _ratios("of the first page", each, clew)


async def long_list(folder: Path, browser: Any, clew: Painted, sizes: Sizes) -> AsyncIterator[Row]:
    """As many logs in a folder."""
    logs = folder / "many-logs"
    if not _write(logs, "many", sizes.runs, 1):
        yield LEFT_OUT
        return
    words = f"question-{sizes.runs - 1:04}"
    with _view(logs) as url:
        each = await painted(browser, "", url, words, sizes.paints)
    beside = f"first paint {each.paint:.0f} ms, heap {each.heap:.0f} MB"
    yield Row(f"Inspect's viewer, {sizes.runs:,} logs: words seen", f"{each.words:.0f} ms", "",
              beside)  # fmt: skip
    yield _ratios("of the list", each, clew)


def _ratios(what: str, inspect: Painted, clew: Painted) -> Row:
    words, paint, heap = (
        inspect.words / clew.words, inspect.paint / clew.paint, inspect.heap / clew.heap,
    )  # fmt: skip
    return Row(f"Inspect's over clew's, {what}: words seen", f"{words:.1f}×", "",
               f"first paint {paint:.1f}×, heap {heap:.1f}×")  # fmt: skip


def _write(logs: Path, kind: str, count: int, chars: int) -> bool:
    """Write logs; False where there is no `inspect-ai`."""
    if not shutil.which(PYTHON):
        return False
    words = [PYTHON, str(WRITES), str(logs), kind, str(count), str(chars)]
    return subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode == 0


@contextmanager
def _view(logs: Path) -> Iterator[str]:
    """Inspect's viewer of a folder of logs; its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    words = ["view", "start", "--log-dir", str(logs), "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        [PYTHON, "-c", VIEW, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_open(port, process)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


def _wait_until_open(port: int, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            continue
        return
    raise RuntimeError("Inspect's viewer ended by itself")
