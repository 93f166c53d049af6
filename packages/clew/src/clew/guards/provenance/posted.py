"""Addresses that a person's words point at: what somebody wrote, or all that stand somewhere.

They are known to calls that only fetch them. Such an address is fetched as it was posted: nothing
can be sent along with it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from clew.core.events import Json
from clew.core.interfaces import ToolSpec
from clew.guards.provenance.addresses import addresses_in
from clew.guards.provenance.cards import wants_address
from clew.guards.provenance.clauses import clauses
from clew.guards.provenance.records import records_of
from clew.guards.provenance.values import leaves, stands_in

_ALL_PAGES: Final = re.compile(
    r"\b(?:all|each|every)\b(?:\s+\w+){0,3}?\s+(?:links?|urls?|(?:web)?sites?|(?:web)?pages?)\b"
)
_WROTE: Final = (
    r"\b(?:from|by)\s+{0}\b"
    r"|\b{0}\s+(?:has\s+|had\s+)?(?:posted|wrote|sent|shared|linked|mentioned|published)\b"
    r"|\b{0}['’]s\s+(?:\w+\s+)?(?:message|mail|email|post|note|article|link)s?\b"
)


class Posted:
    """The addresses in results of reads that a person's words name, by place and by writer."""

    def __init__(self) -> None:
        self._at: dict[str, set[str]] = {}
        self._by: dict[str, set[str]] = {}
        self._new: list[tuple[ToolSpec, Mapping[str, Json], Json]] = []

    def learn(self, tool: ToolSpec, args: Mapping[str, Json], content: Json) -> None:
        """Look at a result once an address is asked for: most runs fetch none."""
        self._new.append((tool, args, content))

    def _look_at(
        self, tool: ToolSpec, args: Mapping[str, Json], content: Json, words: Sequence[str]
    ) -> None:
        """Keep the addresses of a result, if all that was asked for stands in the words."""
        asked = [it.casefold() for it in leaves({**args}) if isinstance(it, str) and it]
        if not all(any(stands_in(it, text) for text in words) for it in asked):
            return
        for name in asked:
            self._at.setdefault(name, set()).update(_addresses(content))
        for record in records_of(content):
            for field in tool.labels.trusted:
                writer = record.get(field)
                if isinstance(writer, str) and writer and not wants_address(field):
                    self._by.setdefault(writer.casefold(), set()).update(_addresses(record))

    def has(self, value: str, words: Sequence[str]) -> str | None:
        """How the words point at an address, or None."""
        for tool, args, content in self._new:
            self._look_at(tool, args, content, words)
        self._new = []
        for clause in clauses(words):
            if _ALL_PAGES.search(clause) is not None:
                for name, posted in self._at.items():
                    if value in posted and stands_in(name, clause):
                        return f"all that stands in {name}"
            for writer, posted in self._by.items():
                wrote = posted == {value} and _WROTE.format(re.escape(writer))
                if wrote and re.search(wrote, clause) is not None:
                    return f"the only address that {writer} wrote"
        return None


def _addresses(content: Json) -> set[str]:
    texts = (it for it in leaves(content) if isinstance(it, str))
    return {address for text in texts for address in addresses_in(text)}
