"""What a run has found and not opened: names in results that no call has named yet."""

import re
from collections.abc import Iterator
from typing import Final, cast

from clew.core.codes import EFFECTFUL, FINISH
from clew.core.contents import Observation
from clew.core.trajectory import Call, Trajectory
from clew.core.values import encode

MAX_LISTED: Final = 5
"""So many names are given."""

_FIELDS: Final = ("doc_id", "id", "path", "file", "filename", "url", "uri", "key", "name", "title")
"""The fields by which a result is named, as search tools call them; the first that fits counts."""

_NAME: Final = re.compile(r"[\w.:/?&=%#~@+-]{1,80}")
"""A name is one word. A title of several might give orders, in a sentence that clew says."""


def unopened(trajectory: Trajectory) -> tuple[str, ...]:
    """Names of results that no call of the run has as an argument, the newest search first.

    They are taken from lists in the results of tools that only read, since a person last spoke.
    """
    calls = list(_calls(trajectory))
    asked = "\n".join(encode(call.args).decode() for call in calls).casefold()
    unopened_ids: dict[str, None] = {}
    for call in calls:
        seen = call.observation
        if seen is None or not seen.ok or not seen.made or seen.effect in EFFECTFUL:
            continue
        names = [name for name in _names(seen) if name.casefold() not in asked]
        unopened_ids.update(dict.fromkeys(names))
        if len(unopened_ids) >= MAX_LISTED:
            break
    return tuple(unopened_ids)[:MAX_LISTED]


def _calls(trajectory: Trajectory) -> Iterator[Call]:
    """The calls in view since a person last spoke, the last first."""
    for step in reversed(trajectory.steps):
        if step.person_spoke:
            return
        if step.number not in trajectory.omitted.hidden:
            yield from (call for call in reversed(step.all_calls) if call.action.name != FINISH)


def _names(seen: Observation) -> Iterator[str]:
    """The names in a result: of its evidence, and of the entries of its lists."""
    yield from (piece.doc_id for piece in seen.evidence)
    content: object = seen.content
    lists: list[object] = [content]
    if isinstance(content, dict):
        lists = [*cast("dict[str, object]", content).values()]
    for rows in lists:
        for row in cast("list[object]", rows) if isinstance(rows, list) else ():
            name = _named(row)
            if isinstance(name, str) and _NAME.fullmatch(name):
                yield name


def _named(row: object) -> object:
    if not isinstance(row, dict):
        return row
    fields = cast("dict[str, object]", row)
    return next((fields[name] for name in _FIELDS if name in fields), None)
