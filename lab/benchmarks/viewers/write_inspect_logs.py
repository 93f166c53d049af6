"""Write logs of Inspect: FOLDER long|many COUNT CHARS. Run by a Python that has `inspect-ai`."""

import sys
from pathlib import Path
from typing import Any

from inspect_ai.log import (  # type: ignore[import-not-found,unused-ignore] # not of our environment
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalSample,
    EvalSpec,
    write_eval_log,
)
from inspect_ai.model import (  # type: ignore[import-not-found,unused-ignore] # as above
    ChatMessageAssistant,
    ChatMessageUser,
)

CREATED = "2026-01-01T00:00:00+00:00"
STEM = "2026-01-01T00-00-00+00-00"


def write(folder: Path, name: str, number: int, messages: list[Any]) -> None:
    """Write a log of one sample with these messages."""
    spec = EvalSpec(
        created=CREATED, task=name, task_id=f"id{number}", run_id=f"run{number}",
        eval_id=f"eval{number}", dataset=EvalDataset(name="d", samples=1, sample_ids=["one"]),
        model="mockllm/model", config=EvalConfig(),
    )  # fmt: skip
    sample = EvalSample(id="one", epoch=1, input="Question?", target="t", messages=messages)
    log = EvalLog(status="success", eval=spec, samples=[sample])
    suffix = name if name == "long" else f"id{number}"
    write_eval_log(log, str(folder / f"{STEM}_{name}_{suffix}.eval"))


def main(folder: Path, kind: str, count: int, chars: int) -> None:
    """Write one long log, or many short ones."""
    folder.mkdir()
    answer = ChatMessageAssistant(content="t" * chars)
    if kind == "long":
        first = ChatMessageUser(content="The first words?")
        write(folder, "long", 0, [first, *(answer.model_copy() for _ in range(count - 1))])
        return
    for number in range(count):
        asked = ChatMessageUser(content=f"Question {number}?")
        write(folder, f"question-{number:04}", number, [asked, answer])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
