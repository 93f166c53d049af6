"""Change the closed core and the rooms of parts in many small ways, and see what no test notices.

    $ python -m mutation                      # 300 mutants: `make mutants`
    $ python -m mutation --sample 100 --seed 7

What was found stands in build/mutants/; after Ctrl-C the same command goes on where it stopped. A
mutant that was killed stays so until the rooms change; one that survived is tried again when tests
have changed, unless it stands in explained.toml: nobody outside could see it, for the reason there.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from mutation import report
from mutation.mutants import Mutant, by_turns, python_files
from mutation.report import ALIVE, Key
from mutation.trial import (
    FURTHER,
    ROOMS,
    ROOT,
    TARGET,
    Baseline,
    Sandbox,
    baseline,
    digest,
    ended,
    files,
    fork,
)

BUILD: Final = ROOT / "build" / "mutants"
EXPLAINED: Final = Path(__file__).parent / "explained.toml"
AIM: Final = 0.9
CONTROLS: Final = 4

Outcome = dict[str, Any]

WORDS: Final = {
    "killed": "a test failed",
    "unfit": "the tests could not begin",
    "timed out": "a test hung and was ended",
    "unseen": "no quick test noticed, others were not run yet",
    "survived": "no test noticed",
}


def main() -> None:
    """Draw, try, tell."""
    chosen = options()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # in the background of a shell too
    BUILD.mkdir(parents=True, exist_ok=True)
    mutable = [path.relative_to(ROOT) for path in python_files(ROOT / TARGET, chosen.rooms)]
    name = f"{digest(mutable)}-{chosen.seed}"
    text = digest([path for path in files() if path.suffix == ".py"])
    mutants = list(by_turns(ROOT / TARGET, chosen.seed, chosen.sample, chosen.rooms))
    reasons = explained()
    results = Results(BUILD / f"{name}.jsonl", text, reasons)
    left = [mutant for mutant in mutants if results.leave(mutant, reasons)]
    what = f"seed {chosen.seed}, commit {commit()}"
    print(f"{len(mutants)} mutants of {', '.join(chosen.rooms)} ({what})", flush=True)
    if left:
        sandboxes = [Sandbox(BUILD / f"tree-{number}") for number in range(chosen.jobs)]
        for sandbox in sandboxes:
            sandbox.fill()
        print(f"{len(left)} to be tried; all tests once without any …", flush=True)
        usual = baseline(sandboxes[0])
        control(left, usual, sandboxes[0])
        try:
            try_all(left, usual, sandboxes, results)
        except KeyboardInterrupt:
            print("\nstopped: the same command goes on from here")
    if chosen.record:
        record(chosen, what, mutants, results.known, reasons)
    tell(mutants, results.known, reasons, listed=chosen.all)


def record(
    chosen: argparse.Namespace,
    what: str,
    mutants: Sequence[Mutant],
    known: Mapping[Key, Outcome],
    reasons: Mapping[Key, str],
) -> None:
    """Keep what came of them in lab/reports, and write the report again."""
    from reporting import outcomes, pages  # noqa: PLC0415 - they import clew, which forks must not

    tried = sum(mutant.key in known for mutant in mutants)
    head = f"{tried} of {len(mutants)} mutants were tried: {what}."
    text = report.written(mutants, known, reasons, head)
    command = f"python -m mutation --sample {chosen.sample} --seed {chosen.seed}"
    if chosen.rooms != [*ROOMS]:
        command += f" --rooms {','.join(chosen.rooms)}"
    command += f" --record {chosen.record}"
    outcomes.keep("mutants", chosen.record, outcomes.of_markdown(command, text))
    pages.write("mutants")


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m mutation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--sample", type=int, default=300, help="how many mutants")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once")
    parser.add_argument("--rooms", default=",".join(ROOMS), help="some of the rooms, with commas")
    parser.add_argument("--all", action="store_true", help="list the killed ones too")
    parser.add_argument(
        "--record", metavar="SECTION", help="keep the outcome as this section of the report"
    )
    chosen = parser.parse_args()
    chosen.rooms = chosen.rooms.split(",")
    known = (*ROOMS, *FURTHER)
    if strange := set(chosen.rooms) - {*known}:
        parser.error(f"no room {min(strange)!r}: there are {', '.join(known)}")
    return chosen


def commit() -> str:
    """What this is a figure of."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "packages")
    return git("rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")


