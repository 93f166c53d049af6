"""Forty programs with one bug each are mended through the tools, by a script that knows how."""

import pytest

from clew_code.sandbox import kernel
from tests.workspace.quixbugs import ROOT, mended, names

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not names(), reason=f"no QuixBugs at {ROOT}: set CLEW_QUIXBUGS"),
    pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}"),
]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(("number", "name"), list(enumerate(names())))
async def test_a_program_is_mended(number: int, name: str) -> None:
    found = await mended(name, number)
    assert (found.red, found.green, found.said) == (True, True, [])
