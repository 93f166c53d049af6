"""No path leads the tools for files out of their folder."""

import pytest

from tests.workspace.escapes import WAYS, Way, tried

LONG = [way for way in WAYS if way.meanwhile or "never ends" in way.name]


def named(way: Way) -> str:
    return way.name


@pytest.mark.parametrize("way", [way for way in WAYS if way not in LONG], ids=named)
async def test_no_path_leads_out(way: Way) -> None:
    held, said = await tried(way)
    assert held, said


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("way", LONG, ids=named)
async def test_nor_does_one_that_is_swapped_meanwhile_or_takes_long(way: Way) -> None:
    held, said = await tried(way)
    assert held, said
