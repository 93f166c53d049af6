"""The request filter: known attacks in a person's words, found before a model sees them.

It knows what it was told of. It is not what protects effects: guards and approvals are.
"""

import re
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias

from clew.core.verdicts import Verdict
from clew.screens.combinations import ATTACKS, COMBINATIONS, LEXICON
from clew.screens.deobfuscation import TextForm, decoded_views
from clew.screens.mentions import PhraseContext, mentioned, silent
from clew.screens.phrases import RULES, STEMS
from clew.screens.signs import combined, outside
from clew.support.errors import ConfigError
from clew.support.short_text import one_line

_ADDRESS: Final = frozenset({"you", "your", "your bounds"})
_BETWEEN: Final = re.compile(r"[\W_]+")

MAX_QUOTED_CHARS: Final = 80
"""So many characters of what was found are shown."""

WHAT: Final = {
    "override": "it asks to set the instructions aside",
    "reveal": "it asks for the instructions themselves",
    "persona": "it asks to play a part without rules",
    "forgery": "it pretends to be the system, a tool or somebody else",
    "exfiltration": "it asks for keys or secrets",
}
"""The rules, and what each finds."""

Then: TypeAlias = Literal["refuse", "ask", "mark"]
_KINDS: Final[dict[Then, Literal["deny", "hold", "hint"]]] = {
    "refuse": "deny", "ask": "hold", "mark": "hint",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Match:
    """A match: the rule, the words as decoded, and their position in the text.

    `start` and `end` count the characters of the original text; `how` names the decodings.
    """

    rule: str
    words: str
    start: int
    end: int
    how: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The match in one line."""
        words = one_line(self.words, MAX_QUOTED_CHARS)
        seen = f", seen through {' and '.join(self.how)}" if self.how else ""
        position = f"characters {self.start + 1} to {self.end}{seen}"
        return f'{self.rule}: {WHAT[self.rule]} ("{words}", {position})'


def find(text: str) -> Match | None:
    """The first known attack in the text; None if there is none, or it is only mentioned."""
    for forms in decoded_views(text):
        views = list(map(PhraseContext, forms))
        spoken_of: list[tuple[int, int]] = []
        for broken in (False, True):
            for view in views:
                if broken and not _is_broken(view.form.text):
                    continue
                if (match := _first_match(view, views[0], spoken_of, broken=broken)) is not None:
                    return match
        for view in views:
            if (match := _combined(view, spoken_of)) is not None:
                return match
    return None


def _combined(view: PhraseContext, spoken_of: list[tuple[int, int]]) -> Match | None:
    """The first combination of signs in one view, outside of what is only spoken of."""
    form = view.form
    signs = LEXICON.signs(form.text)
    if not signs:
        return None
    quiet = [*silent(view, [s.start for s in signs if s.kind in _ADDRESS]), *spoken_of]
    heard = outside(signs, quiet)
    for sign in combined(heard, COMBINATIONS):
        if sign.kind in ATTACKS:
            words = form.text[sign.start : sign.end]
            return Match(sign.kind, words, *_span(form, sign.start, sign.end), form.how)
    return None


def _is_broken(text: str) -> bool:
    """Whether words of the rules come to light once everything between letters is left out."""
    squeezed = _BETWEEN.sub("", text)
    return any(squeezed.count(stem) > text.count(stem) for stem in STEMS if stem in squeezed)


def _first_match(
    view: PhraseContext, plain: PhraseContext, spoken_of: list[tuple[int, int]], *, broken: bool
) -> Match | None:
    """The first match in one view; what is only spoken of is added to the list, and stays so."""
    form = view.form
    for rule in RULES:
        if broken and not rule.breakable:
            continue
        if not broken and not any(map(form.text.__contains__, rule.needs)):
            continue
        for match in (rule.broken if broken else rule.plain).finditer(form.text):
            start, end = match.span()
            if any(start < last and first < end for first, last in spoken_of):
                continue
            if mentioned(view, start, end, broken=broken) or (
                view is not plain and mentioned(plain, start, end, broken=broken)
            ):
                spoken_of.append((start, end))
                continue
            how = (*form.how, "spacing") if broken else form.how
            return Match(rule.name, match[0], *_span(form, start, end), how)
    return None


def _span(form: TextForm, start: int, end: int) -> tuple[int, int]:
    """Where something of a form stands in the text as given, be it written backwards."""
    return (
        min(form.starts[start], form.starts[end - 1]),
        max(form.ends[start], form.ends[end - 1]),
    )


@dataclass(frozen=True)
class Injections:
    """A screen that refuses known attacks, asks a person, or marks them for the model."""

    looks_for: ClassVar[str] = "prompt injection"
    then: Then = "refuse"

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a word that is none of the three."""
        if self.then not in _KINDS:
            message = f"then is {self.then!r}: choose one of {', '.join(_KINDS)}"
            raise ConfigError(message)

    def __call__(self, text: str) -> Verdict | None:
        """A verdict on words that contain a known attack."""
        match = find(text)
        return None if match is None else Verdict(_KINDS[self.then], match.reason)
