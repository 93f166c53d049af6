"""One call of one tool: its attempts, its deadline, and the outcome of its effect.

The rules are those of the record's contract. An effect has an `Attempt` on disk before it. It ends
done, not done or unknown. A call with an unknown outcome is repeated only if the tool is
idempotent, its probe says that it did not happen, or a person allowed it.
"""

import threading
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from functools import partial
from typing import Any, Final

import anyio
import msgspec

from clew.concurrency.tasks import InThread, TaskResult, run_with_deadline, stoppable
from clew.concurrency.uncut import Uncut
from clew.core.call_context import CALL, CallContext
from clew.core.codes import EFFECTFUL
from clew.core.contents import Observation
from clew.core.engine import Engine
from clew.core.events import Attempt, Judged, Suspended
from clew.core.journal import Journal
from clew.core.observations import (
    failed,
    observed,
    refusal,
    shortened,
    suspended,
    traced,
    trust_of,
)
from clew.core.received import handed_hashes, received_hash
from clew.core.redaction import redact
from clew.core.settling import brought, hand_out
from clew.core.subruns import run_sub_run
from clew.core.tools import AgentTool, Tool
from clew.core.trajectory import Call
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.support.error_text import described, message_of, writable
from clew.support.errors import ToolError
from clew.support.live import LIVE
from clew.support.parts import ask, copied, text_of
from clew.support.short_text import one_line

IN_DOUBT: Final = (
    "{tool} was begun, but nobody saw how it ended: it may or may not have happened. "
    "Check that before anything else; it will not be repeated by itself."
)
_NOT_KEPT: Final = (
    "the arguments held a secret, which the record does not keep, and the worker that knew it has "
    "left: nothing was called; call it again"
)
LATE_CHARS: Final = 2_000


async def perform(engine: Engine, journal: Journal, call: Call) -> None:
    """Make a judged call, unless it must not be made, and record its observation."""
    tool = engine.tools.get(call.action.name)
    if call.settled is not None or call.woken:
        if (told := brought(engine, journal.trajectory, call)) is not None:
            await journal.record(told)
        return
    if tool is None:  # begun by an agent that had it
        text = IN_DOUBT.format(tool=call.action.name)
        await journal.record(refusal(call, "unknown", text))
        return
    if isinstance(tool, AgentTool) or call.child:
        await run_sub_run(engine, journal, tool, call)
        return
    with_secrets = journal.with_secrets(call)
    unmade = await _unmade(engine, journal, tool, call)
    if with_secrets is None or unmade is not None:
        lost = refusal(call, "not_kept", _NOT_KEPT)
        await journal.record(lost if unmade is None else unmade)
        return
    if tool.external is not None:
        await journal.record(*hand_out(tool, tool.external, call, journal.now()))
        return
    await _make(engine, journal, tool, call, with_secrets)


async def _make(
    engine: Engine, journal: Journal, tool: Tool, call: Call, with_secrets: Call
) -> None:
    """Make the call, repeat it if its effect allows, and record what came of it."""
    number, after = len(call.attempts), ""
    if number:
        after = "nobody saw the end of the attempt before"
        after = "a person answered" if _asked(call) else after
        after = "its time has come" if call.again and call.ruling is None else after
    last = call.attempts[-1] if call.attempts else None
    uncut = Uncut() if tool.effect in EFFECTFUL else None
    received = received_hash(tool, call.args) if uncut is not None else ""
    delay, task = tool.attempts.retry.delay, ""
    if last is not None and (last.hash == call.hash or last.received == received != ""):
        task = last.task  # with arguments of which the tool receives others it is another task
    while True:
        number += 1
        deadline = engine.budget.standing(journal.trajectory).deadline(tool)
        attempt = Attempt(
            call.key, tool.name, call.hash, deadline, number, after, task=task, received=received
        )
        if uncut is not None:
            await uncut.give_way()  # what is cancelled begins nothing
        if uncut is not None or number > 1:
            await journal.record(attempt)
        live = LIVE.get()
        if live is not None and live.followed:
            live.calling(call.key, tool.name, number)
        came = await _attempt(engine, tool, with_secrets, journal, attempt, uncut)
        if isinstance(came, Observation):
            came = await _probed(engine, journal, tool, call.key, came)
        if (
            not isinstance(came, Observation)
            or came.ok
            or number > tool.attempts.retry.times
            or not _repeatable(tool, came)
        ):
            await _record(journal, _held_if_unknown(engine, tool, call, came), uncut)
            return
        after, task = came.text, ""
        if live is not None and live.followed:
            live.retrying(number + 1, tool.attempts.retry.times + 1, after, delay, call.key)
        try:
            if uncut is not None:
                uncut.raise_kept()
            await anyio.sleep(delay)
        except anyio.get_cancelled_exc_class():  # it is known how that attempt ended
            await _record(journal, came, uncut)
            raise
        delay = min(delay * 2, tool.attempts.retry.max_delay)


