"""English as the offline rules know it; its words and patterns are in english.toml."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from clew.events import Json

Place: TypeAlias = tuple[int, str]

_E: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_COUNTS: Final = {word: str(number) for number, word in enumerate(_E["counted"].split())}
_STOP: Final = frozenset(_E["stop"].split()).union(_COUNTS)
_CONCEPT: Final[dict[str, str]] = {
    word: group.split()[0] for group in _E["irregular"] + _E["same"] for word in group.split()
}
_ACTS: Final = frozenset(group.split()[0] for group in _E["same"])
"""What can be asked of a thing: it stands where the answer does."""
_ENDINGS: Final = {"ies": "y", "ied": "y", "ing": "", "ed": "", "al": "", "s": ""}


def _form(pattern: str) -> re.Pattern[str]:
    for word, meant in [*_E["insets"].items(), ("COUNTED", "|".join(_COUNTS))]:
        pattern = pattern.replace(word, meant)
    return re.compile(pattern, re.IGNORECASE)


FORMS: Final = {name: _form(pattern) for name, pattern in _E["forms"].items()}
_RULES: Final[dict[str, list[tuple[re.Pattern[str], str]]]] = {
    name: [(_form(pattern), meant) for pattern, meant in rules]
    for name, rules in _E["rules"].items()
}


def concept(word: str) -> str:
    """The one word that stands for this one and all like it."""
    word = word.lower()
    for ending, put in _ENDINGS.items():
        if word not in _CONCEPT and word.endswith(ending) and len(word) - len(ending) > 2:
            word = word.removesuffix(ending) + put
            break
    return _CONCEPT.get(word, _CONCEPT.get(word + "e", word.removesuffix("e")))


def content(text: str) -> list[str]:
    """The words of a text that say something, in order."""
    words = re.findall(r"#?[^\W_]+(?:[.,]\d+)*", text)
    return [word for word in words if word.lower() not in _STOP]


def concepts(text: str) -> list[str]:
    """The concepts of those words."""
    return [concept(word) for word in content(text)]


_GENERIC: Final = frozenset(concepts(_E["generic"]))


def names(text: str) -> list[str]:
    """What is quoted or capitalised, but not for beginning a sentence."""
    return [name for name in FORMS["name"].findall(text) if content(name)]


def cleaned(question: str) -> str:
    """A question in plain quotes and single spaces, as the planner understands it."""
    plain = " ".join(re.sub("[“”]", '"', question.replace("’", "'")).split()).strip(" ?!.=")
    for form, words in _RULES["rephrased"]:
        plain = form.sub(words, plain)
    return plain


def arithmetic(question: str) -> str:
    """The expression that a cleaned question asks to work out, or nothing if it asks for more."""
    text = FORMS["lead"].sub("", question)
    for words, sign in _RULES["signs"]:
        text = words.sub(sign, text)
    text = re.sub(r"\w+", lambda word: _COUNTS.get(word[0].lower(), word[0]), text)
    works = FORMS["works"].search(text) and FORMS["expression"].fullmatch(text)
    return text if works else ""


class Sentence(NamedTuple):
    """A sentence, whom its pronoun means (`who`), and what is known from around it (`about`)."""

    text: str
    doc_id: str
    who: str
    about: frozenset[str]


def sentences(passage: dict[str, Json]) -> Iterator[Sentence]:
    """The sentences and table rows of a passage, each with what its surroundings are about."""
    doc_id, title, text = (str(passage.get(key)) for key in ("doc_id", "title", "snippet"))
    main = max(("she", "he"), key=[one.lastgroup for one in FORMS["pronoun"].finditer(text)].count)
    title, _, topic = title.partition(" › ")
    before, last = list[str](), ""
    for block in FORMS["block"].split(FORMS["code"].sub("", text)):
        if block.startswith("#"):
            topic, _, block = block.strip("# \n").partition("\n")  # noqa: PLW2901 – without it
        for plain in _pieces(block):
            pronoun = FORMS["pronoun"].search(plain)
            about, who = " ".join((title, topic, *before)), topic or title
            if pronoun is not None and pronoun.lastgroup:
                ours = pronoun.lastgroup == main and names(title)
                about = who = title if ours or not before else before[-1]
            elif pronoun is not None and not pronoun.start() and before:
                who, about = before[0], f"{about} {' '.join(content(last)[:3])}"
            yield Sentence(plain, doc_id, who, frozenset(concepts(about)))
            before, last = names(plain) or before, plain


def _pieces(block: str) -> Iterator[str]:
    """The sentences of a block, or the rows of a table, each cell with its column's name."""
    if not block.startswith("|"):
        pieces = FORMS["break"].split(FORMS["mark"].sub("", block))
        yield from filter(None, (" ".join(piece.split()) for piece in pieces))
        return
    lines = [line for line in block.splitlines() if not FORMS["rule"].fullmatch(line)]
    rows = [[cell.strip(" *`") for cell in line.strip(" |").split("|")] for line in lines]
    for row in rows[1:]:
        told = zip(rows[0], row, strict=False)
        yield ", ".join(f"{name}: {cell}" for name, cell in told if cell)


