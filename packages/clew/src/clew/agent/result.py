"""What a run came to: one type for every way out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from clew.agent.agent import A_co, Agent
from clew.citations import Reference, citations, numbered, references
from clew.core.events import Evidence, Json, Status, Usage
from clew.core.interfaces import Audits, Store
from clew.core.pending import PendingApproval, pending_here, pending_in
from clew.core.trajectory import Trajectory
from clew.guards.links import OutsideLink, links_from_outside
from clew.guards.safe_links import safe_links
from clew.support.errors import ConfigError
from clew.support.json_values import text_or_json
from clew.support.parts import short_repr, stable_name, using

_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


@dataclass(frozen=True, slots=True)
class Result(Generic[A_co]):
    """The answer, how it came about and where to look.

    `answer` has the agent's answer type, or is None if there is none, whatever a type checker
    thinks: check `ok` first. For a `declined` run it is the model's own text. `reason` says why the
    run stopped. `fallback` marks a declared answer instead of a found one. `note` is a
    remark: the model's beside the answer, such as that it is no language model, and clew's where
    the model's server probably cut a prompt off.

    `evidence` is everything an answer may cite; `cited` is what this one cites, in its order, and
    `references` the same as lines of a list (`with_references`). `audit` is the verdict of the
    first check that audits: a `clew.evidence.Audit` with `clew.evidence.Grounded`. `links` are
    links and images of the answer that no person gave, and where they were read.

    `answer` is raw. `safe_answer`, which `str()` gives too, is for whoever renders it: after a run
    has read text from outside, an address that neither a person, the configuration nor a
    trusted result gave as a whole leads nowhere there (`hxxps://evil[.]example`). `neutralised` has
    those addresses.

    `pending_approvals` lists the calls that wait for a person. `usage` counts the replies;
    `lost` estimates calls whose worker died before the reply, and has what critics took.
    """

    run_id: str
    status: Status
    reason: str
    answer: A_co
    usage: Usage
    steps: int
    evidence: tuple[Evidence, ...] = ()
    cited: tuple[Evidence, ...] = ()
    references: tuple[Reference, ...] = ()
    fallback: bool = False
    audit: Any = None
    pending_approvals: tuple[PendingApproval, ...] = ()
    links: tuple[OutsideLink, ...] = ()
    lost: Usage = field(default_factory=Usage)
    note: str = ""
    safe_answer: Json = None
    neutralised: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The answer as it may be shown; empty where there is none."""
        if self.safe_answer is None:  # one that somebody made by hand
            return "" if self.answer is None else str(self.answer)
        return text_or_json(self.safe_answer)

    def _repr_html_(self) -> str:
        """The answer, how it came about and what it cites, for a notebook."""
        rows: list[tuple[str, object]] = [
            ("answer", str(self)),
            *([("note", self.note)] if self.note else []),
        ]
        rows += [("status", f"{self.status} {self.reason}".strip())]
        rows += [(f"[{piece.doc_id}]", f"{piece.source}: {piece.text}") for piece in self.cited]
        rows += [("link from outside", link.address) for link in self.links]
        rows += [("steps", self.steps), ("tokens", self.usage.tokens), ("run", self.run_id)]
        cells = (f"<tr><th>{_html(k)}</th><td>{_html(v)}</td></tr>" for k, v in rows)
        return f"<table>{''.join(cells)}</table>"

    @property
    def ok(self) -> bool:
        """Whether the question was answered: not at a limit, held, declined or refused."""
        return self.status == "answered"

    def with_references(self) -> str:
        """The text as it may be shown, a number for each citation, and the list at its end.

        [1] is the first of `references`. Raises `ConfigError` if the answer is not text.
        """
        if not isinstance(self.answer, str):
            message = f"the answer is {short_repr(self.answer)}: only a text can end with a list"
            raise ConfigError(message)
        text = str(self)
        return numbered(text, self.references) if self.references else text


def _html(value: object) -> str:
    """A value as text that no browser takes for markup."""
    return str(value).translate(_MARKUP)


def _decoded(agent: Agent, answer: Json) -> Any:
    """The answer in the agent's type; as recorded, if it was given to an agent of another."""
    try:
        return agent.decode(answer)
    except Exception:  # noqa: BLE001 - a user's own type may raise anything
        return answer


def _note(trajectory: Trajectory, *, answered: bool) -> str:
    """The text beside the answer, if `answered`, and what clew noticed about the replies."""
    replies = [
        step.thought.reply for step in reversed(trajectory.steps) if step.thought is not None
    ]
    note = replies[0].note if answered and replies else ""
    warning = next((reply.warning for reply in replies if reply.warning), "")
    return "\n".join(filter(None, (note, warning)))


def _audited(agent: Agent, trajectory: Trajectory, answer: Json) -> Any:
    """What the agent's first check that audits says of the answer."""
    checks: Sequence[object] = agent.checks
    for check in checks:
        if isinstance(check, Audits):
            with using(f"the audit of {stable_name(check)}"):
                return check.audit(_decoded(agent, answer), trajectory)
    return None


def result(agent: Agent[A_co], trajectory: Trajectory) -> Result[A_co]:
    """Read the result off a stopped trajectory. Raises `ValueError` where it has not stopped."""
    stop = trajectory.stop
    if stop is None:
        message = f"run {trajectory.run_id} has not stopped: resume it"
        raise ValueError(message)
    known = {piece.doc_id: piece for piece in trajectory.evidence}
    text = stop.answer if isinstance(stop.answer, str) else ""
    names = dict.fromkeys(c.doc_id for c in citations(text, known) if c.doc_id in known)
    cited = tuple(known[name] for name in names)
    has_answer = stop.answer is not None and not stop.fallback and stop.status != "declined"
    answer: Any = _decoded(agent, stop.answer) if has_answer else stop.answer
    safe = safe_links(trajectory, agent.engine.prompt_spec.prompt)
    safe_answer, neutralised = safe(stop.answer)
    listed = references(cited, trajectory) if cited else ()
    return Result(
        run_id=trajectory.run_id,
        status=stop.status,
        reason=stop.reason,
        answer=answer,
        usage=trajectory.usage,
        steps=len(trajectory.steps),
        evidence=tuple(known.values()),
        cited=cited,
        references=tuple(replace(one, title=str(safe(one.title)[0])) for one in listed),
        fallback=stop.fallback,
        audit=_audited(agent, trajectory, stop.answer) if has_answer else None,
        lost=trajectory.total.lost,
        pending_approvals=tuple(pending_here(trajectory)),
        note=_note(trajectory, answered=stop.answer is not None and not stop.fallback),
        links=links_from_outside(stop.answer, trajectory),
        safe_answer=safe_answer,
        neutralised=neutralised,
    )


async def complete_result(agent: Agent[A_co], trajectory: Trajectory, store: Store) -> Result[A_co]:
    """The result, with what waits for a person in its sub-runs instead of the calls they hold."""
    outcome = result(agent, trajectory)
    if not outcome.pending_approvals:
        return outcome
    return replace(outcome, pending_approvals=await pending_in(store, trajectory))
