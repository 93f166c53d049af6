"""Reading what a run came to off its record."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from clew.agent.agent import A_co, Agent
from clew.agent.result import (
    NOTHING_SPENT,
    Answered,
    BaseResult,
    Bound,
    Declined,
    Failed,
    Held,
    Interrupted,
    Refused,
    Result,
)
from clew.agent.unread_words import with_unread_words
from clew.agent.work_done import contradicts, work_done
from clew.citations import citations, references
from clew.core.codes import EFFECTFUL
from clew.core.contents import Usage
from clew.core.events import Stop
from clew.core.judging import Audits
from clew.core.pending import pending_here, pending_in
from clew.core.settling import unknown_calls
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.guards.links import links_from_outside
from clew.guards.safe_links import safe_links
from clew.support.errors import ConfigError
from clew.support.json_values import text_or_json
from clew.support.parts import stable_name, using
from clew.tools.finish import completed_answer

_NOTHING_USED: Final = Usage()


def _decoded(agent: Agent[Any], answer: Json) -> Any:
    """The answer in the agent's type; as recorded, if it was given to an agent of another."""
    try:
        return agent.decode(answer)
    except Exception:  # noqa: BLE001 - a user's own type may raise anything
        return answer


def _of_type(agent: Agent[A_co], trajectory: Trajectory, answer: Json) -> A_co:
    """The answer in the agent's type: a result holds nothing else.

    Raises `ConfigError` where it was given to an agent of another type.
    """
    try:
        return agent.decode(answer)
    except Exception as error:
        message = (
            f"run {trajectory.run_id} has an answer of another type than this agent's: "
            "use the agent that was asked, or read(…), which has the answer as recorded"
        )
        raise ConfigError(message) from error


def _completed(agent: Agent[Any], answer: Json) -> Json:
    """The answer with the fields that its type has by default; as recorded, if it is of another."""
    try:
        return completed_answer(agent.answer, answer)
    except Exception:  # noqa: BLE001 - a user's own type may raise anything
        return answer


def _partial(agent: Agent[A_co], answer: Json) -> A_co | None:
    """What stands in for an answer, in the agent's type; None where there is nothing."""
    return None if answer is None else _decoded(agent, answer)


def _note(trajectory: Trajectory, *, answered: bool) -> str:
    """The text beside the answer, if `answered`, and what clew noticed about the replies."""
    replies = [
        step.thought.reply for step in reversed(trajectory.steps) if step.thought is not None
    ]
    note = replies[0].note if answered and replies else ""
    warning = next((reply.warning for reply in replies if reply.warning), "")
    return "\n".join(filter(None, (note, warning)))


def _audited(agent: Agent[Any], trajectory: Trajectory, answer: Json) -> object:
    """What the agent's first check that audits says of the answer."""
    checks: Sequence[object] = agent.checks
    for check in checks:
        if isinstance(check, Audits):
            with using(f"the audit of {stable_name(check)}"):
                return check.audit(_decoded(agent, answer), trajectory)
    return None


def _common(trajectory: Trajectory, stop: Stop, prompt: str, complete: Json) -> dict[str, Any]:
    """What a result of any status has that the record says.

    `prompt` are the instructions, and `complete` is the answer with all of its fields.
    """
    known = {piece.doc_id: piece for piece in trajectory.evidence}
    text = stop.answer if isinstance(stop.answer, str) else ""
    names = dict.fromkeys(c.doc_id for c in citations(text, known) if c.doc_id in known)
    cited = tuple(known[name] for name in names)
    safe = safe_links(trajectory, prompt)
    safe_answer, neutralised = safe(complete)
    listed = references(cited, trajectory) if cited else ()
    return {
        "run_id": trajectory.run_id,
        "reason": stop.reason,
        "code": stop.code or ("rejected" if stop.status == "failed" else ""),
        "usage": NOTHING_SPENT if trajectory.usage == _NOTHING_USED else trajectory.usage,
        "steps": len(trajectory.steps),
        "evidence": tuple(known.values()),
        "cited": cited,
        "references": tuple(replace(one, title=str(safe(one.title)[0])) for one in listed),
        "fallback": stop.fallback,
        "lost": NOTHING_SPENT if trajectory.total.lost == _NOTHING_USED else trajectory.total.lost,
        "unknown": unknown_calls(trajectory),
        "outcome": stop.outcome or ("answered" if stop.status == "answered" else ""),
        "note": _note(trajectory, answered=stop.answer is not None and not stop.fallback),
        "links": links_from_outside(stop.answer, trajectory),
        "raw_answer": stop.answer,
        "safe_answer": safe_answer,
        "neutralised": neutralised,
    }


def result(agent: Agent[A_co], trajectory: Trajectory) -> Result[A_co]:
    """Read the result off a stopped trajectory.

    Raises `ValueError` where it has not stopped, and `ConfigError` where it was answered in another
    type than that of the agent.
    """
    stop = trajectory.stop
    if stop is None:
        message = f"run {trajectory.run_id} has not stopped: resume it"
        raise ValueError(message)
    answer = stop.answer
    complete = answer if isinstance(answer, str) and answer else _completed(agent, answer)
    common = _common(trajectory, stop, agent.engine.prompt_spec.prompt, complete)
    common["work"] = work_done(
        trajectory, agent.parts.effectful, reads=any(it.effect == "read" for it in agent.tools)
    )
    contradicted = stop.outcome and agent.engine.contradiction(trajectory, stop.outcome)
    common["contradicted"] = bool(contradicted)
    match stop.status:
        case "answered":
            decoded = _of_type(agent, trajectory, answer)
            audit = _audited(agent, trajectory, answer)
            return Answered(answer=decoded, audit=audit, **common)
        case "declined":
            return Declined(answer="" if answer is None else text_or_json(answer), **common)
        case "bound":
            from_model = answer is not None and not stop.fallback
            audit = _audited(agent, trajectory, answer) if from_model else None
            return Bound(answer=_partial(agent, answer), audit=audit, limit=stop.code, **common)
        case "held":
            return Held(pending_approvals=tuple(pending_here(trajectory)), **common)
        case "refused":
            return Refused(**common)
        case "failed":
            return Failed(answer=_partial(agent, answer), **common)
        case "interrupted":
            return Interrupted(**common)


async def complete_result(agent: Agent[A_co], trajectory: Trajectory, store: Store) -> Result[A_co]:
    """The result, with what waits for a person in its sub-runs instead of the calls they hold.

    What was said of calls of unknown outcome counts, be it on record or not.
    """
    outcome = result(agent, trajectory)
    if outcome.unknown:
        outcome = result(agent, await with_unread_words(store, trajectory))
    if not isinstance(outcome, Held):
        return outcome
    return replace(outcome, pending_approvals=await pending_in(store, trajectory))


def recorded_result(trajectory: Trajectory, stop: Stop, prompt: str) -> BaseResult:
    """What the record says of a stopped run, for those who do not have its agent.

    Its `answer` is the one recorded, and nothing is audited. `prompt` are the agent's instructions.
    """
    tools = {} if trajectory.spec is None else trajectory.spec.tools
    effectful = frozenset(name for name, tool in tools.items() if tool.effect in EFFECTFUL)
    reads = any(tool.effect == "read" for tool in tools.values())
    return BaseResult(
        status=stop.status,
        answer=stop.answer,
        work=work_done(trajectory, effectful, reads=reads),
        contradicted=contradicts(trajectory, stop.outcome, reads=reads),
        **_common(trajectory, stop, prompt, stop.answer),
    )
