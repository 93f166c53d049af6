"""Every attempt to get out of an executor of programs, and what came of it.

`python -m tests.code.escapes` prints them as tables. Each program is
run as a model's would be, by the tool `run_code` with the limits that it has by default, in a
process that is watched: whether it was held is read off the world around it (files, listeners,
processes, memory), never off an error's text.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

import psutil

from tests.code.attempts import ATTEMPTS, KEY, Attempt
from tests.patience import PATIENCE
from tests.sandbox import attempts as sandbox
from tests.sandbox import one_process
from tests.sandbox.escapes import SECRET, World, world

Door = Literal["monty", "process"]

MOST_HOST: Final = 300_000_000
"""Bytes by which the process of clew may grow: a program may have a third of it, and a text of that
size comes out whole before it is cut."""

MOST_WORKER: Final = 400_000_000
"""Bytes that all that a program is executed by may have: a quarter of it are its own."""

MOST_SEEN: Final = 60_000
MOST_RECORD: Final = 2_000_000
"""Characters that a model is shown, and bytes of the record."""

EVERY: Final = 0.02
"""Seconds between two looks at processes."""


@dataclass
class Seen:
    """What came of a program: what clew says, and what could be seen from outside."""

    said: dict[str, Any] = field(default_factory=dict[str, Any])
    code: int | None = None
    stderr: str = ""
    memory: int = 0
    left: list[str] = field(default_factory=list[str])

    def broken(self) -> str:
        """Which limit did not hold, or ""."""
        if self.code is None:
            return "it did not end"
        if self.code:
            return f"clew's own process ended with code {self.code}: {self.stderr[-200:]}"
        if self.left:
            return f"it left processes behind: {', '.join(self.left)}"
        if self.memory > MOST_WORKER:
            return f"it had {self.memory:,} bytes of memory"
        sizes = {"grown": MOST_HOST, "record": MOST_RECORD}
        for name, most in sizes.items():
            if self.said[name] > most:
                return f"{name}: {self.said[name]:,} bytes"
        if len(self.said["seen"]) > MOST_SEEN:
            return f"the model was shown {len(self.said['seen']):,} characters"
        held = self.said["stop"] in {"answered", "bound"}  # a limit of the run ends it too
        return "" if held else f"the run is {self.said['stop']}"


class Watch(threading.Thread):
    """Looks at what a process started, again and again."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.root = psutil.Process(pid)
        self.known: dict[int, psutil.Process] = {}
        self.most = 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(EVERY):
            try:
                found = self.root.children(recursive=True)
            except psutil.Error:
                continue
            self.known |= {one.pid: one for one in found}
            self.most = max(self.most, sum(map(_memory, found)))

    def left(self) -> list[str]:
        """Processes that live on."""
        self.over.set()
        self.join()
        _, alive = psutil.wait_procs(self.known.values(), timeout=5)
        return [one.name() for one in alive]


def _memory(process: psutil.Process) -> int:
    """Memory that is its own."""
    try:
        found = process.memory_info()
        return max(0, found.rss - found.shared)
    except psutil.Error:
        return 0


def trial(door: Door, program: str, around: World) -> Seen:
    """Run a program in a process, and watch it."""
    job = {"door": door, "program": program, "files": str(around.root)}
    seen = Seen()
    with subprocess.Popen(
        [sys.executable, "-P", str(Path(__file__).with_name("trial.py"))],  # from any folder
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, KEY: SECRET},
    ) as process:  # fmt: skip
        watch = Watch(process.pid)
        watch.start()
        try:
            out, seen.stderr = process.communicate(json.dumps(job), timeout=PATIENCE)
            seen.code = process.returncode
            seen.said = json.loads(out) if not seen.code else {}
        except subprocess.TimeoutExpired:
            process.kill()
        seen.left, seen.memory = watch.left(), watch.most
    return seen


def program(attempt: Attempt, around: World) -> str:
    """The program of an attempt, which knows the world around it."""
    return f"world = {around.told!r}\n{attempt.code}"


def tried(door: Door, attempt: Attempt) -> tuple[bool, str]:
    """Whether an attempt was held, and what came of it, in a few words."""
    with world() as around:
        seen = trial(door, program(attempt, around), around)
        through = around.harmed() or seen.broken()
    shown = seen.said.get("seen", "")
    if SECRET in shown or "ESCAPED" in shown:
        through = "the model was shown the secret" if SECRET in shown else "it says so"
    return not through, through or _words(shown)


def at_the_sandbox() -> list[Attempt]:
    """The attempts to get out of the sandbox, and to be more than one process, as programs."""
    made: list[Attempt] = []
    head = sandbox.HEAD.replace("json.loads(sys.argv[1])", "world")
    kinds = {"sandbox": sandbox.ATTEMPTS, "single process": one_process.ATTEMPTS}
    for kind, each in kinds.items():
        for one in each:
            # an error shows its line, which is not to look like the secret
            code = one.code.replace(f"'{SECRET}'", f"'{SECRET[:4]}' + '{SECRET[4:]}'")
            made.append(Attempt(kind, one.name, head + code, plain=one.plain))
    return made


def all_of(door: Door) -> list[Attempt]:
    """What is tried at a door."""
    return ATTEMPTS if door == "monty" else [*ATTEMPTS, *at_the_sandbox()]


def _words(shown: str) -> str:
    """What the model is shown, in a few words: an error's last line, or the first of it."""
    lines = [line for line in shown.splitlines() if line.strip()] or ["nothing"]
    errors = [line for line in lines if "Error" in line or line.startswith("ERROR")]
    line = (errors or lines)[-1 if errors else 0].removeprefix("ERROR: ").replace("|", "¦")
    line = "".join(c if c.isprintable() else "·" for c in line)
    return line if len(line) <= 70 else f"{line[:68]} …"


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--door", choices=["monty", "process"], help="one of both only")
    options.add_argument("--only", default="", help="attempts with this in their names")
    args = options.parse_args()
    doors: list[Door] = [args.door] if args.door else ["monty", "process"]
    for door in doors:
        wanted = [one for one in all_of(door) if args.only in f"{one.kind} {one.name}"]
        held = Counter[str]()
        print(f"| kind | attempt | {door}: what came of it |\n|---|---|---|")
        for attempt in wanted:
            fine, words = tried(door, attempt)
            held[attempt.kind] += fine
            said = words if fine else f"**through**: {words}"
            print(f"| {attempt.kind} | {attempt.name} | {said} |", flush=True)
        print(f"\n{held.total()} of {len(wanted)} attempts were held.\n")


if __name__ == "__main__":
    main()