class Asked:
    """What a simple question asks for, and how far a sentence answers it."""

    def __init__(self, question: str) -> None:
        self.kind = next(name for form, name in _RULES["kinds"] if form.search(question))
        question = FORMS["amount"].sub("how many", question)
        question = re.sub(r"(\w+) or \w+$", r"\1", question)  # either word: the first one
        self.named = {word for name in names(question) for word in concepts(name)}
        terms = set(concepts(question)) - self.named
        self.terms = {term for term in terms if term in _ACTS or term not in _GENERIC} or terms
        self.known = self.named | self.terms

    def match(self, sentence: Sentence) -> tuple[bool, float, str, str] | None:
        """Whether it answers or is merely near, how well, its value, its claim; None if neither."""
        text, words = sentence.text, set(concepts(sentence.text))
        hits, near = self.terms & words, self.terms & sentence.about - words
        said = self.named <= words | sentence.about and self.terms & _ACTS <= hits
        if not said or len(hits) + len(near) < 0.6 * len(self.terms) or (self.terms and not hits):
            return None
        spots = [(concepts(word[0]), word.end()) for word in re.finditer(r"\w+", text)]
        asked = (self.terms & _ACTS, self.terms)  # the answer stands by the first of these
        at = next((end for some in asked for word, end in spots if some.intersection(word)), 0)
        if self.kind not in ("who", "what") and self.foreign(sentence, at):
            return None
        value = self.value(sentence, at) if self.terms else text
        if value is None and len(self.known) < 2:
            return None
        score = len(hits) + 0.4 * len(near) + 0.5 * len(self.named & words)
        if opening := FORMS["defining"].match(text):  # it says what the thing asked about is
            score += self.known == set(concepts(opening[0]))
        unsaid = _found("pronoun", text) or self.named.isdisjoint(words)
        label = f"{sentence.who}: " if unsaid and set(concepts(sentence.who)) - words else ""
        return value is not None, score, value or "", f"{label}{text} [{sentence.doc_id}]"

    def value(self, sentence: Sentence, at: int) -> str | None:
        """The value of the kind asked for that stands best; "" where it has none of its own."""
        text, (people, places) = sentence.text, _mentions(sentence.text, self.known)
        if not people and self.kind == "who" and _found("pronoun", text):
            who = set(concepts(sentence.who))
            return None if who <= self.named or self.named & who == self.named else sentence.who
        years = _found("year", text)
        dates = [one for one in years if not FORMS["things"].match(text, one[0])]
        found = {
            "year": years,
            "when": years or _found("time", text),
            "number": [one for one in _found("number", text) if one not in dates],
            "where": places,
        }.get(self.kind, [one for one in people if text.endswith("by ", 0, one[0])] or people)
        if not found:
            placed = self.kind == "where" and _found("placing", text[at:])
            plain = self.kind == "what" and not (self.named and self.terms & _ACTS)
            return "" if placed or plain else None
        if self.kind in ("year", "when", "where"):  # they follow what they are said of
            return next((later for start, later in found if start >= at), found[-1][1])
        return min(found, key=lambda one: abs(one[0] - at))[1]

    def foreign(self, sentence: Sentence, at: int) -> bool:
        """Whether the sentence says it of somebody or something else than was asked about."""
        text = sentence.text[:at]
        subject = FORMS["presented"].search(text) or FORMS["thing"].match(sentence.text)
        if subject is not None:
            return not (self.known | _GENERIC).issuperset(concepts(subject[1]))
        said, pronouns = _mentions(text, set())[0], _found("pronoun", text)
        if not self.named:  # then one capital says little
            said = [one for one in said if " " in one[1]]
        if said and max(pronouns, default=said[-1]) > said[-1]:
            said = said[:1] if said[0] < pronouns[0] else []  # whom the sentence began with
        if not said:
            return bool(pronouns and self.named) and self.known.isdisjoint(concepts(sentence.who))
        return not self.known.issuperset(concepts(said[-1][1]))


def _found(form: str, text: str) -> list[Place]:
    return [(found.start(), found[0]) for found in FORMS[form].finditer(text)]


def _mentions(text: str, known: set[str]) -> tuple[list[Place], list[Place]]:
    """The other names in a sentence, of people or things and of places; none is an adjective."""
    found = [one for one in _found("name", text) if set(concepts(one[1])) - known]
    found = [one for one in found if not text.endswith((" a ", " an "), 0, one[0])]
    placed = [one for one in found if FORMS["placed"].search(text, max(0, one[0] - 60), one[0])]
    return [one for one in found if one not in placed], placed
