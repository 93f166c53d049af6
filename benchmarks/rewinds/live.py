"""A real local model over tasks with a planted mistake: each outcome is kept when it is there."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.rewinds.arms import ARMS, Outcome, Task, settle
from clew import Rewinds
from clew.models.local import LocalSettings, local_model
from durability.progress import tell

FILE: Final = Path(__file__).with_name("outcomes.jsonl")
STEPS: Final = 6
TOKENS: Final = 120
CONTEXT: Final = 4_096
REWINDS: Final = Rewinds(rejected=1)
"""After one rejected answer: six steps hold no more than three tries."""


def read() -> list[Outcome]:
    """The outcomes on file; a line cut short by a kill is left out."""
    found: list[Outcome] = []
    for line in FILE.read_bytes().splitlines() if FILE.exists() else ():
        try:
            found.append(msgspec.json.decode(line, type=Outcome))
        except msgspec.DecodeError:
            continue
    return whole(found)


def whole(found: Sequence[Outcome]) -> list[Outcome]:
    """Those of tasks that were answered in all arms."""
    arms = {one.task: {other.arm for other in found if other.task == one.task} for one in found}
    return [one for one in found if arms[one.task] == {*ARMS}]


async def ask(gguf: Path, threads: int, tasks: Sequence[Task]) -> None:
    """Answer what is not answered yet, each task in all arms before the next one."""
    take = LocalSettings(CONTEXT, 1, threads)
    model = local_model(str(gguf), take=take, params={"max_tokens": TOKENS, "temperature": 0})
    done = {one.task for one in read()}
    left = [task for task in tasks if task.name not in done]
    try:
        for number, task in enumerate(left):
            tell(f"{number} of {len(left)}: {task.name}")
            found = await settle(task, model, STEPS, REWINDS)
            with FILE.open("ab", buffering=0) as file:
                file.write(b"".join(msgspec.json.encode(one) + b"\n" for one in found))
            said = (f"{one.arm} {'right' if one.right else 'wrong'} {one.steps}" for one in found)
            tell(f"{', '.join(said)}\n")
    finally:
        await model.close()
