"""May this call happen? May this answer stand? The agent's own checks, before any effect."""

from typing import Any, Final

import msgspec

from clew.core.actions import Action
from clew.core.call_ids import repeated
from clew.core.codes import FINISH, UNMADE, Code, Trust
from clew.core.contents import Observation
from clew.core.engine import Engine, NamedGuard
from clew.core.events import AnyEvent, Charged, Judged, Stop
from clew.core.judging import Guard, Screened
from clew.core.observations import refusal, too_long
from clew.core.settling import stopped, was_woken
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call, Step, Trajectory
from clew.core.values import Json, encode
from clew.core.verdicts import Origin, Verdict
from clew.support.error_text import message_of
from clew.support.errors import PartError
from clew.support.json_values import plain
from clew.support.parts import (
    Patience,
    ask,
    broken,
    copied,
    of_kind,
    stable_name,
    text_from,
    using,
    wrong,
)

_MEND: Final = "mend it and resume the run"
_NOBODY: Final = frozenset[str]()


def held_stop(trajectory: Trajectory, *calls: Call) -> Stop:
    """The stop of a run that waits for a person's ruling on these calls, or for their results."""
    held = [(call.key, call.verdict.verdict) for call in calls if call.verdict is not None]
    rulings = ", ".join(key for key, verdict in held if verdict.wants == "ruling")
    results = ", ".join(key for key, verdict in held if verdict.wants == "result")
    reasons = [f"a ruling on {rulings}"] if rulings else []
    reasons += [f"the result of {results}"] if results else []
    wake = min((verdict.until for _, verdict in held if verdict.until), default=0)
    why = f"waiting for {' and '.join(reasons)}"
    return stopped(trajectory, Stop("held", why, wake=wake))


def comes_before(step: Step) -> tuple[Code, str] | None:
    """Why the step's call of finish is sent back unjudged, if something takes precedence."""
    if step.person_spoke:
        return "interrupted", "a person spoke meanwhile: heed that, then finish"
    failed = [
        call.action.name
        for call in step.calls
        if (seen := call.observation)
        and not (seen.ok or seen.code == "waits")
        and call.action.name != FINISH
    ]
    if failed:
        names = ", ".join(dict.fromkeys(failed))
        return "sibling_failed", f"{names} failed in this step: look at that, then finish"
    return None


async def judge_call(engine: Engine, trajectory: Trajectory, call: Call) -> list[AnyEvent]:
    """Every verdict on the call other than yes; if it is refused, the last event closes it."""
    if call.ruling is not None and not call.ruling.allow:
        why = call.ruling.why or "a person said no"
        return [refusal(call, "denied", f"{why}. Do not try it in another way.", trajectory.trust)]
    if (same := repeated(trajectory, call, engine.tools)) is not None:
        return [same]
    if (
        call.action.name != FINISH
        and (over := engine.budget.standing(trajectory).exceeded) is not None
    ):
        why = f"nothing more is begun, for the budget is spent ({over.reason})"
        return [refusal(call, "cap", why, trajectory.trust)]
    tool = engine.tools.get(call.action.name)
    if tool is None:
        text = engine.advice.unknown_tool(trajectory, call.action.name)
        return [refusal(call, "unknown_tool", text, trajectory.trust)]
    if call.action.fault:
        return [_teach(engine, call, tool, call.action.fault, trajectory.trust)]
    max_bytes = engine.argument_bytes
    if (size := len(encode(call.args))) > max_bytes:
        return [refusal(call, "invalid_arguments", too_long(size, max_bytes))]
    events: list[AnyEvent] = []
    asked = Call(call.key, Action(call.action.name, call.args), call.verdict)
    if call.ruling is None and (mended := _repaired(tool, call.args)) is not None:
        args, what = mended
        judged = _amendment(asked, Verdict("amend", what, args=args), f"{tool.name}.repair")
        asked = Call(call.key, Action(call.action.name, args), judged)
        events.append(judged)
    if problems := engine.validators[tool.name](asked.args):
        return [*events, _teach(engine, call, tool, "; ".join(problems), trajectory.trust)]
    return [*events, *await _ask_guards(engine, trajectory, call, tool, asked)]


def _repaired(tool: ToolSpec, args: dict[str, Json]) -> tuple[dict[str, Json], str] | None:
    """The arguments as repaired by the tool's own function. Raises `PartError` if that fails."""
    if tool.repair is None:
        return None
    who = f"the repair of the tool {tool.name}"
    with using(who):
        mended: Any = tool.repair(copied(args))
    if not mended:
        return None
    match mended:
        case (dict(), str(what)):
            with using(who):
                return plain(mended[0]), what
        case _:
            raise wrong(who, mended, "(arguments, words), or None")


