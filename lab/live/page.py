"""`lab/reports/live.md`, made from the outcomes on file: no model is needed for it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from clew_evals.bootstrap import PairedDifference
from live import failures, long, memory, slots
from live.configurations import BASE, BEFORE, PLAIN, STEPS, TABLE, TOKENS
from live.draw import SEED
from live.figures import Row, against, kinds, ratio, shared, summed
from live.forms import current, earlier, first
from live.others.systems import SYSTEMS
from live.outcomes import Measured, of
from live.tables import table
from live.tasks import HALVES, Half, listed, sources

AIM: Final = 1.3
"""So many times as many right answers as the best of the other systems were wanted."""
NOT_OF_FORM: Final = ("told of a call, made none", "a call in the landing", "repeated the prompt")
"""Faults of replies that have the form they should have."""
BOUNDED: Final = "2026-11-23T12:00"
"""From when on (UTC) the bounds of a grammar follow `max_tokens`."""
MINIMUM: Final = 8
"""Nothing is said of fewer questions than these."""

INTRODUCTION: Final = """\
# Live: a real small model

`make live GGUF=path/to/model.gguf` asks a real model on this machine the tasks below, and writes
this page. Everything here was measured; what was not run says so. The outcomes are part of the
project (`lab/live/outcomes/`), so the page can be made again without the model:

```sh skip=it writes the page
python -m live --page
```
"""

WHAT: Final = """\
## What was asked

