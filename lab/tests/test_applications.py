"""The applications in clew come through what the comparison does to them, in few lines."""

import sys
import tempfile
from pathlib import Path

import pytest

from comparison.applications import evaluations, research
from comparison.applications.lines import APPLICATIONS, BEGINS, counted, lines_of
from comparison.applications.model_server import ModelServer
from comparison.applications.scripts import played_by
from comparison.applications.served import Served
from comparison.applications.situations import SITUATIONS

LIMITS = {"support": 30, "research": 12, "tested": 20}
"""Lines that the programs may have."""
EXPECTED = {
    "killed after the refund, then asked on": "1 paid; answered, said to be unknown",
    "the same, two ask at once": "1 paid; answered, answered",
    "a wrong argument": "refused before a person is asked",
    "two approvals, one yes and one no": "each alone; answered",
    "the provider hangs, 3 s allowed": "bound",
    "a typed answer, slowly": "parts, then answered",
    "the stream from another request": "what came after",
}
RESEARCHED = {
    "five look-ups in one reply": "5 at once, 2 requests; answered",
    "killed in one of them, started again": "1 again, 2 requests; answered",
    "killed while the model writes the answer, started again": (
        "0 again, 1 more requests; answered"
    ),
    "started again when it is done": "0 again, 0 more requests; answered",
    "started twice at once": "5 look-ups, 2 requests; answered, answered",
    "the answer cites what nobody looked up": "sent back, then right; answered",
    "a figure that is not in the cited passage": "sent back, then right; answered",
    "1 cent allowed, no end": "2 requests, $0.008; bound",
    "the same, killed and started again": "2 requests, then 0, $0.010 told; bound",
}
EVALUATED = {
    "its two tests, without a network": "2 passed, 0 requests",
    "six cases, one of which the provider refuses": "5 of 6 right, 1 failed",
    "the same, started again once it is taken": "6 of 6 right, for 2 requests more",
    "killed in the fourth case, started again": "6 of 6 right, for 10 look-ups more",
    "what is told of six right answers": "100% (61% to 100%), $0.00134",
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


@pytest.mark.slow
@pytest.mark.share(3)
@pytest.mark.parametrize("name", research.SITUATIONS)
def test_the_research_in_clew_comes_through(name: str) -> None:
    play = research.SITUATIONS[name]
    assert played_by(Path(sys.executable), "research_clew", [play]) == [RESEARCHED[name]]


@pytest.mark.slow
@pytest.mark.share(3)
@pytest.mark.parametrize("name", evaluations.SITUATIONS)
def test_the_evaluation_in_clew_comes_through(name: str) -> None:
    play = evaluations.SITUATIONS[name]
    assert played_by(Path(sys.executable), "tested_clew", [play]) == [EVALUATED[name]]


def test_lines_are_those_of_code_behind_the_imports() -> None:
    text = f'import os\n\n{BEGINS}\n\n\ndef a() -> int:\n    """Say.\n\n    More.\n    """\n'
    assert lines_of(f"{text}    # why\n    return (\n        1\n    )\n\n\nb = a()\n") == 5
    _, _, *rows = counted().splitlines()
    for application, row in zip(APPLICATIONS, rows, strict=True):
        clew, *others = [int(cell) for cell in row.split("|")[2:-1]]
        assert clew <= LIMITS[application] < min(others)
