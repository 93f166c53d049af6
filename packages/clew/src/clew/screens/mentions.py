"""Whether a phrase is said to the model, or only spoken of: quoted, translated, asked about."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from clew.screens.deobfuscation import TextForm
from clew.screens.rules import AttackPattern, one_of

NEAR: Final = 300
"""So far around a phrase is looked for words that speak of it, in characters."""

_QUOTED: Final = re.compile(
    r'"[^"]*"|“[^”]*”|„[^“”"]*[“”"]|«[^»]*»|‹[^›]*›|「[^」]*」|『[^』]*』|```.*?```|`[^`\n]*`'
    r"|(?<!\w)['‘][^'’\n]*(?:['’]\w[^'’\n]*){0,9}['’](?!\w)",
    re.DOTALL,
)
_SENTENCE: Final = re.compile(r"[.!?。！？؟\n](?=\s|$)|[。！？؟\n]")

_ABOUT: Final = AttackPattern(
    "about",
    one_of(
        # English
        "mean", "translat", "phrase", "sentence", "say", "said", "wrote", "writ", "message", "text",
        "word", "contain", "attack", "classif", "count", "pattern", "example", "explain", "why", "who",
        r"[?？؟]", "joke", "regex", "test", "assert", "function", "code", "list", "log", "novel", "robot", "essay",
        "string", "base64", "grammar", "jailbreak", "filter", "detect", "report", "row", "readme",
        "reads", "reference", "rot13", "into", "decode", "spell", "quote", "called",
        # German, French, Spanish, Italian, Portuguese
        "bedeut", "satz", "ubersetz", "schrieb", "angriff", "heisst", "nachricht", "frage", "begriff",
        "veut dire", "signifi", "traduc", "tradui", "traduz", "frase", "mensaje", "messagg", "mensagem",
        "dit on", "se dice", "si dice", "se diz", "escrib", "escrev", "scritto", "ecrit", "ataque",
        "attaque", "attacco", "clasific", "classific", "expli", "spieg",
        # Russian, Chinese, Japanese, Arabic
        "означа", "значит", "фраз", "перевед", "перевод", "написал", "атак", "сообщени", "意思", "翻译",
        "这句", "句话", "攻击", "解释", "意味", "訳", "文", "攻撃", "書き", "معنى", "عبارة", "ترجم", "كتب", "هجوم",
        "جملة", "رسالة",
    ),
    words=False,
)  # fmt: skip
"""Outside of a quotation: words that speak of what is in it."""

_OBEY: Final = AttackPattern(
    "obey",
    one_of(
        "follow (?:it|this|these|what|the|them)", "obey", "do (?:what|as|exactly|it|so)", "execute",
        "carry out", "comply", "act on", "run (?:it|this|the following)", "apply (?:it|this)",
        "befolg", "gehorch", "fuhre? (?:es|das|dies)", "tu (?:es|das|was)", "obei", "execut", "fais (?:le|ce)",
        "obedec", "haz (?:lo|eso)", "hazlo", "ejecut", "esegu", "obbedi", "fai (?:quello|cio|come)", "faca o",
        "выполн", "следуй", "сделай", "照做", "执行", "遵照", "従っ", "実行", "نفذ", "اتبع",
    ),
    words=False,
)  # fmt: skip
"""Outside of a quotation: what asks to do as it says."""

_ASKS: Final = AttackPattern(
    "asks",
    r"[\s\"'(¿¡-]{0,4}"
    + one_of(
        "how", "(?:can|could|may|should|must|shall|would) (?:i|we|an?|the|it|he|she|they|one)", "why", "what", "when", "where", "who", "which", "whether", "does", "did", "do (?:models|they)",
        "is", "are", "was", "has", "have", "should", "explain", "summari[sz]e", "compare", "list", "give",
        "wie", "warum", "wieso", "was", "welche", "wer", "wann", "comment", "pourquoi", "que", "quel",
        "qu est", "est ce", "como", "por que", "cual", "quien", "cuando", "explica", "come", "perche", "che",
        "quali", "cosa", "o que", "quais", "как", "почему", "что", "какие", "зачем", "怎", "为什么", "什么",
        "如何", "攻击者", "有哪些", "なぜ", "どう", "攻撃者", "كيف", "لماذا", "ما", "هل",
    ),
    words=False,
)  # fmt: skip
"""The beginning of a sentence that asks about something."""

_NEXT: Final = AttackPattern(
    "next", r"(?:[,:;-] ?|\b(?:and|then|also|please|now|und|dann|et|puis|y|luego|e|poi|и|затем)\b )$", words=False
)  # fmt: skip
"""The end of a lead after which an order of its own begins."""

_ADDRESSED: Final = AttackPattern(
    "addressed",
    r"\b(?:your?|i (?:want|need|order|command|would|d|wish|ask|urge|require|expect)|let.?s|must|need to|have to)\b",
    words=False,
)

_OTHERS: Final = AttackPattern(
    "others",
    r"(?:\b(?:to|our|their|his|her|its)|\b(?:not|never|without|cannot|(?:do|does|did|must|should|would|could|ca|wo)n.?t|no one may|"
    r"nobody should)(?: \w{1,20})?|\bthat|\bwho|\bwhich) $",
    words=False,
)
"""The end of a lead that says who else does it, or that it is not to be done."""

_NAMED: Final = AttackPattern(
    "named",
    r"(?:phrases?|sentences?|prompts?|wording|attacks?|such as|patterns?|says?|said|called|translate[^.!?]{0,30}|"
    r"ubersetze[^.!?]{0,30}|traduis[^.!?]{0,30}|traduce[^.!?]{0,30}|traduz[^.!?]{0,30}|переведи[^.!?]{0,30}|"
    r"翻译[^。]{0,12}|ترجم[^.]{0,20}) ?(?:like|of the form|into|means|:)?(?: (?:that|the|all|these)){0,2} $",
    words=False,
)
"""The end of a lead that names what follows as a phrase."""


_KEPT: Final = re.compile(
    r"(?:(?:\b(?:n|ne|non|no|nao|не|ne pas)[^\w\n]{1,3}|不要|别|請勿|请勿|勿|\bلا )(?=$)"
    r"|(?:vergiss|vergesst|vergessen sie)(?: \w{1,8})?,? nicht\b"
    r"|忘れ(?=(?:ない|ず))|忘れ(?=\x00(?:ない|ず)))"
)
"""What is not to be forgotten: a denial at the end of a lead, or around the word itself."""

_FORGET: Final = re.compile(r"(?:oubli|olvid|dimentic|esque|забу|忘|تنس|انس)")

_ELSEWHERE: Final = re.compile(
    r"[^\w\n]{0,3}(?:(?:of|for|in|on|from|von|der|meiner|fur|de|du|di|del|della|da|do|para|pour)\s+)"
    r"(?:\w+\s+){0,3}?(?:shell|bash|zsh|fish|terminal|powershell|cmd|dos|console|konsole|consola|windows|linux|"
    r"macos|vim|emacs|recipe|game|book|novel|exam|manual|contract)\b"
)
"""Behind a system prompt: whose it is, and that is no model's."""


