"""Times that a person leaves to the model: they name the day of an event, and no hour at all."""

import re
from collections.abc import Sequence
from typing import Final

from clew.guards.provenance.clauses import clauses
from clew.guards.provenance.times import says_day, says_time
from clew.guards.provenance.values import words_in

_TIMED: Final = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?")
_PART_OF_DAY: Final = re.compile(
    r"\b(?:noon|midday|midnight|morning|afternoon|evening|night|tonight|o['’]clock|"
    r"breakfast|lunch|lunchtime)\b"
)
_SHORT: Final = 3


def is_left_open(value: str, tool: str, words: Sequence[str]) -> bool:
    """Whether casefolded words name the value's day where they speak of what the tool does.

    They name no time of any day then.
    """
    if _TIMED.fullmatch(value) is None:
        return False
    if any(says_time(text) or _PART_OF_DAY.search(text) for text in words):
        return False
    about = {it for it in words_in(tool.casefold().replace("_", " ")) if len(it) > _SHORT}
    return any(
        not about.isdisjoint(words_in(clause)) and says_day(value, clause, with_time=False)
        for clause in clauses(words)
    )
