"""The guard `Provenance` of a record, for a replay."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from clew.agent_files.spec import ProvenanceTable
from clew.core.judging import Guard
from clew.core.values import Json
from clew.guards import Provenance

_NONE: Final = ProvenanceTable(level="off")


def recorded_provenance(
    parts: Mapping[str, Json], guards: Iterable[Guard], named: Callable[[str], Guard] | None
) -> list[Guard]:
    """The guards of a replay: with the record's `Provenance` in the place of another.

    Where tools only stand in for those of the record, which had labels that it does not keep, the
    guard stands in too (`named`): what it said of each call is recorded.
    """
    recorded = parts.get("provenance")
    table = _NONE if recorded is None else _table(recorded)
    others = [guard for guard in guards if not isinstance(guard, Provenance)]
    if named is None or table is _NONE:
        return [*others, table.guard]
    return [*others, named(repr(table.guard.over({}, ""))), _NONE.guard]


def _table(recorded: Json) -> ProvenanceTable:
    level = {"level": recorded} if isinstance(recorded, str) else recorded
    return msgspec.convert(level, ProvenanceTable)
