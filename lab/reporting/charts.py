"""The charts of the reports, drawn from the outcomes on file."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.measure import Row
from benchmarks.report import RESULTS
from live import outcomes, page
from live.figures import Row as Group
from live.forms import current
from live.others.systems import SYSTEMS
from live.outcomes import of
from live.strategies import outcomes as strategy_outcomes
from live.strategies.page import live
from recordings.__main__ import kept as evidence
from reporting.outcomes import cell, figure, number, of_markdown, read, share, table_with
from reporting.svg import Bars, Lines, Value

VISIBLE_STEPS: Final = ("10 steps", "50 steps", "200 steps")
WITHOUT: Final = "act without a guard"
GUARDED: Final = "act with `Provenance()`"
WAYS: Final = {
    "`def` that reads, over a loop that calls it": "a plain function that reads",
    "`def`, unsafe, over a loop with its commits": "a plain function, unsafe",
    "on the event loop, plain": "an async tool",
    "on the event loop, streamed": "an async tool, streamed",
}


def cpu() -> str:
    """CPU of a step over a bare loop, by length of the run."""
    rows = {row["name"]: Row(**row) for row in json.loads(RESULTS.read_text("utf-8"))["rows"]}
    fields: dict[str, list[Value | None]] = {}
    for way, name in WAYS.items():
        rows_of_steps = [rows[f"{steps}, {way}"] for steps in VISIBLE_STEPS]
        fields[name] = [Value(row.median, row.low, row.high) for row in rows_of_steps]
    return Bars(
        "CPU per step, over a bare HTTP loop that keeps nothing",
        "times the CPU of the bare loop (median, least and most)",
        VISIBLE_STEPS,
        fields,
    ).svg()


def audit() -> str:
    """What the audit catches and wrongly rejects, on each set of texts."""
    sections = read("accuracy")
    rows: dict[str, list[Value | None]] = {}
    for section, name in (("audit-held-back", "ours, held back"), ("audit-last", "ours, last")):
        (table,) = sections[section].tables
        column = table.columns[-1]
        rows[name] = [
            Value(share(cell(table, "all that leave", column))),
            Value(share(cell(table, "unchanged", column))),
        ]
    for section, name in (
        ("audit-unaware", "by an author who knew no rule"),
        ("audit-public", "public collections"),
    ):
        table = sections[section].tables[0]
        rows[f"{name}, unseen"] = [
            Value(share(cell(table, "unseen", "caught"), exact=True)),
            Value(share(cell(table, "unseen", "objected to"), exact=True)),
        ]
    return Bars(
        "The audit of evidence",
        "share of the answers",
        ("wrong answers caught", "right answers objected to"),
        rows,
        limit=1,
    ).svg()


def request_filter() -> str:
    """Recall and precision of the filter, on each set of requests."""
    sections = read("accuracy")
    rows: dict[str, list[Value | None]] = {}
    for section, name in (
        ("filter-unseen", "ours, unseen half"),
        ("filter-tuning", "ours, tuned on"),
    ):
        text = str(sections[section].blocks[0])
        rows[name] = [Value(_after(text, word)) for word in ("recall", "precision")]
    for section, name in (
        ("filter-unaware", "by an author who knew no rule"),
        ("filter-public", "public collections"),
    ):
        table = sections[section].tables[0]
        rows[f"{name}, unseen"] = [
            Value(number(cell(table, "unseen", word))) for word in ("recall", "precision")
        ]
    return Bars(
        "The request filter", "share", ("recall (attacks found)", "precision"), rows, limit=1
    ).svg()


def _after(text: str, word: str) -> float:
    matches = re.search(rf"^{word} ([\d.]+)", text, re.MULTILINE)
    assert matches is not None, word
    return float(matches[1])


def ablation() -> str:
    """Accuracy of each configuration, by three of the models."""
    table = table_with(read("ablation")["tables"], "configuration", "%")
    models = ("`offline`", "`small`", "`strong`")
    rows = {
        row[0]: [_percent(row[table.columns.index(model)]) for model in models]
        for row in table.rows
    }
    series = [model.strip("`") for model in models]
    return Bars(
        "Accuracy on the gold set, by configuration", "% of the tasks", series, rows, "{:.0f}",
        limit=100,
    ).svg()  # fmt: skip


def _percent(text: str) -> Value | None:
    return Value(float(text.removesuffix("%"))) if text.endswith("%") else None


def lengths() -> str:
    """Prompt tokens of a whole run, by its steps and by what is left out."""
    table = read("context")["long"].tables[0]
    series: dict[str, list[tuple[float, float]]] = {}
    for steps, policy, _, total, *_ in table.rows:
        name = policy.replace("`", "")
        series.setdefault(name, []).append((number(steps), number(total)))
    return Lines("Prompt tokens of a whole run", "steps", "tokens of all prompts", series).svg()


def beside() -> str:
    """Prompt tokens of the same long run under other systems."""
    table = read("context")["others"].tables[0]
    rows: dict[str, list[Value | None]] = {
        row[0].replace("`", ""): [
            Value(number(row[table.columns.index(name)]) / 1_000)
            for name in ("all prompts", "weighed")
        ]
        for row in table.rows
    }
    return Bars(
        "The same long run, beside other systems",
        "thousand tokens; weighed: what was cached counts a tenth",
        ("all prompts", "weighed"),
        rows,
        "{:.0f}",
    ).svg()


def rewinds() -> str:
    """What a rewind is worth to a real model."""
    (table,) = read("context")["rewinds-real"].tables
    rows: dict[str, list[Value | None]] = {row[0]: [interval(row[1])] for row in table.rows}
    return Bars(
        "After a wrong answer: tasks of a real model answered rightly",
        "share of the tasks, with its interval (95 of 100)",
        ("right",),
        rows,
        limit=1,
    ).svg()


def interval(text: str) -> Value:
    """A share with its interval, as tables have it: `0.22 (0.12–0.37)`."""
    matches = re.search(r"(\d\.\d+) \((\d\.\d+)–(\d\.\d+)\)", text)
    assert matches is not None, text
    return Value(*map(float, matches.groups()))


def attacks() -> str:
    """Which attacks act on a model that believes all it reads, with and without the guard."""
    (table,) = read("security")["attacks"].tables
    without, guarded = (table.columns.index(name) for name in (WITHOUT, GUARDED))
    return Bars(
        "Attacks that act; model and planner are simulated and ideal",
        "share of the cases, with its interval (95 of 100)",
        ("without a guard", "with the guard"),
        {row[0]: [interval(row[without]), interval(row[guarded])] for row in table.rows},
        limit=1,
    ).svg()


def memory() -> str:
    """How much of the evidence is among the first five memories."""
    by_kind = read("memory")["recall"].tables[1]
    rows: dict[str, list[Value | None]] = {}
    for kind, _, _, turns, *_ in by_kind.rows:
        rows.setdefault(kind, []).append(Value(float(turns)))
    return Bars(
        "Memory: evidence among the first five, in conversations held apart",
        "mean share of the turns that hold the answer",
        ("plain full-text search", "by words", "by words and meaning"),
        rows,
        limit=1,
    ).svg()


def small_model() -> str:
    """A real small model under clew and under other systems."""
    listed = list(outcomes.read())
    name = page.best(current(listed))
    rows: dict[str, list[Value | None]] = {
        "clew": [interval(Group(name, of(current(listed), name, "unseen")).share)]
    }
    for system in SYSTEMS:
        theirs = Group(system.name, of(listed, system.name, "unseen", system.name))
        if len(theirs.measurements) >= page.MINIMUM:
            rows[system.name] = [interval(theirs.share)]
    return Bars(
        "The same small model, questions and tools: answered rightly",
        "share of the unseen questions, with its interval (95 of 100)",
        ("right",),
        rows,
        limit=1,
    ).svg()


def strategies() -> str:
    """What strategies cost where the best play is known."""
    (table,) = read("strategies")["scripted"].tables
    rows: dict[str, list[Value | None]] = {}
    for way, _, _, _, of_react, *_, times in table.rows:
        name = way.strip("`")
        if name in rows:  # a second time, beside tools that are not needed
            name = f"{name}, beside many tools"
        rows[name] = [Value(number(of_react)), Value(number(times))]
    return Bars(
        "Strategies, where a script plays their best",
        "times (tokens: those of react; seconds: what must be waited for)",
        ("prompt tokens", "seconds"),
        rows,
    ).svg()


def forms() -> str:
    """What a real small model gets right by each strategy."""
    section = of_markdown("", "\n".join(live(strategy_outcomes.read())), "kept")
    table = next(each for each in section.tables if each.columns[0] == "form")
    column = table.columns.index("share (95 %)")
    rows: dict[str, list[Value | None]] = {
        row[0].replace("`", ""): [interval(row[column])] for row in table.rows
    }
    return Bars(
        "A real small model by strategies: tasks answered rightly",
        "share of the tasks that were asked, with its interval (95 of 100)",
        ("right",),
        rows,
        limit=1,
    ).svg()


def retrieval() -> str:
    """How often everyday words find the right tool."""
    parts = evidence()
    rows: dict[str, list[Value | None]] = {}
    for half in ("unseen", "seen"):
        for count in (1, 5, 10):
            try:
                bars = [
                    number(figure(parts, f"{by}, recall@{count}, {half}").got)
                    for by in ("by words", "by words and meaning")
                ]
            except ValueError:  # not measured at this length
                continue
            rows[f"{half}: among the first {count}"] = [Value(each) for each in bars]
    return Bars(
        "Tools found by requests in everyday words",
        "share of the requests whose tool is found",
        ("by words", "by words and meaning"),
        rows,
        limit=1,
    ).svg()


def rooms() -> str:
    """The lines of each room, and of all that it needs."""
    (table,) = read("house")["rooms"].tables
    sizes = [table.columns.index(name) for name in ("lines", "lines of its closure")]
    ordered = sorted(table.rows, key=lambda row: number(row[sizes[1]]))
    rows: dict[str, list[Value | None]] = {
        row[0].strip("`"): [Value(number(row[at])) for at in sizes] for row in ordered
    }
    return Bars("The rooms of clew", "lines", ("its own", "its closure"), rows, "{:,.0f}").svg()


def steps() -> str:
    """Steps of tasks by single calls, calls at once, and programs."""
    (table,) = read("packages")["programs-steps"].tables
    rows: dict[str, list[Value | None]] = {
        row[0].replace("_", " ").replace("cryptobotanists plant", "plant"): [
            Value(number(each) / number(row[1])) for each in row[2:5]
        ]
        for row in table.rows
    }
    return Bars(
        "Steps of a task of M3ToolEval", "steps a task, the answer's included",
        ("one call per step", "calls at once", "programs"), rows, "{:.1f}",
    ).svg()  # fmt: skip


CHARTS: Final[Mapping[str, Callable[[], str]]] = {
    "cpu": cpu,
    "audit": audit,
    "filter": request_filter,
    "ablation": ablation,
    "lengths": lengths,
    "beside": beside,
    "rewinds": rewinds,
    "attacks": attacks,
    "memory": memory,
    "small-model": small_model,
    "strategies": strategies,
    "forms": forms,
    "retrieval": retrieval,
    "rooms": rooms,
    "steps": steps,
}
"""By the names of their files, without `.svg`."""
