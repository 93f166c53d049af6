"""How far one has to walk to follow a step: the functions and files that one `clew ask` enters.

    python -m benchmarks.walk [--json] [--list]

Counted are calls of Python functions of clew, in all threads, in a process that has imported all
it needs: from the question to the first prompt, from a reply to its observation on record, and from
there to the next prompt. `--list` names the files.
"""

import contextlib
import io
import json
import sys
import tempfile
import threading
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import clew
from clew.cli import main
from clew.cli.errors import Shell

SOURCE = str(Path(clew.__file__).parent)
LIBRARY = Path(__file__).parents[2] / "examples" / "library"
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

    def look(self, frame: FrameType, event: str, value: Any) -> None:
        """A profile function (`sys.setprofile`); `value` is what a function returns."""
        code = frame.f_code
        if event not in {"call", "return"} or not code.co_filename.startswith(SOURCE):
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


def ask(folder: str) -> None:
    """One question over the sample documents."""
    arguments = ["ask", QUESTION, "--docs", str(LIBRARY), "--model", "offline", "--quiet"]
    words = [*arguments, "--store", f"{folder}/runs.sqlite"]
    with (
        contextlib.redirect_stdout(io.StringIO()),
        main.make_context("clew", words, obj=Shell()) as it,
    ):
        main.invoke(it)  # `main()` would end the process


def walked() -> list[dict[str, Any]]:
    """The rows of a second question: the first one imports what is needed."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        ask(first)
        walk = Walk()
        threading.setprofile(walk.look)
        sys.setprofile(walk.look)
        try:
            ask(second)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return walk.rows()


if __name__ == "__main__":
    rows = walked()
    if "--json" in sys.argv:
        print(json.dumps(rows, indent=1))
    else:
        for row in rows:
            print(
                f"from {row['from']}: {row['calls']} calls of {row['functions']} functions "
                f"in {len(row['files'])} files"
            )
            if "--list" in sys.argv:
                print(*(f"  {name}" for name in row["files"]), sep="\n")
