"""One mutant put to the tests, in a process of its own that cannot hang.

The process is a fork of one that has imported what tests import, but nothing of clew. It sees a
copy of the tree (`Sandbox`) in which one file is the mutant; so does every process that a test
starts.
"""

import contextlib
import gc
import hashlib
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import coverage
import pytest

from mutation.mutants import Mutant, python_files

ROOT: Final = Path(__file__).parents[2]
TARGET: Final = Path("packages/clew/src/clew")
WITHIN: Final = (
    *("core", "guards/caps.py", "guards/limits.py", "core/blobs.py", "stores/seal.py"),
    *("support/parts.py", "core/redaction.py", "validate.py", "result.py", "compare.py"),
)
"""The core, and what stood there once: the tests of the core are those of all of it."""
TESTS: Final = Path("packages/clew/tests/core")

TO_START: Final = 120.0  # seconds for imports and the collection of tests
LEAST: Final = 20.0  # seconds for any test, and so many times what it took unchanged:
SLOWER: Final = 20
CHEAP: Final = 8.0  # seconds of tests for a mutant, before all others have had theirs
MEMORY: Final = 4 << 30  # bytes, for a mutant that asks for ever more


def files() -> list[Path]:
    """What a sandbox needs of the repository: tracked, or new and not ignored."""
    words = [
        "git",
        "ls-files",
        "-zco",
        "--exclude-standard",
        "conftest.py",
        "packages/clew",
        "docs",
        "pyproject.toml",
    ]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [
        Path(name) for name in sorted(set(listed.split("\0")) - {""}) if (ROOT / name).is_file()
    ]


def digest(paths: Sequence[Path]) -> str:
    """What stands in these files, as a short name."""
    digests = hashlib.sha256()
    for path in paths:
        digests.update(path.as_posix().encode() + b"\0" + (ROOT / path).read_bytes() + b"\0")
    return digests.hexdigest()[:12]


