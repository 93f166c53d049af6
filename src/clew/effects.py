"""One call of one tool: its attempts, its deadline, and what is known of its effect afterwards.

The rules are those of the record's contract: an effect has an `Attempt` on the disk before it; it
ends done, not done or unknown; what is unknown is never made again by the machine, unless the tool
is idempotent, has a probe that says it did not happen, or a person allowed it.
"""

import math
import sys
import traceback
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import anyio
import msgspec

from clew.agent import Agent
from clew.errors import ToolError
from clew.events import (
    EFFECTFUL,
    Attempt,
    Code,
    Image,
    Json,
    Judged,
    Observation,
    Outcome,
    Trust,
    Verdict,
    decode,
    encode,
)
from clew.journal import Journal
from clew.judging import refusal
from clew.protocols import LATE, Tool
from clew.tools.typed import plain
from clew.trajectory import Call, Trajectory

IN_DOUBT: Final = (
    "{tool} was begun, but nobody saw how it ended: it may or may not have happened. "
    "Check that before anything else; it will not be repeated by itself."
)
PROBE_SECONDS: Final = 30.0
LATE_CHARS: Final = 2_000
DETAIL_CHARS: Final = 8_000
DETAIL_HEAD: Final = 2_000


async def perform(agent: Agent, journal: Journal, call: Call) -> None:
    """Make a judged call, again where its effect allows, and record what came of it."""
    tool = agent.by_name.get(call.action.name)
    if tool is None:  # begun by an agent that had it
        text = IN_DOUBT.format(tool=call.action.name)
        await journal.record(refusal(call, "unknown", text))
        return
    if call.in_doubt and not call.again:
        settled = await _settle(agent, journal, tool, call)
        if settled is not None:
            await journal.record(settled)
            return
    number, after = len(call.attempts), ""
    if number:
        after = "nobody saw the end of the attempt before"
    delay = tool.retry.delay
    while True:
        number += 1
        if tool.effect in EFFECTFUL or number > 1:
            await journal.record(_attempt(tool, call, number, after))
        observation = await _once(agent, tool, call, journal)
        if observation.ok or number > tool.retry.times or not _repeatable(tool, observation):
            await journal.record(observation)
            return
        after = observation.text
        await anyio.sleep(delay)
        delay = min(delay * 2, tool.retry.most)


def _attempt(tool: Tool, call: Call, number: int, after: str) -> Attempt:
    return Attempt(call.key, tool.name, call.hash, float(tool.timeout), number, after)


def _repeatable(tool: Tool, observation: Observation) -> bool:
    """Whether a failed call may be made again: it did not happen, or may happen twice."""
    if observation.code == "bad_output":
        return False
    return tool.effect == "idempotent" or observation.outcome == "not_done"


async def _settle(
    agent: Agent, journal: Journal, tool: Tool, call: Call
) -> Observation | Judged | None:
    """What becomes of a call in doubt; None means that it may be made again."""
    if tool.effect != "unsafe" and tool.probe is None:
        return None
    if tool.probe is not None and not _let_be(call):
        found = await _probe(agent, journal, tool, call, tool.probe)
        if found is None or found.outcome != "unknown":
            return found
    text = IN_DOUBT.format(tool=tool.name)
    if agent.unknown == "hold" and not _let_be(call):
        verdict = Verdict("hold", text, args=call.args, code="unknown")
        return Judged(call.key, verdict, by="in doubt")
    return _failed(tool, call, "unknown", text, "unknown")


def _let_be(call: Call) -> bool:
    """Whether a person ruled that a call in doubt is not to be made again."""
    doubted = call.verdict is not None and call.verdict.verdict.code == "unknown"
    return doubted and call.ruling is not None and not call.ruling.allow


async def _probe(
    agent: Agent,
    journal: Journal,
    tool: Tool,
    call: Call,
    probe: Callable[[dict[str, Json], str], Awaitable[Any]],
) -> Observation | None:
    """Ask, once the attempt's deadline has passed, what became of it; None: it did not happen.

    A worker that was only frozen may still be inside the tool until then.
    """
    left = (call.deadline - journal.now()) / 1000
    await anyio.sleep(min(max(0, left), call.attempts[-1].timeout))  # a clock may be set back
    try:
        with anyio.fail_after(PROBE_SECONDS):
            found = await probe(call.args, f"{journal.run_id}:{call.key}")
    except Exception:  # noqa: BLE001 - whatever a probe raises, the call stays in doubt
        text = IN_DOUBT.format(tool=tool.name)
        return _failed(tool, call, "unknown", text, "unknown", traceback.format_exc())
    return None if found is None else _observed(agent, journal.trajectory, tool, call, found)


