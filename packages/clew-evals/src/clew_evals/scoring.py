"""An answer held against its gold: a mark for each gold, with a line for people that says why."""

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Final, TypeAlias, cast

import msgspec

from clew import ConfigError, Trajectory
from clew.agent_files.imports import imported_function
from clew.core.codes import Status
from clew.evidence import Audit
from clew.evidence.facts import figure
from clew.evidence.structured import as_text
from clew.evidence.words import flat, words
from clew.interfaces import Json
from clew.support.error_text import described
from clew.support.json_values import text_or_json
from clew.support.short_text import cut, one_line
from clew.tools.schema import compile_schema
from clew_evals.case import Case
from clew_evals.expected import read_gold, texts_of
from clew_evals.expected_types import (
    F1,
    AllOf,
    AnyOf,
    Avoids,
    ByJudge,
    Contains,
    Declines,
    Exact,
    ExactMatch,
    Gold,
    GroundedAnswer,
    NoneOf,
    NumberWithin,
    Regex,
    Reward,
    Schema,
    Scored,
    ToolCalled,
    name_of,
)
from clew_evals.numbers import nearest_figure
from clew_evals.outcome import GoldScore, Judgement
from clew_evals.refusals import declines
from clew_evals.texts import answer_text, em, f1
from clew_strategies import normalise

Scorer: TypeAlias = Callable[[Trajectory], Awaitable[float]]
"""Rates a run in [0, 1]."""

MAX_QUOTED_CHARS: Final = 160
"""So many characters of an answer or a gold stand in a mark's line."""
DEFAULT_MIN_GRADE: Final = 4
"""What a judge must give, where neither gold nor judge says otherwise."""


@dataclass(frozen=True)
class ScoreInput:
    """Everything known about a trial when it is scored.

    `records` are those of its runs, the one with the answer first; `audit` is the audit of that
    answer. `min_grade` is the judge's passing score, if a gold names none.
    """

    case: Case
    status: Status
    answer: Json = None
    records: Sequence[Trajectory] = ()
    audit: Audit | None = None
    judgement: Judgement | None = None
    reward: float | None = None
    min_grade: int = DEFAULT_MIN_GRADE

    @property
    def citable_ids(self) -> Collection[str]:
        """The ids that the answer may cite."""
        return {piece.doc_id for record in self.records[:1] for piece in record.evidence}

    @property
    def text(self) -> str:
        """The answer as text, without its citations."""
        return answer_text(self.answer, self.citable_ids)

    @property
    def fallback(self) -> bool:
        """Whether the answer is the declared fallback."""
        stop = self.records[0].stop if self.records else None
        return self.answer is not None and stop is not None and stop.fallback


async def score(seen: ScoreInput) -> tuple[GoldScore, ...]:
    """A mark for each gold of the case. Raises `ConfigError` if a scorer of your own fails."""
    stated = _stated(seen)
    return tuple([await _mark(gold, stated) for gold in read_gold(seen.case.gold)])


def _stated(seen: ScoreInput) -> ScoreInput:
    """What the answer states: passages that whoever declines shows are no answer of its own."""
    return replace(seen, answer=None, audit=None) if seen.status == "declined" else seen


def right(marks: Sequence[GoldScore]) -> bool:
    """Whether all golds are passed."""
    return bool(marks) and all(mark.passed for mark in marks)


def mean(marks: Sequence[GoldScore]) -> float:
    """The mean score of all golds."""
    return sum(mark.score for mark in marks) / len(marks) if marks else 0.0


def hotpot(seen: ScoreInput) -> tuple[float | None, float | None]:
    """EM and F1 by the gold text that is nearest; None where the gold is no text."""
    seen, golds = _stated(seen), texts_of(seen.case.gold)
    if not golds:
        return None, None
    return max(em(seen.text, gold) for gold in golds), max(f1(seen.text, gold) for gold in golds)


async def _mark(gold: Gold, seen: ScoreInput) -> GoldScore:
    name = name_of(gold)
    match gold:
        case AnyOf(any_of=several):
            return _any(name, [await _mark(each, seen) for each in several])
        case AllOf(all_of=several):
            return _all(name, [await _mark(each, seen) for each in several])
        case NoneOf(none_of=several):
            return _none(name, [await _mark(each, seen) for each in several])
        case Scored():
            return await _scored(name, gold, seen)
        case ExactMatch() | F1() | ByJudge() | Reward() | GroundedAnswer():
            return _graded(name, gold, seen)
        case _:
            wrong = _wrong(gold, seen)
            return GoldScore(name, not wrong, float(not wrong), _line(wrong, 3 * MAX_QUOTED_CHARS))


