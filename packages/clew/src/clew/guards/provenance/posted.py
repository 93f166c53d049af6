"""Addresses that a person's words point at: what somebody wrote, or all that stand somewhere.

They are known to calls that only fetch them. Such an address is fetched as it was posted: nothing
can be sent along with it.
"""

import re
from collections.abc import Sequence
from typing import Final

from clew.core.values import Json
from clew.guards.provenance.addresses import addresses_in
from clew.guards.provenance.cards import wants_address
from clew.guards.provenance.clauses import clauses
from clew.guards.provenance.results import Result
from clew.guards.provenance.values import is_edge, leaves, spans_of, stands_in, stands_in_any

_ALL_PAGES: Final = re.compile(
    r"\b(?:all|each|every)\b(?:\s+\w+){0,3}?\s+(?:links?|urls?|(?:web)?sites?|(?:web)?pages?)\b"
)
_BEFORE_WRITER: Final = re.compile(r"\b(?:from|by)\s+\Z")
_BEHIND_WRITER: Final = re.compile(
    r"\s+(?:has\s+|had\s+)?(?:posted|wrote|sent|shared|linked|mentioned|published)\b"
    r"|['’]s\s+(?:\w+\s+)?(?:message|mail|email|post|note|article|link)s?\b"
)


class Posted:
    """The addresses in results of reads that a person's words name, by place and by writer."""

    def __init__(self) -> None:
        self._at: dict[str, set[str]] = {}
        self._by: dict[str, set[str]] = {}

    def learn(self, result: Result, words: Sequence[str]) -> None:
        """Keep the addresses of a result, if all that was asked for stands in the words."""
        asked = [it.casefold() for it in result.asked]
        if not all(stands_in_any(it, words) for it in asked):
            return
        addresses = _addresses(result.content) if asked else set[str]()
        for name in asked:
            self._at.setdefault(name, set()).update(addresses)
        for record in result.records:
            for field in result.tool.labels.trusted:
                writer = record.get(field)
                if isinstance(writer, str) and writer and not wants_address(field):
                    self._by.setdefault(writer.casefold(), set()).update(_addresses(record))

    def has(self, value: str, words: Sequence[str]) -> str | None:
        """How the words point at an address, or None."""
        for clause in clauses(words):
            if _ALL_PAGES.search(clause) is not None:
                for name, posted in self._at.items():
                    if value in posted and stands_in(name, clause):
                        return f"all that stands in {name}"
            for writer, posted in self._by.items():
                if posted == {value} and _has_written(writer, clause):
                    return f"the only address that {writer} wrote"
        return None


def _has_written(writer: str, clause: str) -> bool:
    """Whether a clause says that something is from somebody, or that they wrote it."""
    for at, end in spans_of(writer, clause):
        if is_edge(clause, end) and _BEFORE_WRITER.search(clause, 0, at):
            return True
        if is_edge(clause, at) and _BEHIND_WRITER.match(clause, end):
            return True
    return False


def _addresses(content: Json) -> set[str]:
    texts = (it for it in leaves(content) if isinstance(it, str))
    return {address for text in texts for address in addresses_in(text)}
