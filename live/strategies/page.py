"""The section *Measured* of docs/strategies.md, from what was measured."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final

import anyio

from benchmarks import strategies
from clew.evals import Outcome, accuracy
from clew.evals.bootstrap import Difference, difference
from live.strategies.configurations import FORMS, STEPS, TOKENS
from live.strategies.outcomes import Answered
from live.strategies.tasks import SOURCES, listed
from live.tables import table

PAGE: Final = Path(__file__).parents[2] / "docs" / "strategies.md"
HEADING: Final = "## Measured"
BASE: Final = "react"

INTRODUCTION: Final = """\
`make strategies` writes this section ([decision 0064](decisions/0064-strategies-measured.md)).
Recorded trials of Reflexion, which come out of the strategy as they came out then, are in
[evidence](evidence.md#recorded-trials-of-reflexion); each strategy killed at each of its writes is
in [durability](durability.md#killed-in-strategies).

### Where the best play is known

`python -m benchmarks.strategies`: five look-ups that do not need each other, and an answer from all
of them. The model is a script that plays what each strategy hopes for; a reply takes {reply:g} s
and a look-up up to {slowest:g} s. So this shows what a strategy costs at its best, and not how
often a model plays so well. Tokens are characters by four, tools included. *The longest way alone*
is what the replies and look-ups take that must wait for each other.
"""

BOUND: Final = """
ReWOO was to take at most {most:g} of the prompt tokens of ReAct, and {times:g} times the longest
way.
{aims}
What limits it: ReAct pays the beginning of the prompt six times, and the results one to five times
over (15 in all); ReWOO pays its plan once and all five results once. With much to read and little
ahead of it that tends to 5 / 15; with many tools, to 1 / 6. A model that makes all five calls in
one step saves as much with ReAct, and needs no plan.
"""

LIVE: Final = """
### With a real small model

`make strategies GGUF=path/to/model.gguf` asks; it can be stopped at any time, and goes on where it
was. {count} outcomes of `{model}`
at temperature 0 (votes 0.7), {tokens} tokens a reply, {steps} steps a run; {machine},
{threads} thread(s). **The machine was shared**: its load was {least:.1f} to {most:.1f}, so seconds
say little.

{tasks} tasks were drawn beforehand (`python -m live.strategies.draw`): {drawn}.
Half of each source are for tuning, the other half is to be left unseen (but records of three of
them were read: `goods-cheapest-3`, `goods-bill-4`, `teacher-odo`). `goods` are generated: prices
and stocks, of which several must be looked up, and a sum. `quixbugs` are functions with a bug,
which tests judge; the first three test cases are a tool of the agent, and the evaluator of
`reflexion`. The others are those of [live](live.md). Elsewhere the model judges itself. {asked}
tasks were asked in every form of the table so far: that is little, and the intervals say how
little.
"""

SEEN: Final = """
**What we make of it.** Of which form answers more nothing is shown: the tasks are far too few. What
they cost stands in the table, and what the records show of why:

- **A judge that is the same model believes itself.** In all trials of `reflexion` so far the first
  one passed, right or wrong ("The prices are compared and the lowest is rope", with needle at 52
  and rope at 85 before its eyes). So it cost more than `react` and tried nothing anew. A test as
  the evaluator is what the strategy needs; that is what `quixbugs` is for.
- **`plan_and_solve` costs most and lost every task.** A step is told to a run that knows less than
  the whole: it invents prices, or looks everything up again, since the step before said too little.
- **`rewoo` is cheap where the plan is right** (two replies), and this model's plans are often
  not: a `calc` over words, a call that waits for its own result.
- **`code` copied its worked example.** Two of four answers are 1198.80, which is that of the only
  example that fits the agent's tools. It shows one sum, and no loop over look-ups; so this says
  something of the example, and nothing yet of code as action.
- **The same prompt does not give the same reply**: the first trial of `reflexion` and `react` were
  sent the same 666 tokens of one task at temperature 0, and replied otherwise; what differed is how
  much of the prompt was in the server's cache. A single task proves nothing.
"""

LATER: Final = """
{count} more outcomes are from before two strategies were mended for what a tuning task showed:
plans of ReWOO were carried out although arguments did not fit, and could not refer to a field of a
result; a step of `plan_and_solve` was given the whole task to answer. They are not in the tables.
"""


def section(found: Sequence[Answered]) -> str:
    """The section in Markdown."""
    took = anyio.run(strategies.measured)
    one, many = (each for each in took if each.way.name == "rewoo")
    text = [
        HEADING,
        "",
        INTRODUCTION.format(reply=strategies.REPLY, slowest=strategies.SLOWEST),
        strategies.rows(took),
        BOUND.format(
            most=strategies.MOST_TOKENS,
            times=strategies.MOST_TIME,
            aims=f"With one tool {_aims(one, took)}; beside {many.way.others} others "
            f"{_aims(many, took)}.",
        ),
    ]
    return "\n".join([*text, *(live(found) if found else ())]).rstrip() + "\n"


def _aims(one: strategies.Took, among: Sequence[strategies.Took]) -> str:
    """Which of its aims a way meets."""
    share, times = one.share(among), one.times
    tokens = "meets" if share <= strategies.MOST_TOKENS else "misses"
    time = "meets" if times <= strategies.MOST_TIME else "misses"
    return f"it {tokens} the first ({share:.2f}) and {time} the second ({times:.2f})"


def live(every: Sequence[Answered]) -> Iterator[str]:
    """What came of asking a model."""
    editions = {form.name: form.edition for form in FORMS}
    found = [one for one in every if one.stopped and one.edition == editions[one.form]]
    if not found:
        return
    loads, one = [each.load for each in found], found[-1]
    per_form = {form.name: {each.task for each in of(found, form.name)} for form in FORMS}
    asked = set.intersection(*(tasks for tasks in per_form.values() if tasks))
    there = Counter(task.source for task in listed())
    yield LIVE.format(
        count=len(found),
        model=one.model,
        tokens=TOKENS,
        steps=STEPS,
        machine=one.machine,
        threads=one.threads,
        least=min(loads),
        most=max(loads),
        tasks=sum(there.values()),
        drawn=", ".join(f"{number} `{source}`" for source, number in there.items()),
        asked=len(asked),
    ).lstrip("\n")
    yield from (_forms(found), "", _sources(found), SEEN.rstrip("\n"))
    if earlier := len(every) - len(found):
        yield LATER.format(count=earlier)


def of(found: Sequence[Answered], form: str) -> list[Answered]:
    """Those of one form."""
    return [one for one in found if one.form == form]


def _forms(found: Sequence[Answered]) -> str:
    base = of(found, BASE)
    rows = [
        _row(form.name, form.what, mine, base) for form in FORMS if (mine := of(found, form.name))
    ]
    heads = ["form", "what is set", "right", "share (95 %)", "against `react`, paired", "tuning",
             "unseen", "replies", "prompt tokens", "of `react`'s, same tasks", "written", "seconds",
             "load"]  # fmt: skip
    return table(heads, rows)


def _row(name: str, what: str, mine: Sequence[Answered], base: Sequence[Answered]) -> list[str]:
    found = accuracy([_outcome(one) for one in mine], _right)
    halves = [[one for one in mine if one.half == half] for half in ("tuning", "unseen")]
    return [
        f"`{name}`",
        what,
        f"{sum(one.right for one in mine)} of {len(mine)}",
        f"{found.value:.2f} ({found.low:.2f}–{found.high:.2f})",
        "" if name == BASE else _told(against(mine, base)),
        *(f"{sum(one.right for one in half)} of {len(half)}" for half in halves),
        f"{median(one.calls for one in mine):g}",
        f"{median(one.prompt for one in mine):,.0f}",
        "" if name == BASE else _times(mine, base),
        f"{median(one.written for one in mine):,.0f}",
        f"{median(one.seconds for one in mine):.0f}",
        f"{median(one.load for one in mine):.1f}",
    ]


def _sources(found: Sequence[Answered]) -> str:
    """How many are right, by what was asked."""
    rows = [
        [f"`{form.name}`", *(_of_source(of(found, form.name), source) for source in SOURCES)]
        for form in FORMS
        if of(found, form.name)
    ]
    return table(["right, by source", *(f"`{source}`" for source in SOURCES)], rows)


def _of_source(mine: Sequence[Answered], source: str) -> str:
    there = [one for one in mine if one.source == source]
    return f"{sum(one.right for one in there)} of {len(there)}" if there else ""


def against(mine: Sequence[Answered], base: Sequence[Answered]) -> Difference | None:
    """How much better these are, over the tasks that both have (bootstrap over tasks)."""
    return difference([_outcome(one) for one in mine], [_outcome(one) for one in base], _right)


def _told(found: Difference | None) -> str:
    if found is None:
        return ""
    return f"{found.value:+.2f} ({found.low:+.2f} to {found.high:+.2f}, {found.cases} paired)"


def _times(mine: Sequence[Answered], base: Sequence[Answered]) -> str:
    """How many times the prompt tokens of the base, over the tasks that both have."""
    theirs = {one.task: one.prompt for one in base}
    pairs = [(one.prompt, theirs[one.task]) for one in mine if one.task in theirs]
    return f"{sum(a for a, _ in pairs) / sum(b for _, b in pairs):.1f} ×" if pairs else ""


def _outcome(one: Answered) -> Outcome:
    return Outcome(one.task, one.form, one.model, one.run_id, "answered", right=one.right)


def _right(outcome: Outcome) -> float:
    return float(outcome.right)


def written(page: str, new: str) -> str:
    """The page with a new section, in the place of the old one or at its end."""
    head, found, rest = page.partition(f"\n{HEADING}\n")
    if not found:
        return f"{page.rstrip()}\n\n{new}"
    _, further, after = rest.partition("\n## ")
    return f"{head}\n{new}" + (f"\n## {after}" if further else "")
