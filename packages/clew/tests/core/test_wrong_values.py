"""Values that no clock, record or file can have are refused in a line where they are given."""

from typing import Any

import pytest

from clew import Agent, ConfigError, Held, MemoryStore, ModelSettings, rule, run, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say
from clew.toolbox import attach

pytestmark = pytest.mark.both_loops

HALF = "half \ud800"


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e300, 0, -1, 10**80])
def test_a_model_is_not_waited_for_for_ever(seconds: float) -> None:
    with pytest.raises(ConfigError, match="timeout"):
        ModelSettings(timeout=seconds)


@pytest.mark.parametrize("value", [object(), float("nan"), {1: 2}, HALF, b"x", [[object()]]])
def test_parameters_that_no_request_can_carry_are_refused_where_they_are_set(value: Any) -> None:
    with pytest.raises(ConfigError, match="extra"):
        ModelSettings(extra={"user": value})


@pytest.mark.parametrize("path", ["a\0b", 5, None, b"x"])
def test_what_names_no_file_is_not_attached(path: Any) -> None:
    with pytest.raises(ConfigError, match="names no file"):
        attach(path)


async def test_an_approval_rule_that_gives_half_a_character_holds_the_call() -> None:
    def odd(args: dict[str, Any]) -> str:
        return f"{HALF} of {args}"

    @tool(approve=odd)
    def pay(amount: int) -> str:
        """Pay an amount."""
        return f"paid {amount}"

    script = [act("pay", amount=5), say("Paid.")]
    store, one = MemoryStore(), Agent(ScriptedModel(script), [pay], guards=[Provenance("off")])
    held = await run(one, "Pay.", store=store, run_id="r")
    assert isinstance(held, Held)
    assert "mend it" in held.pending_approvals[0].why
    assert (await rule("r:1.1", allow=True, store=store, agent=one)).ok
