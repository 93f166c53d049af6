"""May this call happen? May this answer stand? The agent's own checks, before any effect."""

from typing import Any

import msgspec

from clew.agent import Agent, words
from clew.events import Action, AnyEvent, Code, Json, Judged, Observation, Outcome, Verdict, encode
from clew.protocols import Tool
from clew.tools.schema import example, nearest
from clew.trajectory import Call, Trajectory


def refusal(call: Call, code: Code, text: str, outcome: Outcome = "not_done") -> Observation:
    """The observation of a call that was not made (or, interrupted, not seen to its end).

    Untrusted, since it may echo what the model wrote.
    """
    content = f"ERROR: {text}" if text.startswith(code) else f"ERROR: {code}: {text}"
    return Observation(call.key, content, ok=False, code=code, outcome=outcome)


async def judge_call(agent: Agent, so_far: Trajectory, call: Call) -> list[AnyEvent]:
    """Every verdict on the call other than a plain yes; the last closes it where it is refused."""
    if call.ruling is not None and not call.ruling.allow:
        why = call.ruling.why or "a person said no"
        return [refusal(call, "denied", f"{why}. Do not try it in another way.")]
    tool = agent.by_name.get(call.action.name)
    if tool is None:
        return [refusal(call, "unknown_tool", _unknown(agent, call.action))]
    if call.action.fault:
        return [_teach(call, tool, call.action.fault)]
    events: list[AnyEvent] = []
    args = call.args
    if call.ruling is None and tool.repair is not None and (mended := tool.repair(args)):
        args, what = mended
        events.append(Judged(call.key, Verdict("amend", what, args=args), by=f"{tool.name}.repair"))
    if problems := agent.problems(tool, args):
        return [*events, _teach(call, tool, "; ".join(problems))]
    if call.ruling is not None and call.ruling.args is None:
        return events  # ruled as it stands
    return [*events, *await _ask_guards(agent, so_far, call, tool, args)]


async def _ask_guards(
    agent: Agent, so_far: Trajectory, call: Call, tool: Tool, args: dict[str, Json]
) -> list[AnyEvent]:
    """Ask each guard about the call as amended so far; the first refusal or hold ends it.

    The guard that held a call is not asked again about the arguments a person put in their place.
    """
    held_by = call.verdict.by if call.ruling is not None and call.verdict is not None else None
    events: list[AnyEvent] = []
    asked = Call(call.key, Action(call.action.name, args))
    for guard in agent.all_guards:
        if held_by is not None and words(guard) == held_by:
            continue
        if (verdict := await guard(asked, so_far)) is None:
            continue
        name = words(guard)
        match verdict.kind:
            case "hint":
                events.append(Judged(call.key, verdict, by=name))
            case "amend":
                args = verdict.args if verdict.args is not None else args
                if problems := agent.problems(tool, args):
                    return [*events, _teach(call, tool, "; ".join(problems))]
                asked = Call(call.key, Action(call.action.name, args))
                events.append(Judged(call.key, verdict, by=name))
            case "hold":
                held = msgspec.structs.replace(verdict, args=verdict.args or asked.args)
                return [*events, Judged(call.key, held, by=name)]
            case _:
                denied = refusal(call, verdict.code, verdict.reason)
                return [*events, Judged(call.key, verdict, by=name), denied]
    return events


async def judge_answer(agent: Agent, so_far: Trajectory, value: Json) -> str | None:
    """What is wrong with an answer, by its type and the agent's checks; None if nothing is."""
    try:
        answer: Any = agent.decode(value)
    except ValueError as error:
        return str(error)
    for check in agent.checks:
        if (problem := await check(answer, so_far)) is not None:
            return problem
    return None


def _unknown(agent: Agent, action: Action) -> str:
    names = [tool.name for tool in agent.brief.tools] + [agent.brief.finish.name]
    close = nearest(action.name, names)
    instead = f"did you mean {close}?" if close else f"there are: {', '.join(names)}"
    return f"unknown_tool({action.name}): {instead}"


def _teach(call: Call, tool: Tool, problem: str) -> Observation:
    right = tool.examples[0] if tool.examples else example(tool.parameters)
    text = f"{problem}. The right form: {encode(right).decode()}"
    return refusal(call, "invalid_arguments", text)
