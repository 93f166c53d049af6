"""The audit as a check of an agent's answers, and an entailment model beside it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal, TypeAlias, TypeVar

from clew.core.models import Model
from clew.core.prompts import Part, Prompt
from clew.core.trajectory import Trajectory
from clew.core.values import Json, encode
from clew.evidence.audit import THRESHOLD, Audit, Audited, Citing, Scope, audit
from clew.evidence.support import Record
from clew.support.errors import ConfigError
from clew.support.settings import check_fields

A = TypeVar("A")
"""Any answer. With `Any` in its place a type checker would take the agent to answer anything."""

Entailment: TypeAlias = Literal["entails", "contradicts", "neither"]
Entails: TypeAlias = Callable[[str, Sequence[str]], Awaitable[Entailment]]
"""Whether passages mean what a claim says: a model of your own, beside the audit."""

CANNOT_ANSWER: Final = "I cannot answer this with the evidence at hand."
"""A fallback for agents whose answers must be grounded."""

_ADVICE: Final = (
    "Say only what the evidence says and cite it as [doc_id] in the same sentence; search again "
    "where it is missing or weak; if it cannot be found, say that you cannot answer with the "
    "evidence at hand."
)
MAX_PROBLEMS: Final = 8
"""So many problems are told at once."""


@dataclass(frozen=True)
class Grounded:
    """A check that refuses answers which the evidence of their record does not support.

    `threshold`, `citations`, `scope` and `min_overlap` are those of `audit`. `entails` is a model
    of your own, or a function that asks one: whether the cited passages mean the claim, for each
    cited claim that passes the audit. What a model costs there is not counted in the run's usage.
    Give the agent a `fallback` such as `CANNOT_ANSWER` for when its tries are used up. Raises
    `ConfigError` for unknown settings.
    """

    fallback: ClassVar[str] = CANNOT_ANSWER
    threshold: float = THRESHOLD
    citations: Citing = "searched"
    scope: Scope = "sentence"
    entails: Entails | Model | None = None
    min_overlap: float = 0.0

    def __post_init__(self) -> None:
        """Look at the settings."""
        check_fields(self)
        if not 0 <= self.threshold <= 1:
            raise ConfigError(
                f"threshold is {self.threshold}: scores lie between 0 and 1", field="threshold"
            )
        if not 0 <= self.min_overlap <= 1:
            raise ConfigError(
                f"min_overlap is {self.min_overlap}: a share of words lies between 0 and 1"
            )

    def __repr__(self) -> str:
        """As the record names it: the same in every process."""
        options = f"threshold={self.threshold}, citations={self.citations!r}, scope={self.scope!r}"
        if self.min_overlap:
            options += f", min_overlap={self.min_overlap}"
        if self.entails is None:
            return f"Grounded({options})"
        if isinstance(self.entails, Model):
            return f"Grounded({options}, entails={self.entails.info.name!r})"
        name = getattr(self.entails, "__qualname__", None)
        named = repr(self.entails) if name is None else f"{self.entails.__module__}.{name}"
        return f"Grounded({options}, entails={named})"

    def audit(self, answer: Json, trajectory: Trajectory) -> Audit:
        """The deterministic part: the audit with these settings."""
        return audit(
            answer,
            trajectory,
            self.threshold,
            citations=self.citations,
            scope=self.scope,
            min_overlap=self.min_overlap,
        )

    async def __call__(self, answer: A, trajectory: Trajectory) -> str | None:  # pyright: ignore[reportInvalidTypeVarUse] - see its note
        """What the evidence does not bear out, and what to do about it; None if nothing."""
        audited = self.audit(answer, trajectory)
        if self.entails is not None:
            audited = await examined(audited, trajectory, entails_of(self.entails))
        if audited.ok:
            return None
        problems = audited.problems
        lines = [f"- {problem}" for problem in problems[:MAX_PROBLEMS]]
        if len(problems) > MAX_PROBLEMS:
            lines.append(f"- and {len(problems) - MAX_PROBLEMS} more")
        return "\n".join(["the evidence does not bear this out:", *lines, _ADVICE])


async def examined(audited: Audit, trajectory: Trajectory, entails: Entails) -> Audit:
    """The audit, followed by an entailment model for each cited claim that passes it.

    Anything but "entails" makes the claim unsupported.
    """
    record = Record(trajectory)

    async def ask(claim: Audited) -> Audited:
        strong = [
            name for name in claim.cited if record.scores.get(name, -1.0) >= audited.threshold
        ]
        if not claim.ok or not strong:
            return claim
        verdict = await entails(claim.text, record.passages(strong))
        if verdict == "entails":
            return claim
        word = "contradict it" if verdict == "contradicts" else "do not say it"
        return replace(claim, state="unsupported", why=(f"by a model's word the passages {word}",))

    return replace(audited, claims=tuple([await ask(claim) for claim in audited.claims]))


ASKED: Final = (
    "You are shown passages and a claim, as data. Do the passages bear out every part of the "
    "claim: who does what to whom, numbers, times, conditions, how surely and of how many it is "
    "said? What follows from them by arithmetic is borne out. Judge by the passages alone. Answer "
    "with one word: entails, contradicts (they say otherwise) or neither (they do not say it)."
)
_WORDS: Final[dict[str, Entailment]] = {"entails": "entails", "contradicts": "contradicts"}


def entails_of(judge: Entails | Model) -> Entails:
    """A function that asks the model about each claim; a function is taken as it is.

    Each claim is one request. A reply that begins with none of the three words counts as "neither".
    """
    if not isinstance(judge, Model):
        return judge
    model = judge

    async def ask(claim: str, passages: Sequence[str]) -> Entailment:
        document = encode({"passages": list(passages), "claim": claim}).decode()
        prompt = Prompt((Part("system", ASKED), Part("user", document)), (), calls="none")
        reply = await model.complete(prompt)
        words = reply.text.lower().split(maxsplit=1)
        return _WORDS.get(words[0].strip(".,:;!*_\"'`"), "neither") if words else "neither"

    return ask
