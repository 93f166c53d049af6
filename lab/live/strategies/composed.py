"""What `auto` comes to: the outcomes of the forms that its rules choose, put together.

The rules read the task alone, and the chosen form answers it as it would by itself, so no call is
needed. That it holds is checked on the tasks that `auto` was really asked.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import msgspec

from live.strategies.choices import choices
from live.strategies.compared import against, in_common, number, of, rights, tokens, told
from live.strategies.configurations import FORMS
from live.strategies.outcomes import Answered
from live.strategies.tasks import SOURCES

AUTO: Final = "auto"
SINGLE: Final = tuple(form.name for form in FORMS if form.usual and not form.system)
"""The forms of clew, with which `auto` is compared; another framework is no form to choose."""

WITHIN: Final = 0.05
LITTLE: Final = 30
"""Fewer tasks say little."""

_TEXT: Final = """\
**`auto`, composed.** The rules of `Auto` read the task alone; of the {drawn} tasks they
send {chosen}. So what `auto` comes to is put together of the outcomes of those forms, without a
call. It was to be within {within:.0f} % of the best single form's success, at no more tokens.
{compared} The best form was found on the same tasks, which favours it. That sums go to `code`, and
the least or the most of several too, was decided on tuning tasks of `{made}`, whose other half is
worded alike, which favours `auto`; the latter only when without it the aim had been missed.
{elsewhere}{asked}
"""
_COMPARED: Final = """\
Over the {count} tasks asked in {forms} it is right on {mine}, and the best, `{best}`, on {theirs}:
{difference}; it takes {times:.2f} times the tokens, sent and written: {verdict}."""


_MADE: Final = "goods"
"""The source whose tuning tasks two rules were made by."""
_ELSEWHERE: Final = """\
Over the {count} tasks that no rule was made by it is right on {mine}, and the best form there,
`{best}`, on {theirs}: {difference}."""


def composed(answers: Sequence[Answered]) -> list[Answered]:
    """The outcomes of `auto`, where the chosen form was asked."""
    form_of = {task: one.form for task, one in choices().items()}
    chosen = (one for one in answers if form_of.get(one.task) == one.form)
    return [msgspec.structs.replace(one, form=AUTO) for one in chosen]


def everywhere(answers: Sequence[Answered], forms: Sequence[str]) -> set[str]:
    """The tasks that were asked in all of these forms."""
    return set.intersection(*({one.task for one in of(answers, form)} for form in forms))


def complete(answers: Sequence[Answered]) -> set[str]:
    """The tasks that were asked in every form of clew that they are for."""
    done = set[str]()
    for source in SOURCES:
        forms = [form.name for form in FORMS if form.name in SINGLE and form.asks(source)]
        done |= everywhere([one for one in answers if one.source == source], forms)
    return done


def paragraphs(answers: Sequence[Answered]) -> Iterator[str]:
    """`auto` beside the best single form, in what all forms were asked, and in what those were that
    are for all sources; nothing where there is nothing to compare.
    """
    widest = tuple(form.name for form in FORMS if form.name in SINGLE and form.mends)
    over = {frozenset(everywhere(answers, SINGLE)): (SINGLE, "every form")}
    named = ", ".join(f"`{name}`" for name in widest)
    over.setdefault(frozenset(everywhere(answers, widest)), (widest, named))
    compared = [_compared(answers, tasks, *forms) for tasks, forms in over.items()]
    if not any(compared):
        return
    count = Counter(choice.form for choice in choices().values())
    yield _TEXT.format(
        drawn=count.total(),
        chosen=", ".join(f"{number} to `{form}`" for form, number in count.most_common()),
        within=100 * WITHIN,
        compared=" ".join(filter(None, compared)),
        made=_MADE,
        elsewhere=_elsewhere([one for one in answers if one.source != _MADE]),
        asked=_checked(of(answers, AUTO), composed(answers)),
    )


def _compared(
    answers: Sequence[Answered], tasks: Collection[str], forms: Sequence[str], named: str
) -> str:
    """`auto` beside the best of these forms over these tasks; "" where outcomes are missing."""
    there = [one for one in answers if one.task in tasks and one.form in SINGLE]
    mine = composed(there)
    if not tasks or {one.task for one in mine} < set(tasks):
        return ""
    best = _best(there, forms)
    return _COMPARED.format(
        count=len(tasks),
        forms=named,
        mine=number(rights(mine)),
        best=best[0].form,
        theirs=number(rights(best)),
        difference=told(against(mine, best)),
        times=tokens(mine) / tokens(best),
        verdict=_verdict(mine, best),
    )


def _elsewhere(answers: Sequence[Answered]) -> str:
    """The same over the tasks asked in every form; "" where there are none."""
    tasks = everywhere(answers, SINGLE)
    there = [one for one in answers if one.task in tasks and one.form in SINGLE]
    mine = composed(there)
    if not mine:
        return ""
    best = _best(there, SINGLE)
    return _ELSEWHERE.format(
        count=len(tasks),
        mine=number(rights(mine)),
        best=best[0].form,
        theirs=number(rights(best)),
        difference=told(against(mine, best)),
    )


def _best(answers: Sequence[Answered], forms: Sequence[str]) -> list[Answered]:
    """The outcomes of the form that is right most often, of equals the cheapest."""
    return max((of(answers, form) for form in forms), key=lambda one: (rights(one), -tokens(one)))


def _verdict(mine: Sequence[Answered], best: Sequence[Answered]) -> str:
    success = rights(mine) >= (1 - WITHIN) * rights(best)
    cheap = tokens(mine) <= tokens(best)
    met = {True: "met", False: "missed"}
    few = " (too few tasks to say)" if len({one.task for one in mine}) < LITTLE else ""
    return f"the first is {met[success]}, the second {met[cheap]}{few}"


def _checked(asked: Sequence[Answered], expected: Sequence[Answered]) -> str:
    """Whether the tasks that `auto` was asked itself came out as composed."""
    there, theirs = in_common(asked, expected), in_common(expected, asked)
    if not there:
        return " It has not been asked itself."
    return (
        f" Asked itself on {len({one.task for one in there})} of the tasks, it was right on "
        f"{number(rights(there))} of them, as composed on {number(rights(theirs))}: "
        f"{told(against(there, theirs))}."
    )
