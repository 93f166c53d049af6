"""QuixBugs' forty programs, each repaired by a scripted optimum through the tools of a workspace.

The optimum knows the correct program and plays what a good model would: it runs the tests, searches
and reads the program, edits the lines that differ, runs the tests again, commits on a branch. So
this shows what the tools can do, and nothing of what a model can.

CLEW_QUIXBUGS is a copy of https://github.com/jkoppel/QuixBugs (MIT; its data is not part of clew).
`python -m tests.workspace.quixbugs` prints what came of it.
"""

import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from clew import Agent, Limits, MemoryStore, read, run
from clew.testing import Move, ScriptedModel, act, finish
from clew_code.workspace import workspace_tools

ROOT = Path(os.environ.get("CLEW_QUIXBUGS", "quixbugs"))
PARTS = ("python_programs", "python_testcases", "json_testcases", "conftest.py")
TEST = "python -m pytest -q -x -p no:cacheprovider python_testcases/test_{name}.py"
SECONDS = 20
"""After which tests of a program that never ends are stopped."""


@dataclass
class Found:
    """What came of one program."""

    name: str
    red: bool = False
    green: bool = False
    steps: int = 0
    tools: Counter[str] = field(default_factory=Counter[str])
    said: list[str] = field(default_factory=list[str])


def names() -> list[str]:
    """The programs that have tests."""
    tests = sorted((ROOT / "python_testcases").glob("test_*.py"))
    return [path.stem.removeprefix("test_") for path in tests]


def moves(name: str, number: int) -> Iterator[Any]:
    """What a good model would do: it edits by one of the three tools in turn."""
    path = f"python_programs/{name}.py"
    before = (ROOT / path).read_text("utf-8")
    after = (ROOT / "correct_python_programs" / f"{name}.py").read_text("utf-8")
    test = act("run_command", command=TEST.format(name=name), seconds=SECONDS)
    yield test
    yield act("grep", pattern=rf"def {name}\b", glob="*.py")
    yield act("read_file", path=path)
    old, new = before.splitlines(), after.splitlines()
    if number % 3 == 0:
        yield from _edits(path, old, new)
    elif number % 3 == 1:
        yield act("apply_patch", patch=_v4a(path, old, new))
    else:
        diff = difflib.unified_diff(old, new, f"a/{path}", f"b/{path}", lineterm="")
        patch = "\n".join("@@ -1,1 +1,1 @@" if x.startswith("@@") else x for x in diff)
        yield act("apply_patch", patch=patch)
    yield test
    yield act("git_diff")
    yield act("git_commit", message=f"Mend {name}", branch=f"mend/{name}")


def _edits(path: str, old: list[str], new: list[str]) -> Iterator[Move]:
    """An edit for each place that differs, with lines around it until it is the only one."""
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    now = list(old)
    for tag, i, j, k, l in reversed(matcher.get_opcodes()):  # noqa: E741 - as difflib names them
        if tag == "equal":
            continue
        around = 1
        while True:
            a, b = max(0, i - around), min(len(now), j + around)
            text = "\n".join(now[a:b]) + "\n"
            if ("\n".join(now) + "\n").count(text) == 1:
                break
            around += 1
        mended = "\n".join([*now[a:i], *new[k:l], *now[j:b]]) + "\n"
        now[i:j] = new[k:l]
        yield act("edit_file", path=path, old_text=text, new_text=mended)


def _v4a(path: str, old: list[str], new: list[str]) -> str:
    """The difference as V4A, with three lines around each change."""
    diff = list(difflib.unified_diff(old, new, lineterm="", n=3))[2:]
    body = ["@@" if line.startswith("@@") else line for line in diff]
    return "\n".join(["*** Begin Patch", f"*** Update File: {path}", *body, "*** End Patch"])


async def mended(name: str, number: int) -> Found:
    """Let the optimum mend one program, in a repository of its own."""
    found = Found(name)
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "root"
        root.mkdir()
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, root / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, root / part)
        _git(root, "init", "--quiet", "--initial-branch=main")
        _git(root, "add", ".")
        _git(root, "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "-m", "First")
        script = list(moves(name, number))
        agent = Agent(
            model=ScriptedModel([*script, finish("Mended.")]),
            tools=workspace_tools(root),
            limits=Limits(steps=len(script) + 2, tool_calls=len(script) + 2),
        )
        store = MemoryStore()
        result = await run(agent, f"Mend {name}.", store=store)
        record = await read(result.run_id, store=store)
        calls = [call for call in record.calls if call.observation is not None]
        found.steps = len(record.steps)
        found.tools = Counter(call.action.name for call in calls if call.action.name != "finish")
        runs = [call.observation for call in calls if call.action.name == "run_command"]
        found.red = not (runs[0] and runs[0].ok and "exit code 0" in runs[0].text)
        found.green = bool(runs[-1] and runs[-1].ok and runs[-1].text.startswith("exit code 0"))
        others = [call.observation for call in calls if call.action.name != "run_command"]
        found.said = [seen.text for seen in others if seen and not seen.ok]
        subject = _git(root, "log", "-1", "--format=%s", f"mend/{name}").strip()
        if subject != f"Mend {name}" or result.status != "answered":
            found.said.append(f"{result.status}; the last commit is {subject!r}")
    return found


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


async def main() -> None:
    """Print what came of all."""
    tools: Counter[str] = Counter()
    red = green = 0
    for number, name in enumerate(names()):
        found = await mended(name, number)
        red, green, tools = red + found.red, green + found.green, tools + found.tools
        if not found.green or not found.red or found.said:
            print(found, file=sys.stderr)
    print(f"{len(names())} programs: tests red before {red}, green after {green}")
    print("calls:", ", ".join(f"{number} {name}" for name, number in tools.most_common()))


if __name__ == "__main__":
    anyio.run(main)
