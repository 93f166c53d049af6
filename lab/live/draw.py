"""`python -m live.draw`: draw the tasks, with a fixed seed, into `tasks.jsonl`."""

import random
from collections.abc import Sequence
from typing import Final

import msgspec

from clew_evals.gold import foreign, gold
from live import recorded
from live.tasks import LISTED, Half, Listed, hashed

SEED: Final = 16
KINDS: Final = ("retrieval", "multi-hop", "calculation")
"""Of the gold set the kinds that need no planner and no twin."""


def draw() -> list[Listed]:
    """Sixty-two tasks, of each source as many in either half.

    What can only be held against a record of clew is left out: others have none.
    """
    chance = random.Random(SEED)
    kinds = {kind: [one.id for one in gold().cases if one.category == kind] for kind in KINDS}
    audited = {one.id for one in gold().cases if b"grounded" in msgspec.json.encode(one.gold)}
    over = [*recorded.questions().values()]
    claims = [one for one in over if one.source == recorded.FEVER and one.answerable]
    labels = sorted({one.gold for one in claims})
    hotpot = [
        [
            one.name
            for one in over
            if one.source == recorded.HOTPOTQA and one.answerable and one.named == named
        ]
        for named in (True, False)
    ]
    drawn = {
        "gold": [
            name
            for kind in KINDS
            for name in chance.sample(kinds[kind], 5 if kind == KINDS[0] else 4)
        ][:12],
        "foreign": chance.sample([one.id for one in foreign().cases], 14),
        recorded.HOTPOTQA: [*chance.sample(hotpot[0], 12), *chance.sample(hotpot[1], 8)],
        recorded.FEVER: [
            name
            for label in labels
            for name in chance.sample([one.name for one in claims if one.gold == label], 6)
        ],
    }
    drawn["gold"] = [name for name in drawn["gold"] if name not in audited]
    return [one for source, names in drawn.items() for one in halved(source, names)]


def halved(source: str, names: Sequence[str]) -> list[Listed]:
    """The tasks of a source, by their hashes: the first half is for tuning."""
    ranked = sorted(names, key=hashed)
    halves: list[Half] = ["tuning", "unseen"]
    return [
        Listed(name, source, halves[index >= len(ranked) // 2]) for index, name in enumerate(ranked)
    ]


if __name__ == "__main__":
    LISTED.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in draw()))
