"""May this call happen? May this answer stand? The agent's own checks, before any effect."""

from typing import Any, Final

import msgspec

from clew.core.agent import OWN_GUARDS, Agent
from clew.core.call_ids import repeated
from clew.core.errors import PartError
from clew.core.events import (
    FINISH,
    Action,
    AnyEvent,
    Code,
    Json,
    Judged,
    Observation,
    Stop,
    Trust,
    Verdict,
    encode,
)
from clew.core.interfaces import Guard, ToolSpec
from clew.core.observations import refusal
from clew.core.trajectory import Call, Step, Trajectory
from clew.guards.caps import AlreadyDone
from clew.support.error_text import message_of
from clew.support.nearest_name import did_you_mean, nearest
from clew.support.parts import ask, broken, copied, of_kind, stable_name, text_from, using, wrong
from clew.support.schema_parts import keywords
from clew.tools.schema import example, right_form
from clew.tools.types import plain

_NOBODY: Final = frozenset[str]()


def held_stop(*keys: str) -> Stop:
    """The stop of a run that waits for a person's ruling on these calls."""
    return Stop("held", f"waiting for a ruling on {', '.join(keys)}")


def comes_before(step: Step) -> tuple[Code, str] | None:
    """Why the step's call of finish is sent back unjudged, if something takes precedence."""
    if step.person_spoke:
        return "interrupted", "a person spoke meanwhile: heed that, then finish"
    failed = [
        call.action.name
        for call in step.calls
        if call.observation and not call.observation.ok and call.action.name != FINISH
    ]
    if failed:
        names = ", ".join(dict.fromkeys(failed))
        return "sibling_failed", f"{names} failed in this step: look at that, then finish"
    return None


async def judge_call(agent: Agent, so_far: Trajectory, call: Call) -> list[AnyEvent]:
    """Every verdict on the call other than yes; if it is refused, the last event closes it."""
    if call.ruling is not None and not call.ruling.allow:
        why = call.ruling.why or "a person said no"
        return [refusal(call, "denied", f"{why}. Do not try it in another way.", so_far.trust)]
    if (same := repeated(so_far, call, agent.by_name)) is not None:
        return [same]
    if call.action.name != FINISH and (over := agent.budget.exceeded(so_far)) is not None:
        why = f"nothing more is begun, for the budget is spent ({over.reason})"
        return [refusal(call, "cap", why, so_far.trust)]
    tool = agent.by_name.get(call.action.name)
    if tool is None:
        return [refusal(call, "unknown_tool", _unknown(agent, so_far, call.action), so_far.trust)]
    if call.action.fault:
        return [_teach(call, tool, call.action.fault, so_far.trust)]
    most = agent.limits.argument_bytes
    if (size := len(encode(call.args))) > most:
        text = f"the arguments have {size:,} bytes, and may have {most:,}: give less, or in parts"
        return [refusal(call, "invalid_arguments", text)]
    events: list[AnyEvent] = []
    args = call.args
    if call.ruling is None and (mended := _repaired(tool, args)) is not None:
        args, what = mended
        events.append(Judged(call.key, Verdict("amend", what, args=args), by=f"{tool.name}.repair"))
    if problems := agent.validators[tool.name](args):
        return [*events, _teach(call, tool, "; ".join(problems), so_far.trust)]
    return [*events, *await _ask_guards(agent, so_far, call, tool, args)]


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
    agent: Agent, so_far: Trajectory, call: Call, tool: ToolSpec, args: dict[str, Json]
) -> list[AnyEvent]:
    """Ask each guard about the call as amended so far: a refusal ends it, a hold waits for all.

    A call that a person allowed as it stood is not held again, and the guard that held it is not
    asked again. With other arguments it is asked again by all: the one that held it may refuse
    them, but not hold the same call twice, unless these repeat another effect.
    """
    held_by = _NOBODY if call.ruling is None else _holders(so_far, call)
    approved = call.ruling is not None and call.ruling.args is None
    events: list[AnyEvent] = []
    held: Judged | None = None
    asked = Call(call.key, Action(call.action.name, args))
    for name, guard in agent.named_guards:
        others = guard is not tool.guard and any(guard is each for each in agent.tool_guards)
        if others or (approved and name in held_by):
            continue
        if isinstance(guard, OWN_GUARDS):
            verdict = await guard(asked, so_far)
        else:
            seen = Call(call.key, Action(call.action.name, copied(args)))
            verdict = validate_verdict(
                await ask(f"the guard {name}", agent.patience, guard, seen, so_far), name
            )
        if verdict is None:
            continue
        match verdict:
            case Verdict(kind="hint"):
                if (hint := Judged(call.key, verdict, by=name)) not in call.hints:
                    events.append(hint)
            case Verdict(kind="amend", args=dict(args)):
                if problems := agent.validators[tool.name](args):
                    return [*events, _teach(call, tool, "; ".join(problems), so_far.trust)]
                asked = Call(call.key, Action(call.action.name, args))
                events.append(Judged(call.key, verdict, by=name))
            case Verdict(kind="hold"):
                new = Judged(call.key, verdict, by=name)
                held = held if approved else _asking(call, held, new, guard, held_by)
            case _:
                denied = refusal(call, verdict.code, verdict.reason, so_far.trust)
                return [*events, Judged(call.key, verdict, by=name), denied]
    if held is None:
        return events
    wanted = asked.args if held.verdict.args is None else held.verdict.args
    verdict = msgspec.structs.replace(held.verdict, args=wanted)
    return [*events, msgspec.structs.replace(held, verdict=verdict)]


