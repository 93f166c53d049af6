"""Which records of a tool's result a person pointed at, so that their own fields can be trusted.

A tool says which fields no third party can choose (`Labels.trusted`). A record counts where it is
the only one that was found, by trusted arguments; or the only one with the name that was asked for;
or the one that a person's words single out.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, cast

from clew.core.events import Json
from clew.guards.provenance.values import is_key, is_number, leaves, stands_in

Record = dict[str, Json]

NAMES: Final = ("title", "filename", "name", "subject")
"""Fields by which people call a record."""
_EXTREMES: Final = {
    "largest": max, "biggest": max, "highest": max, "longest": max,
    "smallest": min, "lowest": min, "shortest": min,
}  # fmt: skip
_SHORT: Final = 2
_PREFIXES: Final = ("starting with ", "starts with ", "beginning with ", "begins with ")


def records_of(content: Json) -> list[Record]:
    """The records of a result: a list of them, or one."""
    if isinstance(content, dict):
        return [cast("Record", content)]
    if isinstance(content, list):
        rows = cast("Sequence[Json]", content)
        return cast("list[Record]", rows) if all(isinstance(it, dict) for it in rows) else []
    return []


def asked_for(records: Sequence[Record], args: Record) -> Record | None:
    """The one record that was asked for: the only one, or the only one of that name."""
    if len(records) == 1:
        return records[0]
    names = {value.casefold() for value in leaves(args) if isinstance(value, str) and value}
    hits = [
        record
        for record in records
        if any(
            isinstance(name := record.get(key), str) and name.casefold() in names for key in NAMES
        )
    ]
    return hits[0] if len(hits) == 1 else None


def extreme(
    records: Sequence[Record], fields: Sequence[str], words: Sequence[str]
) -> Iterator[Record]:
    """Records that a person's words single out as the largest or smallest of all, by a number."""
    for name, best in _EXTREMES.items() if len(records) > 1 else ():
        if any(stands_in(name, text) for text in words):
            for field in fields:
                values: list[Any] = [record.get(field) for record in records]
                if all(map(is_number, values)) and values.count(best(values)) == 1:
                    yield records[values.index(best(values))]


def keyed(
    records: Sequence[Record], trusted: Sequence[str], is_words: Callable[[str], bool]
) -> Iterator[Record]:
    """Records with a number or an address that is, as a whole, one of a person's words.

    Of a field that no third party can choose, a name will do.
    """
    for record in records:
        for field, it in record.items():
            if not isinstance(it, str):
                continue
            if (is_key(it) or (field in trusted and len(it) > _SHORT)) and is_words(it):
                yield record
                break


def priced(
    records: Sequence[Record], trusted: Sequence[str], is_spoken: Callable[[float], bool]
) -> Record | None:
    """The only record with a number, in a trusted field, that stands in a person's words."""
    hits = [
        record
        for record in records
        if any(
            is_number(it := record.get(field)) and "id" not in field and is_spoken(float(it))
            for field in trusted
        )
    ]
    return hits[0] if len(hits) == 1 else None


def prefixed(content: Json, words: Sequence[str]) -> Iterator[str]:
    """Names of a list that a person's words single out: the only one that starts like that."""
    entries = cast("Sequence[Json]", content) if isinstance(content, list) else ()
    names = [it for it in entries if isinstance(it, str)]
    for text in words if names else ():
        for mark in _PREFIXES:
            start = text.partition(mark)[2].split(maxsplit=1)[:1]
            wanted = "".join(start).strip("'\"‘’“”.,:;")
            hits = [name for name in names if wanted and name.casefold().startswith(wanted)]
            if len(hits) == 1:
                yield hits[0]
