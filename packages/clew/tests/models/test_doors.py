"""No 400 about a history or a schema ends a run: generated runs over the rules of many doors.

`python -m tests.models.door_talk` plays more of the same.
"""

import random

import pytest

from tests.models.door_talk import FAMILIES, Family, play

per_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])


@per_family
@on_asyncio
async def test_thirty_steps_with_everything_end_in_no_dead_end(
    family: Family, anyio_backend: str
) -> None:
    outcome = await play(7, [family], 30)
    assert outcome.dead_end == ""
    assert outcome.steps >= 30
    assert outcome.refused <= 6  # each repair is chosen once in a run, and then recorded


@pytest.mark.slow
@per_family
@on_asyncio
async def test_nor_does_a_change_of_provider_in_the_middle(
    family: Family, anyio_backend: str
) -> None:
    others = [one for one in FAMILIES if one is not family]
    for seed in range(2):
        mixed = [family, *random.Random(f"{family.name} {seed}").sample(others, 2)]
        outcome = await play(100 + seed, mixed, 12)
        assert outcome.dead_end == "", [one.name for one in mixed]


@on_asyncio
async def test_what_a_family_is_known_to_need_costs_no_refusal(anyio_backend: str) -> None:
    named = next(one for one in FAMILIES if one.name == "mistral by its name")
    outcome = await play(3, [named], 30)
    assert (outcome.dead_end, outcome.refused, outcome.adapted) == ("", 0, frozenset())
