"""Attack real agents of clew in AgentDojo's environments, with a simulated model that believes all.

    $ python -m security                          # `make security`: all of it, some minutes
    $ python -m security --pairs 50 --only attacks
    $ python -m security --short 3                # a few cases of every suite

The report is lab/reports/security.md. Its figures are bounds: no real model is so gullible, and
none plans so well.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Final

from security import figures, matrix
from security.episode import Outcome, played
from security.matrix import Job

PARTS: Final = ("clean", "cost", "base", "attacks", "forms")
CHUNK: Final = 40
PASSES: Final = 9
"""Over all tasks, to measure CPU time: one after the other, in one process."""


def main() -> int:
    options = _options()
    began = time.monotonic()
    if options.short:
        outcomes = ran(matrix.short(options.short), 1)
        print(figures.clean([it for it in outcomes if it.case.attack == "clean"]))
        print(f"\n{figures.base([it for it in outcomes if it.case.attack == 'base'])}")
        return 0
    for part in options.only.split(","):
        chosen = _jobs(part, options.pairs)
        if part == "cost":
            _keep_section(
                "python -m security --only cost", part, figures.cost(repeated(chosen, PASSES))
            )
        else:
            _keep(part, ran(chosen, options.jobs), options.pairs)
        print(f"{part}: {len(chosen)} runs, {time.monotonic() - began:.0f} s", file=sys.stderr)
    from reporting import pages  # noqa: PLC0415 - it imports all programs that write reports

    pages.write("security")
    return 0


def _jobs(part: str, pairs: int) -> list[Job]:
    if part == "clean":
        return matrix.clean()
    if part == "cost":
        return [(case, system) for case, system in matrix.clean() if system in figures.GUARDED]
    if part == "forms":
        return matrix.forms()
    return matrix.base(pairs) if part == "base" else matrix.attacked(pairs)


def ran(jobs: Sequence[Job], processes: int) -> list[Outcome]:
    """What comes of all of them, in order; without those that a task offers nothing for."""
    if processes < 2:
        return asyncio.run(_all(jobs))
    chunks = [jobs[at : at + CHUNK] for at in range(0, len(jobs), CHUNK)]
    with ProcessPoolExecutor(processes) as pool:
        return [outcome for part in pool.map(_chunk, chunks) for outcome in part]


def repeated(jobs: Sequence[Job], passes: int) -> list[list[Outcome]]:
    """What comes of all of them in each pass, in a fresh process that does nothing beside."""
    with ProcessPoolExecutor(1) as pool:
        return [pool.submit(_chunk, jobs).result() for _ in range(passes)]


def _chunk(jobs: Sequence[Job]) -> list[Outcome]:
    return asyncio.run(_all(jobs))


async def _all(jobs: Sequence[Job]) -> list[Outcome]:
    results = [await played(case, system) for case, system in jobs]
    return [each for each in results if each is not None]


def _keep(part: str, outcomes: Sequence[Outcome], pairs: int) -> None:
    """Print the tables, and keep them as sections."""
    command = f"python -m security --only {part}"
    sections = {
        "clean": {"clean": figures.clean, "asked": figures.reasons},
        "base": {"base": figures.base},
        "attacks": {"attacks": figures.attacks, "acted": figures.examples},
        "forms": {"forms": figures.forms},
    }[part]
    if part in {"base", "attacks"}:
        command += f" --pairs {pairs}"
    for name, written in sections.items():
        _keep_section(command, name, written(outcomes))


def _keep_section(command: str, name: str, text: str) -> None:
    from reporting import outcomes as kept  # noqa: PLC0415 - only who measures needs it

    print(f"{text}\n")
    kept.keep("security", name, kept.of_markdown(command, text))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m security", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--only", default=",".join(PARTS), help="some of the parts, with commas")
    parser.add_argument(
        "--pairs", type=int, default=200, help="of each attack, but of the base one all"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once")
    parser.add_argument("--short", type=int, default=0, help="only so many cases of every suite")
    chosen = parser.parse_args()
    if strange := set(chosen.only.split(",")) - {*PARTS}:
        parser.error(f"no part {min(strange)!r}: there are {', '.join(PARTS)}")
    return chosen


if __name__ == "__main__":
    sys.exit(main())
