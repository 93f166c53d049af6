"""How a person ends a run: what is pending is closed, in its sub-runs too."""

from clew.core.agent import Agent
from clew.core.events import AnyEvent, Stop
from clew.core.journal import Journal
from clew.core.observations import refusal
from clew.core.subruns import close_sub_run


async def interrupt(agent: Agent, journal: Journal, why: str = "") -> None:
    """Close what is pending (not done; unknown where an attempt stands) and stop."""
    why = why or "a person interrupted the run"
    closing: list[AnyEvent] = []
    for call in journal.trajectory.step.calls:
        if call.observation is not None:
            continue
        if call.child:
            closing.append(await close_sub_run(agent, journal, call, why))
        elif call.attempts:
            text = "a person interrupted it: it may or may not have happened"
            closing.append(refusal(call, "unknown", text))
        else:
            closing.append(refusal(call, "interrupted", "a person did: it did not happen"))
    await journal.record(*closing, Stop("interrupted", why))