async def _once(agent: Agent, tool: Tool, call: Call, journal: Journal) -> Observation:
    """One attempt, in its deadline; whatever the tool raises is an observation."""
    effectful = tool.effect in EFFECTFUL
    value: Any = None
    with _heard(journal, tool, call), anyio.move_on_after(tool.timeout) as deadline:
        try:
            value = await tool.call(call.args, f"{journal.run_id}:{call.key}")
        except ToolError as error:
            return _failed(tool, call, "tool_error", _line(error), "not_done")
        except (Exception, anyio.get_cancelled_exc_class()) as error:
            if not isinstance(error, Exception) and _being_cancelled():
                raise
            text = f"{type(error).__name__}: {_line(error)}"
            outcome: Outcome = "unknown" if effectful else "not_done"
            return _failed(tool, call, "crashed", text, outcome, traceback.format_exc())
    if deadline.cancelled_caught:
        return _late(tool, call)
    return _observed(agent, journal.trajectory, tool, call, value)


def _being_cancelled() -> bool:
    """Whether it is us who are cancelled, or a tool raised the cancellation of something else."""
    if anyio.current_effective_deadline() == -math.inf:
        return True
    # On trio nobody can raise it by hand. So this is asyncio, loaded by whoever runs its loop:
    # imported here, it would be a tenth of what `import clew` takes.
    task = sys.modules["asyncio"].current_task()
    return task is not None and bool(task.cancelling())


@contextmanager
def _heard(journal: Journal, tool: Tool, call: Call) -> Generator[None]:
    """While the call is made, what it starts learns whom to tell of a late end."""
    token = LATE.set(partial(_leave_word, journal, tool, call))
    try:
        yield
    finally:
        LATE.reset(token)


def _leave_word(journal: Journal, tool: Tool, call: Call, text: str) -> None:
    """From the thread of a call that ended after its deadline: its result, for the journal."""
    short = " ".join(text.split())[:LATE_CHARS]
    journal.words.append(f"{tool.name} (call {call.key}) ended after its deadline: {short}")


def _late(tool: Tool, call: Call) -> Observation:
    if tool.effect not in EFFECTFUL and tool.stoppable:
        text = f"{tool.name} did not end in {tool.timeout:g} s and was stopped: ask for less"
        return _failed(tool, call, "timeout", text, "not_done")
    text = f"{tool.name} did not end in {tool.timeout:g} s. "
    if tool.effect in EFFECTFUL:
        text += IN_DOUBT.format(tool="It")
    else:
        text += "It may still be at work: ask for less"
    return _failed(tool, call, "timeout", text, "unknown")


def _line(error: BaseException) -> str:
    """The error's message on one line; its class where it has none."""
    return " ".join(writable(str(error)).split()) or type(error).__name__


def writable(text: str) -> str:
    """The text with a mark for each half of a character, which no record can hold."""
    return text.encode("utf-8", "replace").decode()


def _failed(
    tool: Tool, call: Call, code: Code, text: str, outcome: Outcome, detail: str = ""
) -> Observation:
    """A failure: untrusted, since error texts may echo what they were given."""
    return Observation(
        call.key,
        f"ERROR: {code}: {text}",
        ok=False,
        code=code,
        outcome=outcome,
        effect=tool.effect,
        detail=_shortened(writable(detail)),
    )


def _shortened(detail: str) -> str:
    """What is for people, at most `DETAIL_CHARS` of it: of a traceback the end tells most."""
    if len(detail) <= DETAIL_CHARS:
        return detail
    mark = f"\n[… of {len(detail)} characters the middle is left out …]\n"
    return detail[:DETAIL_HEAD] + mark + detail[DETAIL_HEAD + len(mark) - DETAIL_CHARS :]


def _observed(
    agent: Agent, so_far: Trajectory, tool: Tool, call: Call, value: object
) -> Observation:
    """A value as the call's observation; what JSON cannot carry or the schema forbids is said."""
    told = _told(tool, value)
    try:
        content = plain(told.content)
    except ValueError as error:
        text = f"{tool.name} returned what JSON cannot carry: {_line(error)}"
        return _failed(tool, call, "bad_output", text, "done", repr(type(value)))
    if told.ok and (problems := agent.result_problems(tool, content)):
        text = f"{tool.name} returned what it must not: {'; '.join(problems)}"
        return _failed(tool, call, "bad_output", text, "done", repr(content))
    observation = msgspec.structs.replace(
        told, call=call.key, content=content, effect=tool.effect, trust=_trust(told, so_far)
    )
    if isinstance(value, (Observation, Image)):  # what a tool says itself must be readable again
        try:
            decode(encode(observation))
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            text = f"{tool.name} returned an observation that is none: {_line(error)}"
            return _failed(tool, call, "bad_output", text, "done", repr(type(value)))
        return msgspec.structs.replace(observation, detail=_shortened(observation.detail))
    return observation


def _told(tool: Tool, value: Any) -> Observation:
    """What a call returned, as the observation it is or is the content of."""
    if isinstance(value, Observation):
        return msgspec.structs.replace(value, blob="")
    if isinstance(value, Image):
        text = value.text or f"an image ({value.media_type}, {len(value.data)} bytes)"
        return Observation(content=text, images=(value,), trust=tool.trust)
    return Observation(content=value, trust=tool.trust)


def _trust(told: Observation, so_far: Trajectory) -> Trust:
    """Trusted if the tool says so and its arguments were: nothing untrusted was read before."""
    return "trusted" if told.trust == "trusted" and so_far.clean else "untrusted"
