"""The prompts of a run as a small chart, for `clew show --context`: as text, or as JSON."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from clew.cli.render import left_out
from clew.context import ContextRow
from clew.interfaces import Compacted, Json, Rewound
from clew.support.printable import inert
from clew.support.short_text import counted

WIDTH: Final = 40


def context_text(rows: Sequence[ContextRow]) -> str:
    """A line for each thought: its prompt, the share that was cached (`#`), and what was cut."""
    return inert("\n".join(_lines(rows)))


def _lines(rows: Sequence[ContextRow]) -> Iterator[str]:
    if not rows:
        yield "No thought yet."
        return
    max_tokens = max(row.prompt for row in rows)
    yield "step   tokens  cached   # cached, - new"
    for row in rows:
        for event in row.new:
            yield f"       {_description(event)}"
        share = f"{row.cached / row.prompt:4.0%}" if row.prompt else "   –"
        tokens = f"{row.prompt:,}" if row.prompt else "not counted"
        yield f"{row.step:>4}  {tokens:>7}    {share}   {_bar(row, max_tokens)}{_cut(row)}".rstrip()


def _bar(row: ContextRow, max_tokens: int) -> str:
    if not row.prompt:
        return ""
    filled = max(1, round(WIDTH * row.prompt / max_tokens))
    cached = round(filled * row.cached / row.prompt)
    return "#" * cached + "-" * (filled - cached)


def _cut(row: ContextRow) -> str:
    """What is left out of the prompt."""
    notes = [f"steps 1 to {row.upto} left out"] if row.upto else []
    notes += [f"{counted(row.cuts, 'result')} in part"] if row.cuts else []
    notes += [f"{counted(row.hidden, 'step')} rewound"] if row.hidden else []
    return f"  ({', '.join(notes)})" if notes else ""


def _description(event: Compacted | Rewound) -> str:
    if isinstance(event, Compacted):
        return f"left out: {left_out(event)}"
    by = f" by {event.by}" if event.by else ""
    return f"rewound to step {event.to}{by}: {event.lesson}"


def context_document(run_id: str, rows: Sequence[ContextRow]) -> dict[str, Json]:
    """The same for programs."""
    steps: list[dict[str, Any]] = [
        {**row._asdict(), "new": [msgspec.to_builtins(event) for event in row.new]} for row in rows
    ]
    return {"run_id": run_id, "steps": steps}
