"""Which kinds of words make an attack together: the aims of attacks, in every language alike."""

from typing import Final

from clew.screens.phrases.signs_asked import ASKED
from clew.screens.phrases.signs_bounds import BOUNDS
from clew.screens.phrases.signs_played import PLAYED
from clew.screens.signs import Combination, Lexicon

LEXICON: Final = Lexicon(BOUNDS, ASKED, PLAYED)
_PARTS: Final = (
    Combination("bounds", 0, ("instructions",)),
    Combination("bounds", 0, ("guard",)),
    Combination("your bounds", 2, ("your", "bounds"), in_order=True),
    Combination("unbound", 2, ("no", "bounds")),
    Combination("unbound ai", 4, ("ai", "unbound")),
    Combination("your text", 2, ("your", "instructions"), in_order=True),
    Combination("the text", 0, ("prompt",)),
    Combination("the text", 3, ("hidden", "instructions")),
    Combination("the text", 3, ("hidden", "config")),
    Combination("official", 5, ("me", "boss"), ("how",)),
)
"""Kinds that are made of others, each before those that need it."""

_ATTACKS: Final = (
    Combination("override", 7, ("drop", "your bounds"), ("elsewhere", "keep")),
    Combination("override", 4, ("drop", "guard"), ("elsewhere", "manage", "keep")),
    Combination("override", 6, ("drop", "earlier", "instructions"), ("elsewhere", "keep")),
    Combination("override", 3, ("off", "guard"), ("elsewhere", "manage")),
    Combination("override", 4, ("drop", "ai", "instructions"), ("elsewhere", "keep")),
    Combination("override", 5, ("drop", "told"), ("keep",)),
    Combination("override", 14, ("only me", "bounds")),
    Combination("override", 14, ("only me", "drop"), ("keep",)),
    Combination("override", 14, ("mode", "guard", "drop"), ("keep",)),
    Combination("override", 14, ("mode", "bounds", "drop"), ("elsewhere", "keep")),
    Combination("override", 20, ("once", "bounds", "drop"), ("elsewhere", "keep")),
    Combination("reveal", 8, ("say", "your", "the text"), ("others must",)),
    Combination("reveal", 6, ("say", "you", "the text")),
    Combination("reveal", 4, ("say", "your", "instructions"), ("elsewhere", "purpose")),
    Combination("reveal", 9, ("say", "your", "whole", "instructions")),
    Combination("reveal", 9, ("say", "your", "whole", "config")),
    Combination("reveal", 9, ("say", "instructions", "given"), ("elsewhere",)),
    Combination("reveal", 40, ("fiction", "instructions", "hidden", "own ones")),
    Combination("reveal", 40, ("fiction", "instructions", "ai", "own ones")),
    Combination("reveal", 16, ("fiction", "your text"), ("elsewhere",)),
    Combination("reveal", 25, ("fiction", "ai", "the text", "whole")),
    Combination("reveal", 8, ("ask", "you", "forbidden")),
    Combination("reveal", 10, ("say", "role", "forbidden")),
    Combination("reveal", 22, ("say", "above", "guard", "notice")),
    Combination("reveal", 22, ("say", "above", "bounds", "notice")),
    Combination("persona", 20, ("role", "unbound ai")),
    Combination("persona", 8, ("you", "unbound", "role"), ("elsewhere",)),
    Combination("persona", 25, ("role", "complies")),
    Combination("persona", 5, ("answer", "unbound"), ("elsewhere",)),
    Combination("persona", 9, ("no longer", "ai", "role")),
    Combination("persona", 20, ("mode", "unbound", "say")),
    Combination("persona", 20, ("mode", "unbound", "you")),
    Combination("persona", 20, ("free", "bounds")),
    Combination("persona", 20, ("free", "forbidden")),
    Combination("forgery", 14, ("office", "drop", "bounds")),
    Combination("forgery", 14, ("office", "unbound")),
    Combination("forgery", 14, ("tool", "granted"), ("puzzled",)),
    Combination("forgery", 14, ("tool", "drop", "bounds")),
    Combination("forgery", 14, ("to ai", "act")),
    Combination("forgery", 14, ("to ai", "drop")),
    Combination("exfiltration", 10, ("say", "keys", "you use")),
    Combination("exfiltration", 7, ("say", "your", "keys"), ("manage",)),
    Combination("exfiltration", 25, ("official", "say", "keys", "ai"), ("manage",)),
    Combination("exfiltration", 25, ("official", "mode", "keys")),
    Combination("exfiltration", 25, ("official", "you", "say", "keys"), ("manage",)),
    Combination("exfiltration", 25, ("official", "your", "whole", "config")),
    Combination("exfiltration", 25, ("official", "your", "say", "config")),
    Combination("exfiltration", 25, ("unbound ai", "keys")),
    Combination("exfiltration", 30, ("grandma", "keys"), ("forgot",)),
)

COMBINATIONS: Final = (*_PARTS, *_ATTACKS)
ATTACKS: Final = frozenset(each.makes for each in _ATTACKS)
