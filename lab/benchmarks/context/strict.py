"""Random cuts, and whether the providers' strict services take what is left of a conversation."""

import asyncio
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Final

from benchmarks.context.cut_runs import FORMS, CutTally, cut_at_random
from durability.progress import tell
from recordings.part import Figure, Part, count

CUTS: Final = 10_000
"""So many for each provider, at least."""

_RUNS: Final = 25
"""So many runs are played one after the other in a process."""

TEXT: Final = """\
Runs are made at random: parallel calls, calls that fail or cannot be made, replies that cannot be
read, calls that wait for a person, pictures, evidence, sub-runs, a person's words. Each is cut
again and again: by compactions of any policy and share, also by compactors that leave out older
results and steps as they like; by `backtrack`, a person's rewinds and the run's own. The adapters
write every request, and the strict services of `clew.testing` judge it: they refuse what the
providers are known to refuse, such as a result without its call. The model behind them is
simulated. Then each record is replayed: every prompt must have the recorded fingerprints.

Newer models of Anthropic bind what they think to the prompt before it. The first request after a
cut of such a run is refused, and sent again without that thinking
([decision 0016](../../docs/decisions/0016-anthropic-thinking.md)); these are counted apart.
"""


def measure(sample: int) -> Part:
    """The nth part of the cuts."""
    wanted, figures, misses = -(-CUTS // sample), list[Figure](), list[str]()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn")) as pool:
        for form in FORMS:
            tally, seed = CutTally(), 0
            while tally.total < wanted:
                seeds = range(seed, seed + _RUNS * (cores or 1), _RUNS)
                for one in pool.map(partial(_played, form), seeds):
                    tally.add(one)
                seed = seeds.stop
                tell(f"{form}: {tally.total} of {wanted} cuts")
            figures += _figures(form, tally)
            misses += [*tally.refused, *tally.diverged]
    return Part("Cut at random", TEXT, figures, misses)


def _played(form: str, seed: int) -> CutTally:
    return asyncio.run(_all(form, seed))


async def _all(form: str, seed: int) -> CutTally:
    tally = CutTally()
    for number in range(seed, seed + _RUNS):
        tally.add(await cut_at_random(form, number))
    return tally


def _figures(form: str, tally: CutTally) -> Iterator[Figure]:
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(tally.cuts.items()))
    yield Figure(f"{form}: cuts ({kinds})", f"{tally.total:,}", "")
    yield count(f"{form}: requests refused", len(tally.refused), tally.requests, exactly=0)
    if tally.moved:
        what = f"{form}: requests sent again without thinking that was bound to another prompt"
        yield count(what, tally.moved, tally.requests)
    runs = tally.replayed + len(tally.diverged)
    what = f"{form}: records that replay as they are, sub-runs too"
    yield count(what, tally.replayed, runs, exactly=runs)