async def _probed(
    engine: Engine, journal: Journal, tool: Tool, key: str, came: Observation
) -> Observation:
    """What the tool's probe says of a call that was late, or else what came of it."""
    if (came.code, came.outcome) != ("timeout", "unknown") or tool.attempts.probe is None:
        return came
    probed = await _probe(engine, journal, tool, journal.trajectory.call(key), tool.attempts.probe)
    if probed is None or probed.outcome == "unknown":  # one that it does not find may come
        return came
    return probed


def _held_if_unknown(
    engine: Engine, tool: Tool, call: Call, came: Observation | Judged | Suspended
) -> Observation | Judged | Suspended:
    """What came of a call; an unsafe one with an unknown outcome waits for a person by choice."""
    if engine.unknown == "tell" or tool.effect != "unsafe":
        return came
    if not isinstance(came, Observation) or came.outcome != "unknown":
        return came
    told = (
        came.text if came.code == "timeout" else f"{came.text}. {IN_DOUBT.format(tool=tool.name)}"
    )
    return _hold(call, told)


def _hold(call: Call, why: str) -> Judged:
    """A call in doubt is held for a person, who says whether to make it again."""
    verdict = Verdict(
        "hold", shortened(why), args=call.args, code="unknown", redacted=call.redacted
    )
    return Judged(call.key, verdict, by="in doubt")


async def _record(
    journal: Journal, came: Observation | Judged | Suspended, uncut: Uncut | None
) -> None:
    """Record what came of a call, and only then give way to who cancelled it meanwhile."""
    await journal.record(came)
    if uncut is not None:
        await uncut.give_way()


def _repeatable(tool: Tool, observation: Observation) -> bool:
    """Whether a failed call may be repeated: it did not happen, or may happen twice."""
    if observation.code == "bad_output":
        return False
    return tool.effect == "idempotent" or observation.outcome == "not_done"


async def _unmade(
    engine: Engine, journal: Journal, tool: Tool, call: Call
) -> Observation | Judged | None:
    """What there is to say of a call in doubt instead of making it; None if it may be made.

    One that began a task is made again: it then asks for that task.
    """
    if not call.in_doubt or call.again or call.attempts[-1].task:
        return None
    return await _settle(engine, journal, tool, call)


async def _settle(
    engine: Engine, journal: Journal, tool: Tool, call: Call
) -> Observation | Judged | None:
    """The outcome of a call that was cut off; None means that it may be made again."""
    if _asked(call) and call.ruling is not None and not call.ruling.allow:
        why = call.ruling.why or "a person said no"
        return refusal(call, "denied", f"{why}. Do not try it in another way.")
    if tool.effect != "unsafe" and tool.attempts.probe is None:
        return None
    if tool.attempts.probe is not None and not _retry_refused(call):
        probed = await _probe(engine, journal, tool, call, tool.attempts.probe)
        if probed is None or probed.outcome != "unknown":
            return probed
    if _retry_refused(call):
        return _not_repeated(journal, tool, call)
    text = IN_DOUBT.format(tool=call.attempts[-1].tool)
    if engine.unknown == "hold":
        return _hold(call, text)
    return failed(tool, call, "unknown", text, "unknown", trust="trusted")


def _not_repeated(journal: Journal, tool: Tool, call: Call) -> Observation:
    """The observation of a call in doubt that a person does not want made again."""
    held = "" if call.verdict is None else call.verdict.verdict.reason
    why = "" if call.ruling is None else call.ruling.why
    message = f"{held}\nA person said: {why}" if why else held
    plain_doubt = held == IN_DOUBT.format(tool=call.attempts[-1].tool)
    trust = "trusted" if plain_doubt else trust_of(tool, journal.trajectory)
    return failed(tool, call, "unknown", message, "unknown", trust=trust)


def _asked(call: Call) -> bool:
    """Whether the call, once made, held itself for a person, and the person has ruled."""
    own = call.verdict is not None and call.verdict.by == call.own_name
    return own and call.ruling is not None


def _retry_refused(call: Call) -> bool:
    """Whether a person ruled that a call with an unknown outcome must not be repeated."""
    doubted = call.verdict is not None and call.verdict.verdict.code == "unknown"
    return doubted and call.ruling is not None and not call.ruling.allow


