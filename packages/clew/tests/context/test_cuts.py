"""Whatever a compaction or a rewind leaves out, providers take what is left, and it replays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.context.cut_runs import FORMS, CutTally, cut_at_random

pytestmark = pytest.mark.slow


def whole(found: CutTally) -> None:
    assert found.refused == []
    assert found.diverged == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_every_cut_leaves_a_conversation_that_is_whole(form: str, anyio_backend: str) -> None:
    found = CutTally()
    for seed in range(12):
        found.add(await cut_at_random(form, seed))
    whole(found)
    assert found.replayed > found.runs, "the runs below them too"
    assert len(found.cuts) == 5, "by size, after an error, by the model, by a person, by itself"


@settings(max_examples=50)  # thousands of cuts: make context
@given(st.sampled_from(FORMS), st.integers(1_000, 10**9), st.integers(0, 3))
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_any_cut_does(anyio_backend: str, form: str, seed: int, rounds: int) -> None:
    whole(await cut_at_random(form, seed, rounds))
