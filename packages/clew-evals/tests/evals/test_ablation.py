"""The published matrix: it is what lab/reports/ablation.md says, and all of it can be begun."""

from pathlib import Path

import pytest

from clew_evals.matrix import read_matrix
from clew_evals.plan import Plan
from clew_evals.runner import evaluate
from clew_evals.simulated import NAMES
from clew_evals.table import unfinished

MATRIX = Path(__file__).parents[4] / "lab" / "benchmarks" / "evaluation" / "ablation.toml"
FORMATS = ("json", "paper", "labelled")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return read_matrix(MATRIX)


def test_every_configuration_is_tried_with_every_model_that_it_fits(plan: Plan) -> None:
    with_rules = {one.name for one in plan.configurations if one.model == "offline"}
    assert with_rules == {*plan.names} - {*FORMATS}
    for name in NAMES:
        tried = {one.name for one in plan.configurations if one.model == f"simulated:{name}"}
        assert tried == {*plan.names}
    assert {one.votes for one in plan.configurations} == {1, 3, 5}
    assert {len(one.agent.engine.prompt_spec.examples) for one in plan.configurations} == {0, 1, 6}
    assert {one.agent.engine.prompt_spec.thought for one in plan.configurations} == {True, False}
    prompts = {one.agent.engine.prompt_spec.prompt for one in plan.configurations}
    assert len(prompts) == 2
    formats = {one.agent.engine.codec.name.partition("/")[0] for one in plan.configurations}
    assert formats == {"native", *FORMATS}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_it_runs_and_knows_how_much_it_is(plan: Plan, tmp_path: Path) -> None:
    only = ["no docs", "json"]
    done = await evaluate(plan, tmp_path / "results.sqlite", only=only, first=1)
    assert done.complete
    assert len(done.outcomes) == 3 * (6 + 5)
    assert {one.passed for one in done.outcomes if one.configuration == "no docs"} == {False}
    assert done.about.trials == len(plan.trials())
    assert (
        unfinished(done.outcomes, done.about)
        == f"Only 33 of {done.about.trials:,} trials are finished."
    )
