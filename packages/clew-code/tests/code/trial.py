"""One program in a run of clew, in a process that is watched from outside.

Reads the job from standard input, and prints what came of it in one line of JSON.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio

from clew import Agent, MemoryStore, read, run, tool
from clew.testing.models import ScriptedModel, act, say
from clew_code.programs import code_tool
from clew_code.programs.monty import Monty
from clew_code.programs.process import SandboxedPython


@tool(effect="read")
def read_note(name: str) -> str:
    """Read a note."""
    return f"the note {name[:20]}"


def peak() -> int:
    """The most memory that this process had so far, in bytes."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


async def main() -> None:
    """Run the program, as a model would."""
    job: dict[str, Any] = json.load(sys.stdin)
    executor = Monty() if job["door"] == "monty" else SandboxedPython(files=job["files"])
    script = [act("run_code", code=job["program"]), say("done")]
    agent = Agent(model=ScriptedModel(script), tools=[code_tool(executor), read_note])
    store = MemoryStore()
    before = peak()
    result = await run(agent, "Run it.", store=store)
    record = await read(result.run_id, store=store)
    call = record.steps[0].calls[0]
    said = {
        "stop": result.status,
        "seen": call.observation.text if call.observation else "",
        "calls": len(call.asked),
        "grown": peak() - before,
        "record": sum(len(line.body) for line in await store.read(result.run_id)),
    }
    os.write(1, f"{json.dumps(said)}\n".encode())


if __name__ == "__main__":
    anyio.run(main)
