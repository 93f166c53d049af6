"""The support agent in clew comes through what the comparison does to it, in thirty lines."""

import sys
import tempfile
from pathlib import Path

import pytest

from comparison.applications.lines import BEGINS, counted, lines_of
from comparison.applications.model_server import ModelServer
from comparison.applications.served import Served
from comparison.applications.situations import OTHERS, SITUATIONS

LIMIT = 30
EXPECTED = {
    "killed after the refund, then asked on": "1 paid; answered, said to be unknown",
    "the same, two ask at once": "1 paid; answered, answered",
    "a wrong argument": "refused before a person is asked",
    "two approvals, one yes and one no": "each alone; answered",
    "the provider hangs, 3 s allowed": "bound",
    "a typed answer, slowly": "parts, then answered",
    "the stream from another request": "what came after",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SITUATIONS)
def test_the_agent_in_clew_comes_through(name: str) -> None:
    pytest.importorskip("fastapi", reason="the extra tests of the lab brings it")
    with (
        tempfile.TemporaryDirectory() as folder,
        ModelServer() as model,
        Served(Path(sys.executable), "support_clew", Path(folder), model.address) as app,
    ):
        assert SITUATIONS[name](app).endswith(EXPECTED[name])


def test_lines_are_those_of_code_behind_the_imports() -> None:
    text = f'import os\n\n{BEGINS}\n\n\ndef a() -> int:\n    """Say.\n\n    More.\n    """\n'
    assert lines_of(f"{text}    # why\n    return (\n        1\n    )\n\n\nb = a()\n") == 5
    _, _, row = counted(OTHERS).splitlines()
    clew, *others = [int(cell) for cell in row.split("|")[2:-1]]
    assert clew <= LIMIT < min(others)
