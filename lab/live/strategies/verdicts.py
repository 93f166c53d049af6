"""Which forms gain and lose, said in sentences where the intervals show it."""

from collections.abc import Iterator, Sequence
from typing import Final

from live.strategies.compared import against, in_common, number, of, rights, tokens, told
from live.strategies.composed import LITTLE
from live.strategies.configurations import FORMS
from live.strategies.outcomes import Answered

BASE: Final = "react"


def verdicts(answers: Sequence[Answered]) -> Iterator[str]:
    """A line for each form beside the base, and one for the two that write programs."""
    base = of(answers, BASE)
    for form in FORMS:
        if form.usual and form.name != BASE and (mine := of(answers, form.name)):
            yield from _line(mine, base)
    yield from _programs(of(answers, "code"), of(answers, "CodeAgent"))


def _line(mine: Sequence[Answered], base: Sequence[Answered]) -> Iterator[str]:
    came = against(mine, base)
    if came is None:
        return
    there, theirs = in_common(mine, base), in_common(base, mine)
    times = tokens(there) / tokens(theirs)
    if came.high < 0:
        text = f"**loses** to `{BASE}`"
    elif came.low > 0:
        text = f"**gains** on `{BASE}`"
    else:
        text = f"no difference from `{BASE}` is shown"
    little = "; few tasks" if came.cases < LITTLE else ""
    yield (
        f"- `{mine[0].form}`: {text}, {number(rights(there))} right against "
        f"{number(rights(theirs))}, "
        f"{told(came)}, at {times:.1f} times its tokens, sent and written{little}."
    )


def _programs(code: Sequence[Answered], theirs: Sequence[Answered]) -> Iterator[str]:
    """Programs of clew beside those of smolagents."""
    came = against(code, theirs)
    if came is None:
        return
    mine, other = in_common(code, theirs), in_common(theirs, code)
    times = tokens(mine) / tokens(other)
    yield (
        f"- `code` beside smolagents' `CodeAgent`: {number(rights(mine))} right against "
        f"{number(rights(other))} on the same tasks, {told(came)}, at {times:.1f} times its "
        "tokens."
    )
