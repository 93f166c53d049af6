"""Long runs in a small window, and what that costs.

The model is scripted, its window is enforced, and a token is four bytes: simulated, but for the
requests, which are clew's own, and for the seconds.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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
from benchmarks.context.page import PageFigures
from clew import Agent, Compaction, Context, Limits, MemoryStore, Trajectory
from clew.context.compaction import Compacting
from clew.core.contents import Usage
from clew.core.events import Compacted
from clew.testing.models import act, say
from durability.progress import tell

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
AIM_BREAKS, AIM_SHARE, AIM_MS, AIM_CPU, AIM_CACHED = 20, 0.5, 50, 1.03, 0.9
"""One break in so many steps, so much of the tokens at 100 steps, the two costs, and the share of a
summary's prompt that was just sent."""

TEXT: Final = """\
A run reads a page of 2,000 characters a step and then asks for what stood in the third; the window
has 16,000 tokens. **The model is scripted, and a token is four bytes**: the requests and seconds
are real, the tokens are counted alike for all rows. A break is a prompt that does not begin with
the whole of the one before it. The aims are no prompt over the window, at most one break in 20
steps, and half of the tokens at 100 steps.
"""


@dataclass(frozen=True)
class Run:
    """What one run took."""

    steps: int
    largest: int
    total: int
    breaks: int
    matches: bool
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
    cut_points = breaks(model.sent)
    return Run(steps, max(sizes), total, len(cut_points), FACT in seen, compactions, record)


def compaction_ms(record: Trajectory) -> float:
    """CPU milliseconds of one compaction of the whole record, the least of five."""
    took: list[float] = []
    for _ in range(5):
        begun = time.process_time()
        compacting = Compacting(Compaction(), WINDOW, 200, None, 8_000)
        due = compacting.due(record, clew.Usage(10**6, 100))
        took.append(1_000 * (time.process_time() - begun))
        assert due is not None
    return min(took)


async def cpu(by: tuple[str, ...] | None) -> float:
    """CPU seconds of a run of 100 steps of which nothing has to be left out."""
    model = WindowModel(reading(100, say("ok")), 10**9)
    begun = time.process_time()
    await clew.run(agent(model, by), WHERE, store=MemoryStore())
    return time.process_time() - begun


def summaries(asked: Sequence[Usage]) -> tuple[str, list[str]]:
    """How much of the prompts that ask for a summary was sent before."""
    lowest = min(used.cached / used.input for used in asked)
    text = (
        f"The {len(asked)} prompts that asked for a summary held at least {lowest:.1%} of tokens "
        f"that had just been sent (aim: at least {AIM_CACHED:.0%})."
    )
    return text, [f"a summary's prompt was cached to {lowest:.1%}"] * (lowest < AIM_CACHED)


def measure(sample: int) -> PageFigures:
    """Runs of all lengths but for the longest ones, where a sample is asked for."""
    return asyncio.run(_measured(LENGTHS if sample == 1 else LENGTHS[:2]))


async def _measured(lengths: Sequence[int]) -> PageFigures:
    lines = [
        "| steps | policy | largest prompt | all prompts | of all of it | breaks | fact found |",
        "|---|---|---|---|---|---|---|",
    ]
    fields: dict[int, Run] = {}
    missed, asked = list[str](), list[Usage]()
    for steps in lengths:
        for name, by in POLICIES.items():
            tell(f"{steps} steps, {name}")
            run = await measured(steps, by)
            share = run.total / fields.setdefault(steps, run).total
            lines.append(
                f"| {steps:,} | {name} | {run.largest:,} | {run.total:,} | {share:.3f} "
                f"| {run.breaks} | {'yes' if run.matches else 'no'} |"
            )
            asked += [one.usage for one in run.compactions if one.usage.input]
            if by is not None:
                missed += [f"{steps} steps, {name}: {why}" for why in _missed(run, share)]
    cost, too_much = await _cost(fields[max(set(lengths) & {100, 300})].record)
    cached, too_little = summaries(asked)
    text = ["## Long runs, and what they cost", "", TEXT, *lines, "", cost, "", cached, ""]
    return PageFigures("\n".join(text), [*missed, *too_much, *too_little])


def _missed(run: Run, share: float) -> Iterator[str]:
    """The aims that a run does not meet."""
    if run.largest > WINDOW:
        yield f"a prompt of {run.largest:,} tokens"
    if run.breaks * AIM_BREAKS > run.steps:
        yield f"{run.breaks} breaks"
    if not run.matches:
        yield "the fact is lost"
    if run.steps == 100 and share > AIM_SHARE:
        yield f"{share:.3f} of the tokens"


async def _cost(record: Trajectory) -> tuple[str, list[str]]:
    """What a compaction takes, and a run that needs none."""
    with_it, without = list[float](), list[float]()
    for _ in range(PAIRS):
        with_it.append(await cpu(("duplicates", "mask", "drop")))
        without.append(await cpu(None))
    ratio, took = min(with_it) / min(without), compaction_ms(record)
    text = (
        f"A compaction of {len(record.steps) - 1} steps that were all in view takes {took:.0f} ms "
        f"of CPU (aim: at most {AIM_MS}). A run of 100 steps of which nothing has to be left out "
        f"takes {ratio:.3f} times the CPU of one without compaction (the least of {PAIRS} runs of "
        f"each, by turns: {1_000 * min(with_it):.0f} and {1_000 * min(without):.0f} ms; aim: "
        f"{AIM_CPU})."
    )
    missed = [f"a compaction takes {took:.0f} ms"] * (took > AIM_MS)
    return text, [*missed, *[f"{ratio:.3f} times the CPU"] * (ratio > AIM_CPU)]
