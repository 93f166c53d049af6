"""What stands in a trusted list, of another kind than the rest: somebody may have added it."""

from typing import cast

from clew.core.values import Json
from clew.guards.provenance.cards import kind_of
from clew.guards.provenance.times import is_day


def of_records(content: Json) -> Json:
    """A list without what is no record in it, if there is a record in it."""
    if not isinstance(content, list):
        return content
    rows = cast("list[object]", content)
    return [it for it in rows if isinstance(it, dict)] or rows


def own_lines(lines: list[str]) -> list[str]:
    """The lines of a text but for addresses, accounts and days among lines of another kind.

    What has a name before it, as in "Due: 2024-05-19", is no line of a list.
    """
    if len(lines) < 2:
        return lines
    kinds = {_kind(line) for line in lines if line.strip() and ": " not in line}
    return lines if len(kinds) < 2 else [it for it in lines if not _kind(it)]


def _kind(line: str) -> str:
    plain = line.strip(" \t-•*.")
    return "day" if is_day(plain) else kind_of(plain)
