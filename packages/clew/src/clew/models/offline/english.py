"""English as the offline rules know it; its words and patterns are in english.toml."""

import re
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from clew.core.values import Json
from clew.support.short_text import one_line

Mention: TypeAlias = tuple[int, str]

_E: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_COUNTS: Final = {word: str(number) for number, word in enumerate(_E["counted"].split())}
ROOM: Final = 600
"""So many characters of a passage are shown."""
QUOTED: Final = 300
"""A sentence of so many characters is no answer by itself."""
_STOP: Final = frozenset(_E["stop"].split()).union(_COUNTS)
_CONCEPT: Final[dict[str, str]] = {
    word: group.split()[0] for group in _E["irregular"] + _E["same"] for word in group.split()
}
_MONTHS: Final = [name.lower() for name in _E["insets"]["MONTHS"].split("|")]
_ACTS: Final = frozenset(group.split()[0] for group in _E["same"])
"""What can be asked of a thing: it stands where the answer does."""
_ENDINGS: Final = {"ies": "y", "ied": "y", "ing": "", "ed": "", "al": "", "s": ""}


def _compile(pattern: str) -> re.Pattern[str]:
    for word, meant in [*_E["insets"].items(), ("COUNTED", "|".join(_COUNTS))]:
        pattern = pattern.replace(word, meant)
    return re.compile(pattern, re.IGNORECASE)


