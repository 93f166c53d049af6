"""Which records of a tool's result a person pointed at, so that their own fields can be trusted.

A tool says which fields no third party can choose (`Labels.trusted`). A record counts where it is
the only one that was found, by trusted arguments; or the only one with the name that was asked for;
or the one that a person's words single out.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import Any, Final, cast

from clew.core.values import Json
from clew.guards.provenance.numbers import Numbers
from clew.guards.provenance.values import has_sign_of_key, is_key, is_number, stands_in

Record = dict[str, Json]

NAMES: Final = ("title", "filename", "name", "subject")
"""Fields by which people call a record."""
_EXTREMES: Final = {
    "largest": max, "biggest": max, "highest": max, "longest": max,
    "smallest": min, "lowest": min, "shortest": min,
}  # fmt: skip
_SHORT: Final = 2
_NUMERIC: Final = (int, float, dict, list, tuple)
"""What is a number, or may have one in it."""
_PREFIXES: Final = ("starting with ", "starts with ", "beginning with ", "begins with ")


def records_of(content: Json) -> list[Record]:
    """The records of a result: a list of them, or one."""
    if isinstance(content, dict):
        return [cast("Record", content)]
    if isinstance(content, list):
        rows = cast("Sequence[Json]", content)
        records: list[Record] = [it for it in rows if isinstance(it, dict)]
        return records if len(records) == len(rows) else []
    return []


def with_numbers(records: Sequence[Record], fields: Sequence[str]) -> Sequence[Record]:
    """The records that may have a number in these fields, if only in a list or an object."""
    if "*" in fields or not fields:
        return records if fields else ()
    return [it for it in records if any(map(isinstance, map(it.get, fields), repeat(_NUMERIC)))]


def asked_for(records: Sequence[Record], asked: Sequence[str]) -> Record | None:
    """The one record that was asked for: the only one, or the only one of that name."""
    if len(records) == 1:
        return records[0]
    names, hit = {it.casefold() for it in asked}, None
    for record in records if names else ():
        for key in NAMES:
            if isinstance(name := record.get(key), str) and name.casefold() in names:
                if hit is not None:
                    return None
                hit = record
                break
    return hit


def extreme(
    records: Sequence[Record], fields: Sequence[str], words: Sequence[str]
) -> Iterator[Record]:
    """Records that a person's words single out as the largest or smallest of all, by a number."""
    for best in _bests_in(words) if len(records) > 1 else ():
        for field in fields:
            values: list[Any] = [record.get(field) for record in records]
            if all(map(is_number, values)) and values.count(best(values)) == 1:
                yield records[values.index(best(values))]


def _bests_in(words: Sequence[str]) -> Iterator[Callable[[list[Any]], Any]]:
    """What finds the records that superlatives in a person's words want."""
    wanted = frozenset[str]().union(*map(_superlatives_of, words))
    return (best for name, best in _EXTREMES.items() if name in wanted)


@lru_cache(maxsize=64)
def _superlatives_of(text: str) -> frozenset[str]:
    return frozenset([name for name in _EXTREMES if name in text and stands_in(name, text)])


def keyed(
    records: Sequence[Record],
    trusted: Sequence[str],
    words: Sequence[str],
    is_words: Callable[[str], bool],
) -> Iterator[Record]:
    """Records with a number or an address that is, as a whole, one of a person's words.

    Of a field that no third party can choose, a name will do.
    """
    spoken, has_keys = "\n".join(words), any(map(has_sign_of_key, words))
    for record in records:
        for field in record if has_keys else trusted:
            if not isinstance(it := record.get(field), str):
                continue
            if it[4:5] != "-" and it.casefold() not in spoken:  # a day may be spoken otherwise
                continue
            if ((field in trusted and len(it) > _SHORT) or is_key(it)) and is_words(it):
                yield record
                break


def priced(records: Sequence[Record], trusted: Sequence[str], numbers: Numbers) -> Record | None:
    """The only record with a number, in a trusted field, that stands in a person's words."""
    fields = [field for field in trusted if "id" not in field]
    hit = None
    for record in records if fields and numbers.may_be_spoken else ():
        for field in fields:
            if is_number(it := record.get(field)) and numbers.is_spoken_once(float(it)):
                if hit is not None:
                    return None
                hit = record
                break
    return hit


def prefixed(content: Json, words: Sequence[str]) -> Iterator[str]:
    """Names of a list that a person's words single out: the only one that starts like that."""
    entries = cast("Sequence[Json]", content) if isinstance(content, list) else ()
    names = [it for it in entries if isinstance(it, str)]
    for text in words if names else ():
        for wanted in _beginnings_of(text):
            hits = [name for name in names if name.casefold().startswith(wanted)]
            if len(hits) == 1:
                yield hits[0]


@lru_cache(maxsize=64)
def _beginnings_of(text: str) -> tuple[str, ...]:
    """How a name begins that a text wants."""
    behind = (text.partition(mark)[2].split(maxsplit=1)[:1] for mark in _PREFIXES)
    return tuple(filter(None, ("".join(it).strip("'\"‘’“”.,:;") for it in behind)))
