"""A folder to work in: read and edit files, and run programs in a sandbox.

A scripted demonstration: a script plays the model, and the tools are real. Needs `make install
WITH=code`. Prints:

    (a script plays the model)
    grep: 1 line matches in 1 of 1 file
    sums.py:1: def add(a, b):
    edit_file: sums.py: replaced at line 2; 1 → 1 lines each, the file has 2 now
    answered: add() adds now.
    the file:     return a + b
"""

import tempfile
from pathlib import Path

from clew import Agent, MemoryStore, run_sync, sync
from clew.testing import ScriptedModel, act, finish

try:
    from clew_code.workspace import workspace_tools
except ModuleNotFoundError as missing:
    raise SystemExit(f"{missing}: run make install WITH=code") from missing

EDIT = act("edit_file", path="sums.py", old_text="return a - b", new_text="return a + b")
MODEL = ScriptedModel([act("grep", pattern="def add"), EDIT, finish("add() adds now.")])


def main() -> None:
    print("(a script plays the model)")
    folder = Path(tempfile.mkdtemp())
    (folder / "sums.py").write_text("def add(a, b):\n    return a - b\n")
    agent = Agent(MODEL, tools=workspace_tools(folder))
    store = MemoryStore()
    result = run_sync(agent, "Mend the sum.", store=store)
    for call in sync.read(result.run_id, store=store).calls[:2]:
        print(f"{call.action.name}: {call.observation.text if call.observation else ''}")
    print(f"{result.status}: {result.answer}")
    print("the file:", (folder / "sums.py").read_text().splitlines()[1])


if __name__ == "__main__":
    main()
