"""Values of earlier messages: the newest request overrules them where it names another."""

import re
from typing import Final

from clew.core.values import Json
from clew.guards.provenance.cards import kind_of
from clew.guards.provenance.clauses import has_like, has_value
from clew.guards.provenance.origins import Origins
from clew.guards.provenance.values import is_choice, stands_in, stands_in_any

_BACK: Final = re.compile(
    r"\b(?:him|her|them|both|all|again|previous|earlier|former|first|before)\b"
)
"""Words of a message that point at somebody or something in an earlier one."""
EARLIER: Final = "is of an earlier request, and the newest names another"


def is_overruled(origins: Origins, value: Json) -> bool:
    """Whether only earlier messages have a value, and the newest has one in its place."""
    *before, newest = origins.deciding_words or ("",)
    if not before or is_choice(value) or has_value(value, newest) or _BACK.search(newest):
        return False
    own = [it for it in origins.cards if value in it.addresses]
    names = {name for card in own for name in card.others}
    if any(stands_in(name, newest) for name in names):
        return False
    was_named = any(stands_in_any(name, before) for name in names)
    is_old = value in origins.allowed_before or any(has_value(value, text) for text in before)
    others = (name for card in origins.cards if card not in own for name in card.others)
    names_other = kind_of(value) != "" and any(stands_in(name, newest) for name in others)
    return was_named or (is_old and (names_other or has_like(value, newest)))