@dataclass(frozen=True)
class Work:
    """A mutant that is being tried."""

    mutant: Mutant
    sandbox: Sandbox
    stack: contextlib.ExitStack  # closed, the sandbox is as it was
    began: float
    more: bool  # whether there are tests that it was not put to yet


class Results:
    """A line for each mutant that was tried; the last one counts."""

    def __init__(self, path: Path, text: str, reasons: Mapping[Key, str]) -> None:
        self.path = path
        self.other_texts = text  # what tests and code outside the core were then
        self.known: dict[Key, Outcome] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            with contextlib.suppress(ValueError):  # a line half written
                result = json.loads(line)
                key = tuple(result["key"])
                again = result["whole"] != text and key not in reasons
                if result["outcome"] not in ALIVE or not again:
                    self.known[key] = result

    def leave(self, mutant: Mutant, reasons: Mapping[Key, str]) -> bool:
        """Whether there is anything left to be tried."""
        result = self.known.get(mutant.key)
        return result is None or (result["outcome"] == "unseen" and mutant.key not in reasons)

    def add(self, mutant: Mutant, outcome: str, by: str, seconds: float) -> None:
        """Write one down."""
        result: Outcome = {
            "key": mutant.key,
            "outcome": outcome,
            "by": by,
            "whole": self.other_texts,
        }
        result |= {"kind": mutant.kind, "seconds": round(seconds, 1)}
        self.known[mutant.key] = result
        with self.path.open("a") as file:
            file.write(json.dumps(result) + "\n")


def try_all(
    mutants: Iterable[Mutant], usual: Baseline, sandboxes: Sequence[Sandbox], results: Results
) -> None:
    """Put each to its tests, as many at once as there are sandboxes; to dear tests at the end."""
    waiting = deque(mutants)
    free, count = list(sandboxes), Counter[str]()
    at_work: dict[int, Work] = {}
    try:
        while waiting or at_work:
            while waiting and free:
                mutant, sandbox, stack = waiting.popleft(), free.pop(), contextlib.ExitStack()
                cheap, dear = usual.tests_of(mutant)
                further = mutant.key in results.known
                tests, dear = (dear, {}) if further else (cheap, dear)
                stack.enter_context(sandbox.holding(mutant))
                pid = fork(sandbox, sandbox.folder.name, tests, measured=False)
                at_work[pid] = Work(mutant, sandbox, stack, time.monotonic(), more=bool(dear))
            # Left unreaped until it is known which: `ended` takes its children along.
            status = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
            if status is None or status.si_pid not in at_work:
                continue
            code, pid = ended(status.si_pid)
            work = at_work.pop(pid)
            work.stack.close()
            free.append(work.sandbox)
            outcome, by = judged(code, work.sandbox)
            if outcome == "survived" and work.more:
                outcome = "unseen"
                waiting.append(work.mutant)
            results.add(work.mutant, outcome, by, time.monotonic() - work.began)
            count[outcome] += 1
            print(f"{len(waiting) + len(at_work)} left:", end=" ")
            print(*(f"{word} {number}" for word, number in sorted(count.items())), flush=True)
    finally:
        for pid, work in at_work.items():
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            work.stack.close()


