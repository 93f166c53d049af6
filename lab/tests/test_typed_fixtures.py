"""Type checkers know what the fixtures of `pytest_clew` may be called with."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.type_checkers import CHECKERS, lines_marked_bad

PROGRAM: Final = """
from dataclasses import dataclass
from typing import assert_type
from clew import Agent, Image, Result
from clew.interfaces import Model
from clew.testing import ScriptedModel, act, say
from pytest_clew.fixture_types import ClewCassette, ClewModel, ClewRun
from pytest_clew.runs import RecordedRun

@dataclass
class Life:
    born: int

def test_it(clew_model: ClewModel, clew_run: ClewRun, clew_cassette: ClewCassette) -> None:
    model = clew_model(act("look", at="x"), say("Seen."), name="scripted:mine")
    assert_type(model, ScriptedModel)
    run = clew_run(Agent(model), ["What?", Image("image/png", b"")], labels={"a": "b"})
    assert_type(run, RecordedRun[str])
    run.expect(calls=[], answer="Seen.")
    life = clew_run(Agent(model, answer=Life), "When?")
    assert_type(life.result, Result[Life])
    life.expect(answer=Life(1815))
    life.expect(answer={"born": 1815})
    life.expect(anwser=Life(1815))  # BAD
    life.result.unwrap().bron  # BAD
    assert_type(clew_cassette("openai:gpt-4.1-mini", total=60), Model)
    clew_cassette(model)
    clew_model(3)  # BAD
    clew_run(model, "What?")  # BAD
    clew_run(Agent(model))  # BAD
    clew_cassette()  # BAD
    clew_cassette(3)  # BAD
"""


@pytest.mark.slow
@pytest.mark.parametrize("refused", CHECKERS)
def test_each_wrong_call_is_told_and_no_other(refused: Any, tmp_path: Path) -> None:
    lines, report = refused(PROGRAM, tmp_path)
    assert lines == lines_marked_bad(PROGRAM), report
