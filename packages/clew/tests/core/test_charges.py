"""What was charged is known by its kind: the sentence beside it is for people only."""

from typing import get_args

import pytest

from clew import Agent, MemoryStore
from clew.agent.runner import start, take_up
from clew.core.codes import ChargeKind
from clew.core.contents import Usage
from clew.core.entries import decode
from clew.core.events import Charged, Compacted
from clew.core.trajectory import Trajectory
from clew.core.values import encode
from clew.testing.models import ScriptedModel, say

KINDS: tuple[ChargeKind, ...] = get_args(ChargeKind)
SENTENCES = (
    "",
    "etwas anderes",
    "a model call may have been lost when the worker died",
    "the worker left between two steps: nothing was asked",
    "the model, or the store, failed the worker",
    "the run's time was up before the reply came",
    "the critic after step 2: nothing wrong",
)


async def record_of(kind: ChargeKind, why: str, store: MemoryStore) -> tuple[Agent, Trajectory]:
    """A run that waits for its first thought, with this charge as its last entry."""
    who = Agent(model=ScriptedModel([say("x")]))
    journal = await start(who, "q", store, run_id="run")
    await journal.record(Charged(Usage(100, 7), kind, why))
    return who, journal.trajectory


@pytest.mark.parametrize("kind", KINDS)
async def test_no_sentence_changes_what_a_charge_means(kind: ChargeKind) -> None:
    """Whether the next worker charges a lost reply, and whether the time is up."""
    meant = set[tuple[bool, bool]]()
    for why in SENTENCES:
        store = MemoryStore()
        who, trajectory = await record_of(kind, why, store)
        again = (await take_up(who, "run", store)).trajectory
        meant.add((len(again.entries) > len(trajectory.entries), trajectory.late))
    asked_again = kind in {
        "lost_reply",
        "critic",
        "screen",
    }  # of a run whose time is up, nothing is due
    assert meant == {(asked_again, kind == "time_up")}


@pytest.mark.parametrize("kind", KINDS)
def test_a_charge_is_read_as_it_was_written(kind: ChargeKind) -> None:
    charge = Charged(Usage(1, 2), kind, "as may be")
    assert decode(encode(charge)) == charge


async def test_what_was_taken_is_summed_whatever_took_it() -> None:
    took = Usage(100, 7)
    who = Agent(model=ScriptedModel([say("x")]))
    journal = await start(who, "q", MemoryStore(), run_id="run")
    for _ in range(3):
        await journal.record(Charged(took), Compacted("extract", "it is full", 10, usage=took))
    for totals in (journal.trajectory.total, journal.trajectory.spent):
        assert (totals.usage.input, totals.usage.output) == (300, 21)
        assert (totals.lost.input, totals.lost.output) == (300, 21)
