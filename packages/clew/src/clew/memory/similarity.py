"""When two texts say the same: the rule by which a fact is stored once.

They say the same if their words are the same, in the same order, after this:

- letters without case and in one form (NFKC), contractions written out, white space, punctuation
  and what is invisible dropped;
- articles, and words that only add emphasis, dropped.

Numbers, their signs and units, negations, tenses and endings stay: to keep one fact twice costs a
line, to drop one loses it.
"""

import re
from typing import Final

from clew.support.text_folding import plain

_FILLERS: Final = frozenset(
    {"a", "an", "the", "that", "also", "just", "really", "very", "quite", "actually", "indeed"}
    | {"please", "note", "remember"}
)
_CONTRACTIONS: Final = (
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'m\b"), " am"),
)
# A number with its sign, decimals, time or unit (3.5, -5, +2, 10:30, 5%), else a word, which may
# end in signs (C++, C#), else a sign that means something by itself.
_WORD: Final = re.compile(
    r"""(?<!\w)[-+−]?\d+(?:[.,:/-]\d+)*[%°]?
      | [^\W_]+(?:\+\+|\#)?
      | [^\w\s.,;:!?"'()\[\]{}…-]""",
    re.VERBOSE,
)
_QUOTES: Final = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"'})


def key(text: str) -> str:
    """What texts that say the same have in common, and others do not."""
    plain_text = plain(text).casefold().translate(_QUOTES)
    for pattern, written in _CONTRACTIONS:
        plain_text = pattern.sub(written, plain_text)
    words = _WORD.findall(plain_text)
    telling = [word for word in words if word not in _FILLERS]
    return " ".join(telling or words) or plain_text.strip()
