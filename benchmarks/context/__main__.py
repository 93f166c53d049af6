"""`python -m benchmarks.context`: long runs in a small window, and what that costs.

The model is scripted, its window is enforced, and a token is four bytes: simulated, but for the
requests, which are clew's own, and for the seconds.
"""

import asyncio
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import clew
from benchmarks.context.long_runs import (
    FACT,
    Summariser,
    WindowModel,
    breaks,
    page,
    reading,
    tokens,
)
from clew import Agent, Compaction, Context, Limits, MemoryStore, Trajectory
from clew.context.compaction import Compacting
from clew.core.events import Compacted, Usage
from clew.testing.models import act, say
from durability.progress import tell

PAGE: Final = Path(__file__).parents[2] / "docs" / "context.md"
MARK: Final = "<!-- measured: python -m benchmarks.context -->\n"
WINDOW: Final = 16_000
LENGTHS: Final = (30, 100, 300, 1_000)
POLICIES: Final[dict[str, tuple[str, ...] | None]] = {
    "all of it": None,
    "`duplicates`, `mask`, `drop` (default)": ("duplicates", "mask", "drop"),
    "`duplicates`, `mask`, `summary`": ("duplicates", "mask", "summary"),
    "`extract`, `drop`": ("extract", "drop"),
    "`drop`": ("drop",),
}
WHERE: Final = "Where is the ledger of the harbour master?"
LIMITS: Final = Limits(steps=10**6, tool_calls=10**6, tokens=10**12, seconds=10**6)
PAIRS: Final = 15


@dataclass(frozen=True)
class Run:
    """What one run took."""

    steps: int
    largest: int
    total: int
    breaks: int
    found: bool
    compactions: Sequence[Compacted]
    record: Trajectory


def agent(model: WindowModel, by: tuple[str, ...] | None) -> Agent:
    """Reads pages, with a policy."""
    context = Context(compaction=None if by is None else Compaction(by))
    return Agent(model, [page], prompt="Read.", limits=LIMITS, context=context)


async def measured(steps: int, by: tuple[str, ...] | None) -> Run:
    """A run of so many steps that then looks for what stood in the third."""
    last = act("recall", query=WHERE) if by is not None else act("page", number=1)
    window = WINDOW if by is not None else 10**9
    model = Summariser(reading(steps, last, say("In the cupboard.")), window)
    store = MemoryStore()
    done = await clew.run(agent(model, by), WHERE, store=store, run_id="run")
    record = await clew.read(done.run_id, store=store)
    sizes = [tokens(sent) for sent in model.sent]
    seen = b"".join(model.sent[-1]).decode()
    compactions = [e.event for e in record.entries if isinstance(e.event, Compacted)]
    total = sum(sizes) + sum(one.usage.input for one in compactions)
    places = breaks(model.sent)
    return Run(steps, max(sizes), total, len(places), FACT in seen, compactions, record)


def compaction_ms(record: Trajectory) -> float:
    """CPU milliseconds of one compaction of the whole record, the least of five."""
    took: list[float] = []
    for _ in range(5):
        begun = time.process_time()
        compacting = Compacting(Compaction(), WINDOW, 200, None, 8_000)
        found = compacting.due(record, clew.Usage(10**6, 100))
        took.append(1_000 * (time.process_time() - begun))
        assert found is not None
    return min(took)


async def cpu(by: tuple[str, ...] | None) -> float:
    """CPU seconds of a run of 100 steps of which nothing has to be left out."""
    model = WindowModel(reading(100, say("ok")), 10**9)
    begun = time.process_time()
    await clew.run(agent(model, by), WHERE, store=MemoryStore())
    return time.process_time() - begun


def summaries(asked: Sequence[Usage]) -> str:
    """How much of the prompts that ask for a summary was sent before."""
    least = min(used.cached / used.input for used in asked)
    return (
        f"The {len(asked)} prompts that asked for a summary held at least {least:.1%} of tokens "
        "that had just been sent (aim: at least 90%)."
    )


async def main() -> None:
    """Measure, and write the page's last part."""
    lines = [
        "| steps | policy | largest prompt | all prompts | of all of it | breaks | fact found |",
        "|---|---|---|---|---|---|---|",
    ]
    whole: dict[int, int] = {}
    longest: Trajectory | None = None
    asked: list[Usage] = []
    for steps in LENGTHS:
        for name, by in POLICIES.items():
            tell(f"{steps} steps, {name}")
            run = await measured(steps, by)
            whole.setdefault(steps, run.total)
            share = run.total / whole[steps]
            lines.append(
                f"| {steps:,} | {name} | {run.largest:,} | {run.total:,} | {share:.3f} "
                f"| {run.breaks} | {'yes' if run.found else 'no'} |"
            )
            asked += [one.usage for one in run.compactions if one.usage.input]
            if steps == 300 and by is None:
                longest = run.record
    assert longest is not None
    with_it, without = [], []
    for _ in range(PAIRS):
        with_it.append(await cpu(("duplicates", "mask", "drop")))
        without.append(await cpu(None))
    ratio = min(with_it) / min(without)
    cost = (
        f"A compaction of 300 steps that were all in view takes {compaction_ms(longest):.0f} ms of "
        f"CPU (aim: at most 50). A run of 100 steps of which nothing has to be left out takes "
        f"{ratio:.3f} times the CPU of one without compaction (the least of {PAIRS} runs of each, "
        f"by turns: {1_000 * min(with_it):.0f} and {1_000 * min(without):.0f} ms; aim: 1.03)."
    )
    lines += ["", cost, "", summaries(asked)]
    text = PAGE.read_text(encoding="utf-8")
    head, _, _ = text.partition(MARK)
    PAGE.write_text(f"{head}{MARK}\n" + "\n".join(lines) + "\n", encoding="utf-8")
    tell(f"wrote {PAGE.name}\n")


if __name__ == "__main__":
    asyncio.run(main())
    sys.exit(0)
