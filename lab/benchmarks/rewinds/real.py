"""A real local model over tasks with a planted mistake: each outcome is kept when it is there."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from benchmarks.rewinds.arms import ARMS, HELD, OFFERED, Arm, Outcome, settle
from benchmarks.rewinds.planted import planted
from clew import ConfigError, ModelSettings, Rewinds
from clew_local import LocalSettings, local_model
from durability.progress import tell

FILE: Final = Path(__file__).with_name("outcomes.jsonl")
MODEL: Final = "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M"
SHA256: Final = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
"""The model whose outcomes are on file."""

STEPS: Final = 6
TOKENS: Final = 120
CONTEXT: Final = 4_096
PARTS: Final = (HELD, OFFERED)
"""Arms that say which part of a rewind it is that helps."""

REWINDS: Final = Rewinds(rejected=1)
"""After one rejected answer: six steps hold no more than three tries."""


def on_file() -> list[Outcome]:
    """The outcomes on file; a line cut short by a kill is left out."""
    outcomes: list[Outcome] = []
    for line in FILE.read_bytes().splitlines() if FILE.exists() else ():
        try:
            outcomes.append(msgspec.json.decode(line, type=Outcome))
        except msgspec.DecodeError:
            continue
    return outcomes


def read() -> list[Outcome]:
    """The outcomes of tasks that were answered in all arms."""
    outcomes = on_file()
    arms = {
        one.task: {other.arm for other in outcomes if other.task == one.task} for one in outcomes
    }
    return [one for one in outcomes if arms[one.task] >= {*ARMS}]


async def ask(gguf: Path, threads: int, arms: Sequence[Arm]) -> None:
    """Answer what is not answered yet, each task in all of these arms before the next one."""
    take = LocalSettings(CONTEXT, 1, threads)
    model = local_model(
        str(gguf), take=take, settings=ModelSettings(max_tokens=TOKENS, temperature=0)
    )
    done = {one.task for one in on_file() if one.arm in arms}
    left = [task for task in planted() if task.name not in done]
    try:
        for number, task in enumerate(left):
            tell(f"{number} of {len(left)}: {task.name}")
            settled = await settle(task, model, STEPS, REWINDS, arms=arms)
            with FILE.open("ab", buffering=0) as file:
                file.write(b"".join(msgspec.json.encode(one) + b"\n" for one in settled))
            texts = (
                f"{one.arm} {'right' if one.right else 'wrong'} {one.steps}" for one in settled
            )
            tell(f"{', '.join(texts)}\n")
    finally:
        await model.close()


async def ask_all(gguf: Path, threads: int) -> None:
    """Answer in all arms. Raises `ConfigError` for another model than the one on file."""
    with gguf.open("rb") as file:
        here = hashlib.file_digest(file, "sha256").hexdigest()
    if here != SHA256:
        raise ConfigError(f"the outcomes on file are of another model: the hash of this is {here}")
    await ask(gguf, threads, ARMS)
    await ask(gguf, threads, PARTS)
