"""What a vote's own parts do wrong: its verifier is told of in the decision, its watch ends it."""

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import pytest

from clew import Agent, Limits, MemoryStore, PartError
from clew.core.trajectory import Trajectory
from clew.testing.models import ScriptedModel, say
from clew_strategies import VerifierChoice, vote
from tests.core.test_own_stores import MISDEEDS
from tests.strategies.voters import ask, voters

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("misdeed", MISDEEDS)
async def test_a_verifier_that_breaks_chose_none(misdeed: str, is_async: bool) -> None:
    bad, store = MISDEEDS[misdeed], MemoryStore()

    def plain(question: str, runs: Mapping[int, Trajectory]) -> Any:
        return bad()

    async def awaited(question: str, runs: Mapping[int, Trajectory]) -> Any:
        return bad()

    agent = voters("x", "y", meet=2)
    found = await ask(agent, 2, verifier=awaited if is_async else plain, store=store)
    assert (found.answer, found.how) == ("x", "tie")
    assert found.words.startswith("The verifier chose none (ERROR: crashed: PartError: the verif")
    assert "\n" not in found.words


async def test_a_plain_function_may_verify() -> None:
    found = await ask(
        voters("x", "y", meet=2), 2, verifier=lambda _question, _runs: VerifierChoice(2)
    )
    assert (found.answer, found.how) == ("y", "verifier")


async def test_a_verifier_that_never_ends_has_the_time_of_a_thought() -> None:
    async def never(question: str, runs: Mapping[int, Trajectory]) -> VerifierChoice:
        await anyio.sleep_forever()
        raise AssertionError

    limits = Limits(steps=40, reply_seconds=0.05, grace=0.05)
    found = await ask(voters("x", "y", meet=2), 2, verifier=never, limits=limits)
    assert "gave no answer in 0.05 s: mend it, or raise the limit reply_seconds" in found.words


@pytest.mark.parametrize("misdeed", [name for name in MISDEEDS if name.startswith(("r", "e"))])
async def test_what_watches_the_runs_and_raises_ends_the_work_and_the_vote_goes_on(
    misdeed: str,
) -> None:
    store = MemoryStore()
    agent = Agent(ScriptedModel([say("x")]))
    watch: Callable[[int], Any] = lambda _number: MISDEEDS[misdeed]()  # noqa: E731 - of a misdeed
    with pytest.raises(PartError, match=r"^what watches run \d of the vote failed"):
        await vote(agent, "What?", 2, store=store, run_id="v", watch=watch)
    found = await vote(agent, "What?", 2, store=store, run_id="v")
    assert (found.answer, found.how) == ("x", "agreement")
