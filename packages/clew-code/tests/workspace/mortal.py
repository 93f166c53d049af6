"""Processes that change files in a run and kill themselves at a given write of its record.

Each line of the input starts one: a JSON list of STORE, FOLDER, KILL_AT and WHEN ("before" or
"after" the write is committed; KILL_AT 0: never). They are forked from this process, so that only
it needs time to import. For each its exit status is printed, and what it said.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from clew import Agent, Limits, open_store, resume, run
from clew.testing import ScriptedModel, act, finish
from clew_code.workspace import workspace_tools
from tests.core.worker import Killing

RUN = "files"
PATCH = """\
*** Begin Patch
*** Update File: a.txt
@@
 two
+two and a half
*** Update File: old.txt
*** Move to: new.txt
@@
-old
+new
*** Add File: made.txt
+made
*** End Patch"""
MOVES = [
    act("edit_file", path="a.txt", old_text="one\n", new_text="one\none and a half\n"),
    act("write_file", path="b/c.txt", content="c\n"),
    act("apply_patch", patch=PATCH),
    act("edit_file", path="a.txt", old_text="three", new_text="three!"),
    act("git_commit", message="All of it", branch="work"),
    act("run_command", command="echo ran >> log.txt"),
]


def agent_of(folder: Path) -> Agent[str]:
    """The agent, whose model goes through all moves once."""
    return Agent(
        model=ScriptedModel([*MOVES, finish("Done.")]),
        tools=workspace_tools(folder),
        limits=Limits(steps=20, tool_calls=20),
    )


async def work(place: str, folder: str, kill_at: int, when: str) -> None:
    """Begin the run, or go on with it."""
    whole = open_store(place)
    store: Any = Killing(whole, kill_at, when)
    begun = RUN in await whole.ids(RUN)
    agent = agent_of(Path(folder))
    if begun:
        result = await resume(agent, RUN, store=store)
    else:
        result = await run(agent, "Change the files.", store=store, run_id=RUN)
    writes = kill_at - store._left  # noqa: SLF001 - how many it has counted
    print(json.dumps([result.status, writes]), flush=True)
    await whole.close()


def main() -> None:
    """Fork one process for each line."""
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            anyio.run(partial(work, *json.loads(line)))
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        print(f"status {os.waitstatus_to_exitcode(status)}", flush=True)


if __name__ == "__main__":
    main()
