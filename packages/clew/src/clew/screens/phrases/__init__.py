"""What known attacks say, in ten languages."""

from typing import Final

from clew.screens.phrases import eastern, english, european, marks, orders
from clew.screens.rules import AttackPattern

RULES: Final[tuple[AttackPattern, ...]] = (
    *english.RULES, *european.RULES, *eastern.RULES, *orders.RULES, *marks.RULES,
)  # fmt: skip

STEMS: Final[frozenset[str]] = frozenset(
    stem
    for tongue in (english.ENGLISH, *european.TONGUES, *eastern.TONGUES)
    for stem in tongue.stems()
)
"""Letters of the words that the rules are made of, where words are separated."""

__all__ = ["RULES", "STEMS"]
