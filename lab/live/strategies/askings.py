"""How much comes out otherwise when the same is asked again."""

from collections.abc import Iterator, Sequence

from live.strategies.compared import by_task, of
from live.strategies.configurations import FORMS
from live.strategies.outcomes import Answered


def paragraphs(answers: Sequence[Answered]) -> Iterator[str]:
    """What each asking came to, of the forms that were asked several times; else nothing."""
    parts = list(filter(None, (_form(of(answers, form.name)) for form in FORMS if form.usual)))
    if parts:
        yield (
            "**Asked again**, over the tasks that a form was asked each time, right each time, and "
            f"how many tasks came out alike each time: {'; '.join(parts)}.\n"
        )


def _form(mine: Sequence[Answered]) -> str:
    """The rights of each asking, over the tasks that were asked in all of them."""
    askings = sorted({one.asking for one in mine})
    if len(askings) < 2:
        return ""
    each = [{one.task for one in mine if one.asking == asking} for asking in askings]
    if not (tasks := set.intersection(*each)):
        return ""
    there = [one for one in mine if one.task in tasks]
    rights = (sum(one.right for one in there if one.asking == asking) for asking in askings)
    alike = sum(share in {0, 1} for share in by_task(there, lambda one: one.right).values())
    text = ", ".join(map(str, rights))
    return f"`{mine[0].form}` {text} of {len(tasks)}, {alike} alike"