async def _ask_guards(
    engine: Engine, trajectory: Trajectory, call: Call, tool: ToolSpec, asked: Call
) -> list[AnyEvent]:
    """Ask each guard about the call as amended so far: a refusal ends it, a hold waits for all.

    A call that a person allowed as it stood is not held again, and the guard that held it is not
    asked again. With other arguments it is asked again by all: the one that held it may refuse
    them, but not hold the same call twice, unless these repeat another effect.
    """
    held_by = _NOBODY if call.ruling is None else _holders(trajectory, call)
    approved = call.ruling is not None and call.ruling.args is None
    events: list[AnyEvent] = []
    held: Judged | None = None
    for guard in engine.guards:
        name = guard.name
        if guard.tools is not None and tool.name not in guard.tools:
            continue
        if approved and name in held_by:
            continue
        verdict = await guard.ask(asked, trajectory)
        if verdict is None:
            continue
        match verdict:
            case Verdict(kind="hint"):
                if (hint := Judged(call.key, verdict, by=name)) not in call.hints:
                    events.append(hint)
            case Verdict(kind="amend") if approved:  # they were shown as amended
                continue
            case Verdict(kind="amend", args=dict(args)):
                if problems := engine.validators[tool.name](args):
                    taught = _teach(engine, call, tool, "; ".join(problems), trajectory.trust)
                    return [*events, taught]
                judged = _amendment(asked, verdict, name)
                asked = Call(call.key, Action(call.action.name, args), judged)
                events.append(judged)
            case Verdict(kind="hold"):
                new = Judged(call.key, verdict, by=name)
                held = held if approved else _asking(call, held, new, guard, held_by)
            case _:
                denied = refusal(call, verdict.code, verdict.reason, trajectory.trust)
                return [*events, Judged(call.key, verdict, by=name), denied]
    if held is None:
        return events
    wanted = asked.args if held.verdict.args is None else held.verdict.args
    verdict = msgspec.structs.replace(held.verdict, args=wanted)
    return [*events, msgspec.structs.replace(held, verdict=verdict)]


def _amendment(before: Call, verdict: Verdict, by: str) -> Judged:
    """A guard's amendment of a call, with the arguments that a guard vouches for.

    A guard vouches for an argument that it gives a `trusted` origin. What one before it vouched for
    stands as long as nobody changes that argument.
    """
    args, was = verdict.args or {}, before.args
    earlier = before.verdict.verdict if before.verdict is not None else None
    told = dict[str, tuple[Origin, ...]]()
    if earlier is not None and earlier.kind == "amend":
        same = (name for name in earlier.origins if name in args and name in was)
        told = {it: earlier.origins[it] for it in same if encode(args[it]) == encode(was[it])}
    for name, origins in verdict.origins.items():
        if name in args and any(it.trusted and it.tool in {"", by} for it in origins):
            told[name] = (Origin("guard", tool=by, trusted=True),)
    return Judged(before.key, msgspec.structs.replace(verdict, origins=told), by=by)


async def ask_guard(
    name: str, guard: Guard, patience: Patience, call: Call, trajectory: Trajectory
) -> Verdict | None:
    """Ask a user's own guard, within its deadline; it gets a copy of the arguments."""
    seen = Call(call.key, Action(call.action.name, copied(call.args)))
    seen.woken = was_woken(trajectory, call.key)
    answer = await ask(f"the guard {name}", patience, guard, seen, trajectory)
    return validate_verdict(answer, name)


def _holders(trajectory: Trajectory, call: Call) -> frozenset[str]:
    """Who held the call that a person has ruled on; a tool that refused a ruling asks for another.

    What was asked before that is answered by the other ruling too.
    """
    held = call.verdict
    names = set[str]() if held is None else {held.by}
    if held is not None and held.verdict.code == "invalid_arguments":
        told = (entry.event for entry in trajectory.entries)
        names |= {
            event.by
            for event in told
            if isinstance(event, Judged) and event.call == call.key and event.verdict.kind == "hold"
        }
    return frozenset(names)


def _asking(
    call: Call, held: Judged | None, new: Judged, guard: NamedGuard, held_by: frozenset[str]
) -> Judged | None:
    """The first hold, unless a person was asked that; beside it all other reasons to ask.

    It is put off until the run would end only if all of them may wait so long. What repeats another
    effect is asked about once for each such effect, whoever held the call.
    """
    if held is not None and new.verdict.origins and not held.verdict.origins:
        told = msgspec.structs.replace(held.verdict, origins=new.verdict.origins)
        held = msgspec.structs.replace(held, verdict=told)
    if not guard.repeat:
        asked = call.verdict is not None and new.by in call.verdict.verdict.also
        return _beside(held, None if asked or new.by in held_by else new)
    if call.ruling and call.verdict and call.verdict.verdict.repeats == new.verdict.repeats:
        return held
    if held is None or held.verdict.repeats:  # as a replay has it
        return held or new
    both = f"{held.verdict.reason}; {new.verdict.reason}"
    verdict = msgspec.structs.replace(held.verdict, reason=both, repeats=new.verdict.repeats)
    return msgspec.structs.replace(held, verdict=verdict)


