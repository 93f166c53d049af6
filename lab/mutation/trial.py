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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import coverage
import pytest

from mutation.mutants import Mutant

ROOT: Final = Path(__file__).parents[2]
TARGET: Final = Path("packages/clew/src/clew")
ROOMS: Final = ("core", "guards", "context", "codecs")
"""What is mutated, the same number of mutants in each."""

FURTHER: Final = ("agent",)
"""Rooms that are mutated where they are asked for: what makes an engine of an agent."""

HOUSE: Final = Path("packages/clew/tests")
TOGETHER: Final = Path("lab/tests/together")
"""What features do beside those of other packages: put to a mutant last, and told apart."""

BESIDE: Final = ("agent_files", "tools")
"""Folders of tests that are put to mutants beside those of the rooms, as far as `make check` runs
them: of their quick tables a few cases. Of the rooms' own tests all quick ones are."""

TO_START: Final = 120.0  # seconds for imports and the collection of tests
MINIMUM: Final = 20.0  # seconds for any test, and so many times what it took unchanged:
SLOWER: Final = 20
CHEAP: Final = 8.0  # seconds of tests for a mutant, before all others have had theirs
DEAR: Final = 60.0  # seconds of tests that it is put to after that
MEMORY: Final = 4 << 30  # bytes, for a mutant that asks for ever more


def files() -> list[Path]:
    """What a sandbox needs of the repository: tracked, or new and not ignored."""
    words = ["git", "ls-files", "-zco", "--exclude-standard", ".", ":!lab/*/outcomes/*"]
    listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [
        Path(name) for name in sorted(set(listed.split("\0")) - {""}) if (ROOT / name).is_file()
    ]


def folders_of_tests() -> list[Path]:
    """Where the tests are that are put to mutants."""
    return [*(HOUSE / name for name in (*ROOMS, *BESIDE)), TOGETHER]


def import_paths(folder: Path) -> list[str]:
    """Where a tree keeps what its tests import: all packages, and their parts of `tests`."""
    houses = sorted((folder / "packages").iterdir())
    return [*(f"{house}/src" for house in houses), *map(str, houses), f"{folder}/lab"]


