"""What `auto` comes to: the outcomes of the forms that its rules choose, put together.

The rules read the task alone, and the chosen form answers it as it would by itself, so no call is
needed. That it holds is checked on the tasks that `auto` was really asked.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import msgspec

from live.strategies.choices import choices
from live.strategies.compared import against, of, rights, tokens, told
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
**`auto`, composed.** The rules of [`Auto`](#auto) read the task alone; of the {drawn} tasks they
send {chosen}. So what `auto` comes to is put together of the outcomes of those forms, without a
call. It was to be within {within:.0f} % of the best single form's success, at no more tokens.
{compared} The best form was found on the same tasks, which favours it; that sums go to `code` was
decided on tuning tasks of `goods`, whose other half is worded alike, which favours `auto`.{asked}
"""
_COMPARED: Final = """\
Over the {count} tasks asked in {forms} it is right on {mine}, and the best, `{best}`, on {theirs}:
{difference}; it takes {times:.2f} times the tokens, sent and written: {verdict}."""


def composed(found: Sequence[Answered]) -> list[Answered]:
    """The outcomes of `auto`, where the chosen form was asked."""
    there = {(one.form, one.task): one for one in found}
    pairs = ((one.form, task) for task, one in choices().items())
    return [msgspec.structs.replace(there[pair], form=AUTO) for pair in pairs if pair in there]


def everywhere(found: Sequence[Answered], forms: Sequence[str]) -> set[str]:
    """The tasks that were asked in all of these forms."""
    return set.intersection(*({one.task for one in of(found, form)} for form in forms))


def complete(found: Sequence[Answered]) -> set[str]:
    """The tasks that were asked in every form of clew that they are for."""
    done = set[str]()
    for source in SOURCES:
        forms = [form.name for form in FORMS if form.name in SINGLE and form.asks(source)]
        done |= everywhere([one for one in found if one.source == source], forms)
    return done


def paragraphs(found: Sequence[Answered]) -> Iterator[str]:
    """`auto` beside the best single form, in what all forms were asked, and in what those were that
    are for all sources; nothing where there is nothing to compare.
    """
    widest = tuple(form.name for form in FORMS if form.name in SINGLE and form.mends)
    over = {frozenset(everywhere(found, SINGLE)): (SINGLE, "every form")}
    named = ", ".join(f"`{name}`" for name in widest)
    over.setdefault(frozenset(everywhere(found, widest)), (widest, named))
    compared = [_compared(found, tasks, *forms) for tasks, forms in over.items()]
    if not any(compared):
        return
    count = Counter(choice.form for choice in choices().values())
    yield _TEXT.format(
        drawn=count.total(),
        chosen=", ".join(f"{number} to `{form}`" for form, number in count.most_common()),
        within=100 * WITHIN,
        compared=" ".join(filter(None, compared)),
        asked=_checked(of(found, AUTO), composed(found)),
    )


def _compared(
    found: Sequence[Answered], tasks: Collection[str], forms: Sequence[str], named: str
) -> str:
    """`auto` beside the best of these forms over these tasks; "" where outcomes are missing."""
    there = [one for one in found if one.task in tasks and one.form in SINGLE]
    mine = composed(there)
    if not mine or len(mine) < len(tasks):
        return ""
    best = max((of(there, form) for form in forms), key=lambda one: (rights(one), -tokens(one)))
    return _COMPARED.format(
        count=len(tasks),
        forms=named,
        mine=rights(mine),
        best=best[0].form,
        theirs=rights(best),
        difference=told(against(mine, best)),
        times=tokens(mine) / tokens(best),
        verdict=_verdict(mine, best),
    )


def _verdict(mine: Sequence[Answered], best: Sequence[Answered]) -> str:
    success = rights(mine) >= (1 - WITHIN) * rights(best)
    cheap = tokens(mine) <= tokens(best)
    met = {True: "met", False: "missed"}
    few = " (too few tasks to say)" if len(mine) < LITTLE else ""
    return f"the first is {met[success]}, the second {met[cheap]}{few}"


def _checked(asked: Sequence[Answered], expected: Sequence[Answered]) -> str:
    """Whether the tasks that `auto` was asked itself came out as composed."""
    theirs = {one.task: one for one in expected}
    pairs = [(one, theirs[one.task]) for one in asked if one.task in theirs]
    if not pairs:
        return " It has not been asked itself."
    alike = sum(one.right == other.right for one, other in pairs)
    same = sum(one.answer == other.answer for one, other in pairs)
    return (
        f" It was asked itself on {len(pairs)} tasks: {alike} came out right or wrong as composed, "
        f"{same} with the very same answer."
    )