@dataclass(frozen=True)
class PhraseContext:
    """A form, to be asked about its phrases."""

    form: TextForm

    @cached_property
    def quoted(self) -> Sequence[tuple[int, int]]:
        """The places of its quotations."""
        return [match.span() for match in _QUOTED.finditer(self.form.text)]

    @cached_property
    def speaking(self) -> Sequence[int]:
        """Where words begin that speak of a quotation."""
        return [match.start() for match in _ABOUT.plain.finditer(self.form.text)]

    @cached_property
    def obeying(self) -> Sequence[int]:
        """Where words begin that ask to do as something says."""
        return [match.start() for match in _OBEY.plain.finditer(self.form.text)]


def mentioned(within: PhraseContext, start: int, end: int, *, broken: bool) -> bool:
    """Whether what stands at `start` to `end` is spoken of there, and not said."""
    text = within.form.text
    for opened, closed in within.quoted:
        if opened <= start and end <= closed and (opened < start or end < closed):
            outside = f"{text[max(0, opened - NEAR) : opened]} \n {text[closed : closed + NEAR]}"
            return _says(_ABOUT, outside, broken=broken) and not _says(
                _OBEY, outside, broken=broken
            )
    near = text[max(0, start - NEAR) : start]
    lead = near[max((match.end() for match in _SENTENCE.finditer(near)), default=0) :]
    if _says(_ADDRESSED, lead, broken=broken) or _says(_OBEY, lead, broken=broken):
        return False
    if _negated(lead, text[start:end], text[end : end + 4]) or _ELSEWHERE.match(
        text[end : end + NEAR]
    ):
        return True
    if _says(_NAMED, lead, broken=broken) or _says(_OTHERS, lead, broken=broken):
        return True
    asks = _ASKS.plain.match(lead) or (broken and _ASKS.broken.match(lead))
    return bool(asks) and not _NEXT.plain.search(lead)


def _around(positions: Sequence[int], opened: int, closed: int) -> bool:
    """Whether one of the places is near a quotation, and outside of it."""
    before, after = bisect_left(positions, opened - NEAR), bisect_left(positions, closed)
    return (before < len(positions) and positions[before] < opened) or (
        after < len(positions) and positions[after] < closed + NEAR
    )


def silent(within: PhraseContext, addressed: Sequence[int]) -> list[tuple[int, int]]:
    """The places of a text that only speak of something.

    These are quotations that are spoken of, and questions in which nobody is addressed (`addressed`: the places of such words).
    """
    text = within.form.text
    silenced = [
        (opened, closed)
        for opened, closed in within.quoted
        if _around(within.speaking, opened, closed) and not _around(within.obeying, opened, closed)
    ]
    positions = sorted(addressed)
    start = 0
    for end in [*(mark.end() for mark in _SENTENCE.finditer(text)), len(text)]:
        if _ASKS.plain.match(text, start) and bisect_left(positions, start) == bisect_left(
            positions, end
        ):
            silenced.append((start, end))
        start = end
    return silenced


def _negated(lead: str, matched: str, after: str) -> bool:
    """Whether it is said not to forget the instructions."""
    if _FORGET.match(matched) and (denied := _KEPT.search(lead)) and denied.end() == len(lead):
        return True
    return _KEPT.search(f"{matched}\0{after}") is not None


def _says(words: AttackPattern, text: str, *, broken: bool) -> bool:
    return bool(words.plain.search(text) or (broken and words.broken.search(text)))
