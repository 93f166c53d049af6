"""Why forms gain or lose, as far as their outcomes say it: how they end, and what they do."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from clew.context.demonstrations import DEMONSTRATIONS
from clew.core.trajectory import Step
from clew_code.codec.program_examples import program_examples
from clew_strategies import normalise
from live.strategies.compared import by_task, of, sent_and_written
from live.strategies.configurations import FORMS
from live.strategies.outcomes import Answered
from live.strategies.tasks import SOURCES
from live.tables import table

OWN: Final = frozenset(
    ("plan", "plan_calls", "step", "solve", "evaluate", "reflect", "find_another_way",
     "find_value", "branch", "score", "run")
)  # fmt: skip
"""Calls that a strategy makes itself: none of them is one of a tool."""

HEADS: Final = (
    "why, by form", "times asked", "answered", "declined", "limit reached", "failed",
    "answered, and wrong", "no tool called", "a worked example's answer",
    "replies that could not be read", "replies a task", "tokens a task",
)  # fmt: skip

_COMMON: Final = frozenset(map(normalise, ("It was not found.", "TRUE", "FALSE")))
"""Answers of examples that a task may well have."""


def _answer(last: Step) -> str:
    return str(last.calls[0].action.args["answer"])


EXAMPLES: Final = (
    *DEMONSTRATIONS,
    *program_examples((), lambda _: True),
    *program_examples((), lambda _: False),
)
VISIBLE: Final = frozenset(normalise(_answer(one.steps[-1])) for one in EXAMPLES) - _COMMON
"""The answers of worked examples, as votes compare them."""


def rows(answers: Sequence[Answered]) -> str:
    """The table by form."""
    forms = [form.name for form in FORMS if form.usual]
    return table(HEADS, [_row(mine) for form in forms if (mine := of(answers, form))])


def _row(mine: Sequence[Answered]) -> list[str]:
    ended = Counter(one.status for one in mine)
    text = [one for one in mine if one.status == "answered"]
    replies = sum(one.calls for one in mine)
    unread = sum(one.faults for one in mine)
    usual = [ended.pop(status, 0) for status in ("answered", "declined", "bound")]
    return [
        f"`{mine[0].form}`",
        f"{len(mine)}",
        *map(str, (*usual, ended.total())),
        _of(sum(not one.right for one in text), len(text)),
        f"{sum(not one.made.keys() - OWN for one in mine)}",
        f"{sum(copied(one) for one in mine)}",
        _of(unread, replies),
        f"{replies / len(mine):.1f}",
        f"{fmean(by_task(mine, sent_and_written).values()):,.0f}",
    ]


def copied(one: Answered) -> bool:
    """Whether it has the answer of a worked example, which is not the task's."""
    return one.answer is not None and not one.right and normalise(str(one.answer)) in VISIBLE


def _of(part: int, number: int) -> str:
    return f"{part} of {number}"


def lines(answers: Sequence[Answered]) -> Iterator[str]:
    """What the outcomes show of what each strategy does: a line a form, where it was asked."""
    for form, says in _SAYS.items():
        if mine := of(answers, form):
            yield f"- `{form}`: {says(mine)}"


def _reflexion(mine: Sequence[Answered]) -> str:
    passed = [one for one in mine if one.status == "answered"]
    parts = [
        f"`{source}` {_of(sum(not one.right for one in there), len(there))}"
        for source in SOURCES
        if (there := [one for one in passed if one.source == source])
    ]
    again = [one for one in mine if one.made.get("solve", 0) > 1]
    return (
        f"its judge passed a trial {_of(len(passed), len(mine))} times; of what it passed this "
        f"was wrong: {', '.join(parts) or 'nothing'} (tests judge `quixbugs`, else the model "
        f"itself). It tried again {len(again)} times, and {sum(one.right for one in again)} of "
        "these came out right."
    )


def _rewoo(mine: Sequence[Answered]) -> str:
    refused = [one for one in mine if one.made.get("plan_calls", 0) > 1]
    input_up = [one for one in mine if one.status != "answered"]
    other = [one for one in mine if one.made.get("find_another_way")]
    return (
        f"the first plan was refused {_of(len(refused), len(mine))} times, and it ended without "
        f"an answer {len(input_up)} times. {len(other)} times a planned call failed, and a run "
        f"looked for another way. Where neither was so, "
        f"{_clean(mine, refused, input_up, other)} are right."
    )


def _clean(mine: Sequence[Answered], *others: Sequence[Answered]) -> str:
    out = {(one.task, one.asking) for every in others for one in every}
    rest = [one for one in mine if (one.task, one.asking) not in out]
    return _of(sum(one.right for one in rest), len(rest))


def _plan_and_solve(mine: Sequence[Answered]) -> str:
    anew = [one for one in mine if one.made.get("plan", 0) > 1]
    steps = sum(one.made.get("step", 0) for one in mine)
    return (
        f"{steps / len(mine):.1f} steps a task, each a run of its own; it planned anew "
        f"{_of(len(anew), len(mine))} times."
    )


def _tree_search(mine: Sequence[Answered]) -> str:
    branches = sum(one.made.get("branch", 0) for one in mine)
    one_only = [one for one in mine if one.made.get("branch", 0) <= 1]
    wrong = sum(not one.right for one in one_only)
    return (
        f"{branches / len(mine):.1f} branches a task. {len(one_only)} times it took the first "
        f"branch for the answer; {wrong} of these are wrong."
    )


def _code(mine: Sequence[Answered]) -> str:
    programs = sum(one.made.get("run_code", 0) for one in mine)
    none = [one for one in mine if not one.made]
    calls = sum(sum(one.made.values()) for one in mine) - programs
    return (
        f"{programs} programs, and {calls} calls in them or alone; it answered without either "
        f"{_of(len(none), len(mine))} times."
    )


_SAYS: Final[Mapping[str, Callable[[Sequence[Answered]], str]]] = {
    "plan_and_solve": _plan_and_solve,
    "rewoo": _rewoo,
    "reflexion": _reflexion,
    "tree_search": _tree_search,
    "code": _code,
}
