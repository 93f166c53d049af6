"""An evaluation whose model is asked in batches: all trials that wait go into one."""

from pathlib import Path
from typing import Any

import pytest

from clew import Agent
from clew.models.batches import Batched
from clew_evals import Case, Configuration, Plan, World, evaluate, foreseen
from clew_testing.servers import OpenAIBatchServer, Say


def doubled(body: dict[str, Any]) -> Say:
    """The model answers with the first number of the question, twice."""
    question = next(it["content"] for it in body["messages"] if "plus" in str(it["content"]))
    number = next(int(word) for word in question.split() if word.isdigit())
    return Say(f"It is {2 * number}.")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_trials_of_a_wave_are_one_batch(tmp_path: Path) -> None:
    cases = [Case(f"c{n}", f"What is {n} plus {n} ?", {"number": 2 * n}) for n in range(1, 7)]
    with OpenAIBatchServer(doubled) as server:
        options: dict[str, Any] = {"base_url": server.base_url, "api_key": "key"}
        options |= {
            "gather": 60.0,
            "requests": 6,
            "poll": 0.01,
            "ledger": tmp_path / "batches.sqlite",
        }
        model = Batched("openai:gpt-4.1-mini", **options)
        plan = Plan("sums", World("sums", cases), [Configuration("batches", Agent(model))])
        estimate = await foreseen(plan, tmp_path / "sums.sqlite")
        done = await evaluate(plan, tmp_path / "sums.sqlite", at_once=10)
        await model.close()
        sizes = [len(batch.entries) for batch in server.bench.batches]
    assert not estimate.unknown
    assert estimate.about > 0
    assert done.complete
    assert [one.passed for one in done.outcomes] == [True] * 6
    assert done.spent > 0
    assert sizes == [6]