async def _probe(
    engine: Engine,
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
    key, what = f"{journal.run_id}:{call.key}", f"the probe of the tool {tool.name}"
    try:
        probed = await ask(what, engine.patience, probe, copied(call.args), key)
    except Exception as error:  # noqa: BLE001 - whatever a probe raises, the call stays in doubt
        text = IN_DOUBT.format(tool=tool.name)
        return failed(tool, call, "unknown", text, "unknown", traced(error))
    return None if probed is None else observed(engine, journal.trajectory, tool, call, probed)


async def _attempt(
    engine: Engine, tool: Tool, call: Call, journal: Journal, attempt: Attempt, uncut: Uncut | None
) -> Observation | Judged | Suspended:
    """One attempt within its deadline; whatever the tool raises becomes an observation.

    An effect that has begun is not cut by a cancellation: `uncut` keeps that.
    """
    limit = attempt.timeout
    post = partial(_post_late_result, journal, tool, call)

    async def begun(task: str, *, by: str = attempt.tool) -> None:
        await journal.record(_at_work(journal, tool, attempt, task, by))

    made = CallContext(
        record=journal.trajectory,
        left=lambda: engine.budget.standing(journal.trajectory).left,
        task=attempt.task,
        answer=call.ruling.answer if call.ruling is not None and _asked(call) else None,
        blob=journal.store.blob,
        begun=begun,
        progress=partial(journal.progress, call.key),
        late=post,
    )
    context = copy_context()
    context.run(CALL.set, made)  # for whatever it starts
    key = f"{journal.run_id}:{call.key}"
    try:
        value = context.run(tool.call, copied(call.args), key)
    except BaseException as error:
        if _is_interrupt(error):
            raise
        return _raised(journal, tool, call, error)
    if hasattr(value, "__await__"):
        heard = partial(_report_late_end, post)
        ended = await run_with_deadline(value, limit, engine.patience.grace, heard, context, uncut)
        if ended.late:
            return _late(tool, call, limit, ended, post)
        if ended.error is not None:
            if not isinstance(value, InThread) and _is_interrupt(ended.error):
                raise ended.error
            return _raised(journal, tool, call, ended.error)
        value = ended.value
    if isinstance(value, Verdict) and value.kind == "hold":
        return _held_itself(call, value)
    if isinstance(value, Suspended):
        if tool.effect in EFFECTFUL:
            wrong = TypeError("a tool with an effect asks for no call")
            return _raised(journal, tool, call, wrong)
        return suspended(call, value, engine.argument_bytes)
    return observed(engine, journal.trajectory, tool, call, value)


def _held_itself(call: Call, verdict: Verdict) -> Judged:
    """The call's own verdict, as a record can hold it."""
    mended = msgspec.structs.replace(verdict, reason=writable(verdict.reason))
    return Judged(call.key, mended, by=call.own_name)


def _at_work(journal: Journal, tool: Tool, attempt: Attempt, task: str, by: str) -> Attempt:
    """The attempt, saying which task it began, or which other tool it was handed on to."""
    to = dict(handed_hashes(tool, journal.trajectory.call(attempt.call).args))
    return msgspec.structs.replace(attempt, task=task, tool=by, handed=to.get(by, ""))


def _raised(journal: Journal, tool: Tool, call: Call, error: BaseException) -> Observation:
    """The observation of an exception, whose text may quote whatever the tool read."""
    if isinstance(error, ToolError):
        own = error.trusted and tool.trust == "trusted"
        trust = journal.trajectory.trust if own else "untrusted"
        return failed(tool, call, "tool_error", message_of(error), "not_done", trust=trust)
    return failed(
        tool, call, "crashed", described(error),
        "unknown" if tool.effect in EFFECTFUL else "not_done", traced(error),
    )  # fmt: skip


def _is_interrupt(error: BaseException) -> bool:
    """Whether it may be a real Ctrl-C: it hits any code, but only in the main thread."""
    main = threading.current_thread() is threading.main_thread()
    return main and isinstance(error, KeyboardInterrupt)


def _post_late_result(journal: Journal, tool: Tool, call: Call, text: str) -> None:
    """Pass the result of a call that ended after its deadline to the journal, from any thread."""
    short = redact(one_line(writable(text)))[:LATE_CHARS]
    journal.words.append(f"{tool.name} (call {call.key}) ended after its deadline: {short}")


def _report_late_end(post: Callable[[str], None], ended: TaskResult) -> None:
    """Report the end of a call that ignored its deadline."""
    post(text_of(ended.value) if ended.error is None else described(ended.error))


def _late(
    tool: Tool, call: Call, timeout: float, ended: TaskResult, post: Callable[[str], None]
) -> Observation:
    why = " (all that is left of the run's time)" if timeout < tool.attempts.timeout else ""
    text = f"{tool.name} did not end in {timeout:g} s{why}"
    if ended.left:
        text += ", nor when it was stopped: it was left alone"
    elif not ended.responded:
        text += ", and ignored that it was stopped: how it ended is told apart"
        _report_late_end(post, ended)
    if tool.effect not in EFFECTFUL and stoppable(tool.call):
        text += " and was stopped: ask for less" if ended.responded else ". Ask for less"
        return failed(tool, call, "timeout", text, "not_done", trust="trusted")
    doubt = IN_DOUBT.format(tool="It")
    text += f". {doubt}" if tool.effect in EFFECTFUL else ". It may still be at work: ask for less"
    return failed(tool, call, "timeout", text, "unknown", trust="trusted")
