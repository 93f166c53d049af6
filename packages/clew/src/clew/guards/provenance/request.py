"""A person's words: which of them speak, which are only pasted, and which name nobody to act on."""

import re
from typing import Final

from clew.guards.provenance.values import has_digit

_FENCED: Final = re.compile(r"```.*?(?:```|\Z)|\"\"\".*?(?:\"\"\"|\Z)", re.DOTALL)
_QUOTED: Final = re.compile(r"(?m)^[ \t]*>.*(?:\n|\Z)")
_END: Final = r"(?=[,.;:!?](?:\s|$)|\n|\bbut\b|\binstead\b|\brather\b|$)"
_HARMLESS: Final = (
    "forget|fail|hesitate|only|just|already|yet|in|on|at|be|been|so|too|very"
)  # fmt: skip
"""What may follow "not" where it forbids nothing."""
_NEGATIONS: Final = ("not", "don", "never", "without", "except", "nobody")
"""One of them stands in each text that `_NEGATED` fits."""
_NEGATED: Final = re.compile(
    r"\b(?:do not|don['’]?t|never|without|except|not|nobody but)\b"
    rf"(?!\s+(?:{_HARMLESS})\b).*?{_END}",
    re.IGNORECASE,
)
_IN_SENTENCE: Final = r"(?:[^.!?\n]|[.!?](?=\S))*"
_REPORTED: Final = re.compile(
    rf"(\b(?:tell|inform|remind|let|write|reply|answer|notify)\b{_IN_SENTENCE}?\bthat\b)"
    rf"{_IN_SENTENCE}",
    re.IGNORECASE,
)
_NUMBERING: Final = re.compile(r"\d(?<!\S\d)\d?[.)](?=\s)")
"""It begins with a digit, so that few positions are tried."""
GAP: Final = " … "
SIGNS_OF_PASTING: Final = ("```", '"""', ">")
"""Where none of them stands in a text, all of it is a person's own."""


def spoken(text: str) -> tuple[str, str]:
    """What a person says themself, and what they pasted: quoted lines and blocks."""
    if not any(map(text.__contains__, SIGNS_OF_PASTING)):
        return text, ""
    pasted = [*_FENCED.findall(text)]
    rest = _FENCED.sub(GAP, text)
    pasted += _QUOTED.findall(rest)
    return _QUOTED.sub(GAP, rest), "\n".join(pasted)


def deciding(text: str) -> str:
    """A person's words without those that say what not to do, or only what somebody is told, and
    without the numbers of a list.
    """
    folded = text.casefold()
    if has_digit(text):
        text = _NUMBERING.sub(GAP, text)
    if "that" in folded:
        text = _REPORTED.sub(rf"\1{GAP}", text)
    return _NEGATED.sub(GAP, text) if any(map(folded.__contains__, _NEGATIONS)) else text
