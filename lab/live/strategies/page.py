"""`lab/reports/strategies.md`, from what was measured."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

import anyio

from benchmarks import strategies
from clew_evals import accuracy
from live.strategies import askings, composed, why
from live.strategies.compared import (
    against,
    in_common,
    is_right,
    of,
    outcome,
    prompt,
    right_of,
    told,
)
from live.strategies.composed import LITTLE, complete
from live.strategies.configurations import FORMS, STEPS, TOKENS
from live.strategies.outcomes import Answered
from live.strategies.tasks import SOURCES, edition_of, listed
from live.strategies.verdicts import BASE, verdicts
from live.tables import table
from reporting.outcomes import read
from reporting.pages import in_full

INTRODUCTION: Final = """\
# Strategies: what they cost, and what they gain

`make strategies` writes this report
([decision 0064](../../docs/decisions/0064-strategies-measured.md)).
Recorded trials of Reflexion, which come out of the strategy as they came out then, are in
[evidence](evidence.md#recorded-trials-of-reflexion); each strategy killed at each of its writes is
in [durability](durability.md#killed-in-strategies).

## Where the best play is known
"""

SCRIPTED: Final = """\
Five look-ups that do not need each other, and an answer from all
of them. The model is a script that plays what each strategy hopes for; a reply takes {reply:g} s
and a look-up up to {slowest:g} s. So this shows what a strategy costs at its best, and not how
often a model plays so well. Tokens are characters by four, tools included. *The longest way alone*
is what the replies and look-ups take that must wait for each other.
"""

FORMS_CHART: Final = "![Tasks answered rightly, by strategy](images/forms.svg)"

CHART: Final = """
![Prompt tokens and seconds of each strategy](images/strategies.svg)
"""

BOUND: Final = """
ReWOO was to take at most {share:g} of the prompt tokens of ReAct, and {times:g} times the longest
way.
{aims}
What limits it: ReAct pays the beginning of the prompt six times, and the results one to five times
over (15 in all); ReWOO pays its plan once and all five results once. With much to read and little
ahead of it that tends to 5 / 15; with many tools, to 1 / 6. A model that makes all five calls in
one step saves as much with ReAct, and needs no plan.
"""

LIVE: Final = """
## With a real small model

`make strategies GGUF=path/to/model.gguf` asks; it can be stopped at any time, and goes on where it
was. `python -m live.strategies path/to/model.gguf --asking 2` asks all once more.
{count} outcomes of `{model}`
at temperature 0 (votes 0.7), {tokens} tokens a reply, {steps} steps a run; {machines};
{threads}. **The machines were shared**: their load was {min_load:.1f} to {max_load:.1f}, and
{at_once} of the outcomes are of tasks that were asked up to {max_at_once} at once, so seconds say
little. On 2 cores the model ran from 23:34 on 2026-11-25 in a build of xllamacpp for that processor
(AVX-512), on 16 on an NVIDIA H100, in one for CUDA 13: each rounds otherwise. There everything was
asked up to three times, and **the mean over all times counts**. (Not `code`: where that machine had
its packages, the interpreter of programs could not be found, and its outcomes were thrown away.)

{tasks} tasks were drawn beforehand (`python -m live.strategies.draw`): {drawn}.
Half of each source are for tuning, the other half is to be left unseen (but records of three of
them were read, `goods-cheapest-3`, `goods-bill-4`, `teacher-odo`, and all answers to the first
wording of `quixbugs`). `goods` are generated: prices
and stocks, of which several must be looked up, and a sum. `quixbugs` are functions with a bug,
which tests judge; the first three test cases are a tool of the agent, and the evaluator of
`reflexion`. An answer that is no such function goes back to the model. Only {menders}
get these: for the others there is nothing to look up, and two programs are hardly ever
equal votes.
The others are those of [live](live.md). Elsewhere the model judges itself. `CodeAgent`
is that of smolagents, through `lab/live/others`: it is told the same as there, has its own prompt,
and says one thing more where its steps are over; as in `code`, its tools give values, and say which
fields they have where they declare it. {asked}
tasks have been asked so far in every form of clew that they are for{little}.
"""

SEEN: Final = """
**Who gains and who loses**, where the interval of the difference says so (95 %: of the many
comparisons here one may say so by chance; sums over the tasks that both were asked):

{verdicts}

{again}{auto}\
**Why**, as far as the outcomes say it. *No tool called* counts answers out of the model's
head; *a worked example's answer* is one that the prompt shows for another question.

{why}

{lines}

**What we make of it.**

- **A judge that is the same model believes itself**: see what `reflexion`'s judge passed although
  it was wrong. A test as the evaluator is what the strategy needs; that is what `quixbugs` is for.
- **`plan_and_solve` pays for its runs.** A step is told to a run that knows less than the whole: it
  invents prices, or looks everything up again, since the step before said too little.
- **`rewoo` is cheap where the plan is right**: two replies. This model's plans often are not: a
  `calc` over words, a call that waits for its own result.
- **A grammar can spoil what it is there to mend.** That of `code` once began replies with
  `Thought:`, which its prompt did not show: the model answered out of its head on most tasks. It
  also ended a line of a program in the middle of a name.
- **A small model gets stuck where nobody says what to do instead.** The grammar of `code` once let
  a program be written again that had been refused as a repetition, where other forms are held to an
  answer. A program whose fence was not closed ran on into the next thought; one that only defined a
  function was told that it had printed nothing, and was written again. `reflexion` put reflections
  on one line, which spoils code. All of this is mended, and `code` was asked again. The other forms
  were not, outside of `quixbugs`: it would touch few of their tasks.
- **Words in a form are copied.** No worked example fits the one tool of `quixbugs`, and most
  thoughts there were the words that stood for the thought in the form. Dots stand there now, and a
  rule says what a thought is. `react` was asked these tasks anew; `reflexion` was not, since that
  takes hours: its outcomes there are of the old words.
- **`CodeAgent` mends more functions than any form of clew** (the table by source). Its model writes
  what is wrong and then the function, as plain text, and its last reply, where its steps are over,
  counts as it is. Forms of clew want the function in JSON, or by itself; most answers were words
  about it.
- **Being asked again is a throw of the dice**, where many are asked at once (*asked again*, above).
  The interval of `code` begins above zero only since `react` was asked `quixbugs` anew, and mended
  one function less.
- **The same prompt does not give the same reply**: the first trial of `reflexion` and `react` were
  sent the same prompt at temperature zero, and replied otherwise; what differed is how much of it
  was in the server's cache. A single task proves nothing.
"""

LATER: Final = """
{count} more outcomes are from before forms were changed for what tuning tasks showed: plans of
ReWOO were carried out although arguments did not fit, and could not refer to a field of a result; a
step of `plan_and_solve` was given the whole task to answer; the one worked example of `code` was a
sum, whose answer was copied, and is loops over look-ups now; programs were not shown which fields a
result has, and `CodeAgent` was given results as text; replies of `code` had to begin with a label
that its prompt did not show, and its programs were ended in the middle of a line; the question of
`quixbugs` said first what to answer with, a function after words counted as none, and many were
longer than a text might be, and then words instead of a function were taken for an answer;
`CodeAgent` was not told why a tool raised an exception, and its answers were not checked; and
words of the form stood for thoughts in `quixbugs`. They are not in the tables.
"""


def scripted() -> str:
    """What strategies cost where a script plays for the model: measured now, in Markdown."""
    took = anyio.run(strategies.measured)
    one, many = (each for each in took if each.way.name == "rewoo")
    text = [
        SCRIPTED.format(reply=strategies.REPLY, slowest=strategies.SLOWEST),
        strategies.rows(took),
        BOUND.format(
            share=strategies.MAX_TOKENS,
            times=strategies.MAX_TIME,
            aims=f"With one tool {_aims(one, took)}; beside {many.way.others} others "
            f"{_aims(many, took)}.",
        ),
    ]
    return "\n".join(text)


def text(answers: Sequence[Answered]) -> str:
    """The report, from the outcomes on file."""
    kept = read("strategies").get("scripted")
    played = "Not measured." if kept is None else in_full(kept)
    return (
        "\n".join([INTRODUCTION, played, CHART, *(live(answers) if answers else ())]).rstrip()
        + "\n"
    )


def _aims(one: strategies.Took, among: Sequence[strategies.Took]) -> str:
    """Which of its aims a way meets."""
    share, times = one.share(among), one.times
    tokens = "meets" if share <= strategies.MAX_TOKENS else "misses"
    time = "meets" if times <= strategies.MAX_TIME else "misses"
    return f"it {tokens} the first ({share:.2f}) and {time} the second ({times:.2f})"


def live(every: Sequence[Answered]) -> Iterator[str]:
    """What came of asking a model."""
    editions = {form.name: form.edition for form in FORMS}
    now = [
        one
        for one in every
        if one.stopped
        and one.edition == editions[one.form]
        and one.question == edition_of(one.source)
    ]
    # Of what was asked again after a change that no edition says, the last wording counts.
    last = {(one.form, one.task): one.fingerprint for one in now}
    results = [one for one in now if last[one.form, one.task] == one.fingerprint]
    if not results:
        return
    loads, one = [each.load for each in results], results[-1]
    asked = complete(results)
    there = Counter(task.source for task in listed())
    yield LIVE.format(
        count=len(results),
        model=one.model,
        tokens=TOKENS,
        steps=STEPS,
        machines="; ".join(_machines(results)),
        threads=" or ".join(f"{each}" for each in sorted({each.threads for each in results}))
        + " thread(s)",
        min_load=min(loads),
        max_load=max(loads),
        at_once=sum(each.at_once > 1 for each in results),
        max_at_once=max(each.at_once for each in results),
        tasks=sum(there.values()),
        drawn=", ".join(f"{number} `{source}`" for source, number in there.items()),
        menders=", ".join(f"`{form.name}`" for form in FORMS if form.mends and form.usual),
        asked=len(asked),
        little="" if len(asked) >= LITTLE else ": that is little, and the intervals say how little",
    ).lstrip("\n")
    yield from (_forms(results), "", FORMS_CHART, "", _sources(results), _seen(results))
    if earlier := len(every) - len(results):
        yield LATER.format(count=earlier)


def _seen(answers: Sequence[Answered]) -> str:
    """What is said of the tables, with what it rests on."""
    auto = "\n".join(composed.paragraphs(answers))
    return SEEN.format(
        verdicts="\n".join(verdicts(answers)),
        again="\n".join((*askings.paragraphs(answers), "")),
        auto=f"{auto}\n" if auto else "",
        why=why.rows(answers),
        lines="\n".join(why.lines(answers)),
    ).rstrip("\n")


def _forms(answers: Sequence[Answered]) -> str:
    base, machines = of(answers, BASE), _machines(answers)
    rows = [
        _row(f"`{form.name}`", form.what, mine, base, machines)
        for form in FORMS
        if form.usual and (mine := of(answers, form.name))
    ]
    if mine := composed.composed(answers):
        what = "the form that its rules choose"
        rows.append(_row("`auto`, composed", what, mine, base, machines))
    heads = ["form", "what is set", "times asked", "right", "share (95 %)",
             "against `react`, paired", "tuning", "unseen", "replies", "prompt tokens",
             "of `react`'s, same tasks", "written",
             *(f"seconds, {name.partition(',')[0]}" for name in machines)]  # fmt: skip
    return table(heads, rows)


def _machines(answers: Sequence[Answered]) -> list[str]:
    """Where it was measured, in that order."""
    return list(dict.fromkeys(one.machine for one in answers))


def _row(
    name: str,
    what: str,
    mine: Sequence[Answered],
    base: Sequence[Answered],
    machines: Sequence[str],
) -> list[str]:
    results = accuracy([outcome(one) for one in mine], is_right)
    halves = [[one for one in mine if one.half == half] for half in ("tuning", "unseen")]
    return [
        name,
        what,
        f"{len(mine)}",
        right_of(mine),
        f"{results.value:.2f} ({results.low:.2f}–{results.high:.2f})",
        "" if mine[0].form == BASE else told(against(mine, base)),
        *map(right_of, halves),
        f"{median(one.calls for one in mine):g}",
        f"{median(one.prompt for one in mine):,.0f}",
        "" if mine[0].form == BASE else _times(mine, base),
        f"{median(one.written for one in mine):,.0f}",
        *(_seconds(mine, machine) for machine in machines),
    ]


def _seconds(mine: Sequence[Answered], machine: str) -> str:
    """How long a task took there; "" where it was not asked there."""
    there = [one.seconds for one in mine if one.machine == machine]
    return f"{median(there):.0f}" if there else ""


def _sources(answers: Sequence[Answered]) -> str:
    """How many are right, by what was asked."""
    rows = [
        [f"`{form.name}`", *(right_of(_of_source(mine, source)) for source in SOURCES)]
        for form in FORMS
        if form.usual and (mine := of(answers, form.name))
    ]
    return table(["right, by source", *(f"`{source}`" for source in SOURCES)], rows)


def _of_source(mine: Sequence[Answered], source: str) -> list[Answered]:
    return [one for one in mine if one.source == source]


def _times(mine: Sequence[Answered], base: Sequence[Answered]) -> str:
    """How many times the prompt tokens of the base, over the tasks that both have."""
    there, theirs = in_common(mine, base), in_common(base, mine)
    return f"{prompt(there) / prompt(theirs):.1f} ×" if there else ""
