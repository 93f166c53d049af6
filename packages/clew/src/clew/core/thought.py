"""One thought: a prompt of the record, the model's reply to it, and what was read in the reply."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

import anyio
import msgspec

from clew.core.budget import Standing
from clew.core.codec import Parsed
from clew.core.codes import EFFECTFUL, FINISH
from clew.core.contents import Reply, Usage
from clew.core.engine import Engine
from clew.core.events import Charged, Compacted, Thought
from clew.core.journal import Journal
from clew.core.models import OnText
from clew.core.prompts import Calls
from clew.core.trajectory import Trajectory
from clew.support.errors import TooLongError
from clew.support.parts import PASSED, broken

LOG: Final = logging.getLogger("clew")

T = TypeVar("T")


_TIME_UP: Final = "the run's time was up before the reply came"


async def in_time(
    engine: Engine, journal: Journal, standing: Standing, ask: Callable[[], Awaitable[T]]
) -> tuple[T, bool] | Charged:
    """What is asked of a model, and whether it came late; charged and cut when time is up.

    One deadline for all that this takes: connecting, reading, waits between tries and for a rate.
    """
    with anyio.CancelScope(deadline=journal.deadline(standing.thinking)) as scope:
        came = await ask()
        return came, anyio.current_time() > scope.deadline
    unmetered = engine.model.info.unmetered
    usage = Usage() if unmetered else standing.expected
    return Charged(usage, "time_up", _TIME_UP)


async def think(
    engine: Engine, journal: Journal, standing: Standing
) -> Thought | Charged | Compacted:
    """The next thought; where the provider finds its prompt too long, what to leave out of it."""
    try:
        return await next_thought(engine, journal, standing)
    except TooLongError:
        if (less := engine.shorten(journal.trajectory)) is None:
            raise
        return less


async def next_thought(engine: Engine, journal: Journal, standing: Standing) -> Thought | Charged:
    """Ask the model for the next thought; in a landing, for the last one, without calls.

    Where the run's time is up before the reply comes, what that may have cost is charged. Raises
    `ModelError` where the model fails, `PartError` where another part does.
    """
    trajectory = journal.trajectory
    landing = trajectory.landing is not None
    reminders = engine.reminders(trajectory, standing.left)
    new = await _new_tools(engine, trajectory)
    calls: Calls = "none" if landing else "auto"
    try:
        prompt, prints = engine.render(trajectory, reminders, calls, new)
        hear = None if journal.listener is None else _hearing(engine, journal)
    except PASSED:
        raise
    except BaseException as error:
        raise broken(f"the codec {engine.codec.name}", error) from error
    last = trajectory.step.thought
    if last is not None and last.reply.adapted is not None:
        prompt = msgspec.structs.replace(prompt, adapted=last.reply.adapted)
    ask = partial(engine.complete, prompt, hear)
    if isinstance(came := await in_time(engine, journal, standing, ask), Charged):
        return came
    reply, late = came
    if reply.warning:
        _warn_of_cut(trajectory, reply)
    reply, parsed = engine.read(trajectory, reply)
    if landing and any(action.name != FINISH for action in parsed.actions):
        parsed = Parsed(
            text=parsed.text, fault="no call can be made any more: only an answer counts"
        )
    return Thought(
        reply, prints, parsed.text, parsed.actions, parsed.answer, parsed.fault, parsed.repairs,
        reminders, new, late,
    )  # fmt: skip


async def _new_tools(engine: Engine, trajectory: Trajectory) -> tuple[str, ...]:
    """Tools that the next thought is shown for the first time; none in a landing."""
    if trajectory.landing is not None:
        return ()
    names = [] if engine.find_tools is None else [*await engine.find_tools(trajectory)]
    if engine.read_on and engine.leaves_out(trajectory):
        names += engine.read_on
    return tuple(name for name in dict.fromkeys(names) if name not in trajectory.visible_tools)


def _hearing(engine: Engine, journal: Journal) -> OnText:
    """What takes the reply as it streams, and ends it where nothing more counts.

    Where a tool has an effect the reply is read whole: what makes a call void, the end of a
    thinking or a length limit, may come far behind it.
    """
    take = engine.codec.stream_filter(journal.token)
    if all(tool.effect not in EFFECTFUL for tool in engine.tools.values()):
        return take

    def to_the_end(piece: str) -> bool:
        take(piece)
        return False

    return to_the_end


def _warn_of_cut(trajectory: Trajectory, reply: Reply) -> None:
    """Say that the server begins to cut prompts off; the record says it of each."""
    last = trajectory.steps[-1].thought if trajectory.steps else None
    if last is None or not last.reply.warning:
        LOG.warning("run %s: %s", trajectory.run_id, reply.warning)