def control(mutants: Sequence[Mutant], usual: Baseline, sandbox: Sandbox) -> None:
    """Put what is not changed to the tests of some: if any fails here, no failure would tell."""
    for mutant in mutants[:: max(1, len(mutants) // CONTROLS)]:
        tests, _ = usual.tests_of(mutant)
        code, _ = ended(fork(sandbox, sandbox.folder.name, tests, measured=False))
        outcome, by = judged(code, sandbox)
        if outcome != "survived":
            raise SystemExit(f"{outcome} where nothing is changed: {by}, see {sandbox.folder}.log")


def judged(code: int, sandbox: Sandbox) -> tuple[str, str]:
    """What came of one, and which test says so."""
    if code == -signal.SIGALRM:
        return "timed out", ""
    if code < 0:
        return "killed", f"signal {-code}"
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise SystemExit(f"no test was collected: see {sandbox.folder}.log")
    if code == 0:
        return "survived", ""
    told = sandbox.folder.with_suffix(".json")
    by = next(iter(json.loads(told.read_text())["failed"]), "") if told.exists() else ""
    return ("killed" if code == 1 and by else "unfit"), by


def tell(
    mutants: Sequence[Mutant],
    known: Mapping[Key, Outcome],
    reasons: Mapping[Key, str],
    *,
    listed: bool,
) -> None:
    """Print the figures, and what survived; exit with 1 below the aim."""
    tried = [mutant for mutant in mutants if mutant.key in known]
    by_outcome: dict[str, list[Mutant]] = {word: [] for word in WORDS}
    for mutant in tried:
        by_outcome[known[mutant.key]["outcome"]].append(mutant)
    survivors = [mutant for word in ALIVE for mutant in by_outcome[word]]
    open_ones = [mutant for mutant in survivors if mutant.key not in reasons]
    if listed:
        for mutant in tried:
            if (result := known[mutant.key])["outcome"] not in ALIVE:
                show(mutant, f"{result['outcome']} {result['by']}")
    for mutant in survivors:
        if mutant.key in reasons:
            show(mutant, f"explained: {reasons[mutant.key]}")
    for mutant in open_ones:
        show(mutant, "SURVIVED")
    print()
    for word, results in by_outcome.items():
        print(f"{word:10} {len(results):5}  {WORDS[word]}")
    print(f"{'explained':10} {len(survivors) - len(open_ones):5}  of those that survived")
    if len(tried) < len(mutants):
        print(f"{'not tried':10} {len(mutants) - len(tried):5}")
    if not tried:
        return
    dead = len(tried) - len(survivors)
    rest = dead + len(open_ones)
    print(f"\nkilled of all: {dead}/{len(tried)} = {dead / len(tried):.1%}")
    print(f"killed of those that are not explained: {dead}/{rest} = {dead / rest:.1%}")
    by_kind = Counter(mutant.kind for mutant in open_ones)
    print(
        "survivors by kind:", ", ".join(f"{kind} {n}" for kind, n in by_kind.most_common()) or "-"
    )
    if dead / rest < AIM:
        sys.exit(1)


def show(mutant: Mutant, head: str) -> None:
    """One mutant, as a small diff."""
    line = f":{mutant.lines[0]}" if mutant.lines else ""
    print(f"\n{mutant.file}{line} {mutant.function} ({mutant.kind}) {head}")
    for sign, text in (("-", mutant.was), ("+", mutant.now)):
        for row in text.splitlines():
            print(f"  {sign} {row}")


def explained() -> dict[Key, str]:
    """The survivors that nobody could see, and why; say which no longer stand in the code."""
    reasons: dict[Key, str] = {}
    for entry in tomllib.loads(EXPLAINED.read_text("utf-8")).get("mutant", ()):
        key = entry["file"], entry["function"], entry["was"].strip(), entry["now"].strip()
        reasons[key] = entry["why"]
        path = ROOT / TARGET / entry["file"]
        there = (
            {line.strip() for line in path.read_text("utf-8").splitlines()} if path.exists() else ()
        )
        if not all(line in there for line in key[2].splitlines()):
            print(f"explained.toml: {key[0]} has no line {key[2]!r} any more")
    return reasons


if __name__ == "__main__":
    main()