# ------------------------------------------------------------------------------------ combined


def _any(name: str, marks: Sequence[GoldScore]) -> GoldScore:
    best = max(marks, key=lambda mark: (mark.passed, mark.score))
    whys = "; ".join(dict.fromkeys(mark.why for mark in marks))
    why = best.why if best.passed else f"none of {len(marks)}: {whys}"
    return GoldScore(name, best.passed, best.score, _line(why, 3 * MAX_QUOTED_CHARS))


def _all(name: str, marks: Sequence[GoldScore]) -> GoldScore:
    why = "; ".join(mark.why for mark in marks if not mark.passed and mark.why)
    return GoldScore(name, right(marks), mean(marks), _line(why, 3 * MAX_QUOTED_CHARS))


def _none(name: str, marks: Sequence[GoldScore]) -> GoldScore:
    met = [mark.scorer for mark in marks if mark.passed]
    matching = [str(number) for number, mark in enumerate(marks, start=1) if mark.passed]
    why = f"met what it must not: {', '.join(met)} (number {', '.join(matching)})" if met else ""
    return GoldScore(name, not met, float(not met), why)


# -------------------------------------------------------------------------------------- graded


def _graded(
    name: str, gold: ExactMatch | F1 | ByJudge | Reward | GroundedAnswer, seen: ScoreInput
) -> GoldScore:
    """Golds that give more than yes or no."""
    mark = partial(_share, name)
    match gold:
        case ExactMatch(em=text):
            return mark(em(seen.text, text), 1.0, _expected(text, seen))
        case F1(f1=text, min_score=min_score):
            score = f1(seen.text, text)
            return mark(
                score, min_score, f"F1 {score:.2f} of {min_score:g}: {_expected(text, seen)}"
            )
        case Reward(reward=min_score):
            if seen.reward is None:
                return GoldScore(name, False, 0.0, "the environment gave no reward")
            return mark(seen.reward, min_score, f"the reward is {seen.reward:g} of {min_score:g}")
        case ByJudge(min_grade=min_score):
            return _judged(name, seen, min_score or seen.min_grade)
        case GroundedAnswer():
            return _grounded(name, seen)


def _share(name: str, score: float, min_score: float, why: str) -> GoldScore:
    passed = score >= min_score
    return GoldScore(
        name, passed, min(1.0, max(0.0, score)), "" if passed else _line(why, 2 * MAX_QUOTED_CHARS)
    )


def _judged(name: str, seen: ScoreInput, min_grade: int) -> GoldScore:
    word = seen.judgement
    if word is None or not word.score:
        unasked = "there is no answer" if seen.answer is None else "no judge was asked"
        why = unasked if word is None else word.reasons
        return GoldScore(name, False, 0.0, _line(f"not judged: {why}"))
    why = _line(f"{word.score} of 5: {word.reasons}", 2 * MAX_QUOTED_CHARS)
    return GoldScore(name, word.score >= min_grade, (word.score - 1) / 4, why)


def _grounded(name: str, seen: ScoreInput) -> GoldScore:
    audit = seen.audit
    if audit is None:
        why = "there is no answer of its own to audit"
        return GoldScore(name, False, 0.0, why)
    borne = audit.count("supported")
    checked = len(audit.claims) - audit.count("not checkable")
    if not audit.ok:
        share = borne / checked if checked > borne else 0.0
        return GoldScore(name, False, share, _line("; ".join(audit.problems), 3 * MAX_QUOTED_CHARS))
    if not borne and not audit.references:
        return GoldScore(name, False, 0.0, "nothing of it rests on evidence")
    return GoldScore(name, True, 1.0)


async def _scored(name: str, gold: Scored, seen: ScoreInput) -> GoldScore:
    """A user's own scorer: what it raises is told with its name and the case."""
    scorer = cast("Scorer", imported_function(gold.scorer, "scorer"))
    where = f"scorer {gold.scorer}, case {seen.case.id}"
    if not seen.records:
        return GoldScore(name, False, 0.0, "there is no record to score")
    try:
        score = await scorer(seen.records[0])
    except Exception as error:  # whatever it was, it is the scorer's
        why = described(error)
        raise ConfigError(f"{where} fails: {why}") from error
    if type(score) not in {int, float} or not 0 <= score <= 1:
        raise ConfigError(f"{where} gave {score!r}: give a number from 0 to 1")
    return _share(
        name, score, gold.min_score, f"{gold.scorer} gave {score:g} of {gold.min_score:g}"
    )


# ---------------------------------------------------------------------------------- yes or no


