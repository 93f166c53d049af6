"""Words that say how surely, of how many, and why, folded (`words.key`)."""

from typing import Final

from clew.evidence.words import key


def _keys(text: str) -> frozenset[str]:
    return frozenset(map(key, text.split()))


HEDGES: Final = _keys("""
could might would perhaps possibly probably likely believed thought reportedly allegedly
apparently assume assumes assumed suspect suspects suspected suggest suggests suggested hopes
hoped plan plans planned planning considered considering expected expects proposed proposes
recommended recommends intends intended should seems seem seemed appears estimated claims claimed
supposed presumably unconfirmed rumoured konnte konnten durfte wohl vielleicht moglicherweise
vermutlich wahrscheinlich sollte geplant vermutet angeblich hofft plant erwartet empfohlen
pourrait pourraient peut-etre probablement serait seraient aurait auraient devrait devraient
prevoit podria podrian quiza quizas probablemente seria preve planea espera deberia posible
posiblemente potrebbe potrebbero forse probabilmente sarebbe dovrebbe prevede poderia poderiam
talvez provavelmente seria deveria preve zou zouden misschien waarschijnlijk mogelijk moze mogloby
prawdopodobnie podobno
""")
"""Words by which a passage is not sure, or speaks of what is only planned."""

ABOUT: Final = _keys("""
about around roughly approximately some circa ca etwa rund ungefahr environ unos unas cerca quasi
ongeveer okolo
""")
"""Words that leave a number open."""

ALL: Final = _keys("""
all every always everyone everybody everything entire entirely completely fully wholly invariably
whole alle allen jeder jede jedes immer stets ausnahmslos samtliche todos todas
siempre todo toda tous toutes toujours tutti tutte sempre tutto altijd elke iedere allemaal sempre
todos todas wszystkie wszyscy zawsze
""")
"""Words that allow no exception and are not said otherwise."""

CAUSES: Final = _keys("""
because since due owing caused causes cause causing reason reasons thanks therefore so hence led
result resulting as for weil da denn wegen grund dank daher aufgrund damit parce car cause raison
grace faute puisque afin porque debido causa ya por gracias pues perche poiche causa grazie dovuto
porque devido causa omdat doordat wegens vanwege want dankzij poniewaz bo dlatego powodu
""")
"""Words that may name a reason."""

BECAUSE: Final = _keys("""
because owing cause caused reason hence therefore weil wegen aufgrund parce cause causa porque
debido perche poiche omdat doordat wegens vanwege poniewaz
""")
"""Words that surely name one."""

WITHOUT: Final = _keys("without ohne sans sin senza sem zonder bez nor neither")
"""Words that deny a thing beside what is said, and not what is said."""

RECKONING: Final = _keys("""
more less fewer later earlier after before ago total together altogether sum left remain remains
remaining rest difference by below above between gap older younger old age aged share majority
both combined further another additional over longer shorter higher lower lasted lasts since until
till still each posterior posteriores mehr weniger spater fruher nach vor insgesamt zusammen ubrig
unterschied alter mehrheit danach lang noch plus moins tard apres avant ensemble reste restent
ecart majorite ans durant pendant perdu gagne mas menos tarde despues antes juntos queda quedan
resta diferencia edad mayoria dura duro durante piu meno dopo prima totale insieme restano
differenza durata meer minder na voor totaal samen mais depois restam sobram po przed razem
zostalo
""")
"""Words of a claim or a question that speak of a result, and not of what is written."""

PRONOUNS: Final = _keys("""
it he she they its his her their this these that those which who where there il elle ils elles ce
cela er sie es dies el ella ellos lo esto donde lei lui si che qui dove ele ela eles hij zij ze
dat die wie ono ona on
""")
"""Words that stand for what was named before."""