{tasks} tasks, drawn once with seed {seed} (`python -m live.draw`). Those of each source are ranked
by the SHA-256 of their ids: the first half is for tuning, the other is what counts. (It was not
wholly out of sight. An earlier prompt was measured over both halves, and its wrong answers were
read and classed, before the worked examples were changed; the change itself was made for what the
tuning half showed and judged by it, and today's prompt was run over the other half afterwards.
`candidate` rows [below](#earlier-forms) are prompts that were tried on the tuning half on the way.)

{sources}

- `gold` and `foreign` are clew's own sets (`clew eval gold`, `foreign`): notes of an invented
  world, and notes of thirty kinds in seven languages. Tools: `docs` (two passages of at most 700
  characters) and `calc`.
- `hotpotqa` and `fever` are questions of [HotpotQA](https://hotpotqa.github.io) and claims of
  [FEVER](https://fever.ai) (both CC BY-SA) over pages that other models looked up in recorded runs.
  The tools `search` and `lookup` of the ReAct paper give these pages, and those of the other drawn
  questions as distractors. The recordings are not part of the project: `CLEW_RECORDINGS` names
  their folder.
- Scoring is clew's own (`clew_evals.scoring`): exact match for `hotpotqa` and `fever`; for the
  others what the set says.
- Each run: temperature 0, at most {tokens} tokens a reply and {steps} steps, no limit of time. Seed
  0, one run for each task and configuration.
"""

MADE_OF_IT: Final = """\
**What we make of it.** Today's worked examples, few lines and repetition rule were chosen because
they did better on the tuning half. The other half does not bear that out: what the one gained, the
other lost in part. With some thirty questions a half, two wordings of such a prompt cannot be told
apart, and a wording that was picked for one half is flattered there. What all of it together is
worth, against nothing, is the first line. The model makes two look-ups now where it made one, and
no longer asks the same until its steps are over; it then reads the passages wrongly instead, and
says so as an answer. The format and its grammar alone (`before json`) come as far over all
questions, farther on the unseen half and less far on the other. So what these questions show of
the rest is that it saves steps and tokens, and not that it finds more answers. `before json` is
not the default for what it did on the unseen half: it did worse on the half that was to choose.
"""

EACH: Final = """\
## {half} half: each setting by itself

`make live GGUF=… PARTS={part}`. Each line changes one thing of the base (`{base}`), and is compared
with it over the tasks that both have answered (bootstrap over tasks, 10,000 draws). Steps, tokens
and seconds are medians of a run.
"""

FAULTS: Final = """\
## Faults

Replies that could not be read, of both halves together; repaired ones were read all the same. With
a grammar no reply can have another form, but it can tell of a call and make none, which clew takes
for a fault of an answer. Refused calls are of tools that are not there, or have arguments that do
not fit.
"""

OTHERS: Final = """\
## Other systems

`make live GGUF=… PARTS=others`. The same unseen questions, the same functions behind the tools, and
the same server of llama.cpp in one process, through each system's own form for agents, in an
environment of its own: temperature 0, {tokens} tokens a reply, {steps} model calls by the system's
own limit, one line of instructions. `CodeAgent` was given the texts of results in these outcomes;
its programs are given values now. What a system raised counts as no answer. clew's configuration
is the one that answers most of the tuning half.
"""


def page(measurements: Sequence[Measured]) -> str:
    """The page in Markdown."""
    now = current(measurements)
    parts = [INTRODUCTION, measured_on(now), what(), *findings(now, measurements)]
    parts += [configurations(now, half) for half in reversed(HALVES)]
    parts += [faults(now), others(now), failures.section(now), slots.section()]
    parts += [long.section(), memory.section(), costs(now), earlier(measurements)]
    return "\n".join(part.strip() + "\n" for part in parts)


def measured_on(measurements: Sequence[Measured]) -> str:
    """The model, the machine, and how much it was shared."""
    if not measurements:
        return "Nothing was run yet."
    lines: list[str] = []
    for sha256 in dict.fromkeys(one.sha256 for one in measurements):
        mine = [one for one in measurements if one.sha256 == sha256]
        loads = sorted(one.load for one in mine)
        days = sorted(one.at[:10] for one in mine)
        threads = sorted({one.threads for one in mine})
        lines.append(
            f"Model file `{mine[0].model}.gguf`, SHA-256 `{sha256}`. {len(mine)} outcomes, "
            f"{days[0]} to {days[-1]}, on {', '.join(sorted({one.machine for one in mine}))}; "
            f"{' or '.join(map(str, threads))} thread(s) for the model. **The machine was shared** "
            f"with other work: its load was {loads[0]:.1f} to {loads[-1]:.1f}, "
            f"{loads[len(loads) // 2]:.1f} in the median (recorded with each outcome), so seconds "
            "say little, and steps and tokens more."
        )
    return "\n\n".join(lines)


def what() -> str:
    """The tasks."""
    rows = [(name, str(tuning), str(unseen)) for name, tuning, unseen in sources()]
    return WHAT.format(
        tasks=len(listed()),
        seed=SEED,
        tokens=TOKENS,
        steps=STEPS,
        sources=table(("source", "tuning", "unseen"), rows),
    )


def findings(measurements: Sequence[Measured], ever: Sequence[Measured]) -> Iterator[str]:
    """What the figures come to, in a line each; `ever` are those of earlier prompts too."""
    yield "## Findings"
    lines: list[str] = []
    for half in reversed(HALVES):
        base, before = of(measurements, BASE, half), of(measurements, BEFORE, half)
        if both := shared(base, before):
            lines.append(
                f"- **{half.capitalize()} half**: clew as it is answers {counted(base, both)} of "
                f"{len(both)} questions, without what it does for small models "
                f"{counted(before, both)}: {told(against(base, before))}."
            )
        then = of(first(ever, BASE), BASE, half)
        if (both := shared(base, then)) and then != base:
            lines.append(
                f"  - The first prompt for small models, over {len(both)} of the same questions: "
                f"{counted(then, both)} right, today's {counted(base, both)}: "
                f"{told(against(base, then))}."
            )
    base, plain = (
        [one for half in HALVES for one in of(measurements, name, half)] for name in (BASE, PLAIN)
    )
    if both := shared(base, plain):
        lines.append(
            f"- **The format alone** (`{PLAIN}`), over both halves: {counted(plain, both)} of "
            f"{len(both)} questions, clew as it is {counted(base, both)}: "
            f"{told(against(base, plain))}."
        )
    if measurements:
        lines.append(f"- **Grammar**: {_grammar(measurements)} {_ever(ever)}")
        lines.append(f"- **Other systems**: {_comparison(measurements)}")
        lines.append(f"- **One label for all**: {_labels(measurements)}")
    yield "\n".join(lines) or "Not run."
    if measurements:
        yield MADE_OF_IT


def _grammar(measurements: Sequence[Measured]) -> str:
    steps, bad, untrue = _held(measurements)
    return (
        f"{bad.total()} of {steps:,} replies that were held to a grammar had another form"
        f"{_told(bad)}. {untrue} more had it, but told of calls that nobody had made, repeated the "
        "prompt, or called where no call could be made any more."
    )


def _ever(measurements: Sequence[Measured]) -> str:
    steps, bad, _ = _held(measurements)
    since, bad_since, _ = _held([one for one in measurements if one.at >= BOUNDED])
    return (
        f"With those of earlier prompts it is {bad.total()} of {steps:,}{_told(bad)}; since a "
        "grammar bounds texts by how long a reply may be, "
        f"{bad_since.total()} of {since:,}{_told(bad_since)}. What is cut off now are sums without "
        "an end, since each of their digits takes a token; clew says so, and the run goes on."
    )


def _labels(measurements: Sequence[Measured]) -> str:
    """How often each gives its commonest label, and what is right beside the claims."""
    asked = [("clew", BASE), ("clew", PLAIN), *((one.name, one.name) for one in SYSTEMS)]
    texts: list[str] = []
    for system, name in asked:
        mine = of(measurements, name, "unseen", system)
        claims = [one for one in mine if one.source == "fever"]
        if len(claims) < MINIMUM:
            continue
        counts = Counter(str(one.outcome.answer) for one in claims)
        label, many = counts.most_common(1)[0]
        rest = [one for one in mine if one.source != "fever"]
        right = sum(one.outcome.right for one in rest)
        texts.append(
            f"  - `{name}`: {label} for {many} of {len(claims)}; {right} of {len(rest)} others."
        )
    head = (
        "a claim of FEVER has one of three labels, and each gives nearly always the same, so what "
        "is right of the claims hangs on the draw. Its commonest label on the unseen half, and "
        "what is right beside the claims:"
    )
    return "\n".join([head, *texts])


def _held(measurements: Sequence[Measured]) -> tuple[int, Counter[str], int]:
    """Steps under a grammar, their faults of form by kind, and how many other faults they have."""
    held = [one for one in measurements if one.system == "clew" and one.grammar]
    bad = kinds(held)
    form = Counter({name: many for name, many in bad.items() if name not in NOT_OF_FORM})
    steps = sum(one.outcome.counted.steps for one in held)
    return steps, form, bad.total() - form.total()


def _told(bad: Counter[str]) -> str:
    text = ", ".join(f"{many} × {name}" for name, many in bad.items())
    return f" ({text})" if text else ""


def best(measurements: Sequence[Measured]) -> str:
    """The configuration that answers most of the tuning half; the base where none is better."""
    there = [of(measurements, one.name, "tuning") for one in TABLE]
    base = of(measurements, BASE, "tuning")
    gains = {
        mine[0].configuration: gain.value
        for mine in there
        if len(mine) >= MINIMUM and (gain := against(mine, base)) is not None
        and gain.cases >= MINIMUM
    }  # fmt: skip
    top = max(gains, key=lambda name: gains[name], default=BASE)
    return top if gains.get(top, 0) > 0 else BASE


def _comparison(measurements: Sequence[Measured]) -> str:
    name = best(measurements)
    mine = of(measurements, name, "unseen")
    lines = list[str]()
    minimum, lowest = float("inf"), float("inf")
    for system in SYSTEMS:
        theirs = of(measurements, system.name, "unseen", system.name)
        gain = against(mine, theirs)
        if gain is None or gain.cases < MINIMUM:
            many = 0 if gain is None else gain.cases
            lines.append(f"  - {system.name}: {many} questions, of which nothing is said.")
            continue
        both = shared(mine, theirs)
        text = f"{counted(mine, both)} against {counted(theirs, both)}: {told(gain)}"
        if (times := ratio(mine, theirs)) is not None:
            value, low, high = times
            minimum, lowest = min(minimum, value), min(lowest, low)
            text += f"; {value:.2f} times as many ({low:.2f} to {high:.2f})"
        lines.append(f"  - {system.name}, {len(both)} questions: {text}.")
    met = "met" if minimum >= AIM else "**missed**"
    if minimum >= AIM and lowest < 1:
        met = "met by the counts, and **not shown**: the intervals reach below 1"
    head = (
        f"unseen questions that clew's best configuration on the tuning half (`{name}`) answers "
        f"rightly, against theirs. {AIM:g} times as many as the best of them was the aim: {met}."
    )
    return "\n".join([head, *lines])


def configurations(measurements: Sequence[Measured], half: Half) -> str:
    """The table of all configurations over one half."""
    base = of(measurements, BASE, half)
    heads = (
        "configuration", "what is set", "right", "share (95 %)", "against the base, paired",
        "wrong but `answered`", "steps", "prompt tokens", "written", "cached from step 2",
        "seconds", "load",
    )  # fmt: skip
    rows: list[tuple[str, ...]] = []
    for variation in TABLE:
        row = Row(variation.name, of(measurements, variation.name, half))
        rows.append((f"`{row.name}`", variation.what, *cells(row, base)))
    text = EACH.format(half=half.capitalize(), part=half, base=BASE)
    return f"{text}\n{table(heads, rows)}"


def cells(row: Row, base: Sequence[Measured]) -> tuple[str, ...]:
    """What a table says of a configuration beside its name."""
    if not row.measurements:
        return ("not run", *[""] * 9)
    claimed, wrong = row.claims
    gain = None if row.measurements[0].configuration == BASE else against(row.measurements, base)
    cached = "" if row.cached is None else f"{row.cached:.1%}"
    return (
        f"{row.right} of {len(row.measurements)}",
        row.share,
        "" if gain is None else told(gain),
        f"{claimed} of {wrong}",
        f"{row.middle(lambda one: one.outcome.counted.steps):.0f}",
        f"{row.middle(lambda one: one.outcome.counted.usage.input):,.0f}",
        f"{row.middle(lambda one: one.outcome.counted.usage.output):,.0f}",
        cached,
        f"{row.middle(lambda one: one.seconds):.0f}",
        f"{row.middle(lambda one: one.load):.1f}",
    )


def faults(measurements: Sequence[Measured]) -> str:
    """Replies that could not be read, by kind, of both halves."""
    rows: list[tuple[str, ...]] = []
    ours = [one for one in measurements if one.system == "clew"]
    for held in (True, False):
        for name in dict.fromkeys(one.configuration for one in ours if one.grammar == held):
            mine = [one for one in ours if one.configuration == name]
            steps = sum(one.outcome.counted.steps for one in mine)
            bad = kinds(mine)
            mended = summed(one.repairs for one in mine)
            refused = sum(
                sum(one.outcome.counted.unknown.values())
                + sum(one.outcome.counted.bad_arguments.values())
                for one in mine
            )
            text = ", ".join(f"{kind} {many}" for kind, many in bad.most_common()) or "none"
            rows.append((
                f"`{name}`", "yes" if held else "no", f"{steps:,}", f"{bad.total()}",
                f"{100 * bad.total() / max(1, steps):.1f}", text, f"{refused}",
                ", ".join(f"{kind} {many}" for kind, many in mended.most_common(4)) or "none",
            ))  # fmt: skip
    heads = (
        "configuration", "grammar", "steps", "faults", "per 100 steps", "by kind",
        "refused calls", "repairs",
    )  # fmt: skip
    return f"{FAULTS}\n{table(heads, rows) if rows else 'Not run.'}"


def others(measurements: Sequence[Measured]) -> str:
    """The same questions through other systems."""
    name = best(measurements)
    mine = of(measurements, name, "unseen")
    heads = (
        "system", "form", "versions", "right", "share (95 %)", f"clew's `{name}` against it",
        "wrong but `answered`", "tool calls in all", "model calls", "prompt tokens", "written",
        "seconds", "load",
    )  # fmt: skip
    rows: list[tuple[str, ...]] = []
    for system in SYSTEMS:
        row = Row(system.name, of(measurements, system.name, "unseen", system.name))
        first = row.measurements[0].version if row.measurements else ""
        made = list(cells(row, ()))
        made[2] = told(gain) if (gain := against(mine, row.measurements)) else ""
        calls = f"{row.calls:,}" if row.measurements else ""
        rows.append((system.name, system.what, first, *made[:4], calls, *made[4:7], *made[8:]))
    text = OTHERS.format(tokens=TOKENS, steps=STEPS)
    chart = "![Questions answered rightly, by system](images/small-model.svg)"
    return f"{text}\n{table(heads, rows)}\n\n{chart}"


def costs(measurements: Sequence[Measured]) -> str:
    """What clew itself took of a run."""
    mine = [
        one for one in measurements if one.system == "clew" and one.outside and not one.taken_up
    ]
    lines = ["## What clew itself costs", ""]
    if not mine:
        return "\n".join([*lines, "Not run."])
    seconds = sum(one.seconds for one in mine)
    steps = sum(one.outcome.counted.steps for one in mine)
    outside, cpu = sum(one.outside for one in mine), sum(one.cpu for one in mine)
    lines.append(
        f"Of {len(mine)} runs with {steps:,} steps and {seconds:,.0f} s, {outside:.1f} s "
        f"({outside / seconds:.2%}; aim: under 2 %) were not spent waiting for a reply: tools, "
        f"records, prompts. The thread of the runs computed {cpu:.1f} s ({cpu / seconds:.2%}), "
        f"{1000 * cpu / steps:.0f} ms a step, reading the replies' streams included."
    )
    return "\n".join(lines)


def counted(measurements: Sequence[Measured], names: Sequence[str]) -> int:
    """How many of these tasks are answered rightly."""
    return sum(one.outcome.right for one in measurements if one.task in set(names))


def told(gain: PairedDifference | None) -> str:
    """A paired difference in words."""
    if gain is None:
        return "no question in common"
    return f"{gain.value:+.2f} ({gain.low:+.2f} to {gain.high:+.2f}, {gain.cases} paired)"
