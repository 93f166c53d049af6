"""What nobody knows the price of is never told as nothing, in whatever it is summed up."""

from dataclasses import replace
from typing import Any

import pytest

from clew import Agent, ConfigError, Limits, Usage, delegate, run
from clew.guards.limits import DEFAULT_COST
from clew.stores.memory import MemoryStore
from clew.testing.models import act, say
from tests.core.family import lone, scripted

FREE = Usage(10, 5, cost=0.0)
PAID = Usage(1_000, 100, cost=0.25)
UNPRICED = Usage(2_000, 300)


def one_that(usage: Usage, *script: Any) -> Agent:
    """An agent whose every reply takes this."""
    model = scripted(*(script or (say("done"),)), usage=usage)
    return Agent(model=replace(model, priced=usage.cost is not None))


@pytest.mark.parametrize(
    ("above", "below", "cost", "known"),
    [
        (FREE, FREE, 0.0, 0.0),
        (FREE, UNPRICED, None, 0.0),
        (UNPRICED, FREE, None, 0.0),
        (PAID, UNPRICED, None, 0.5),
        (UNPRICED, PAID, None, 0.25),
        (UNPRICED, UNPRICED, None, 0.0),
        (PAID, PAID, 0.75, 0.75),
    ],
)
async def test_a_cost_that_is_known_in_part_is_unknown_and_at_least_that_part(
    above: Usage, below: Usage, cost: float | None, known: float
) -> None:
    root = one_that(above, act("other", task="do it"), say("done"))
    root = root.replace(
        tools=[delegate(one_that(below), name="other", description="Another agent.")]
    )
    found = await run(root, "Do.", store=MemoryStore())
    assert (found.usage.cost, found.usage.known_cost) == (cost, known)


async def test_a_bound_counts_the_part_that_is_known() -> None:
    """An unpriced sub-run does not take back what was already spent."""
    script = [act("other", task="a"), *(act("other", task=str(n)) for n in range(9)), say("done")]
    root = one_that(PAID, *script)
    other = delegate(one_that(UNPRICED), name="other", description="Another agent.")
    found = await run(root.replace(tools=[other]), "Do.", store=MemoryStore())
    assert (found.status, found.reason.partition(":")[0]) == ("bound", "cost")
    assert found.usage.known_cost <= DEFAULT_COST


@pytest.mark.parametrize("between", [False, True])
def test_a_limit_on_cost_is_refused_where_a_sub_agent_has_no_price(between: bool) -> None:
    below = one_that(UNPRICED)
    if between:
        below = lone(below)
    with pytest.raises(ConfigError, match="cannot hold other, whose model has no known price"):
        lone(below, limits=Limits(cost=1.0))
