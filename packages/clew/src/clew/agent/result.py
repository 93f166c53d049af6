"""What a run came to: a union to match, with one class for every way out."""

from dataclasses import dataclass, field
from typing import Final, Generic, Literal, NoReturn, TypeAlias

import msgspec

from clew.agent.agent import A_co
from clew.agent.work_done import WorkDone
from clew.citations import Reference, numbered
from clew.core.actions import UnknownCall
from clew.core.codes import AnswerOutcome, Status
from clew.core.contents import Evidence, Usage
from clew.core.pending import PendingApproval
from clew.core.values import Json, encode
from clew.guards.links import OutsideLink
from clew.support.errors import ConfigError, NotAnsweredError
from clew.support.html import html_table
from clew.support.json_values import text_or_json
from clew.support.parts import short_repr
from clew.support.short_text import one_line

_ARGS_CHARS = 120
"""So much of a held call's arguments stands in a line."""


NOTHING_SPENT: Final = Usage(cost=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseResult:
    """What is true of every end of a run: where to look, what it took, what it rests on.

    `reason` says why the run stopped, for people, and `code` for programs: the limit of a `bound`
    run; of a `failed` one `rejected` (no answer passed the type and the checks), `set_aside` (it
    broke its workers) or `model` (that gave no reply); else "". `fallback` marks a declared answer
    instead of a found one.
    `note` is a remark: the model's beside the answer, such as that it is no language model, and
    clew's where the model's server probably cut a prompt off.

    `evidence` is everything an answer may cite; `cited` is what this one cites, in its order, and
    `references` the same as lines of a list (`with_references`). `audit` is what the first check
    that audits found: a `clew.evidence.Audit` with `clew.evidence.Grounded`, None without any.
    `links` are links and images of the answer that no person gave, and where they were read.

    `raw_answer` is the answer as recorded, of whatever status. `safe_answer`, which `str()` gives
    too, is for whoever renders it: after a run has read text from outside, an address that
    neither a person, the configuration nor a trusted result gave as a whole leads nowhere there
    (`hxxps://evil[.]example`). `neutralised` has those addresses.

    `work` is what the record says was changed, failed and read; `work.line` stands beside an
    answer, which may say otherwise. `outcome` is what the model says came of the task ("" where
    there is no answer), and `contradicted` that the record is against it. `pending_approvals` lists
    the calls that wait for a person, and `unknown` those of which nobody knows whether they
    happened, in runs below too: `clew.settle` takes their ids. `usage` counts the replies, in
    sub-runs too; `steps` are the run's own. `lost` estimates calls whose worker died before the
    reply, and has what critics took.
    """

    run_id: str
    status: Status
    reason: str = ""
    code: str = ""
    answer: object
    usage: Usage = NOTHING_SPENT
    steps: int = 0
    evidence: tuple[Evidence, ...] = ()
    cited: tuple[Evidence, ...] = ()
    references: tuple[Reference, ...] = ()
    fallback: bool = False
    audit: object = None
    pending_approvals: tuple[PendingApproval, ...] = ()
    unknown: tuple[UnknownCall, ...] = ()
    work: WorkDone = field(default_factory=WorkDone)
    outcome: AnswerOutcome | Literal[""] = ""
    contradicted: bool = False
    links: tuple[OutsideLink, ...] = ()
    lost: Usage = NOTHING_SPENT
    note: str = ""
    raw_answer: Json = None
    safe_answer: Json = None
    neutralised: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The answer as it may be shown; where there is none, the status and the reason."""
        if self.safe_answer is not None:
            return text_or_json(self.safe_answer)
        if self.answer is not None:  # one that somebody made by hand
            return str(self.answer)
        return "" if self.status == "answered" else self.why

    @property
    def why(self) -> str:
        """The status, and the reason or what it waits for, in one line."""
        waits = "; ".join(map(_waits, self.pending_approvals))
        why = f"waits for {waits}" if waits else self.reason
        return one_line(f"{self.status}: {why}" if why else self.status)

    @property
    def outcome_line(self) -> str:
        """What is to be told of the outcome: "" for an answer, and without one."""
        if self.outcome in {"", "answered"}:
            return ""
        words = self.outcome.replace("_", " ")
        return f"{words}, says the model; the record contradicts it" if self.contradicted else words

    def _repr_html_(self) -> str:
        """The answer, how it came about and what it cites, for a notebook."""
        rows: list[tuple[str, object]] = [
            ("answer", str(self)),
            *([("note", self.note)] if self.note else []),
        ]
        rows += [("status", f"{self.status} {self.reason}".strip())]
        rows += [("outcome", outcome)] if (outcome := self.outcome_line) else []
        rows += [("record", self.work.line)] if self.work.line else []
        rows += [(f"[{piece.doc_id}]", f"{piece.source}: {piece.text}") for piece in self.cited]
        rows += [("link from outside", link.address) for link in self.links]
        rows += [("steps", self.steps), ("tokens", self.usage.tokens), ("run", self.run_id)]
        return html_table(rows)

    def with_references(self) -> str:
        """The text as it may be shown, a number for each citation, and the list at its end.

        [1] is the first of `references`. Raises `ConfigError` if the answer is not text.
        """
        if not isinstance(self.answer, str):
            message = f"the answer is {short_repr(self.answer)}: only a text can end with a list"
            raise ConfigError(message)
        text = str(self)
        return numbered(text, self.references) if self.references else text

    def to_json(self) -> dict[str, Json]:
        """All of it as values that JSON has; the keys are the names of the fields.

        `answer` is the answer as it may be shown, `raw_answer` as it was recorded. `ok` says
        whether the question was answered, and `usage` has the sum of its `tokens` too.
        """
        return {
            "run_id": self.run_id,
            "status": self.status,
            "ok": self.status == "answered",
            "reason": self.reason,
            "code": self.code,
            "answer": self.raw_answer if self.safe_answer is None else self.safe_answer,
            "raw_answer": self.raw_answer,
            "neutralised": [*self.neutralised],
            "note": self.note,
            "fallback": self.fallback,
            "cited": [msgspec.structs.asdict(piece) for piece in self.cited],
            "evidence": [msgspec.structs.asdict(piece) for piece in self.evidence],
            "links": [msgspec.structs.asdict(link) for link in self.links],
            "steps": self.steps,
            "usage": _usage(self.usage),
            "lost": _usage(self.lost),
            "pending_approvals": [each.to_json() for each in self.pending_approvals],
            "work": self.work.to_json(),
            "outcome": self.outcome,
            "contradicted": self.contradicted,
            "unknown": [msgspec.structs.asdict(each) for each in self.unknown],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _NotAnswered(BaseResult):
    """What all ends have in common that are no answer."""

    @property
    def ok(self) -> Literal[False]:
        """False: not answered, but at a limit, held, declined, refused, failed or interrupted.

        mypy and pyright both know what is left by `result.ok is False`, `isinstance` or `match`.
        """
        return False

    def unwrap(self) -> NoReturn:
        """Raise `NotAnsweredError` with the reason: there is no answer."""
        raise NotAnsweredError(self.run_id, self.status, self.why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(BaseResult, Generic[A_co]):
    """The question was answered, and the answer passed the checks.

    `answer` has the agent's answer type.
    """

    answer: A_co
    status: Literal["answered"] = "answered"

    @property
    def ok(self) -> Literal[True]:
        """True: the question was answered."""
        return True

    def unwrap(self) -> A_co:
        """The answer."""
        return self.answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined(_NotAnswered):
    """The model said that it cannot answer; `answer` has its words, which no check has judged."""

    answer: str = ""
    status: Literal["declined"] = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound(_NotAnswered, Generic[A_co]):
    """The run reached a limit.

    `limit` names it as `Limits` does ("steps", "tokens"), or is "own" for a stop rule of the
    agent. `answer` is the partial answer that a last thought gave, which passed the checks, or
    the declared fallback, or None; of the agent's answer type.
    """

    answer: A_co | None = None
    limit: str = ""
    status: Literal["bound"] = "bound"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held(_NotAnswered):
    """The run waits for a person; `pending_approvals` says for what.

    They are empty only where a person has ruled on all of them: then resume it.
    """

    answer: None = None
    status: Literal["held"] = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(_NotAnswered):
    """A screen refused what a person wrote, or a person who was asked about it did."""

    answer: None = None
    status: Literal["refused"] = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(_NotAnswered, Generic[A_co]):
    """No answer was acceptable, or the model failed; `answer` is the declared fallback, or None.

    `code` says which. In a `batch` its record may be open: then `resume` continues it.
    """

    answer: A_co | None = None
    status: Literal["failed"] = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted(_NotAnswered):
    """A person interrupted the run."""

    answer: None = None
    status: Literal["interrupted"] = "interrupted"


Result: TypeAlias = (
    Answered[A_co] | Declined | Bound[A_co] | Held | Refused | Failed[A_co] | Interrupted
)
"""What a run came to: `match` it, check `ok`, or call `unwrap`, which raises where it must.

Type checkers know the class after `result.ok is False` or `result.status != "answered"`; pyright
does not after `not result.ok`.
"""


def _usage(used: Usage) -> dict[str, Json]:
    """All of its fields, zeros and the unknown cost too."""
    return {**msgspec.structs.asdict(used), "tokens": used.tokens}


def _waits(each: PendingApproval) -> str:
    """A held call in a few words: what it would do, and why it waits."""
    args = one_line(encode(each.args).decode(), _ARGS_CHARS)
    return one_line(f"{each.tool}({args}), call {each.call}: {each.why}")
