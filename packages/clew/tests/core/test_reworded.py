"""The same result again and again, however the call is reworded: a hint, a refusal, a landing."""

from typing import Any

import pytest

from clew import Agent, Limits, MemoryStore, NoProgress, read, run, tool
from clew.core.codes import Effect
from clew.testing.models import ScriptedModel, act, acts, say

ASKED = 40


def seeker(
    effect: Effect, *, found: tuple[str, ...] = ("nothing",), polling: bool = False
) -> Agent:
    """An agent that asks the same in other words as long as it may; `found` comes in turn."""
    seen: list[str] = []

    @tool(effect=effect)
    def look(words: str) -> str:
        """Look something up."""
        seen.append(words)
        return found[(len(seen) - 1) % len(found)]

    script = ScriptedModel(
        [*(act("look", words=f"herons, in other words {n}") for n in range(ASKED)), say("Gone.")]
    )
    guard = NoProgress(polling=frozenset({"look"} if polling else ()))
    limits = Limits(steps=ASKED + 2, tool_calls=ASKED + 2, no_progress=guard, landing=False)
    return Agent(model=script, tools=[look], limits=limits)


async def outcome(agent: Agent) -> dict[str, Any]:
    store = MemoryStore()
    result = await run(agent, "Where are herons?", store=store)
    trajectory = await read(result.run_id, store=store)
    made = [call for call in trajectory.calls if call.observation and call.observation.made]
    hinted = [call.key for call in trajectory.calls if call.hints]
    return {"made": len(made), "hinted": hinted[:1], "reason": result.reason}


async def test_a_question_in_other_words_with_the_same_result_ends_at_last() -> None:
    found = await outcome(seeker("read"))
    assert found["made"] == NoProgress().reworded - 1 == 15
    assert found["hinted"] == [f"{NoProgress().reworded_hint}.1"]
    assert found["reason"].startswith("no_progress: the calls of 2 steps in a row were refused")


@pytest.mark.parametrize(
    ("effect", "found", "polling"),
    [
        ("unsafe", ("done",), False),
        ("idempotent", ("done",), False),
        ("read", ("nothing", "nothing", "nothing", "a heron"), False),
        ("read", ("nothing",), True),
    ],
    ids=["unsafe", "idempotent", "a change now and then", "polling"],
)
async def test_work_and_change_are_let_be(
    effect: Effect, found: tuple[str, ...], polling: bool
) -> None:
    came = await outcome(seeker(effect, found=found, polling=polling))
    assert (came["made"], came["reason"]) == (ASKED, "")


async def test_many_calls_of_one_reply_count_once() -> None:
    @tool(effect="read")
    def healthy(server: int) -> str:
        """Ask a server how it is."""
        return "yes" if server >= 0 else "no"

    every = acts(*(act("healthy", server=n) for n in range(30)))
    script = ScriptedModel([every, act("healthy", server=99), say("All are well.")])
    agent = Agent(model=script, tools=[healthy], limits=Limits(calls_per_step=40, tool_calls=40))
    found = await outcome(agent)
    assert found == {"made": 31, "hinted": [], "reason": ""}


async def test_another_tool_between_starts_it_anew() -> None:
    @tool(effect="read")
    def look(words: str) -> str:
        """Look something up."""
        return "nothing"

    @tool(effect="read")
    def page(number: int) -> str:
        """Read a page."""
        return "nothing"

    calls = [act("look", words=f"{n}") if n % 2 else act("page", number=n) for n in range(ASKED)]
    agent = Agent(
        model=ScriptedModel([*calls, say("Gone.")]),
        tools=[look, page],
        limits=Limits(steps=50, tool_calls=50),
    )
    assert (await outcome(agent))["made"] == ASKED
