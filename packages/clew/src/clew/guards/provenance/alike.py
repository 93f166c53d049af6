"""What a person wants to be as in a record that they name: "the same guests as 'Review'"."""

from collections.abc import Sequence

from clew.core.values import Json
from clew.guards.provenance.clauses import clauses
from clew.guards.provenance.records import NAMES, Record
from clew.guards.provenance.values import leaves, stands_in


class Alike:
    """The one record that was found by each name that a person used for it."""

    def __init__(self) -> None:
        self._records: dict[str, list[Record]] = {}

    def learn(self, record: Record) -> None:
        """Keep a record that was asked for by its name."""
        for key in NAMES:
            if isinstance(name := record.get(key), str) and name:
                kept = self._records.setdefault(name.casefold(), [])
                if record not in kept:
                    kept.append(record)

    def has(self, argument: str, value: Json, words: Sequence[str]) -> str | None:
        """Whose field of the argument's name has the value, as the words want it, or None."""
        wanted = f"same {argument.casefold().replace('_', ' ')}"
        for name, records in self._records.items():
            if len(records) == 1 and value in leaves(records[0].get(argument)):
                for clause in clauses(words):
                    if stands_in(wanted, clause) and stands_in(name, clause):
                        return f"the {argument} of {name}"
        return None
