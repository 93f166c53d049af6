"""One folding of texts for whatever searches: files, documents, memory, tools, pages.

It is for search only. What is shown, kept or written stays as it is. Compatible forms become one
(NFKC: `ﬁ` is `fi`, `Ａ` is `A`); what a text shows nothing of is dropped (soft hyphens, joiners,
marks of direction and variants); `ß` is `ss`. Thai and Lao lose the marks above and below their
letters, which are typed in several orders or left out, and their doubled e is ae.
"""

import re
import unicodedata
from typing import Final

_IGNORED: Final = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""The code points that Unicode calls Default_Ignorable (DerivedCoreProperties.txt)."""

_MARKS: Final = re.compile(r"[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece]")
_DOUBLED: Final = str.maketrans({"ß": "ss", "ẞ": "SS"})
_SOUTHEAST: Final = re.compile(r"[\u0e01-\u0eff]")


def plain(text: str) -> str:
    """A text in compatible forms, without what it shows nothing of; its case is kept."""
    if text.isascii():
        return text
    # before too: an invisible character may part a letter from its accent
    return unicodedata.normalize("NFKC", _IGNORED.sub("", text))


def folded(text: str) -> str:
    """A text as it is searched where case counts."""
    if text.isascii():
        return text
    folded_text = plain(text).translate(_DOUBLED)
    if _SOUTHEAST.search(folded_text):
        folded_text = _MARKS.sub("", folded_text).replace("เเ", "แ").replace("ເເ", "ແ")
    return folded_text


def caseless(text: str) -> str:
    """A text as it is searched where case does not count; `İ` is `i`, as `I` is."""
    if text.isascii():
        return text.lower()
    # once more: a letter without case may be one of several compatible forms
    return folded(folded(text).casefold().replace("i\u0307", "i"))
