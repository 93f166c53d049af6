"""The plots of a report, as SVG that stands in a page: its text is text, its ink is the page's."""

import io
import re
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from statistics import fmean
from typing import Any, Final, TypeAlias

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from clew.core.values import Value
from clew_evals.mistakes import KINDS
from clew_evals.outcome import About, Outcome
from clew_evals.statistics import accuracy
from clew_evals.table import Group, format_cell, grouped, inert

Point: TypeAlias = tuple[float, float]
"""What a configuration takes, and its accuracy."""

WIDE: Final = 5.4
"""Inches: what a phone shows whole, and readable."""

INK: Final = "#010203"
FAINT: Final = "#040506"
PAGE: Final = "#070809"
"""Colours that stand for those of the page, which has a dark mode."""

COLOURS: Final = ("#0a84c6", "#e69f00", "#0a9e73", "#cc79a7", "#d55e00", "#8f7ee7", "#56b4e9")
MARKERS: Final = "osD^vPX"
OF_KIND: Final = dict(
    zip(
        KINDS,
        cycle((
            "#6b7280", "#b8a37e", "#7a5c3e", "#94a3b8", "#cc79a7", "#e69f00", "#0a84c6", "#56b4e9",
            "#0a9e73", "#8f7ee7", "#d55e00",
        )),
        strict=False,
    )
)  # fmt: skip

_PLOTTING: Final[Any] = mpl  # its types are too wide for a strict checker, its figures' too


_SETTINGS: Final[dict[str, Any]] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a name may have a $ in it
    "font.family": "DejaVu Sans",  # ships with matplotlib; the page puts its own in its place
    "font.size": 10.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "figure.facecolor": "none",
}

_PAGE: Final = (
    (
        re.compile(r'(<g) id="[^"]*"'),
        r"\1",
    ),  # nothing refers to a group, and a page has each id once
    (re.compile(r"<style.*?</style>", re.DOTALL), ""),  # it would be that of the whole page
    (re.compile(r' xmlns(:xlink)?="[^"]*"'), ""),  # HTML knows what SVG is
    (re.compile(r" xlink:href="), " href="),
    (re.compile(r"font-family: [^;]*; "), ""),
    (re.compile(INK), "currentColor"),
    (re.compile(FAINT), "var(--faint)"),
    (re.compile(PAGE), "var(--page)"),
)
"""What becomes of the file that matplotlib writes."""


class Plot(Value, frozen=True):
    """A plot as SVG, and in words for who cannot see it."""

    name: str
    title: str
    svg: str
    words: str
    note: str = ""


def plots(outcomes: Sequence[Outcome], about: About) -> tuple[Plot, ...]:
    """Those that have something to show."""
    groups = grouped(outcomes, about)
    if not groups:
        return ()
    with _PLOTTING.rc_context(_SETTINGS):
        charts = [accuracies(groups)]
        if len(groups) > 1:
            charts.append(against(groups, "steps", _steps))
        priced = {group: trials for group, trials in groups.items() if _cost(trials)}
        if len(priced) > 1:
            charts.append(against(priced, "cost in US dollars", _cost))
        if any(outcome.kind for outcome in outcomes):
            charts.append(failures(groups))
    return tuple(charts)


