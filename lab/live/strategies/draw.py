"""`python -m live.strategies.draw`: draw the tasks, with a fixed seed, into `tasks.jsonl`."""

import random
from collections.abc import Sequence
from typing import Final

import msgspec

from live import tasks as asked
from live.draw import halved
from live.strategies import goods, programs
from live.strategies.tasks import LISTED
from live.tasks import Listed

SEED: Final = 64
LIMIT: Final = {"quixbugs": 16, "gold": 10, "foreign": 6, "hotpotqa": 12}


def draw() -> list[Listed]:
    """Sixty tasks, of each source as many in either half.

    What comes from `lab/live/` keeps the half that it has there.
    """
    chance = random.Random(SEED)
    results = halved("goods", [*goods.errands()])
    results += halved("quixbugs", chance.sample(sorted(programs.programs()), LIMIT["quixbugs"]))
    for source in ("gold", "foreign", "hotpotqa"):
        for half in asked.HALVES:
            there = [one for one in asked.listed() if (one.source, one.half) == (source, half)]
            results += _sampled(chance, there, LIMIT[source] // 2)
    return results


def _sampled(chance: random.Random, there: Sequence[Listed], limit: int) -> list[Listed]:
    return chance.sample(there, min(limit, len(there)))


if __name__ == "__main__":
    LISTED.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in draw()))
