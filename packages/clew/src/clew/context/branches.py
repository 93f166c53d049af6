"""Where a wrong branch began, as the record says it, and what it teaches.

A lesson quotes calls, answers and objections, and no results: a result that misled would stand in
view again, and its text would speak where clew does.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from clew.citations import citations
from clew.context.chat_tokens import without_chat_tokens
from clew.core.codes import FINISH, Code
from clew.core.contents import Observation
from clew.core.events import Note
from clew.core.trajectory import Call, Step, Trajectory
from clew.core.values import encode
from clew.support.json_values import text_or_json
from clew.support.short_text import one_line

CODE: Final[Code] = "repeated_same_tool_call_too_many_times"
"""The code of calls that are refused, or hinted at, for repeating what was in vain."""

LESSON_CHARS: Final = 500
_QUOTED: Final = 120
"""The most of a lesson, and of a call, an answer or an objection in it."""

_SENT_BACK: Final[frozenset[Code]] = frozenset({"rejected", "invalid_arguments", "denied"})
_WORD: Final = re.compile(r"\w+")
_SHORT: Final = 3
"""A word of fewer letters tells no text from another, unless it is a number."""

_HALF: Final = 0.5
"""A result is the source of an answer if it has this share of the words that are new in it."""


class WrongBranch(NamedTuple):
    """A wrong branch: the last step before it, and a line that says what was wrong."""

    to: int
    lesson: str


def branch_steps(trajectory: Trajectory) -> Sequence[Step]:
    """The steps in view since a person last spoke: no branch began before that."""
    branch: list[Step] = []
    for step in reversed(trajectory.steps):
        if step.person_spoke:
            break
        if step.number not in trajectory.omitted.hidden:
            branch.append(step)
    return branch[::-1]


def quoted_line(text: str, max_chars: int = _QUOTED) -> str:
    """A text on one line, of so many characters at most, and without chat tokens."""
    return one_line(without_chat_tokens(text), max_chars)


# ------------------------------------------------------------------------------- no progress


def repeated(trajectory: Trajectory, tries: int) -> WrongBranch | None:
    """The branch that began with the first of the calls whose repetition was refused.

    Where the last step did anything else besides, there is none.
    """
    calls = [call for call in trajectory.step.calls if call.action.name != FINISH]
    codes = {call.observation.code for call in calls if call.observation is not None}
    if codes != {CODE}:
        return None
    steps = branch_steps(trajectory)
    rows = [_row(steps, call) for call in calls]
    first = min(step for row in rows for step in row)
    descriptions = [_call_with_count(call, row) for call, row in zip(calls, rows, strict=True)]
    return WrongBranch(first - 1, " ".join([*dict.fromkeys(descriptions), "Try something else."]))


def _row(steps: Sequence[Step], refused: Call) -> list[int]:
    """The steps of the calls that a refused one repeated, its own at the end."""
    same = [call.hash for step in steps[:-1] for call in step.calls].count(refused.hash) > 0
    row, result = [refused.step], None
    for call in _backwards(steps):
        seen = call.observation
        alike = call.hash == refused.hash if same else call.action.name == refused.action.name
        if not alike or seen is None or call.step >= row[0]:
            continue
        if seen.code != CODE:
            if result is not None and seen.content != result.content:
                break
            result = seen
        row.insert(0, call.step)
    return row


def _backwards(steps: Sequence[Step]) -> Iterator[Call]:
    return (call for step in reversed(steps) for call in reversed(step.calls))


def _call_with_count(call: Call, row: Sequence[int]) -> str:
    return f"{call_line(call)} gave nothing new in {len(row)} calls."


def call_line(call: Call) -> str:
    """A call as a lesson names it."""
    return quoted_line(f"{call.action.name}({encode(call.args).decode()})")


# --------------------------------------------------------------------------- rejected answers


def rejected(trajectory: Trajectory, tries: int) -> WrongBranch | None:
    """The branch that began where the rejected answers came from, once there are `tries` of them.

    That is the first result that has what is new in one of them, or that one cites; where there is
    none, the first of the answers.
    """
    steps = branch_steps(trajectory) if tries and len(trajectory.rejected) >= tries else ()
    rejections = [(step, *pair) for step in steps for pair in _answers(step)]
    if not rejections:
        return None
    sources = [_source(trajectory, steps, step, answer) for step, answer, _ in rejections]
    source = min(filter(None, sources), key=attrgetter("step"), default=None)
    first = rejections[0][0].number if source is None else source.step
    answers = _listed(quoted_line(answer, _QUOTED // 2) for _, answer, _ in rejections)
    why = _listed(quoted_line(text) for _, _, text in rejections)
    message = f"The answer {answers} was rejected: {why}."
    if source is None:
        return WrongBranch(first - 1, message)
    came = f"It came from {call_line(source)}. Look elsewhere."
    return WrongBranch(first - 1, f"{quoted_line(message, LESSON_CHARS - len(came) - 1)} {came}")


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(dict.fromkeys(texts))


def _answers(step: Step) -> Iterator[tuple[str, str]]:
    """The answers of a step that were sent back, each with the objection."""
    for call in step.calls:
        seen = call.observation
        if call.action.name == FINISH and seen is not None and seen.code in _SENT_BACK:
            yield text_or_json(call.args.get("answer", "")), seen.words
    objections = [one.text for one in step.notices if isinstance(one, Note) and _checked(one)]
    if objections and step.thought is not None and step.thought.answer is not None:
        yield step.thought.answer, objections[-1]


def _checked(note: Note) -> bool:
    return note.source == "check"


def _source(trajectory: Trajectory, steps: Sequence[Step], last: Step, answer: str) -> Call | None:
    """The first call before an answer whose result the answer cites, or has most of its words."""
    named = {one.doc_id for one in citations(answer, {one.doc_id for one in trajectory.evidence})}
    new = _words(answer) - _words(trajectory.visible_goal)
    best, best_score = None, _HALF
    for step in steps[: steps.index(last)]:
        for call in step.calls:
            if (seen := call.observation) is None or not seen.ok or call.action.name == FINISH:
                continue
            if named & {piece.doc_id for piece in seen.evidence}:
                return call
            share = _share(new, seen)
            if share > best_score or (best is None and share == best_score):
                best, best_score = call, share
    return best


def _share(new: frozenset[str], seen: Observation) -> float:
    """The share of an answer's new words that a result has."""
    return len(new & _words(seen.text)) / len(new) if new else 0.0


def _words(text: str) -> frozenset[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word for word in words if len(word) >= _SHORT or word.isdigit())
