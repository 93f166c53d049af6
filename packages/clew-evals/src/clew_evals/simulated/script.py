"""What a simulated model plays: the script of a case, read from its `extra`."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from clew import ConfigError
from clew.interfaces import Action, Json
from clew.support.short_text import one_line
from clew_evals.case import Case

_CITE: Final = re.compile(r"\s*\{\{cite: ([^{}]+)\}\}")
_FORM: Final = (
    'give "script": steps {"think": "...", "calls": [["tool", {...}]]}, the last one with an '
    '"answer"'
)


class ShownEvidence(NamedTuple):
    """A piece of evidence that a prompt shows."""

    doc_id: str
    text: str


class ScriptStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a script: calls that may stand together, or the answer."""

    think: str = ""
    calls: tuple[tuple[str, dict[str, Json]], ...] = ()
    answer: str | None = None

    @property
    def actions(self) -> tuple[Action, ...]:
        """Its calls as actions."""
        return tuple(Action(name, args) for name, args in self.calls)


@dataclass(frozen=True)
class Script:
    """The steps to an answer, and answers that a model might wrongly give instead."""

    case: str
    steps: tuple[ScriptStep, ...]
    answer: str
    wrong: tuple[str, ...] = ()


def script_of(case: Case) -> Script:
    """The script of a case. Raises `ConfigError` where there is none that can be played."""
    if "script" not in case.extra:
        message = f"case {case.id} has no script for a simulated model: {_FORM} in its extra"
        raise ConfigError(message)
    try:
        steps = msgspec.convert(case.extra["script"], tuple[ScriptStep, ...])
        wrong = msgspec.convert(case.extra.get("wrong", ()), tuple[str, ...])
    except msgspec.ValidationError as error:
        message = f"the script of case {case.id} cannot be played ({error}): {_FORM}"
        raise ConfigError(message) from error
    *before, last = steps or (ScriptStep(),)
    if last.answer is None or last.calls or any(step.answer is not None for step in before):
        message = f"the script of case {case.id} must end in its only answer: {_FORM}"
        raise ConfigError(message)
    return Script(case.id, steps, last.answer, wrong)


def scripts_of(cases: Iterable[Case]) -> dict[str, Script]:
    """Scripts by the question that they answer. Raises `ConfigError`."""
    scripts: dict[str, Script] = {}
    for case in cases:
        script = script_of(case)
        if (other := scripts.setdefault(case.question.strip(), script)) is not script:
            message = (
                f"cases {other.case} and {case.id} ask the same question, and a simulated model "
                "sees nothing else: ask one of them in other words"
            )
            raise ConfigError(message)
    return scripts


def cited(answer: str, passages: Sequence[ShownEvidence]) -> tuple[str, bool]:
    """The answer with its citations, and whether each was found; those not found are left out."""
    all_cited = True

    def citation(mark: re.Match[str]) -> str:
        nonlocal all_cited
        words = _plain(mark[1])
        for passage in passages:
            if words in _plain(passage.text):
                return f" [{passage.doc_id}]"
        all_cited = False
        return ""

    return _CITE.sub(citation, answer).strip(), all_cited


def _plain(text: str) -> str:
    return one_line(text.casefold())


class _CitedResult(msgspec.Struct):
    """A result of a search, as far as it can be cited."""

    doc_id: str = ""
    snippet: str = ""


class _ShownResults(msgspec.Struct):
    results: list[_CitedResult] = []


def passages(results: Iterable[str]) -> list[ShownEvidence]:
    """What the results of calls hold that can be cited, in order."""
    evidence: list[ShownEvidence] = []
    for text in results:
        try:  # hints stand on lines of their own below
            read: Any = msgspec.json.decode(text.partition("\n")[0], type=_ShownResults)
        except (msgspec.DecodeError, RecursionError):
            continue
        evidence += (ShownEvidence(one.doc_id, one.snippet) for one in read.results if one.doc_id)
    return evidence
