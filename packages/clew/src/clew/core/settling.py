"""Calls whose result comes from elsewhere: somebody performs them, or has looked what came of one.

An external call is handed out by its hold on record: whoever performs it sees it there. Its result,
and what came of a call of unknown outcome, arrive in the inbox (`Settled`), once.
"""

from typing import Final

from msgspec.structs import replace

from clew.core.actions import UnknownCall
from clew.core.codes import EFFECTFUL, Outcome, Trust
from clew.core.contents import Observation
from clew.core.engine import Engine
from clew.core.events import AnyEvent, Attempt, Judged, Settled, Stop, Woken
from clew.core.observations import failed, observed, refusal
from clew.core.received import received_hash
from clew.core.tools import External, Tool, ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.core.verdicts import Verdict

_DONE: Final = "it was done, as somebody found out; its result is not known"
_NOT_DONE: Final = "it certainly did not happen, as somebody found out"
_OURS: Final[Trust] = "trusted"
_HEARD: Final[Trust] = "untrusted"


def hand_out(tool: Tool, external: External, call: Call, now: int) -> list[AnyEvent]:
    """What puts a call on record for whoever performs it, from one moment to the next."""
    until = 0 if external.timeout is None else now + int(external.timeout * 1000)
    reason = f"{tool.name} is performed elsewhere, and waits for its result"
    verdict = Verdict(
        "hold", reason, args=call.args, redacted=call.redacted, asks=tool.result,
        wants="result", until=until,
    )  # fmt: skip
    held = Judged(call.key, verdict, by=call.own_name)
    if tool.effect not in EFFECTFUL:
        return [held]
    received = received_hash(tool, call.args)
    attempt = Attempt(call.key, tool.name, call.hash, external.timeout or 0.0, received=received)
    return [attempt, held]


def brought(engine: Engine, trajectory: Trajectory, call: Call) -> Observation | None:
    """The observation of a call of which somebody said what came of it, or whose time passed."""
    word, tool = call.settled, engine.tools.get(call.action.name)
    if word is None:
        return _without_result(engine, trajectory, tool, call) if call.woken else None
    if tool is None:
        text = "it was done" if word.done else "it did not happen"
        return refusal(call, "unknown_tool", f"{text}, and the agent has no such tool any more")
    why, trust = (f": {word.why}", _HEARD) if word.why else ("", _OURS)
    if not word.done:
        return failed(tool, call, "tool_error", f"{_NOT_DONE}{why}", "not_done", trust=trust)
    if word.result is None:
        return Observation(call.key, f"{_DONE}{why}", effect=tool.effect, trust=trust)
    return observed(engine, trajectory, tool, call, word.result)


def _without_result(
    engine: Engine, trajectory: Trajectory, tool: ToolSpec | None, call: Call
) -> Observation:
    """The observation of a call that nobody gave a result in time."""
    external = tool.external if isinstance(tool, Tool) else None
    if tool is None or external is None or external.fallback is None:
        text = f"nobody gave a result of {call.action.name} in time"
        return refusal(call, "timeout", text, "trusted")
    outcome: Outcome = "unknown" if call.begun else "done"
    instead = Observation(content=external.fallback, outcome=outcome, trust=tool.trust)
    return observed(engine, trajectory, tool, call, instead)


def due(trajectory: Trajectory, now: int) -> list[Woken]:
    """The held calls whose time has come."""
    return [
        Woken(call.key)
        for call in trajectory.held
        if call.verdict is not None and 0 < call.verdict.verdict.until <= now
    ]


def was_woken(trajectory: Trajectory, key: str) -> bool:
    """Whether the time of a call has come, which is now judged again."""
    again = any(call.again for call in trajectory.step.all_calls if call.key == key)
    return again and Woken(key) in (entry.event for entry in trajectory.entries)


def unknown_calls(trajectory: Trajectory) -> tuple[UnknownCall, ...]:
    """The calls of a run, and of those below it, of which nobody knows whether they happened.

    One that waits for somebody's result is none of them, until its time has passed or the run ends.
    """
    unknown: list[UnknownCall] = []
    for call in trajectory.calls:
        seen = call.observation
        if call.child and (below := unknown_below(call)):
            unknown += below
        elif (call.begun if seen is None else seen.outcome == "unknown") and is_unknown(call):
            if waits_for_result(call):
                continue
            named = f"{trajectory.run_id}:{call.key}"
            unknown.append(UnknownCall(named, call.action.name, call.args))
    return tuple(unknown)


def unknown_below(call: Call) -> list[UnknownCall]:
    """The calls of its sub-run, and of those below that, of which nobody knows it now."""
    listed: tuple[UnknownCall, ...] = ()
    if (seen := call.observation) is not None:
        listed = seen.unknown
    elif call.child and call.held and call.verdict is not None:  # the sub-run waits
        listed = call.verdict.verdict.unknown
    return [each for each in listed if each.id not in call.settled_below]


def stopped(trajectory: Trajectory, stop: Stop) -> Stop:
    """The stop with the calls of unknown outcome as they are now; so every stop is made.

    It is made once more where somebody has said meanwhile what came of one.
    """
    return replace(stop, unknown=unknown_calls(trajectory))


def is_unknown(call: Call) -> bool:
    """Whether nobody knows what came of it, so that somebody may say it, once."""
    if call.settled is not None or call.child:
        return False
    if (seen := call.observation) is not None:
        return seen.outcome == "unknown" and seen.effect in EFFECTFUL
    return call.in_doubt or waits_for_result(call)


def waits_for_result(call: Call) -> bool:
    """Whether it waits for somebody who performs it elsewhere."""
    return call.held and call.verdict is not None and call.verdict.verdict.wants == "result"


def objection(trajectory: Trajectory, word: Settled) -> str:
    """Why what somebody says of a call does not count."""
    call = next((each for each in trajectory.calls if each.key == word.call), None)
    if word.below and call is not None:
        listed = any(each.id == word.below for each in unknown_below(call))
        return "" if listed else "it is known what came of it"
    if call is None or not is_unknown(call):
        return "it is known what came of it"
    if word.hash and word.hash != call.question:
        return "it is another call now"
    return ""