def _wrong(gold: Gold, seen: ScoreInput) -> str:
    """Why the answer does not meet a gold that is met or not; empty where it does."""
    match gold:
        case Exact(exact=wanted):
            actual = seen.text if isinstance(seen.answer, str) else seen.answer
            same = seen.answer is not None and normalise(actual) == normalise(wanted)
            return "" if same else _expected(wanted, seen)
        case Contains(contains=wanted):
            held = holds(seen.text, wanted)
            return "" if held else f"“{_short(wanted)}” does not stand in {_answer_text(seen)}"
        case NumberWithin():
            return _wrong_number(gold, seen)
        case Regex(regex=pattern):
            text = "" if seen.answer is None else as_text(seen.answer, ())[0]
            return (
                ""
                if re.search(pattern, text)
                else f"nothing is like {pattern}: {_answer_text(seen)}"
            )
        case Schema(schema=schema):
            return _wrong_form(schema, seen.answer)
        case Declines():
            declined = (
                seen.status in {"refused", "declined"} or seen.fallback or declines(seen.text)
            )
            return "" if declined else f"it does not decline: {_answer_text(seen)}"
        case ToolCalled(calls=name):
            made = any(_was_called(record, name) for record in seen.records[:1])
            return "" if made else f"{name} was not called"
        case Avoids(avoids=name):
            return f"{name} was called" if any(_was_called(r, name) for r in seen.records) else ""
        case _:
            raise AssertionError(gold)


def holds(text: str, wanted: str) -> bool:
    """Whether the words stand in the text in a row, in normal form or as they are written.

    In normal form 1.2 km is 1,200 m, but the year of a whole date is no word of its own.
    """
    if not text or not wanted:
        return False
    normal, part = (re.split(r"[; ]+", normalise(each)) for each in (text, wanted))
    return _row(normal, part) or _written(text, wanted)


def _row(words: Sequence[str], part: Sequence[str]) -> bool:
    size = len(part)
    return any(words[at : at + size] == part for at in range(len(words) - size + 1))


def _written(text: str, wanted: str) -> bool:
    """Whether the same words stand in a row, no number among them being part of a longer one."""
    plain = flat(text)
    have, part = words(plain), [word.key for word in words(flat(wanted))]
    for at in range(len(have) - len(part) + 1 if part else 0):
        row = have[at : at + len(part)]
        if [word.key for word in row] == part and not _inside_number(
            plain, row[0].start, row[-1].end
        ):
            return all(
                plain[one.end : two.start].strip(" .,;:'\"()-") == "" for one, two in pairwise(row)
            )
    return False


def _inside_number(plain: str, start: int, end: int) -> bool:
    """Whether a number goes on before or behind."""
    before = plain[start].isdigit() and re.search(r"\d[.,']$|(?<![\w)])-$", plain[:start][-2:])
    behind = plain[end - 1].isdigit() and re.match(r"[.,']\d", plain[end : end + 2])
    return bool(before or behind)


def _wrong_number(gold: NumberWithin, seen: ScoreInput) -> str:
    met, best = nearest_figure(gold, seen.answer, seen.text)
    if met:
        return ""
    unit = f" {gold.unit}" if gold.unit else ""
    nearest = "no such number" if best is None else f"the nearest is {figure(best)[:40]}{unit}"
    return f"expected {gold.number}{unit}; {nearest} in {_answer_text(seen)}"


def _wrong_form(schema: dict[str, Json], answer: Json) -> str:
    """What is wrong by the schema with the answer, or else with the JSON that its text is."""
    check = compile_schema(schema, "field")
    wrong = check(answer)
    if wrong and isinstance(answer, str):
        try:
            inner = check(msgspec.json.decode(answer))
        except (msgspec.DecodeError, RecursionError):
            inner = wrong
        wrong = inner
    return "; ".join(wrong)


def _was_called(record: Trajectory, name: str) -> bool:
    return record.total.calls[name] > 0


# ----------------------------------------------------------------------------------- for people


def _expected(wanted: Json, seen: ScoreInput) -> str:
    return f"expected “{_short(wanted)}”, got {_answer_text(seen)}"


def _answer_text(seen: ScoreInput) -> str:
    return "no answer" if seen.answer is None else f"“{_short(seen.answer)}”"


def _short(value: Json) -> str:
    return _line(text_or_json(value))


def _line(text: str, max_chars: int = MAX_QUOTED_CHARS) -> str:
    """A text in one line of bounded length, of characters that can be seen."""
    line = one_line(text[: 4 * max_chars])
    return cut("".join(each if each.isprintable() else "\ufffd" for each in line), max_chars)
