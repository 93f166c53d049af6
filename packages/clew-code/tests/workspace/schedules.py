"""Random edits, patches, writes and deletions over one folder from two processes at once.

`python -m tests.workspace.schedules [COUNT] [SEED]` makes COUNT schedules and says how many
changes were lost although their call said that they were made, and how many files were torn. In a
schedule two processes get calls for the same three files at the same moment, several of them in one
reply. The record has the hash of each file before and after each change. Of each file, the changes
that were made must be one chain from what it was to what it is: a change that another one did not
see would begin a second branch.
"""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio

from clew import Agent, Limits, MemoryStore, read, run
from clew.testing import ScriptedModel, act, acts, finish
from clew_code.workspace import workspace_tools

NAMES: Final = ("a.txt", "b.txt", "sub/c.txt")
TOOLS: Final = ("edit_file", "write_file", "apply_patch", "read_file")
KINDS: Final = ("edit", "edit", "edit", "patch", "patch", "add", "write", "replace", "delete")
ABSENT: Final = "-"


@dataclass
class Tally:
    """What came of the schedules."""

    schedules: int = 0
    made: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    lost: int = 0
    torn: int = 0

    def __str__(self) -> str:
        return (
            f"{self.schedules:,} schedules: {self.made.total():,} changes made, "
            f"{self.refused.total():,} refused; {self.lost} lost, {self.torn} torn"
        )


def text_of(*lines: str) -> str:
    return "".join(f"{line}\n" for line in ("begin", *lines, "end"))


def call_of(kind: str, name: str, line: str) -> tuple[str, dict[str, Any]]:
    """The tool and the arguments of a change that adds a line of its own, or removes a file."""

    def patch(*lines: str) -> tuple[str, dict[str, Any]]:
        return "apply_patch", {"patch": "\n".join(["*** Begin Patch", *lines, "*** End Patch"])}

    match kind:
        case "edit":
            return "edit_file", {"path": name, "old_text": "end\n", "new_text": f"{line}\nend\n"}
        case "patch":
            return patch(f"*** Update File: {name}", " begin", f"+{line}")
        case "add":
            return patch(f"*** Add File: {name}", "+begin", f"+{line}", "+end")
        case "write":
            return "write_file", {"path": name, "content": text_of(line)}
        case "replace":
            return "write_file", {"path": name, "content": text_of(line), "overwrite": True}
        case _:
            return patch(f"*** Delete File: {name}")


def schedule(chance: random.Random, worker: int) -> list[list[tuple[str, str, dict[str, Any]]]]:
    """The replies of one worker: each is a list of calls, with their kinds."""
    replies: list[list[tuple[str, str, dict[str, Any]]]] = []
    for reply in range(chance.randint(1, 2)):
        if chance.random() < 0.5:
            replies.append([("read", "read_file", {"path": chance.choice(NAMES)})])
        calls: list[tuple[str, str, dict[str, Any]]] = []
        for at in range(chance.randint(1, 4)):
            kind = chance.choice(KINDS)
            calls.append((kind, *call_of(kind, chance.choice(NAMES), f"{worker}.{reply}.{at}")))
        replies.append(calls)
    return replies


async def perform(folder: str, replies: list[Any]) -> list[Any]:
    """Make the calls in one run; of each: kind, whether it was made, its changes, what was read."""
    moves = [acts(*(act(tool, **args) for _, tool, args in calls)) for calls in replies]
    agent = Agent(
        ScriptedModel([*moves, finish("Done.")]),
        workspace_tools(folder, only=TOOLS),
        limits=Limits(steps=20, tool_calls=60),
    )
    store = MemoryStore()
    result = await run(agent, "Change the files.", store=store)
    assert result.status == "answered", result.reason
    record = await read(result.run_id, store=store)
    kinds = [kind for calls in replies for kind, _, _ in calls]
    ended: list[Any] = []
    for kind, call in zip(kinds, record.calls, strict=False):
        seen = call.observation
        assert seen is not None
        changes = json.loads(call.attempts[-1].task or "[]") if call.attempts else []
        ended.append([kind, seen.ok, changes, seen.text if kind == "read" else ""])
    return ended


def work() -> None:
    """Make the calls of each line of standard input."""
    for line in sys.stdin:
        print(json.dumps(anyio.run(perform, *json.loads(line))), flush=True)


def is_whole(text: str) -> bool:
    lines = text.splitlines()
    return lines[:1] == ["begin"] and lines[-1:] == ["end"] and text.endswith("\n")


def is_chain(edges: list[tuple[str, str]], first: str, last: str) -> bool:
    """Whether the changes, each made once, lead from the first version to the last."""
    balance: Counter[str] = Counter()
    for before, after in edges:
        balance[before] += 1
        balance[after] -= 1
    balance[first] -= 1
    balance[last] += 1
    reached = {first}
    for _ in edges:
        reached |= {after for before, after in edges if before in reached}
    return not any(balance.values()) and all(before in reached for before, _ in edges)


def version(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:32] if file.exists() else ABSENT


def judge(folder: Path, first: dict[str, str], ended: list[Any], tally: Tally) -> None:
    """Hold what is in the folder against what the calls said."""
    edges: dict[str, list[tuple[str, str]]] = {name: [] for name in NAMES}
    for kind, made, changes, text in ended:
        if kind == "read":
            lines = [line.split("  ", 1)[-1].strip() for line in text.splitlines()[1:]]
            tally.torn += made and not is_whole("".join(f"{line}\n" for line in lines))
            continue
        (tally.made if made else tally.refused)[kind] += 1
        for name, before, after in changes if made else ():
            edges[name].append((before, after))
    for name in NAMES:
        file = folder / name
        tally.torn += file.exists() and not is_whole(file.read_text())
        tally.lost += not is_chain(edges[name], first[name], version(file))
    tally.torn += any(path.name.startswith(".clew-") for path in folder.rglob("*"))
    tally.schedules += 1


@contextmanager
def workers() -> Iterator[list[subprocess.Popen[str]]]:
    """Two processes that wait for schedules."""
    command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "work"]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # all parts of `tests`
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        for _ in range(2)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.communicate()  # no more lines come: it ends, and its pipes are closed


def run_schedules(count: int, seed: int) -> Tally:
    """Make so many schedules, drawn from a seed."""
    tally, chance = Tally(), random.Random(seed)
    with workers() as pair, tempfile.TemporaryDirectory() as top:
        for number in range(count):
            folder = Path(top) / str(number)
            (folder / "sub").mkdir(parents=True)
            for name in NAMES:
                if chance.random() < 0.8:
                    (folder / name).write_text(text_of(f"first {name}"))
            first = {name: version(folder / name) for name in NAMES}
            for at, process in enumerate(pair):
                assert process.stdin
                process.stdin.write(json.dumps([str(folder), schedule(chance, at)]) + "\n")
                process.stdin.flush()
            ended: list[Any] = []
            for process in pair:
                assert process.stdout
                ended += json.loads(process.stdout.readline())
            judge(folder, first, ended, tally)
            shutil.rmtree(folder)
            if (number + 1) % 500 == 0:
                print(tally, file=sys.stderr, flush=True)
    return tally


if __name__ == "__main__":
    if sys.argv[1:] == ["work"]:
        work()
    else:
        count, seed = (int(word) for word in (sys.argv[1:] + ["10000", "1"][len(sys.argv) - 1 :]))
        tally = run_schedules(count, seed)
        print(tally)
        sys.exit(bool(tally.lost or tally.torn))