def accuracies(groups: Mapping[Group, Sequence[Outcome]]) -> Plot:
    """A point with its interval for each configuration and model."""
    configurations, models = _names(groups)
    step = 0.8 / len(models)
    figure, axes = _figure(0.8 + len(configurations) * max(0.32, 0.15 * len(models)))
    for index, model in enumerate(models):
        rows = [row for row, name in enumerate(configurations) if (name, model) in groups]
        shares = [accuracy(groups[configurations[row], model]) for row in rows]
        axes.errorbar(
            [share.value for share in shares],
            [row + (index - (len(models) - 1) / 2) * step for row in rows],
            xerr=[
                [share.value - share.low for share in shares],
                [share.high - share.value for share in shares],
            ],
            fmt=_marker(index), color=_colour(index), label=inert(model),
            markersize=5, elinewidth=1.4, capsize=2.5,
        )  # fmt: skip
    axes.set_yticks(range(len(configurations)), [_label(name) for name in configurations])
    axes.set_ylim(len(configurations) - 0.4, -0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.grid(axis="x")
    axes.set_xlabel("accuracy, with its interval")
    _legend(axes, len(models))
    best = max(groups, key=lambda group: accuracy(groups[group]).value)
    worst = min(groups, key=lambda group: accuracy(groups[group]).value)
    words = (
        f"Accuracy of {len(groups)} configurations and models, each a point with its interval. "
        f"Highest: {_group_label(best, groups)}. Lowest: {_group_label(worst, groups)}. "
        "The table Overview has all of them."
    )
    return Plot("plot-accuracy", "Accuracy", _svg(figure, "accuracy"), words)


def against(
    groups: Mapping[Group, Sequence[Outcome]],
    what: str,
    measure: Callable[[Sequence[Outcome]], float],
) -> Plot:
    """Accuracy against what it takes: a point for each configuration and model."""
    _, models = _names(groups)
    figure, axes = _figure(3.9)
    points = {group: (measure(trials), accuracy(trials).value) for group, trials in groups.items()}
    for index, model in enumerate(models):
        mine = [at for (_, name), at in points.items() if name == model]
        axes.plot(
            [x for x, _ in mine], [y for _, y in mine], _marker(index), color=_colour(index),
            label=inert(model), markersize=6, alpha=0.85,
        )  # fmt: skip
    front = dict(_front(points))
    for group, (x, y) in _apart(front, points):
        axes.annotate(_label(group[0]), (x, y), (6, 5), textcoords="offset points", fontsize=9.5)
    axes.margins(x=0.12, y=0.12)
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.grid()
    axes.set_xlabel(f"mean {what} of a trial")
    axes.set_ylabel("accuracy")
    _legend(axes, len(models))
    named = "; ".join(
        f"{_group_name(group)}: {format_cell(y, 'share')} at {x:.3g}"
        for group, (x, y) in front.items()
    )
    words = (
        f"Accuracy against mean {what}, a point for each of {len(groups)} configurations and "
        f"models. None is both cheaper and better than these: {named}."
    )
    short = what.split(maxsplit=1)[0]
    note = f"The best are named: no other beats them in both: fewer {short} and higher accuracy."
    if short == "cost":
        note = "The best are named: no other beats them in both: lower cost and higher accuracy."
    return Plot(f"plot-{short}", f"Accuracy and {short}", _svg(figure, short), words, note)


def failures(groups: Mapping[Group, Sequence[Outcome]]) -> Plot:
    """The kinds of failures of each configuration, as shares of its trials."""
    configurations, _ = _names(groups)
    figure, axes = _figure(0.9 + 0.34 * len(configurations))
    counts: list[Counter[str | None]] = []
    for name in configurations:
        trials = [one for group, some in groups.items() if group[0] == name for one in some]
        counts.append(Counter(one.kind for one in trials))
    ends = [0.0] * len(counts)
    for kind in KINDS:
        shares = [count[kind] / count.total() for count in counts]
        if any(shares):
            axes.barh(
                range(len(counts)), shares, left=ends, height=0.68, color=OF_KIND[kind],
                label=kind, edgecolor=PAGE, linewidth=0.8,
            )  # fmt: skip
            ends = [end + share for end, share in zip(ends, shares, strict=True)]
    axes.set_yticks(range(len(counts)), [_label(name) for name in configurations])
    axes.set_ylim(len(counts) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.grid(axis="x")
    axes.set_xlabel("share of trials")
    _legend(axes, len(KINDS))
    words = "Failures by kind: " + "; ".join(
        f"{inert(name)}: "
        + (", ".join(f"{kind} {count[kind]}" for kind in KINDS if count[kind]) or "none")
        for name, count in zip(configurations, counts, strict=True)
    )
    return Plot(
        "plot-kinds", "Kinds of failures", _svg(figure, "kinds"), f"{words}.",
        "All models of a configuration together, as shares of its trials.",
    )  # fmt: skip


def _front(
    points: Mapping[Group, tuple[float, float]],
) -> Iterator[tuple[Group, tuple[float, float]]]:
    """Those that no other beats in both; of equal ones the first."""
    seen: set[Point] = set()
    for group, (x, y) in points.items():
        beaten = any((a <= x and b >= y and (a, b) != (x, y)) for a, b in points.values())
        if not beaten and (x, y) not in seen:
            seen.add((x, y))
            yield group, (x, y)


def _apart(
    front: Mapping[Group, Point], points: Mapping[Group, Point]
) -> Iterator[tuple[Group, Point]]:
    """Those whose names do not stand on each other, from the most accurate on."""
    wide = max(x for x, _ in points.values()) - min(x for x, _ in points.values())
    high = max(y for _, y in points.values()) - min(y for _, y in points.values())
    named: list[Point] = []
    for group, (x, y) in sorted(front.items(), key=lambda one: -one[1][1]):
        if all(abs(x - a) > wide * 0.35 or abs(y - b) > high * 0.1 for a, b in named):
            named.append((x, y))
            yield group, (x, y)


def _steps(trials: Sequence[Outcome]) -> float:
    return fmean(one.counted.steps for one in trials)


def _cost(trials: Sequence[Outcome]) -> float:
    """The mean cost, 0 where one is not known: then there is nothing to show."""
    costs = [one.counted.usage.cost for one in trials]
    return fmean(cost or 0 for cost in costs) if None not in costs else 0.0


def _names(groups: Mapping[Group, object]) -> tuple[list[str], list[str]]:
    return list(dict.fromkeys(one for one, _ in groups)), list(dict.fromkeys(m for _, m in groups))


def _group_label(group: Group, groups: Mapping[Group, Sequence[Outcome]]) -> str:
    share = accuracy(groups[group])
    around = format_cell([share.low, share.high], "interval")
    return f"{_group_name(group)}, {format_cell(share.value, 'share')} ({around})"


def _group_name(group: Group) -> str:
    return f"{inert(group[0])} with {inert(group[1])}"


def _label(name: str, wide: int = 20) -> str:
    """A name in at most two lines."""
    return "\n".join(textwrap.wrap(inert(name), wide, max_lines=2, placeholder="…"))


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _marker(index: int) -> str:
    return MARKERS[index % len(MARKERS)]


def _figure(high: float) -> tuple[Any, Any]:
    figure: Any = Figure(figsize=(WIDE, high), layout="constrained")
    FigureCanvasSVG(figure)
    return figure, figure.add_subplot()


def _legend(axes: Any, many: int) -> None:
    if many > 1:
        longest = max(map(len, axes.get_legend_handles_labels()[1]))
        fitting = int(WIDE * 72 / (5.5 * longest + 34))
        axes.figure.legend(
            loc="outside upper left", ncols=max(1, fitting), fontsize=9.5, handletextpad=0.3
        )


def _svg(figure: Any, salt: str) -> str:
    """The figure as an element of a page, with ids of its own and the page's colours and font."""
    out = io.StringIO()
    with _PLOTTING.rc_context({"svg.hashsalt": salt}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the page's font may have it
        figure.savefig(
            out, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type"))
        )
    text = out.getvalue()
    text = text[text.index("<svg") :]
    for pattern, instead in _PAGE:
        text = pattern.sub(instead, text)
    return text