def _beside(held: Judged | None, new: Judged | None) -> Judged | None:
    """A hold, with the reason of another one for the same call."""
    if held is None or new is None:
        return held or new
    also = {**held.verdict.also, new.by: new.verdict.reason}
    gather = held.verdict.gather and new.verdict.gather
    verdict = msgspec.structs.replace(held.verdict, also=also, gather=gather)
    return msgspec.structs.replace(held, verdict=verdict)


def validate_verdict(verdict: object, name: str, what: str = "guard") -> Verdict | None:
    """The verdict, if a record can store it. Raises `PartError` if it cannot.

    An `amend` says with which arguments: without them the call would be made unchanged.
    """
    if verdict is None:
        return None
    who = f"the {what} {name}"
    try:
        checked = of_kind(who, verdict, Verdict, "a Verdict or None")
        if checked.kind == "amend" and checked.args is None:
            raise PartError(f"{who} amends a call without saying how: give args; {_MEND}")
        if (code := checked.code) not in UNMADE:
            raise PartError(f"{who} gives the code {code!r}: it says that a call was made; {_MEND}")
        if code == "waits":
            raise PartError(f"{who} gives the code {code!r}: hold the call, with gather=True")
        return msgspec.convert(plain(checked), Verdict)
    except PartError:
        raise
    except Exception as error:
        message = f"{who} gave a verdict that is none: {message_of(error)}; {_MEND}"
        raise PartError(message) from error


async def judge_words(engine: Engine, trajectory: Trajectory) -> list[AnyEvent]:
    """What screens say, other than a plain yes, of a person's words that no model has seen yet.

    Of words that were judged: that they wait for a person, or that one refused them.
    """
    if (words := trajectory.words) is not None:
        if words.held:
            return [held_stop(trajectory, words)]
        why = "" if words.ruling is None else words.ruling.why
        return [stopped(trajectory, Stop("refused", why or "a person said no"))]
    text, key = "\n\n".join(trajectory.pending_input), trajectory.words_key
    events, took = list[AnyEvent](), list[AnyEvent]()
    held: Judged | None = None
    for name, screen in engine.screens:
        if isinstance(verdict := await screen(text), Screened):
            took.append(Charged(verdict.usage, "screen", f"{name}: {verdict.why}"))
            verdict = verdict.verdict
        if verdict is None:
            continue
        judged = Judged(key, verdict, by=name)
        match verdict.kind:
            case "hint":
                events.append(judged)
            case "hold":
                held = held or judged
            case "deny":
                end = stopped(trajectory, Stop("refused", verdict.reason))
                return [*events, judged, *took, end]
            case _:
                message = (
                    f"the screen {name} would change a person's words: it may only judge them; "
                    "mend it and resume the run"
                )
                raise PartError(message)
    # what was charged is last: a replay takes it from the record when the verdicts are derived
    if held is None:
        return [*events, *took]
    stop = Stop("held", f"waiting for a ruling on {key}")
    return [*events, held, *took, stopped(trajectory, stop)]


async def judge_answer(engine: Engine, trajectory: Trajectory, value: Json) -> str | None:
    """What is wrong with an answer, by its type and the agent's checks; None if nothing is."""
    for check in engine.checks or (None,):
        try:
            answer: Any = engine.decode(copied(value))  # anew for each: one may change it
        except ValueError as error:
            return message_of(error)
        except Exception as error:
            raise broken("the answer's type", error) from error
        if check is None:
            return None
        who = f"the check {stable_name(check)}"
        problem = await ask(who, engine.patience, check, answer, trajectory)
        if problem is None:
            continue
        return text_from(who, problem, "what is wrong with the answer, or None")
    return None


def _teach(engine: Engine, call: Call, tool: ToolSpec, problem: str, trust: Trust) -> Observation:
    """What is wrong with the arguments of a call, and a right form of them."""
    right = engine.advice.right_form(tool, call.args)
    example = f" The right form: {right}" if right else ""
    stop = "" if problem.endswith("?") or not example else "."
    return refusal(call, "invalid_arguments", f"{problem}{stop}{example}", trust)
