"""One thought: a prompt of the record, the model's reply to it, and that as the codec reads it."""

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from operator import attrgetter
from typing import Final, TypeVar

import anyio
import msgspec

from clew.codecs.interface import Parsed
from clew.codecs.no_answer import no_answer
from clew.codecs.quoted_answers import without_quotes
from clew.context.view import view_of
from clew.core.agent import Agent
from clew.core.events import (
    EFFECTFUL,
    FINISH,
    Action,
    Charged,
    RawCall,
    Reply,
    Thought,
    Usage,
    encode,
)
from clew.core.interfaces import Calls, OnText
from clew.core.journal import Journal
from clew.core.lost_digits import LONG_NUMBER, with_all_digits
from clew.core.trajectory import Trajectory
from clew.models.completion import complete, invalid_reply
from clew.support.parts import PASSED, broken, of_kind

LOG: Final = logging.getLogger("clew")

_ARGUMENTS: Final[Callable[[RawCall], str | None]] = attrgetter("arguments")

T = TypeVar("T")


_TIME_UP: Final = "the run's time was up before the reply came"


async def in_time(
    agent: Agent, journal: Journal, ask: Callable[[], Awaitable[T]]
) -> tuple[T, bool] | Charged:
    """What is asked of a model, and whether it came late; charged and cut when time is up.

    One deadline for all that this takes: connecting, reading, waits between tries and for a rate.
    """
    so_far = journal.trajectory
    with anyio.CancelScope(deadline=journal.deadline(agent.budget.thinking(so_far))) as scope:
        came = await ask()
        return came, anyio.current_time() > scope.deadline
    unmetered = agent.resolved_model.info.unmetered
    usage = Usage() if unmetered else agent.budget.expected(so_far)
    return Charged(usage, "time_up", _TIME_UP)


async def next_thought(agent: Agent, journal: Journal) -> Thought | Charged:
    """Ask the model for the next thought; in a landing, for the last one, without calls.

    Where the run's time is up before the reply comes, what that may have cost is charged. Raises
    `ModelError` where the model fails, `PartError` where another part does.
    """
    so_far = journal.trajectory
    landing = so_far.landing is not None
    said = agent.instructions.reminders(so_far, agent.budget.left(so_far))
    new = await agent.discover_tools(so_far)
    calls: Calls = "none" if landing else "auto"
    codec = agent.resolved_codec
    who = f"the codec {codec.name}"
    try:
        view = view_of(so_far, codec, agent.brief, agent.resolved_model.info.params, agent.seed)
        prompt, prints = view.prompt(so_far, said, calls, new)
        hear = None if journal.listener is None else _hearing(agent, journal)
    except PASSED:
        raise
    except BaseException as error:
        raise broken(who, error) from error
    model, limits = agent.resolved_model, agent.limits
    last = so_far.step.thought
    if last is not None and last.reply.adapted is not None:
        prompt = msgspec.structs.replace(prompt, adapted=last.reply.adapted)
    ask = partial(complete, model, prompt, hear, limits.reply_seconds, limits.grace)
    if isinstance(came := await in_time(agent, journal, ask), Charged):
        return came
    reply, late = came
    _warn_of_cut(so_far, reply)
    parsed = _read(agent, so_far, reply, who)
    if landing and any(action.name != FINISH for action in parsed.actions):
        parsed = Parsed(
            text=parsed.text, fault="no call can be made any more: only an answer counts"
        )
    return Thought(
        reply, prints, parsed.text, parsed.actions, parsed.answer, parsed.fault, parsed.repairs,
        said, new, late,
    )  # fmt: skip


def _hearing(agent: Agent, journal: Journal) -> OnText:
    """What takes the reply as it streams, and ends it where nothing more counts.

    Where a tool has an effect the reply is read whole: what makes a call void, the end of a
    thinking or a length limit, may come far behind it.
    """
    take = agent.resolved_codec.stream_filter(journal.token)
    if all(tool.effect not in EFFECTFUL for tool in agent.tools):
        return take

    def to_the_end(piece: str) -> bool:
        take(piece)
        return False

    return to_the_end


def _warn_of_cut(so_far: Trajectory, reply: Reply) -> None:
    """Say that the server begins to cut prompts off; the record says it of each."""
    if not reply.warning:
        return
    last = so_far.steps[-1].thought if so_far.steps else None
    if last is None or not last.reply.warning:
        LOG.warning("run %s: %s", so_far.run_id, reply.warning)


def _read(agent: Agent, so_far: Trajectory, reply: Reply, who: str) -> Parsed:
    """Parse the reply; an error of the codec names the codec."""
    try:
        return _parsed(agent, so_far, reply, who)
    except PASSED:
        raise
    except BaseException as error:
        try:  # the reply may be that which cannot be read
            msgspec.json.decode(encode(reply), type=Reply)
        except Exception as wrong:
            raise invalid_reply(agent.resolved_model, wrong) from wrong
        raise broken(who, error) from error


def _parsed(agent: Agent, so_far: Trajectory, reply: Reply, who: str) -> Parsed:
    """The parsed reply; a text that cannot be an answer becomes a fault."""
    if reply.finish == "declined":  # nothing in such a text is a call
        return Parsed(answer=reply.text)
    found = agent.resolved_codec.parse(agent.brief, reply)
    parsed = of_kind(who, found, Parsed, "what it read (clew.interfaces.Parsed)")
    if agent.answer is not str:
        parsed = without_quotes(agent.brief, parsed)
    if any(map(LONG_NUMBER.search, filter(None, (reply.text, *map(_ARGUMENTS, reply.calls))))):
        parsed = with_all_digits(agent.brief, reply, parsed)
    if reply.mended:
        repairs = tuple(dict.fromkeys([*reply.mended, *parsed.repairs]))
        parsed = msgspec.structs.replace(parsed, repairs=repairs)
    if parsed.answer is not None:
        why = no_answer(agent.resolved_codec, agent.brief, so_far, parsed.answer)
        return Parsed(text=parsed.answer, fault=why) if why else parsed
    if not any(action.name == FINISH for action in parsed.actions):
        return parsed
    actions = tuple(_finished(agent, so_far, action) for action in parsed.actions)
    if len(actions) == 1 and actions[0].fault and not parsed.actions[0].fault and not reply.calls:
        return Parsed(text=parsed.text, fault=actions[0].fault)
    return msgspec.structs.replace(parsed, actions=actions)


def _finished(agent: Agent, so_far: Trajectory, action: Action) -> Action:
    """A call of finish, refused if its argument cannot be an answer."""
    answer = action.args.get("answer")
    if action.name != FINISH or action.fault or not isinstance(answer, str):
        return action
    why = no_answer(agent.resolved_codec, agent.brief, so_far, answer)
    return Action(FINISH, fault=why) if why else action
