"""Words that say how surely, of how many, and why, folded (`words.key`)."""

from typing import Final

from clew.evidence.words import key


def _keys(text: str) -> frozenset[str]:
    return frozenset(map(key, text.split()))


HEDGES: Final = _keys("""
could might would perhaps possibly probably likely believed thought reportedly allegedly apparently
assume assumes assumed suspect suspects suspected suggest suggests suggested hope hopes hoped plan plans planned
planning considered considering expected expects proposed proposes recommended recommends intends intended should
seems seem seemed appears estimated claims claimed supposed presumably unconfirmed rumoured
konnte konnten durfte wohl vielleicht moglicherweise vermutlich wahrscheinlich sollte geplant vermutet
angeblich hofft plant erwartet empfohlen
pourrait pourraient peut-etre probablement serait seraient aurait auraient devrait devraient prevoit
podria podrian quiza quizas probablemente seria preve planea espera deberia posible posiblemente
potrebbe potrebbero forse probabilmente sarebbe dovrebbe prevede
poderia poderiam talvez provavelmente seria deveria preve zou zouden misschien waarschijnlijk mogelijk
moze mogloby prawdopodobnie podobno
""")
"""Words by which a passage is not sure, or speaks of what is only planned."""

ABOUT: Final = _keys(
    "about around roughly approximately some circa ca etwa rund ungefahr environ unos unas cerca quasi ongeveer okolo"
)
"""Words that leave a number open."""

WHOLE: Final = _keys("""
all every always everyone everybody everything entire entirely completely fully wholly invariably whole never
alle allen jeder jede jedes immer stets ausnahmslos samtliche niemals
todos todas siempre todo toda tous toutes toujours tutti tutte sempre tutto altijd elke iedere allemaal sempre
todos todas wszystkie wszyscy zawsze
""")
"""Words that allow no exception and are not said otherwise."""

CAUSES: Final = _keys("""
because since due owing caused causes cause causing reason reasons thanks therefore so hence led result resulting
as for weil da denn wegen grund dank daher aufgrund damit
parce car cause raison grace faute puisque afin porque debido causa ya por gracias pues
perche poiche causa grazie dovuto porque devido causa omdat doordat wegens vanwege want dankzij
poniewaz bo dlatego powodu
""")
"""Words that may name a reason."""

BECAUSE: Final = _keys("""
because owing cause caused reason hence therefore weil wegen aufgrund parce cause causa porque debido perche
poiche omdat doordat wegens vanwege poniewaz
""")
"""Words that surely name one."""

WITHOUT: Final = _keys("without ohne sans sin senza sem zonder bez nor neither")
"""Words that deny a thing beside what is said, and not what is said."""
