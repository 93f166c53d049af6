"""The tables of what went wrong: kinds of failures, mistakes of form, calls that failed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, get_args

from clew.interfaces import Json
from clew_evals.outcome import About, Counted, Kind, Outcome
from clew_evals.table import WHO, Table, alike, columns, grouped, sentences, simulated_note, used

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


def kinds(outcomes: Sequence[Outcome], about: About) -> Table:
    """How many trials failed in which way."""
    groups = grouped(outcomes, about)
    seen = [kind for kind in KINDS if any(one.kind == kind for one in outcomes)]
    rows: list[tuple[Json, ...]] = []
    for group, trials in groups.items():
        many = Counter(one.kind for one in trials)
        failed = sum(not one.passed for one in trials)
        rows.append((*group, len(trials), failed, *(many[kind] for kind in seen)))
    heads = columns(*WHO, ("trials", "count"), ("failures", "count"), *alike(seen, "count"))
    note = sentences(
        "Trials that did not pass, each counted once, under the first kind that fits.",
        simulated_note(model for _, model in groups),
    )
    return Table("kinds", "Kinds of failures", heads, tuple(rows) if seen else (), note)


def mistakes(outcomes: Sequence[Outcome], about: About) -> Table:
    """What models got wrong in form: replies, names of tools, arguments."""
    rows: list[tuple[Json, ...]] = []
    for model in dict.fromkeys([*about.models, *(one.model for one in outcomes)]):
        counts = [one.counted for one in outcomes if one.model == model]
        if not counts:
            continue
        thoughts = sum(one.steps for one in counts)
        faults = sum(one.faults for one in counts)
        unknown, arguments = _summed(counts, "unknown"), _summed(counts, "bad_arguments")
        rows.append((
            model, len(counts), thoughts, faults, faults / thoughts if thoughts else None,
            sum(one.repairs for one in counts), sum(unknown.values()), _named(unknown),
            sum(arguments.values()), _named(arguments),
        ))  # fmt: skip
    heads = columns(
        "model", ("trials", "count"), ("steps", "count"), ("faults", "count"),
        ("per step", "share"), ("repairs", "count"), ("no such tool", "count"), "asked for",
        ("bad arguments", "count"), "of",
    )  # fmt: skip
    note = sentences(
        "Faults are replies that could not be read, repairs those that were mended; the rest are "
        "calls of tools that do not exist, and calls with arguments that do not fit.",
        simulated_note(row[0] for row in rows),
    )
    return used(Table("mistakes", "Mistakes of form", heads, tuple(rows), note))


def _summed(counts: Iterable[Counted], what: str) -> Counter[str]:
    sums: Counter[str] = Counter()
    for one in counts:
        sums.update(getattr(one, what))
    return sums


def _named(many: Mapping[str, int], limit: int = 3) -> str | None:
    """The names that occur most, with how often."""
    ranked = sorted(many.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{name} ×{count}" for name, count in ranked[:limit]]
    if len(ranked) > limit:
        named.append(f"{len(ranked) - limit} more")
    return ", ".join(named) or None


def calls(outcomes: Sequence[Outcome], about: About) -> Table:
    """Calls of each tool in a trial."""
    groups = grouped(outcomes, about)
    made = _summed((one.counted for one in outcomes), "calls")
    names = sorted(made, key=lambda name: (-made[name], name))
    rows: list[tuple[Json, ...]] = []
    for group, trials in groups.items():
        mine = _summed((one.counted for one in trials), "calls")
        failed = _summed((one.counted for one in trials), "failed_calls")
        total = sum(mine.values())
        cells = [mine[name] / len(trials) if mine[name] else None for name in names]
        share = sum(failed.values()) / total if total else None
        rows.append((*group, total / len(trials), share, *cells))
    heads = columns(*WHO, ("all", "number"), ("failed", "share"), *alike(names, "number"))
    note = sentences(
        "Calls that were made, per trial; failed is the share of them that failed.",
        simulated_note(model for _, model in groups),
    )
    return Table("calls", "Calls by tool", heads, tuple(rows) if names else (), note)
