"""Runs that somebody else began: what they name and are about to do, shown before one trusts it."""

from collections.abc import Iterator
from dataclasses import replace

from clew import ConfigError, Trajectory, read
from clew.agent_files import family, is_foreign, outside_parts, spec_of, trust
from clew.cli.render import TextBlock, pieces
from clew.cli.safe_text import say
from clew.guards import safe_links
from clew.interfaces import Store
from clew.support.printable import inert

BY_PERSONS = frozenset({"Question", "You", "Agent"})
"""Pieces that are shown as they are."""

FOREIGN = (
    "this run was not begun by you on this machine: nothing that its record names is made, and no "
    "call that it waits for, unless you add --trust-origin"
)


async def trusted(store: Store, record: Trajectory) -> Trajectory:
    """The run as the user's own from now on, if it is not; what that means is told first."""
    if not record.foreign:
        return record
    runs = await family(store, record)
    for each in runs:
        say(f"clew: you trust run {inert(each.run_id)}:", err=True)
        for line in (*_names(each), *_waits(each)):
            say(inert(f"  {line}"), err=True)
    await trust(store, *runs)
    return await read(record.run_id, store=store)


def _names(record: Trajectory) -> Iterator[str]:
    spec = spec_of(record)
    yield from () if spec is None else outside_parts(spec)


def _waits(record: Trajectory) -> Iterator[str]:
    for call in record.step.all_calls:
        if call.observation is None:
            allowed = ", allowed there" if call.ruling is not None and call.ruling.allow else ""
            yield f"call {call.key}{allowed}: {call.action.name} {call.args}"


def pieces_with_origin(record: Trajectory) -> Iterator[TextBlock]:
    """Everything in the record, with what its agent names behind the agent.

    An address that a stranger could have planted leads nowhere in what a model or a tool wrote.
    """
    safe = safe_links(record)
    for piece in pieces(record):
        written = piece.label.split()[0] not in BY_PERSONS
        yield replace(piece, text=str(safe(piece.text)[0])) if written else piece
        if piece.label == "Agent":
            yield from _origin(record)


def _origin(record: Trajectory) -> Iterator[TextBlock]:
    """What the record names outside of clew, and that somebody else wrote it."""
    try:
        for line in _names(record):
            yield TextBlock("Names", inert(line), "dim")
    except ConfigError as error:
        yield TextBlock("Origin", inert(str(error)), "yellow")
    if record.is_foreign or is_foreign(record):
        yield TextBlock("Origin", FOREIGN, "yellow")
