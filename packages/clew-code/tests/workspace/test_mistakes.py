"""No edit that is asked for wrongly is made wrongly and in silence."""

from pathlib import Path

import pytest

from tests.workspace.mistakes import SEED, Found, measured


def judged(found: Found, number: int) -> None:
    assert found.wrong == []
    assert found.unnamed == []
    right, refused = found.right.total(), found.refused.total()
    assert right + refused == number
    exact = found.right["exact _as_it_is"]
    assert exact > 0.8 * (exact + found.refused["exact _as_it_is"])  # the others stand there twice
    assert found.right["duplicate _as_it_is"] == 0
    assert found.near > 0.95 * refused


async def test_120_edits_are_right_or_refused(tmp_path: Path) -> None:
    judged(await measured(tmp_path, 120, seed=7), 120)


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_1000_edits_are_right_or_refused(tmp_path: Path) -> None:
    judged(await measured(tmp_path, 1000, SEED), 1000)
