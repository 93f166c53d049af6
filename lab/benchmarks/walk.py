"""How far one has to walk to follow a step: the functions and files that one question enters.

    python -m benchmarks.walk [--json] [--list]

Counted are calls of Python functions of clew, in all threads, in a process that has imported all
it needs: from the question to the first prompt, from a reply to its observation on record, and from
there to the next prompt. Walked are one `clew ask`, and the `run_sync` of README's first program,
which asks a scripted model. `--list` names the files.
"""

import contextlib
import io
import json
import re
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import clew
from clew.cli import main
from clew.cli.errors import Shell

SOURCE = str(Path(clew.__file__).parent)
ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "examples" / "library"
QUESTION = "How old was Mary Shelley when Frankenstein was published?"
STRETCHES = (
    "the question to the first prompt",
    "a reply to its observation on record",
    "an observation to the next prompt",
)


class Walk:
    """Counts calls while a stretch is under way; a prompt begins where a model is asked."""

    def __init__(self) -> None:
        self.calls = [defaultdict[CodeType, int](int) for _ in STRETCHES]
        self.stretch: int | None = 0
        self.begun = False

    def look(self, frame: FrameType, event: str, value: Any) -> None:
        """A profile function (`sys.setprofile`); `value` is what a function returns."""
        code = frame.f_code
        if (
            not self.begun
            or event not in {"call", "return"}
            or not code.co_filename.startswith(SOURCE)
        ):
            return
        name, relative = code.co_name, code.co_filename[len(SOURCE) + 1 :]
        if relative.startswith("models") and name == "complete":
            if event == "call" and self.stretch != 1:
                self.stretch = None
            elif type(value).__name__ == "Reply" and not self.calls[1]:
                self.stretch = 1
        elif event == "call" and self.stretch is not None and name[0] != "<":
            self.calls[self.stretch][code] += 1
        elif event == "return" and name == "add" and relative.endswith("trajectory.py"):
            added = type(frame.f_locals["entry"].event).__name__
            if self.stretch == 1 and added == "Observation":
                self.stretch = 2

    def rows(self) -> list[dict[str, Any]]:
        """A row for each stretch."""
        return [
            {
                "from": stretch,
                "calls": sum(calls.values()),
                "functions": len(calls),
                "files": sorted({code.co_filename[len(SOURCE) + 1 :] for code in calls}),
            }
            for stretch, calls in zip(STRETCHES, self.calls, strict=True)
        ]


def ask(folder: str) -> Callable[[], None]:
    """One question over the sample documents."""
    arguments = ["ask", QUESTION, "--docs", str(LIBRARY), "--model", "offline", "--quiet"]
    words = [*arguments, "--store", f"{folder}/runs.sqlite"]

    def question() -> None:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            main.make_context("clew", words, obj=Shell()) as it,
        ):
            main.invoke(it)  # `main()` would end the process

    return question


def program(folder: str) -> Callable[[], None]:
    """The first program of README from its `run_sync` on, once its agent is made."""
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert block is not None, "README has a program"
    making, running = re.split(r"^(?=result = run_sync)", block[1], flags=re.MULTILINE)
    names: dict[str, Any] = {"__name__": "readme"}
    exec(making, names)

    def question() -> None:
        with contextlib.chdir(folder):  # its store is a file of the folder it runs in
            exec(running, names)

    return question


WALKS: Final[Mapping[str, Callable[[str], Callable[[], None]]]] = {
    "clew ask": ask,
    "run_sync": program,
}
"""What makes a question ready in a folder, by what asks it."""


def walked(ready: Callable[[str], Callable[[], None]]) -> list[dict[str, Any]]:
    """The rows of a second question: the first one imports what is needed, and starts threads."""
    walk = Walk()
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        threading.setprofile(walk.look)
        try:
            ready(first)()
            question = ready(second)
            walk.begun = True
            sys.setprofile(walk.look)
            question()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return walk.rows()


if __name__ == "__main__":
    walks = {name: walked(ready) for name, ready in WALKS.items()}
    if "--json" in sys.argv:
        print(json.dumps(walks, indent=1))
    else:
        for name, rows in walks.items():
            for row in rows:
                print(
                    f"{name}, from {row['from']}: {row['calls']} calls of {row['functions']} "
                    f"functions in {len(row['files'])} files"
                )
                if "--list" in sys.argv:
                    print(*(f"  {file}" for file in row["files"]), sep="\n")