@dataclass(frozen=True)
class Sandbox:
    """A copy of the tree, with its bytecode."""

    folder: Path

    def fill(self) -> None:
        """Copy everything anew."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for path in files():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, self.folder / path)
        words = [sys.executable, "-m", "compileall", "-q", str(TARGET), str(TESTS)]
        subprocess.run(words, cwd=self.folder, check=True)

    @contextmanager
    def holding(self, mutant: Mutant) -> Iterator[None]:
        """With the mutant in the place of its file."""
        path = self.folder / TARGET / mutant.file
        before, status = path.read_bytes(), path.stat()
        path.write_text(mutant.code, "utf-8")
        # No bytecode is written meanwhile, and what is there is by its time that of another file.
        os.utime(path, (status.st_atime, status.st_mtime + 100))
        try:
            yield
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


class Chosen:
    """A plugin of pytest: these tests in this order, each with an alarm that ends the process."""

    def __init__(self, order: Mapping[str, float] | None) -> None:
        self.order = order  # what each takes, unchanged; None: all
        self.took: dict[str, float] = {}
        self.failed = ""

    @pytest.hookimpl(trylast=True)  # fixtures of a module have set an order too
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep what is chosen, and of a test for both event loops the one on asyncio."""
        items[:] = [item for item in items if not on_trio(item)]
        if self.order is not None:
            rank = {name: place for place, name in enumerate(self.order)}
            items[:] = sorted((i for i in items if i.nodeid in rank), key=lambda i: rank[i.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Let no test hang, and say whose lines these are."""
        usual = (self.order or {}).get(item.nodeid, LEAST)
        signal.setitimer(signal.ITIMER_REAL, max(LEAST, SLOWER * usual))
        if current := coverage.Coverage.current():
            current.switch_context(item.nodeid)
        with contextlib.suppress(StopIteration):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long it took, and which failed."""
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed = self.failed or report.nodeid


def on_trio(item: pytest.Item) -> bool:
    """Whether it is the second of two."""
    called = getattr(item, "callspec", None)
    return called is not None and called.params.get("anyio_backend") == "trio"


def fork(sandbox: Sandbox, name: str, order: Mapping[str, float] | None, *, measured: bool) -> int:
    """Start the tests: the pid of a process that will leave `{name}.json` beside the sandbox."""
    (sandbox.folder.parent / f"{name}.json").unlink(missing_ok=True)
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    code = 70
    try:
        code = run(sandbox, name, order, measured=measured)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def run(sandbox: Sandbox, name: str, order: Mapping[str, float] | None, *, measured: bool) -> int:
    """In the fork: become a process like any that runs pytest in the sandbox, and run it."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, TO_START)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    folder, beside = sandbox.folder, sandbox.folder.parent
    with (beside / f"{name}.log").open("wb") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    # The same examples each time (tests/conftest.py), and what is imported is the sandbox's.
    paths = [f"{folder}/packages/clew", f"{folder}/packages/clew/src"]
    os.environ |= {"CI": "1", "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    sys.path[:] = [*paths, *(p for p in sys.path if p != str(ROOT))]
    if measured:
        measure(beside)
    chosen = Chosen(order)
    where = sorted({name.split("::")[0] for name in order}) if order is not None else [str(TESTS)]
    words = [
        "-x",
        "-q",
        "-m",
        "not slow",
        "--assert=plain",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:cov",
    ]
    code = pytest.main([*words, f"--basetemp={beside}/{name}.tmp", *where], plugins=[chosen])
    signal.setitimer(signal.ITIMER_REAL, 0)
    if current := coverage.Coverage.current():
        current.stop()
        current.save()
    told: dict[str, Any] = {"took": chosen.took, "failed": chosen.failed}
    if measured:
        told["modules"] = [m for m in sys.modules if not m.startswith(("clew", "tests", "__"))]
    (beside / f"{name}.json").write_text(json.dumps(told))
    return int(code)


def measure(beside: Path) -> None:
    """Note which test runs which line, in this process and in those that it starts."""
    settings = beside / "coverage.ini"
    mutable = ",".join(map(str, python_files(Path.cwd() / TARGET, WITHIN)))
    settings.write_text(
        f"[run]\ninclude = {mutable}\nparallel = true\ndata_file = {beside}/coverage\n"
        "sigterm = true\ndisable_warnings = no-data-collected\n"
        "context = ${PYTEST_CURRENT_TEST-}\n"  # in a process that a test starts
    )
    current = coverage.Coverage(config_file=str(settings))
    os.environ["COVERAGE_PROCESS_START"] = str(settings)
    current.start()


@dataclass(frozen=True)
class Baseline:
    """What the tests do where nothing is changed."""

    took: Mapping[str, float]  # by test, in seconds
    data: coverage.CoverageData
    folder: Path  # of the sandbox in which it was measured

    def tests_of(self, mutant: Mutant) -> tuple[dict[str, float], dict[str, float]]:
        """The tests that may see it, quick ones first: those within `CHEAP`, and the others.

        All tests, where it is in what runs on import, or where no test runs it in its own process.
        """
        found: set[str] = set()
        if mutant.lines:
            by_line = self._by_line(str(self.folder / TARGET / mutant.file))
            found = {name for line in mutant.lines for name in by_line.get(line, ())}
        names = (found & self.took.keys()) or self.took.keys()
        order = sorted(names, key=lambda name: (self.took[name], name))
        cheap, dear, total = dict[str, float](), dict[str, float](), 0.0
        for name in order:
            total += self.took[name]
            (cheap if total < CHEAP else dear)[name] = self.took[name]
        return (cheap, dear) if cheap else (dear, cheap)

    @cache  # noqa: B019 - there is one of it
    def _by_line(self, path: str) -> Mapping[int, Sequence[str]]:
        found = self.data.contexts_by_lineno(path)
        return {line: [name.removesuffix(" (call)") for name in found[line]] for line in found}

    def __hash__(self) -> int:
        return id(self)


def baseline(sandbox: Sandbox, name: str) -> Baseline:
    """Run all tests once, measured; what was measured before, where nothing has changed since."""
    beside = sandbox.folder.parent
    told, lines = beside / f"{name}.json", beside / f"{name}.coverage"
    if not (told.exists() and lines.exists()):
        code = ended(fork(sandbox, name, None, measured=True))[0]
        if code != 0:
            raise SystemExit(f"the tests fail where nothing is changed: see {beside / name}.log")
        whole = coverage.Coverage(data_file=str(lines))
        whole.combine([str(path) for path in beside.glob("coverage.*.*")])
        whole.save()
    data = coverage.CoverageData(str(lines))
    data.read()
    known = json.loads(told.read_text())
    for module in known["modules"]:
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    gc.freeze()  # a fork that looks for garbage need not touch, and so copy, all of this
    return Baseline(known["took"], data, sandbox.folder)


def ended(pid: int) -> tuple[int, int]:
    """Wait for it, and end what it left behind: its exit code (below 0: a signal), its pid."""
    pid, status = os.waitpid(pid, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status), pid
