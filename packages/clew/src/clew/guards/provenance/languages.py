"""Whether a text is English, as far as rules that know English alone can read it.

They decide what a request forbids, what stands beside what, and what is a day. Of a request in
another language they would see none of that, and take each word in it for what a person wants.
"""

import re
from functools import lru_cache
from typing import Final

from clew.guards.provenance.values import words_in

_ENGLISH: Final = frozenset(
    words_in(
        "about above add after all also and answer any are ask before below best book both "
        "buy by call can cancel change check contact copy could create day delete download "
        "each email every fetch file find first fix from get give greet have help here his "
        "how if install invite it its last letter letters like list look mail make message "
        "more most move my need new next not now one open order our out page pages pay plan "
        "please post put read refund remind remove rename reply report reserve run say "
        "schedule search see send set share ship should show some start stop summarise "
        "summarize tell than thank that the their them then there they this to today tomorrow "
        "transfer two up update use visit what when where which who with would write yes "
        "yesterday you your "
    )
)
"""Words of requests in English, without those that other languages have: was, will, for."""
_SMALL: Final = frozenset(
    words_in("a an as at be been by for had has in into is of on or was were")
)
_SHARE: Final = 5
"""One word in so many is one of these, in requests that people write in English."""
_SENTENCE: Final = 5
"""A sentence of so many words has at least one of them."""
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]"
)
"""Letters of scripts that are written without spaces: one "word" may be a whole sentence."""
_QUOTED: Final = re.compile(r"(?<!\w)['\"‘“].+?['\"’”](?!\w)")
_WORD: Final = re.compile(r"(?<![\w.@/-])[^\W\d_]+(?![\w@/-]|\.\w)")
"""Words, but not the parts of addresses and names of files."""


@lru_cache(maxsize=64)
def is_english(text: str) -> bool:
    """Whether a casefolded text, without what it quotes, is written in English."""
    words = _WORD.findall(_QUOTED.sub(" ", text))
    return sum(map(_ENGLISH.__contains__, words)) * _SHARE >= len(words)


def is_foreign(sentence: str) -> bool:
    """Whether a casefolded sentence is certainly not English."""
    if is_unspaced(sentence):
        return True
    words = _WORD.findall(sentence)
    return len(words) >= _SENTENCE and _ENGLISH.isdisjoint(words) and _SMALL.isdisjoint(words)


def is_unspaced(text: str) -> bool:
    """Whether it has words of a script that is written without spaces."""
    return _UNSPACED.search(text) is not None
