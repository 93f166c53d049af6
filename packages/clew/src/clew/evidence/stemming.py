"""Words without their endings, so that build and building, city and cities are one.

A light stemmer for languages with Latin letters: it takes off the endings of inflection and of the
commonest derivations. It serves to lay sentences beside each other, never to find a name.
"""

from functools import lru_cache
from typing import Final

_IRREGULAR: Final = """
be is are was were been being
write wrote written writes writing writer writers author authored authors
win won wins winning winner
born birth
die died dies death dead deceased
build built builds building
make made makes making
film films movie movies
begin began begun
lead led leader leads
sing sang sung sings singer singing song songs
speak spoke spoken
sell sold sells sale sales
buy bought buys purchase purchased
give gave given
take took taken
hold held
find found founded founder founding
lose lost loses
grow grew grown growth
child children
person people persons
man men
woman women
wife wives
city cities town
marry married marriage
rise rose risen
fall fell fallen
become became
send sent
leave left
meet met
keep kept
know knew known
see saw seen
teach taught
think thought
bring brought
small little tiny
big large huge
happy glad joyful pleased cheerful
sad unhappy
fast quick rapid quickly rapidly
begin start started starts starting
end finish finished finishes
big bigger biggest larger largest greatest
house home
kill killed kills murdered murder
stay remain remained remains stayed
nation country countries nations
fight fought fighting
direct directed director directs
act acted actor actress actors acts acting
""".strip()
_BASE: Final = {word: line.split()[0] for line in _IRREGULAR.splitlines() for word in line.split()}
_ENDINGS: Final = (
    "isations", "izations", "isation", "ization", "ations", "ation", "ements", "ement", "ments",
    "ment", "ingly", "edly", "ness", "ings", "ing", "ers", "ors", "ies", "ied", "ed", "er", "or",
    "es", "s", "ly", "ions", "ion", "al", "en", "e", "y", "a", "o",
)  # fmt: skip
_MIN_STEM: Final = 3


@lru_cache(maxsize=20_000)
def stem(key: str) -> str:
    """The stem of a folded word."""
    if base := _BASE.get(key):
        return base
    for ending in _ENDINGS:
        if len(key) - len(ending) >= _MIN_STEM and key.endswith(ending):
            key = key[: -len(ending)]
            break
    return key[:-1] if len(key) > _MIN_STEM and key[-1] == key[-2] else key