def _holders(so_far: Trajectory, call: Call) -> frozenset[str]:
    """Who held the call that a person has ruled on; a tool that refused a ruling asks for another.

    What was asked before that is answered by the other ruling too.
    """
    held = call.verdict
    names = set[str]() if held is None else {held.by}
    if held is not None and held.verdict.code == "invalid_arguments":
        told = (entry.event for entry in so_far.entries)
        names |= {
            event.by
            for event in told
            if isinstance(event, Judged) and event.call == call.key and event.verdict.kind == "hold"
        }
    return frozenset(names)


def _asking(
    call: Call, held: Judged | None, new: Judged, guard: Guard, held_by: frozenset[str]
) -> Judged | None:
    """The first hold, unless a person was asked that; and what the call would repeat, beside it.

    What repeats another effect is asked about once for each such effect, whoever held the call.
    """
    if not isinstance(guard, AlreadyDone):
        return held or (None if new.by in held_by else new)
    if call.ruling and call.verdict and call.verdict.verdict.repeats == new.verdict.repeats:
        return held
    if held is None or held.verdict.repeats:  # as a replay has it
        return held or new
    both = f"{held.verdict.reason}; {new.verdict.reason}"
    verdict = msgspec.structs.replace(held.verdict, reason=both, repeats=new.verdict.repeats)
    return msgspec.structs.replace(held, verdict=verdict)


def validate_verdict(verdict: object, name: str, what: str = "guard") -> Verdict | None:
    """The verdict, if a record can store it. Raises `PartError` if it cannot.

    An `amend` says with which arguments: without them the call would be made unchanged.
    """
    if verdict is None:
        return None
    who = f"the {what} {name}"
    try:
        said = of_kind(who, verdict, Verdict, "a Verdict or None")
        if said.kind == "amend" and said.args is None:
            message = (
                f"{who} amends a call without saying how: give args; mend it and resume the run"
            )
            raise PartError(message)
        return msgspec.convert(plain(said), Verdict)
    except PartError:
        raise
    except Exception as error:
        message = (
            f"{who} gave a verdict that is none: {message_of(error)}; mend it and resume the run"
        )
        raise PartError(message) from error


async def judge_words(agent: Agent, so_far: Trajectory) -> list[AnyEvent]:
    """What screens say, other than a plain yes, of a person's words that no model has seen yet.

    Of words that were judged: that they wait for a person, or that one refused them.
    """
    if (words := so_far.words) is not None:
        if words.held:
            return [held_stop(words.key)]
        why = "" if words.ruling is None else words.ruling.why
        return [Stop("refused", why or "a person said no")]
    text, key = "\n\n".join(so_far.pending_input), so_far.words_key
    events: list[AnyEvent] = []
    held: list[AnyEvent] = []
    for name, screen in agent.named_screens:
        said = await ask(f"the screen {name}", agent.patience, screen, text)
        if (verdict := validate_verdict(said, name, "screen")) is None:
            continue
        judged = Judged(key, verdict, by=name)
        match verdict.kind:
            case "hint":
                events.append(judged)
            case "hold":
                held = held or [judged, held_stop(key)]
            case "deny":
                return [*events, judged, Stop("refused", verdict.reason)]
            case _:
                message = (
                    f"the screen {name} would change a person's words: it may only judge them; "
                    "mend it and resume the run"
                )
                raise PartError(message)
    return [*events, *held]


async def judge_answer(agent: Agent, so_far: Trajectory, value: Json) -> str | None:
    """What is wrong with an answer, by its type and the agent's checks; None if nothing is."""
    for check in agent.checks or (None,):
        try:
            answer: Any = agent.decode(copied(value))  # anew for each: one may change it
        except ValueError as error:
            return message_of(error)
        except Exception as error:
            raise broken("the answer's type", error) from error
        if check is None:
            break
        who = f"the check {stable_name(check)}"
        problem = await ask(who, agent.patience, check, answer, so_far)
        if problem is None:
            continue
        return text_from(who, problem, "what is wrong with the answer, or None")
    return None


def _unknown(agent: Agent, so_far: Trajectory, action: Action) -> str:
    names = [*(tool.name for tool in agent.brief.tools), *so_far.shown, agent.brief.finish.name]
    there_are = f"there are: {', '.join(names)}"
    instead = did_you_mean(action.name, [*names, *agent.brief.later], there_are)
    return f"unknown_tool({action.name}): {instead}"


def _teach(call: Call, tool: ToolSpec, problem: str, trust: Trust) -> Observation:
    known = keywords(tool.parameters.get("properties"))
    meant = [nearest(name, known) or "" for name in call.args]
    of_these = example(tool.parameters, meant)
    right = tool.examples[0] if tool.examples else right_form(tool.parameters, of_these)
    shown = "" if right is None else f" The right form: {encode(right).decode()}"
    stop = "" if problem.endswith("?") or not shown else "."
    return refusal(call, "invalid_arguments", f"{problem}{stop}{shown}", trust)
