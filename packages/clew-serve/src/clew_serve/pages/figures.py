"""The page of what a run took: charts of tokens, cache, cost and time by step, and a table."""

from collections.abc import Callable, Sequence
from math import fsum
from typing import Final

from markupsafe import Markup
from starlette.responses import HTMLResponse

from clew_serve.api import figures
from clew_serve.api.figures import RunFigures, StepFigures
from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.pages.charts import Chart, drawn_chart
from clew_serve.pages.rendering import fragment, page

MAX_BARS: Final = 100
"""So many bars a chart has; of a longer run each stands for several steps in a row."""


async def show(inquiry: Inquiry) -> HTMLResponse:
    """What a run took."""
    took = await figures.get(inquiry)
    return page(inquiry, "figures.html", run_id=took.run_id, drawn=drawn_figures(took))


def drawn_figures(took: RunFigures) -> Markup:
    """The charts and their table as HTML."""
    groups = grouped(took.steps)
    charts = charts_of(groups) if groups else []
    drawn = [drawn_chart(each) for each in charts if any(map(any, each.values))]
    rows = [(label_of(group), sum_of(group)) for group in groups]
    return fragment("figures_content.html", took=took, charts=drawn, rows=rows, seconds=_seconds)


def grouped(steps: Sequence[StepFigures]) -> list[Sequence[StepFigures]]:
    """The steps of each bar: one, or as many as it takes for `MAX_BARS` at most."""
    size = -(-len(steps) // MAX_BARS) or 1
    return [steps[at : at + size] for at in range(0, len(steps), size)]


def label_of(group: Sequence[StepFigures]) -> str:
    """The step, or the steps, of a bar."""
    first, last = group[0].step, group[-1].step
    return f"step {first}" if first == last else f"steps {first} to {last}"


def sum_of(group: Sequence[StepFigures]) -> StepFigures:
    """What these steps took together."""
    return StepFigures(
        step=group[0].step,
        input=sum(it.input for it in group),
        cached=sum(it.cached for it in group),
        output=sum(it.output for it in group),
        below=sum(it.below for it in group),
        cost=fsum(it.cost for it in group),
        thinking=fsum(it.thinking for it in group),
        acting=fsum(it.acting for it in group),
    )


def charts_of(groups: Sequence[Sequence[StepFigures]]) -> list[Chart]:
    """The four charts; one without a number in it tells nothing."""
    labels = [*map(label_of, groups)]
    took = [*map(sum_of, groups)]
    total = sum_of([it for group in groups for it in group])
    return [
        _piled(
            "Tokens", ("cached", "new", "written", "sub-runs"), labels,
            [(min(it.cached, it.input), max(0, it.input - it.cached), it.output, it.below)
             for it in took], _count,
        ),
        Chart(
            "Share of the prompt that was cached", ("cached",), labels,
            [(cache_share(it),) for it in took],
            [f"{label}: {cache_share(it):.0%}" for label, it in zip(labels, took, strict=True)],
            f"in all {cache_share(total):.0%}", "100%", top=1.0,
        ),
        _piled("Cost", ("US dollars",), labels, [(it.cost,) for it in took], _dollars),
        _piled(
            "Time", ("thinking", "acting"), labels, [(it.thinking, it.acting) for it in took],
            _seconds,
        ),
    ]  # fmt: skip


def _piled(
    title: str,
    kinds: Sequence[str],
    labels: Sequence[str],
    values: Sequence[Sequence[float]],
    words: Callable[[float], str],
) -> Chart:
    def text(label: str, pile: Sequence[float]) -> str:
        several = [f"{kind} {words(it)}" for kind, it in zip(kinds, pile, strict=True) if it]
        return f"{label}: " + (
            ", ".join(several) if len(kinds) > 1 and several else words(sum(pile))
        )

    sums = [fsum(pile) for pile in values]
    return Chart(
        title, kinds, labels, values,
        [text(label, pile) for label, pile in zip(labels, values, strict=True)],
        f"in all {words(fsum(sums))}", words(max(sums, default=0.0)),
    )  # fmt: skip


def cache_share(took: StepFigures) -> float:
    """The share of the prompt's tokens that the provider had in its cache."""
    return min(1.0, took.cached / took.input) if took.input else 0.0


def _count(number: float) -> str:
    return f"{number:,.0f}"


def _dollars(number: float) -> str:
    return f"${number:,.4f}"


def _seconds(number: float) -> str:
    return f"{number:,.1f} s" if number >= 10 else f"{number:.3f} s"


FIGURES: Final = Endpoint(
    method="GET", path="/runs/{run:path}/figures", role="look", handler=show, gives="text/html",
    about="The page of what a run took.",
)  # fmt: skip