FORMS: Final = {name: _compile(pattern) for name, pattern in _E["forms"].items()}
_RULES: Final[dict[str, list[tuple[re.Pattern[str], str]]]] = {
    name: [(_compile(pattern), meant) for pattern, meant in rules]
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
_LIGHT: Final = frozenset(concepts(_E["light"]))


def names(text: str) -> list[str]:
    """What is quoted or capitalised, but not for beginning a sentence."""
    return [name for name in FORMS["name"].findall(text) if content(name)]


def cleaned(question: str) -> str:
    """A question in plain quotes and single spaces, as the planner understands it."""
    plain = one_line(re.sub("[“”]", '"', question.replace("’", "'"))).strip(" ?!.=")
    for form, words in _RULES["rephrased"]:
        plain = form.sub(words, plain)
    return plain


def arithmetic(question: str) -> str:
    """The expression that a cleaned question asks to work out, or nothing if it asks for more."""
    text = FORMS["lead"].sub("", question)
    if (
        len({unit.strip().lower() for unit in FORMS["unit"].findall(text)}) == 1
    ):  # then it changes nothing
        text = FORMS["unit"].sub("", text)
    for words, sign in _RULES["signs"]:
        text = words.sub(sign, text)
    text = re.sub(r"\w+", lambda word: _COUNTS.get(word[0].lower(), word[0]), text)
    works = FORMS["works"].search(text) and FORMS["expression"].fullmatch(text)
    return text if works else ""


def full_years(difference: str, claims: list[str]) -> tuple[str, str] | None:
    """An age as the difference of two years, less one before the birthday, and a note of that.

    None where the sentences do not give both days.
    """
    years = re.fullmatch(r"(\d{4}) - (\d{4})", difference)
    text = " ".join(claims)
    days = [_days_of(year, text) for year in years.groups()] if years else []
    if years is None or years[1] < years[2] or not all(len(each) == 1 for each in days):
        return None
    then, birth = (each.pop() for each in days)
    if then < birth:
        return f"{difference} - 1", "that year's birthday was still to come"
    return difference, "that year's birthday was over"


def _days_of(year: str, text: str) -> set[tuple[int, int]]:
    """The days of a year that a text names, as month and day."""
    days = (match for match in FORMS["day"].finditer(text) if match["year"] == year)
    return {
        (
            _MONTHS.index((match["month"] or match["month_first"]).lower()),
            int(match["day"] or match["then"]),
        )
        for match in days
    }


def continued(question: str, before: str) -> str:
    """A question that leaves out what the one before it said ("and of Plover"), with it."""
    match = FORMS["continuing"].fullmatch(question)
    if match is None or not before:
        return question
    matches = list(re.finditer(rf"\b{match['by']} ", before)) if match["by"] else []
    if matches:
        return before[: matches[-1].end()] + match["what"]
    things = [one for one in FORMS["numbered"].finditer(before) if content(one[0])]
    if match["by"] or len(things) != 1 or not names(match["what"]):
        return f"{before}: {question}"
    rest, words = before[things[0].end() :], match["what"].split()
    tails = (" " + " ".join(words[at:]) for at in range(1, len(words)))
    tail = next((one for one in tails if rest.startswith(one)), "")
    return before[: things[0].start()] + match["what"] + rest.removeprefix(tail)


class Spoken(NamedTuple):
    """Who and what was spoken of last."""

    who: str = ""
    what: str = ""

    def resolve_pronouns(self, question: str) -> str:
        """A question with what its pronouns mean."""
        named, pronoun = names(question), FORMS["referring"].search(question)
        if not pronoun or (named and question.index(named[0]) < pronoun.start()):
            return question

        def put(match: re.Match[str]) -> str:
            about = self.what if match["thing"] or match["things"] else self.who
            return about + ("'s" if match["his"] or match["things"] else "") if about else match[0]

        return FORMS["referring"].sub(put, question)

    def after(self, question: str, value: str) -> "Spoken":
        """What is spoken of after a question and its value."""
        first, thing = next(iter(names(question)), ""), FORMS["spoken"].search(question)
        if names(value) == [value]:
            who = QuestionFocus(question).kind == "who"
            return Spoken(value, first or self.what) if who else Spoken(first, value)
        whats = thing[0] if thing else first
        return Spoken(first or self.who, whats or self.what)


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
    before, subject = list[str](), ""
    for block in FORMS["block"].split(FORMS["code"].sub("", text)):
        if block.startswith("#"):
            topic, _, block = block.strip("# \n").partition("\n")  # noqa: PLW2901 – without it
        for plain in _pieces(block):
            pronoun, opening = FORMS["pronoun"].search(plain), FORMS["opening"].match(plain)
            about, who = f"{title} {topic}", topic or title
            if pronoun is not None and pronoun.lastgroup:
                ours = pronoun.lastgroup == main and names(title)
                about = who = title if ours or not before else before[-1]
            elif pronoun is not None and not pronoun.start() and subject:
                who, about = subject, f"{about} {subject}"
            alike = (one for one in before for name in names(plain) if name in one.split())
            about = " ".join((about, *alike))  # the surname alone is the same man
            yield Sentence(plain, doc_id, who, frozenset(concepts(about)))
            before = names(plain) or before
            if pronoun is None or pronoun.start():
                subject = opening[1] if opening else ""


def _pieces(block: str) -> Iterator[str]:
    """The sentences of a block, or the rows of a table, each cell with its column's name."""
    if not block.startswith("|"):
        pieces = FORMS["break"].split(FORMS["mark"].sub("", block))
        yield from filter(None, (one_line(piece) for piece in pieces))
        return
    lines = [line for line in block.splitlines() if not FORMS["rule"].fullmatch(line)]
    rows = [[cell.strip(" *`") for cell in line.strip(" |").split("|")] for line in lines]
    for row in rows[1:]:
        told = zip(rows[0], row, strict=False)
        yield ", ".join(f"{name}: {cell}" for name, cell in told if cell)


_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")


def _grams(text: str) -> set[str]:
    """The concepts of a text, and the pairs of letters where words have no spaces."""
    pairs = {text[at : at + 2] for at in range(len(text) - 1)}
    return set(concepts(text)) | {pair for pair in pairs if _CJK.fullmatch(pair)}


def slip(one: str, two: str) -> bool:
    """Whether two words differ by a letter that is left out, or two that changed places."""
    long, short = sorted((one, two), key=len, reverse=True)
    if len(long) == len(short) + 1:
        return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
    turned = (one[:at] + one[at + 1] + one[at] + one[at + 2 :] for at in range(len(one) - 1))
    return len(one) == len(two) and two in turned


def respelled(question: str, texts: str) -> dict[str, str]:
    """Words of a question that no text has, with the one word of them that was surely meant.

    Empty if a word may stand for several: then nobody knows what was asked.
    """
    known = set(concepts(texts))
    there = {word.lower(): word for word in re.findall(r"[^\W\d_]{4,}", texts)}
    meant = dict[str, str]()
    for word in content(question):
        if word.isalpha() and len(word) > 3 and concept(word) not in known:
            near = {concept(one): put for one, put in there.items() if slip(word.lower(), one)}
            if len(near) > 1:
                return {}
            if near:
                meant[word] = next(iter(near.values()))
    return meant


def gist(text: str, question: str) -> str:
    """A passage in a line; of a long one the sentences that have most of the question's words."""
    blocks = FORMS["block"].split(FORMS["code"].sub("", text))
    pieces = [one for block in blocks for one in _pieces(block.lstrip("# \n"))]
    wanted, room, kept = _grams(question), ROOM, set[int]()
    for index in sorted(range(len(pieces)), key=lambda at: -len(wanted & _grams(pieces[at]))):
        if not kept or len(pieces[index]) < room:
            kept.add(index)
            room -= len(pieces[index])
    return " ".join(("" if at - 1 in {-1, *kept} else "… ") + pieces[at] for at in sorted(kept))


class QuestionFocus:
    """What a simple question asks for, and how far a sentence answers it."""

    def __init__(self, question: str) -> None:
        self.question = question
        self.kind = next(name for form, name in _RULES["kinds"] if form.search(question))
        question = FORMS["amount"].sub("how many", question)
        question = re.sub(r"(\w+) or \w+$", r"\1", question)  # either word: the first one
        self.named = {word for name in names(question) for word in concepts(name)}
        terms = set(concepts(question)) - self.named
        terms = {term for term in terms if term in _ACTS or term not in _GENERIC} or terms
        self.terms = terms - _LIGHT if len(terms - _LIGHT) + len(self.named) > 1 else terms
        self.known = self.named | self.terms

    def match(self, sentence: Sentence) -> tuple[float, str, str] | None:
        """How well it answers, its value, its claim; None where it may not be the answer."""
        text, words = sentence.text, set(concepts(sentence.text))
        hits, near = self.terms & words, self.terms & sentence.about - words
        missing = self.known - words - sentence.about
        slack = len(hits) > 3 and len(missing) == 1 and self.kind not in ("what", "polar")
        matched = not missing or (slack and missing <= self.terms - _ACTS)
        if (
            not matched
            or not self.terms & _ACTS <= hits
            or (self.terms and not hits)
            or self.barred(sentence)
        ):
            return None
        spots = [(concepts(word[0]), word.end()) for word in re.finditer(r"\w+", text)]
        asked = (self.terms & _ACTS, self.terms)  # the answer stands by the first of these
        at = next((end for some in asked for word, end in spots if some.intersection(word)), 0)
        if self.kind not in ("who", "what", "polar") and self.foreign(sentence, at):
            return None
        opening = FORMS["defining"].match(text)  # it says what the thing asked about is
        defined = opening is not None and self.known == set(concepts(opening[0]))
        value = self.value(sentence, at) if self.terms else text if defined else None
        if value is None:
            return None
        score = len(hits) + 0.4 * len(near) + 0.5 * len(self.named & words) + defined
        unsaid = _find_all("pronoun", text) or self.named.isdisjoint(words)
        label = f"{sentence.who}: " if unsaid and set(concepts(sentence.who)) - words else ""
        return score, value, f"{label}{text} [{sentence.doc_id}]"

    def barred(self, sentence: Sentence) -> bool:
        """Whether the question holds what no rule here can heed, or the sentence takes it back."""
        asks, text = self.question, sentence.text
        weighty = {word.lower() for word in FORMS["weighty"].findall(asks)}
        if not weighty <= set(re.findall(r"\w+", text.lower())) or FORMS["working"].search(asks):
            return True
        counted = FORMS["quantity"].search(asks)
        reckoned = counted is not None and counted[0].lower() not in text.lower()
        if self.kind == "number" and (reckoned or self.news("relative", text)):
            return True
        if FORMS["past"].search(asks) and FORMS["open"].search(text):
            return True
        if FORMS["why"].match(asks) and not FORMS["cause"].search(text):
            return True
        return self.kind != "polar" and self.news("negative", text)

    def news(self, form: str, text: str) -> bool:
        """Whether a text has a form that the question has not."""
        return bool(FORMS[form].search(text) and not FORMS[form].search(self.question))

    def value(self, sentence: Sentence, at: int) -> str | None:
        """The value of the kind asked for that stands best; "" where it has none of its own."""
        text, rests = sentence.text, ("what", "polar")
        if self.kind not in rests and FORMS["row"].match(text):  # then the cell that is asked for
            cells = sorted(self.cells(text), reverse=True)
            at, text = 0, cells[0][1] if len({size for size, _ in cells[:2]}) > 1 else ""
        people, locations = _mentions(text, self.known)
        pronoun = FORMS["pronoun"].search(text)
        if not people and self.kind == "who" and pronoun is not None and pronoun.lastgroup:
            who = set(concepts(sentence.who))
            matched = who <= self.named or (self.named and self.named <= who)
            return None if matched else sentence.who
        years = _find_all("year", text)
        dates = [one for one in years if not FORMS["things"].match(text, one[0])]
        candidates = {
            "year": years,
            "when": years or _find_all("time", text),
            "number": self.of_clause(text, [one for one in self.numbers(text) if one not in dates]),
            "where": locations,
            "who": self.people(text, people),
        }.get(self.kind, people)
        if not candidates:
            placed = self.kind == "where" and _find_all("placing", text[at:])
            plain = self.kind == "what" and not (self.named and self.terms & _ACTS)
            quoted = len(text) < QUOTED and (placed or plain or self.kind == "polar")
            return "" if quoted else None
        if self.kind in ("year", "when", "where"):  # they follow what they are said of
            return next((later for start, later in candidates if start >= at), candidates[-1][1])
        return min(candidates, key=lambda one: abs(one[0] - at))[1]

    def cells(self, row: str) -> Iterator[tuple[int, str]]:
        """The cells of a row, with how much of the question stands in their column's name."""
        for name, cell in FORMS["cell"].findall(row):
            hits = self.known.intersection(concepts(name))
            yield len(hits) + 9 * len(hits & _ACTS), cell

    def numbers(self, text: str) -> list[Mention]:
        """The numbers of a text; where "how many" of something is asked, those of that."""
        numbers, of = _find_all("number", text), FORMS["many"].search(self.question)
        if of is None or not FORMS["clause"].search(text):
            return numbers
        rests = [(one, text[one[0] + len(one[1]) :][:40]) for one in numbers]
        near = [(one, FORMS["joint"].split(rest, maxsplit=1)[0]) for one, rest in rests]
        return [one for one, rest in near if concept(of[1]) in concepts(rest)[:3]]

    def of_clause(self, text: str, numbers: list[Mention]) -> list[Mention]:
        """Of numbers in several clauses, those of the clause that says what is asked, if one does.

        A word of the question counts for a clause, any other word against it.
        """
        starts = [0, *(one.end() for one in FORMS["joint"].finditer(text)), len(text)]
        weighed = dict[int, list[Mention]]()
        for begin, end in pairwise(starts):
            if inside := [one for one in numbers if begin <= one[0] < end]:
                words = set(concepts(text[begin:end])) - {one for _, one in inside}
                weight = len(self.known & words) - len(words - self.known)
                weighed.setdefault(weight, []).extend(inside)
        return weighed[max(weighed)] if weighed else []

    def people(self, text: str, people: list[Mention]) -> list[Mention]:
        """Those who did what a question asks about, or had it done to them."""
        by = [one for one in people if text.endswith("by ", 0, one[0])]
        asked = FORMS["doing"].match(self.question)
        if asked is None or concept(asked["verb"]) not in concepts(text):
            return [] if asked else by or people
        verb = concept(asked["verb"])
        spots = [one for one in re.finditer(r"\w+", text) if concept(one[0]) == verb]
        begin, end = spots[0].span()
        if asked["did"]:
            return [one for one in people if one[0] > end and one not in by]
        if FORMS["passive"].search(text[:begin]):
            return [one for one in people if re.search(r"\bby\b", text[end : one[0]])]
        return [one for one in people if one[0] < begin]

    def foreign(self, sentence: Sentence, at: int) -> bool:
        """Whether the sentence says it of somebody or something else than was asked about."""
        text = sentence.text[:at]
        subject = FORMS["presented"].search(text) or FORMS["thing"].match(sentence.text)
        if subject is not None:
            return not (self.known | _GENERIC).issuperset(concepts(subject[1]))
        named, pronouns = _mentions(text, set())[0], _find_all("pronoun", text)
        if not self.named:  # then one capital says little
            named = [one for one in named if " " in one[1]]
        if named and max(pronouns, default=named[-1]) > named[-1]:
            named = named[:1] if named[0] < pronouns[0] else []  # whom the sentence began with
        if not named:
            return bool(pronouns and self.named) and self.known.isdisjoint(concepts(sentence.who))
        return not self.known.issuperset(concepts(named[-1][1]))


def _find_all(form: str, text: str) -> list[Mention]:
    return [(match.start(), match[0]) for match in FORMS[form].finditer(text)]


def _mentions(text: str, known: set[str]) -> tuple[list[Mention], list[Mention]]:
    """The other names in a sentence, of people or things and of places; none is an adjective."""
    mentions = [one for one in _find_all("name", text) if set(concepts(one[1])) - known]
    mentions = [one for one in mentions if not text.endswith((" a ", " an "), 0, one[0])]
    placed = [one for one in mentions if FORMS["placed"].search(text, max(0, one[0] - 60), one[0])]
    return [one for one in mentions if one not in placed], placed
