"""`python -m benchmarks.rewinds [GGUF]`: whether rewinds that a run makes by itself help.

Without a model's file the simulated model is asked, and the page is written, with the outcomes of
the real one that are on file.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from benchmarks.rewinds import real as asked
from benchmarks.rewinds.arms import ARMS, CRITIC, Outcome, settle
from benchmarks.rewinds.simulated import Believer, Knower, tasks
from clew import Rewinds
from clew_evals import Outcome as Trial
from clew_evals import accuracy
from clew_evals.bootstrap import difference
from durability.progress import tell
from reporting import pages
from reporting.outcomes import keep, of_markdown

STICKS: Final = (1.0, 0.9, 0.5)
OFF: Final = (0, 1, 2, 3)
FINDS: Final = 0.8
STEPS: Final = 40


async def simulate() -> list[str]:
    """The table of the simulated model."""
    arms = [*ARMS, CRITIC]
    lines = [
        f"| sticks | steps off the trail | {' | '.join(arms)} |",
        f"|---|---|{'---|' * len(arms)}",
    ]
    all_of_it: list[Outcome] = []
    for stick in STICKS:
        for off in OFF:
            tell(f"simulated: {stick:g}, {off}")
            outcomes: list[Outcome] = []
            for trail, task in tasks(off):
                critic = Rewinds((), critic=Knower(trail, FINDS), every=1)
                model = Believer(trail, stick)
                outcomes += await settle(task, model, STEPS, Rewinds(), arms=arms, critic=critic)
            shares = [_mean(outcomes, arm, lambda one: one.right) for arm in arms]
            lines.append(f"| {stick:g} | {off} | {' | '.join(f'{s:.2f}' for s in shares)} |")
            all_of_it += [replace(one, task=f"{stick} {off} {one.task}") for one in outcomes]
    gaps = [_against(all_of_it, arm) for arm in arms]
    lines.append(f"| all | against nothing | {' | '.join(gaps)} |")
    lines.append(f"| all | prompt tokens a task | {' | '.join(_tokens(all_of_it, arms))} |")
    lines.append(f"| all | cached | {' | '.join(_cached(all_of_it, arms))} |")
    return lines


def real(outcomes: Sequence[Outcome]) -> list[str]:
    """The table of the real model, with intervals."""
    if not outcomes:
        return ["Not measured."]
    lines = [
        "| | right | against nothing (paired) | steps | prompt tokens a task | cached |",
        "|---|---|---|---|---|---|",
    ]
    for arm in [*ARMS, *asked.PARTS]:
        if not (mine := _trials(outcomes, arm)):
            continue
        share = accuracy(mine)
        lines.append(
            f"| {arm} | {sum(one.passed for one in mine)} of {len(mine)}: {share.value:.2f} "
            f"({share.low:.2f}–{share.high:.2f}) | {_against(outcomes, arm)} "
            f"| {_mean(outcomes, arm, lambda one: one.steps):.1f} | {_tokens(outcomes, [arm])[0]} "
            f"| {_cached(outcomes, [arm])[0]} |"
        )
    fired = sum(one.arm == "rewind" and one.fired > 0 for one in outcomes)
    return [
        *lines,
        "",
        f"The trigger fired in {fired} of {len(_trials(outcomes, 'nothing'))} tasks.",
    ]


def _against(outcomes: Sequence[Outcome], arm: str) -> str:
    """How many more tasks were answered than with nothing done, with the interval."""
    gap = difference(_trials(outcomes, arm), _trials(outcomes, "nothing"))
    if gap is None or arm == "nothing":
        return ""
    return f"{gap.value:+.2f} ({gap.low:+.2f} to {gap.high:+.2f})"


def _trials(outcomes: Sequence[Outcome], arm: str) -> list[Trial]:
    return [
        Trial(one.task, arm, asked.MODEL, "", "answered", passed=one.right)
        for one in outcomes
        if one.arm == arm
    ]


def _mean(outcomes: Sequence[Outcome], arm: str, of: Callable[[Outcome], float]) -> float:
    values = [of(one) for one in outcomes if one.arm == arm]
    return sum(values) / len(values)


def _tokens(outcomes: Sequence[Outcome], arms: Sequence[str]) -> list[str]:
    return [f"{_mean(outcomes, arm, lambda one: one.prompts):,.0f}" for arm in arms]


def _cached(outcomes: Sequence[Outcome], arms: Sequence[str]) -> list[str]:
    mine = [[one for one in outcomes if one.arm == arm] for arm in arms]
    return [f"{sum(o.cached for o in m) / sum(o.later for o in m):.2f}" for m in mine]


async def main(texts: Sequence[str] | None = None) -> int:
    """Ask the models, and write the page's part."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rewinds", description=__doc__)
    parser.add_argument("gguf", type=Path, nargs="?", help="the real model's file")
    parser.add_argument("--threads", type=int, default=0, help="0: one for each core")
    args = parser.parse_args(texts)
    if args.gguf is not None:
        await asked.ask_all(args.gguf, args.threads)
    fields = {"simulated": await simulate(), "real": real(asked.read())}
    for name, lines in fields.items():
        section = of_markdown("python -m benchmarks.rewinds", "\n".join(lines))
        keep("context", f"rewinds-{name}", section)
    tell(f"wrote {pages.write('context')}\n")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
