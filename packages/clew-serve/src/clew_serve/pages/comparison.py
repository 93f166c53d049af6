"""The page of two runs side by side: what they share, where they part, and what each came to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from markupsafe import Markup
from starlette.responses import HTMLResponse

from clew import Difference, Step, Trajectory, diff
from clew_serve.api.access_to_runs import record_of
from clew_serve.api.trees import TreeRun, tree_run
from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.pages.rendering import fragment, page

SCREEN: Final = 20
"""So many steps are on a page."""


class ComparisonQuery(msgspec.Struct):
    """The run to compare with, and the steps before those of the page.

    Without `to` it is the run that this one is a fork of; without `after`, the steps that both
    share.
    """

    to: str = ""
    after: Annotated[int, msgspec.Meta(ge=0, le=2**53)] | None = None


@dataclass(frozen=True)
class CallCell:
    """A call of a step: what was called, and what came of it."""

    key: str
    tool: str
    args: Any
    result: str | None
    ok: bool


@dataclass(frozen=True)
class StepCell:
    """What one of the runs did in a step."""

    text: str
    calls: tuple[CallCell, ...]


@dataclass(frozen=True)
class Row:
    """A step of both runs; None where one of them has none."""

    step: int
    left: StepCell | None
    right: StepCell | None

    @property
    def differs(self) -> bool:
        """Whether the runs did not do the same in it."""
        return self.left != self.right


async def show(inquiry: Inquiry) -> HTMLResponse:
    """A run beside another one."""
    query: ComparisonQuery = inquiry.query
    left = await record_of(inquiry)
    other = query.to.strip() or (left.forks[-1].parent if left.forks else "")
    drawn = Markup("")
    if other:
        drawn = drawn_comparison(diff(left, await record_of(inquiry, other)), query.after)
    return page(inquiry, "comparison.html", run_id=left.run_id, other=other, drawn=drawn)


def drawn_comparison(difference: Difference, after: int | None = None) -> Markup:
    """Two runs side by side as HTML: a screen of their steps behind number `after`."""
    left, right = difference.left, difference.right
    after = difference.steps if after is None else after
    rows = [*_rows(left, right, after)]
    last = max(len(left.steps), len(right.steps))
    return fragment(
        "comparison_content.html", difference=difference, rows=rows, after=after,
        left=_came_to(left), right=_came_to(right), more=max(0, last - after - len(rows)),
    )  # fmt: skip


def _came_to(record: Trajectory) -> tuple[TreeRun, Any]:
    """What a run took, and its answer."""
    return tree_run(record), record.stop.answer if record.stop is not None else None


def _rows(left: Trajectory, right: Trajectory, after: int) -> Iterator[Row]:
    last = min(after + SCREEN, max(len(left.steps), len(right.steps)))
    for number in range(after + 1, last + 1):
        yield Row(number, _cell(left.steps, number), _cell(right.steps, number))


def _cell(steps: Sequence[Step], number: int) -> StepCell | None:
    if number > len(steps):
        return None
    step = steps[number - 1]
    thought = step.thought
    text = "" if thought is None else thought.fault or thought.text or thought.answer or ""
    calls = [
        CallCell(
            call.key, call.action.name, call.args,
            None if call.observation is None else call.observation.text,
            call.observation is not None and call.observation.ok,
        )
        for call in step.all_calls
    ]  # fmt: skip
    return StepCell(text, tuple(calls))


COMPARISON: Final = Endpoint(
    method="GET", path="/runs/{run:path}/compare", role="look", handler=show,
    query=ComparisonQuery, gives="text/html", about="The page of a run beside another one.",
)  # fmt: skip
