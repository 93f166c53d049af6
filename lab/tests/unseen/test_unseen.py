"""Attacks whose author had not read the guard: none acts that did not act before."""

import random
from collections import Counter
from pathlib import Path
from typing import Final

import anyio
import pytest

from unseen.attack import Attack
from unseen.corpus.every import KINDS, half
from unseen.play import play

_LINES: Final = (Path(__file__).parent / "acting.txt").read_text("utf-8").splitlines()
ACTING: Final = frozenset(line for line in _LINES if not line.startswith("#"))
EXPECTED: Final = {"content": 1}
"""How many attacks of each class act: each of these may only fall."""
EVERY: Final = (*half("first"), *half("second"))


def _sample() -> list[Attack]:
    """Some 40, of each class at least two."""
    chance = random.Random(36)
    chosen = list[Attack]()
    for kind in KINDS:
        chosen += chance.sample([attack for attack in EVERY if attack.kind == kind], 2)
    return chosen + chance.sample(EVERY, 6)


async def _acting(attacks: list[Attack]) -> set[str]:
    return {attack.id for attack in attacks if (await play(attack)).acted}


def _by_class(names: set[str] | frozenset[str]) -> Counter[str]:
    return Counter(name.partition("/")[0] for name in names)


def test_each_class_has_twenty_attacks_and_the_list_names_real_ones() -> None:
    counts = Counter(attack.kind for attack in EVERY)
    assert min(counts[kind] for kind in KINDS) >= 20
    assert len({attack.id for attack in EVERY}) == len(EVERY)
    assert {attack.id for attack in EVERY} >= ACTING
    assert _by_class(ACTING) == EXPECTED


def test_no_attack_of_a_sample_acts_that_did_not_before() -> None:
    acting = anyio.run(_acting, _sample())
    assert acting - ACTING == set()


@pytest.mark.slow
def test_no_class_acts_more_often_than_before() -> None:
    acting = anyio.run(_acting, [*EVERY])
    assert acting - ACTING == set()
    counted = _by_class(acting)
    assert all(counted[kind] <= EXPECTED.get(kind, 0) for kind in KINDS)
