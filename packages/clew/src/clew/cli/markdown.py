"""A record as a Markdown document for people."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from clew import Trajectory
from clew.cli.outcome import status
from clew.cli.render import TextBlock
from clew.support.printable import inert
from clew.support.short_text import one_line

FENCED: Final = frozenset({"Action", "Observation", "Detail", "Attempt", "Done"})
"""Pieces by machines: their text is shown as it is, in a fence that it cannot leave."""

_TICKS: Final = re.compile("`+")
_FETCHED: Final = re.compile(r"!(?=\[)|<(?=[a-zA-Z/!?])")
"""What begins an image or HTML, which whoever shows the document would fetch unasked."""
_THOUGHT: Final = re.compile(r"(?:Thought|Action|Answer|Fault|Repair) (\d+)")


def markdown(record: Trajectory, pieces: Iterable[TextBlock]) -> str:
    """The pieces of a record under a heading for each step."""
    return "\n\n".join(_blocks(record, pieces))


def _blocks(record: Trajectory, pieces: Iterable[TextBlock]) -> Iterator[str]:
    yield f"# {_FETCHED.sub(_escaped, one_line(inert(record.goal)))}"
    yield f"Run `{record.run_id}`, {status(record)}."
    step = ""
    for piece in pieces:
        if (match := _THOUGHT.match(piece.label)) and match[1] != step:
            step = match[1]
            yield f"## Step {step}"
        yield _block(piece)


def _block(piece: TextBlock) -> str:
    text = piece.text.strip("\n")
    if piece.label.split()[0] not in FENCED:
        quoted = _FETCHED.sub(_escaped, text).replace("\n", "\n> ")
        return f"**{piece.label}**\n\n> {quoted}"
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(text)), default=0))
    return f"**{piece.label}**\n\n{ticks}\n{text}\n{ticks}"


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[0]}"
