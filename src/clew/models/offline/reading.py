"""Reading passages for the sentence that answers: overlap of words, then the kind of value."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from clew.models.offline.english import ACTS, COUNTS, FORMS, GENERIC, concept, concepts, kind, names

Match: TypeAlias = tuple[float, str, str]
"""How well a sentence answers, the value asked for, and the claim with its citation."""
Place: TypeAlias = tuple[int, str]


class Sentence(NamedTuple):
    """A sentence, whom its pronoun means (`who`), and what is known from around it (`about`)."""

    text: str
    doc_id: str
    who: str
    about: frozenset[str]


def sentences(text: str, title: str, doc_id: str) -> Iterator[Sentence]:
    """The sentences of a passage, each with what its surroundings say it is about."""
    genders = [pronoun.lastgroup for pronoun in FORMS["pronoun"].finditer(text)]
    main = max(("she", "he"), key=genders.count)
    title, _, topic = title.partition(" › ")
    before = list[str]()
    for block in FORMS["block"].split(text):
        if block.startswith("#"):
            topic, _, block = block.strip("# \n").partition("\n")  # noqa: PLW2901 – without it
        for raw in FORMS["break"].split(FORMS["mark"].sub("", block)):
            plain = " ".join(raw.split())
            pronoun = FORMS["pronoun"].search(plain)
            about, who = " ".join((title, topic, *before)), topic or title
            if pronoun is not None and pronoun.lastgroup:
                about = who = title if pronoun.lastgroup == main or not before else before[-1]
            elif pronoun is not None and not pronoun.start() and before:
                who = before[0]
            if plain:
                yield Sentence(plain, doc_id, who, frozenset(concepts(about)))
                before = names(plain) or before


def best(question: str, among: Iterable[Sentence]) -> Match | None:
    """The match of the sentence that answers a simple question best; None if none does."""
    matches = filter(None, map(_Asked(question).match, among))
    return max(matches, key=lambda match: match[0], default=None)


class _Asked:
    """What a question asks for, and how far a sentence answers it."""

    def __init__(self, question: str) -> None:
        question = re.sub(r"(\w+) or \w+$", r"\1", question)  # either word: the first one
        self.kind = kind(question)
        self.named = {word for name in names(question) for word in concepts(name)}
        terms = set(concepts(question)) - self.named
        self.terms = {term for term in terms if term in ACTS or term not in GENERIC} or terms
        self.known = self.named | self.terms
        counted = FORMS["counted"].search(question)
        self.counted = concept(counted[1]) if counted is not None else ""

    def match(self, sentence: Sentence) -> Match | None:
        text, words = sentence.text, set(concepts(sentence.text))
        hits, near = self.terms & words, self.terms & sentence.about - words
        if not (self.named <= words | sentence.about and self.terms & ACTS <= hits):
            return None
        if len(hits) + len(near) < 0.6 * len(self.terms) or (self.terms and not hits):
            return None
        value = self.value(sentence) if self.terms else text
        if value is None:
            return None
        score = len(hits) + 0.4 * len(near) + 0.5 * len(self.named & words)
        if not self.terms and (opening := FORMS["defining"].match(text)):  # who or what is it
            score += self.named.issuperset(concepts(opening[0]))
        unsaid = _places("pronoun", text) or self.named.isdisjoint(words)
        told = words.issuperset(concepts(sentence.who)) or not unsaid
        label = "" if told else f"{sentence.who}: "
        return score, value, f"{label}{text} [{sentence.doc_id}]"

    def value(self, sentence: Sentence) -> str | None:
        """The value of the kind asked for that stands best, "" where only the sentence tells."""
        text, at = sentence.text, self.anchor(sentence.text)
        if self.kind in ("year", "number", "where") and self.foreign(sentence, at):
            return None
        years, numbers = _places("year", text), _places("number", text)
        if self.kind == "year":
            return _next(years, at)
        if self.kind == "number":
            number = _nearest([one for one in numbers if one not in years], at)
            return number and COUNTS.get(number.lower(), number)
        fresh = [one for one in _mentions(text) if not self.known.issuperset(concepts(one[1]))]
        if self.kind == "where":
            place = _next([one for one in fresh if _placed(text, one)], at)
            return place or ("" if _places("placing", text[at:]) else None)
        if self.kind == "who":
            fresh = [one for one in fresh if not _placed(text, one)]
        by = [one for one in fresh if text.endswith("by ", 0, one[0])]
        if not fresh and _places("pronoun", text) and self.named.isdisjoint(concepts(sentence.who)):
            return sentence.who
        return _nearest(by or fresh, at) or ("" if self.kind == "what" else None)

    def anchor(self, text: str) -> int:
        """Where the answer should stand: at what is counted, was done, or else is asked about."""
        places = [(concept(word[0]), word.end()) for word in re.finditer(r"\w+", text)]
        order = ({self.counted}, self.terms & ACTS, self.terms)
        return next((at for wanted in order for word, at in places if word in wanted), 0)

    def foreign(self, sentence: Sentence, at: int) -> bool:
        """Whether the sentence says it of somebody or something else than was asked about."""
        text = sentence.text
        if (subject := FORMS["thing"].match(text)) is not None:
            return not (self.known | GENERIC).issuperset(concepts(subject[1]))
        said = [one for one in _mentions(text[:at]) if not _placed(text, one)]
        pronouns = _places("pronoun", text[:at])
        if not said or max(pronouns, default=said[-1]) > said[-1]:
            return bool(pronouns and self.named) and self.known.isdisjoint(concepts(sentence.who))
        words = concepts(said[-1][1])
        surname = {words[-1]} == self.named and " of " not in said[-1][1]
        return not surname and not self.known.issuperset(words)


def _places(form: str, text: str) -> list[Place]:
    return [(found.start(), found[0]) for found in FORMS[form].finditer(text)]


def _mentions(text: str) -> list[Place]:
    """The names in a sentence; what follows "a" or "an" is an adjective (an Irish writer)."""
    found = [one for one in _places("name", text) if concepts(one[1])]
    return [one for one in found if not text.endswith((" a ", " an "), 0, one[0])]


def _placed(text: str, one: Place) -> bool:
    return FORMS["placed"].search(text, max(0, one[0] - 60), one[0]) is not None


def _nearest(found: list[Place], at: int) -> str | None:
    return min(((abs(start - at), text) for start, text in found), default=(0, None))[1]


def _next(found: list[Place], at: int) -> str | None:
    """The first behind a place, or else the last before it."""
    return next((text for start, text in found if start >= at), found[-1][1] if found else None)
