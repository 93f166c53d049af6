"""Where a run's agent came from, as it is shown: what it names, and whether this user said so."""

from collections.abc import Iterator

from clew import ConfigError, Trajectory
from clew.agent_files import is_foreign, outside_parts, spec_of
from clew.cli.render import TextBlock, pieces
from clew.cli.safe_text import inert

FOREIGN = (
    "this run was not begun by you on this machine: nothing that its record names is made, unless "
    "you add --trust-origin"
)


def pieces_with_origin(record: Trajectory) -> Iterator[TextBlock]:
    """Everything in the record, with what its agent names behind the agent."""
    for piece in pieces(record):
        yield piece
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
