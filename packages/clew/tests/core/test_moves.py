"""What a run does next, step by step, until there is nothing more."""

from typing import Any

import pytest

from clew import Agent, Limits, MemoryStore, Trajectory, Verdict, cancel, tool
from clew.agent.runner import start
from clew.core.bounds import Tripped
from clew.core.events import Stop
from clew.core.loop import advance
from clew.core.moves import NextMove, next_move
from clew.testing.models import ScriptedModel, act, say


@tool(effect="pure")
def look() -> str:
    """Look."""
    return "seen"


async def moves(agent: Agent, *, cancelled: bool = False) -> tuple[list[NextMove], Stop]:
    """What came next each time, and how the run stopped."""
    store, found = MemoryStore(), list[NextMove]()
    journal = await start(agent, "Look!", store, run_id="r")
    if cancelled:
        await cancel("r", why="enough", store=store)
        await journal.receive()
    while (stop := journal.trajectory.stop) is None:
        found.append(next_move(agent.engine, journal.trajectory))
        await advance(agent.engine, journal)
    found.append(next_move(agent.engine, journal.trajectory))
    return found, stop


def scripted(*script: Any, **parts: Any) -> Agent:
    return Agent(model=ScriptedModel(script), tools=[look], **parts)


async def never(answer: Any, trajectory: Trajectory) -> str:
    return "look again"


async def refuse(words: str) -> Verdict:
    return Verdict("deny", "not such words")


@pytest.mark.parametrize(
    ("agent", "kinds", "status"),
    [
        (scripted(act("look"), say("ok")), "think act think conclude done", "answered"),
        (
            scripted(act("look"), say("ok"), limits=Limits(steps=1)),
            "think act land think conclude done",
            "bound",
        ),
        (
            scripted(say("a"), say("b"), checks=[never], tries=1, fallback="none"),
            "think conclude think conclude give_up done",
            "failed",
        ),
        (
            scripted(act("look"), act("look"), limits=Limits(steps=1), fallback="none"),
            "think act land think give_up done",
            "bound",
        ),
        (scripted(screens=[refuse]), "screen done", "refused"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
async def test_what_is_next(agent: Agent, kinds: str, status: str) -> None:
    found, stop = await moves(agent)
    assert ([move.kind for move in found], stop.status) == (kinds.split(), status)
    assert stop.fallback is ("give_up" in kinds)


async def test_why_it_is_next_is_said_where_a_person_or_a_bound_wants_it() -> None:
    found, stop = await moves(scripted(), cancelled=True)
    assert [(move.kind, move.why) for move in found] == [("interrupt", "enough"), ("done", "")]
    assert (stop.status, stop.reason) == ("interrupted", "enough")
    found, _ = await moves(scripted(act("look"), say("ok"), limits=Limits(steps=1)))
    reached = Tripped("steps", "steps", "1 of 1 used")
    assert [(move.kind, move.tripped) for move in found if move.tripped] == [("land", reached)]