def digest(paths: Sequence[Path], root: Path = ROOT) -> str:
    """What stands in these files, as a short name."""
    digests = hashlib.sha256()
    for path in paths:
        digests.update(path.as_posix().encode() + b"\0" + (root / path).read_bytes() + b"\0")
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
        words = [sys.executable, "-m", "compileall", "-q", "packages", str(TOGETHER)]
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
        self.failed: list[str] = []

    @pytest.hookimpl(trylast=True)  # fixtures of a module have set an order too
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep what is chosen, and of a test for both event loops the one on asyncio."""
        items[:] = [item for item in items if not on_trio(item) and not left_out(item)]
        if self.order is not None:
            rank = {name: index for index, name in enumerate(self.order)}
            items[:] = sorted((i for i in items if i.nodeid in rank), key=lambda i: rank[i.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Let no test hang, and say whose lines these are."""
        usual = (self.order or {}).get(item.nodeid, MINIMUM)
        signal.setitimer(signal.ITIMER_REAL, max(MINIMUM, SLOWER * usual))
        if current := coverage.Coverage.current():
            current.switch_context(item.nodeid)
        with contextlib.suppress(StopIteration):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long each took, and which failed."""
        self.took[report.nodeid] = self.took.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self.failed.append(report.nodeid)


def on_trio(item: pytest.Item) -> bool:
    """Whether it is the second of two."""
    called = getattr(item, "callspec", None)
    return called is not None and called.params.get("anyio_backend") == "trio"


def left_out(item: pytest.Item) -> bool:
    """Whether it is a case that `make check` does not run, of a table of none of the rooms."""
    own = any(item.nodeid.startswith(f"{HOUSE / room}/") for room in ROOMS)
    return not own and item.get_closest_marker("rest") is not None


Order = Mapping[str, float] | Sequence[str]
"""Tests in this order, each with what it takes unchanged; or all tests of these files."""


def fork(sandbox: Sandbox, name: str, order: Order, *, measured: bool) -> int:
    """Start the tests: the pid of a process that will leave `{name}.json` beside the sandbox."""
    if "clew" in sys.modules:
        raise RuntimeError("clew is imported: the tests would not see the mutant")
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


def run(sandbox: Sandbox, name: str, order: Order, *, measured: bool) -> int:
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
    paths = import_paths(folder)
    os.environ |= {"CI": "1", "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    os.environ["GIT_CEILING_DIRECTORIES"] = str(beside)  # a test may want to be in no repository
    sys.dont_write_bytecode = True
    ours = (str(ROOT / "packages"), str(ROOT / "lab"))
    sys.path[:] = [*paths, *(p for p in sys.path if p != str(ROOT) and not p.startswith(ours))]
    if measured:
        measure(beside)
    chosen = Chosen(order if isinstance(order, Mapping) else None)
    where = sorted({name.split("::")[0] for name in order})
    words = [
        *("-q", "-m", "not slow", "--assert=plain", *(() if measured else ("-x",))),
        *("-p", "no:cacheprovider", "-p", "no:cov", "-p", "no:xdist"),
    ]
    code = pytest.main([*words, f"--basetemp={beside}/{name}.tmp", *where], plugins=[chosen])
    signal.setitimer(signal.ITIMER_REAL, 0)
    if current := coverage.Coverage.current():
        current.stop()
        current.save()
    told: dict[str, Any] = {"took": chosen.took, "failed": chosen.failed}
    if measured:
        told["modules"] = [name for name in sys.modules if foreign(name, folder)]
    (beside / f"{name}.json").write_text(json.dumps(told))
    return int(code)


def foreign(module: str, folder: Path) -> bool:
    """Whether a module is nothing of ours, so that it may be imported before the fork."""
    file = getattr(sys.modules[module], "__file__", None)
    return bool(file) and not file.startswith(str(folder)) and not module.startswith("__")


def measure(beside: Path) -> None:
    """Note which test runs which line, in this process and in those that it starts."""
    settings = beside / "coverage.ini"
    mutable = ",".join(f"{Path.cwd() / TARGET / room}/*" for room in (*ROOMS, *FURTHER))
    settings.write_text(
        f"[run]\ninclude = {mutable}\nparallel = true\ndata_file = {beside}/coverage\n"
        "sigterm = true\ndisable_warnings = no-data-collected\n"
        "context = ${PYTEST_CURRENT_TEST-}\n"  # in a process that a test starts
    )
    current = coverage.Coverage(config_file=str(settings))
    os.environ["COVERAGE_PROCESS_START"] = str(settings)
    current.start()


def by_file(tests: Mapping[str, float]) -> dict[str, float]:
    """The tests of a file together, as fixtures of a module expect it; the files as they come."""
    files: dict[str, list[str]] = {}
    for name in tests:
        files.setdefault(name.partition("::")[0], []).append(name)
    return {name: tests[name] for names in files.values() for name in names}


@dataclass(frozen=True)
class Baseline:
    """What the tests do where nothing is changed."""

    took: Mapping[str, float]  # by test, in seconds
    data: coverage.CoverageData
    folder: Path  # of the sandbox in which it was measured

    def tests_of(self, mutant: Mutant) -> tuple[dict[str, float], dict[str, float]]:
        """The tests that may see it, in two portions: those with its class in their name first,
        then those of its room, quick ones first, and of each table one case before the next.

        Where it is in what runs on import, or in what no test runs in its own process: those that
        run anything of its file, and all of its room.
        """
        by_line = self._by_line(str(self.folder / TARGET / mutant.file))
        room = str(HOUSE / mutant.file.partition("/")[0]) + "/"
        tests = {name for line in mutant.lines for name in by_line.get(line, ())} & self.took.keys()
        if not tests:
            tests = {name for names in by_line.values() for name in names} & self.took.keys()
            tests |= {name for name in self.took if name.startswith(room)}
        named = f"[{mutant.function.partition('.')[0]}]"
        seen = Counter[str]()
        turns: dict[str, tuple[bool, int, int]] = {}
        for name in sorted(tests or self.took, key=lambda name: (self.took[name], name)):
            far = 0 if name.startswith(room) else 2 if name.startswith(str(TOGETHER)) else 1
            turns[name] = not name.endswith(named), far, seen[function := name.partition("[")[0]]
            seen[function] += 1
        cheap, dear, total = dict[str, float](), dict[str, float](), 0.0
        for name in sorted(turns, key=lambda name: (*turns[name], self.took[name])):
            total += self.took[name]
            if total < CHEAP:
                cheap[name] = self.took[name]
            elif total < CHEAP + DEAR:
                dear[name] = self.took[name]
        cheap, dear = by_file(cheap), by_file(dear)
        return (cheap, dear) if cheap else (dear, cheap)

    @cache  # noqa: B019 - there is one of it
    def _by_line(self, path: str) -> Mapping[int, Sequence[str]]:
        results = self.data.contexts_by_lineno(path)
        return {line: [name.removesuffix(" (call)") for name in results[line]] for line in results}

    def __hash__(self) -> int:
        return id(self)


def baseline(sandbox: Sandbox) -> Baseline:
    """What tests do unchanged. Those are run whose file has changed since; all, if anything else.

    A test that fails unchanged is told, and put to no mutant.
    """
    beside = sandbox.folder.parent
    stored, lines = beside / "baseline.json", beside / "baseline.coverage"
    there = sorted(path.relative_to(sandbox.folder) for path in sandbox.folder.rglob("*.py"))
    tests = {str(path): digest([path], sandbox.folder) for path in there if is_test(path)}
    source = digest([path for path in there if is_source(path)], sandbox.folder)
    known: dict[str, Any] = json.loads(stored.read_text()) if stored.exists() else {}
    if known.get("source") != source:
        lines.unlink(missing_ok=True)
        known = {"source": source, "tests": {}, "took": {}, "modules": []}
    kept = {name for name, text in tests.items() if known["tests"].get(name) == text}
    took = {name: t for name, t in known["took"].items() if name.partition("::")[0] in kept}
    if changed := sorted(tests.keys() - kept):
        told = measured_run(sandbox, changed, lines)
        took |= {name: t for name, t in told["took"].items() if name not in told["failed"]}
        # In the order in which they were imported: `_asyncio` ahead of asyncio is another one.
        modules = [*dict.fromkeys([*known["modules"], *told["modules"]])]
        known = {"source": source, "tests": tests, "took": took, "modules": modules}
        stored.write_text(json.dumps(known))
    data = coverage.CoverageData(str(lines))
    data.read()
    for module in known["modules"]:
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    gc.freeze()  # a fork that looks for garbage need not touch, and so copy, all of this
    return Baseline(took, data, sandbox.folder)


def measured_run(sandbox: Sandbox, tests: Sequence[str], lines: Path) -> dict[str, Any]:
    """Run these files of tests, and add to the file of lines which of them runs which."""
    beside = sandbox.folder.parent
    for old in beside.glob("coverage.*.*"):
        old.unlink()
    code = ended(fork(sandbox, "measured", tests, measured=True))[0]
    told = beside / "measured.json"
    if not told.exists():
        raise SystemExit(f"the tests ended with {code}: see {beside}/measured.log")
    both = coverage.Coverage(data_file=str(lines))
    both.load()
    both.combine([str(path) for path in beside.glob("coverage.*.*")])
    both.save()
    results: dict[str, Any] = json.loads(told.read_text())
    for name in results["failed"]:
        print(f"fails where nothing is changed, and is left out: {name}", flush=True)
    return results


def is_test(path: Path) -> bool:
    """Whether mutants are put to this file."""
    return path.name.startswith("test_") and any(map(path.is_relative_to, folders_of_tests()))


def is_source(path: Path) -> bool:
    """Whether what any test does may hang on this file."""
    ours = path.is_relative_to(TARGET) or path.is_relative_to(HOUSE)
    return ours and path.suffix == ".py" and not path.name.startswith("test_")


def ended(pid: int) -> tuple[int, int]:
    """Wait for it, and end what it left behind: its exit code (below 0: a signal), its pid."""
    pid, status = os.waitpid(pid, 0)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status), pid
