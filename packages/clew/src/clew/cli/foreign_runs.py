"""Where a run's agent came from, as it is shown: what it names, and whether this user said so."""

from collections.abc import Iterator
from dataclasses import replace

from clew import ConfigError, Trajectory
from clew.agent_files import is_foreign, outside_parts, spec_of
from clew.cli.render import TextBlock, pieces
from clew.cli.safe_text import inert
from clew.guards import safe_links

BY_OTHERS = frozenset({
    "Question", "You", "Agent", "Action", "Observation", "Detail", "Attempt", "Done",
})  # fmt: skip
"""Pieces by a person, or that are shown as they are, for machines."""

FOREIGN = (
    "this run was not begun by you on this machine: nothing that its record names is made, unless "
    "you add --trust-origin"
)


def pieces_with_origin(record: Trajectory) -> Iterator[TextBlock]:
    """Everything in the record, with what its agent names behind the agent.

    An address in what a model wrote leads nowhere, where a stranger could have planted it.
    """
    safe = safe_links(record)
    for piece in pieces(record):
        written = piece.label.split()[0] not in BY_OTHERS
        yield replace(piece, text=str(safe(piece.text)[0])) if written else piece
        if piece.label == "Agent":
            yield from _origin(record)


def _origin(record: Trajectory) -> Iterator[TextBlock]:
    """What the record names outside of clew, and that somebody else wrote it."""
    try:
        spec = spec_of(record)
    except ConfigError as error:
        yield TextBlock("Origin", inert(str(error)), "yellow")
        return
    if spec is None:
        return
    for line in outside_parts(spec):
        yield TextBlock("Names", inert(line), "dim")
    if is_foreign(record):
        yield TextBlock("Origin", FOREIGN, "yellow")
