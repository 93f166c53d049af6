"""Questions in English: their words, and the steps they are taken apart into (see english.toml)."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

_E: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("english.toml").read_text(encoding="utf-8")
)
COUNTS: Final = {word: str(number) for number, word in enumerate(_E["counted"].split())}
_STOP: Final = frozenset(_E["stop"].split()).union(COUNTS)
_CONCEPT: Final[dict[str, str]] = {
    word: group.split()[0] for group in _E["same"] for word in group.split()
}
ACTS: Final = frozenset(_CONCEPT.values())
"""What can be asked of a thing: it stands where the answer does."""
_INSETS: Final[dict[str, str]] = _E["insets"] | {
    "MORE": "|".join(" ".join(f"{more} {less}" for _, more, less in _E["more"]).split()),
    "COUNTED": "|".join(COUNTS),
}


def _form(pattern: str) -> re.Pattern[str]:
    for word, meant in _INSETS.items():
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
    for ending, put in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("s", "")):
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


def names(text: str) -> list[str]:
    """What is quoted or capitalised, but not for beginning a sentence."""
    return [name for name in FORMS["name"].findall(text) if content(name)]


GENERIC: Final = frozenset(concepts(_E["generic"]))


def kind(question: str) -> str:
    """What the answer must hold: year, number, where (a place), who, or what (anything)."""
    return next(name for form, name in _RULES["kinds"] if form.search(question))


def cleaned(question: str) -> str:
    """A question with plain quotes and single spaces, and no end marks."""
    plain = re.sub("[“”]", '"', question.replace("’", "'"))
    return " ".join(plain.split()).strip(" ?!.=")


def arithmetic(question: str) -> str:
    """The expression that a cleaned question asks to work out, or nothing if it asks for more."""
    text = FORMS["lead"].sub("", question)
    for words, sign in _RULES["signs"]:
        text = words.sub(sign, text)
    for word, number in COUNTS.items():
        text = re.sub(rf"(?i)\b{word}\b", number, text)
    works = FORMS["works"].search(text) and FORMS["expression"].fullmatch(text)
    return text if works else ""


def plan(question: str) -> tuple[list[str], tuple[str, ...]]:
    """The steps of a cleaned question (`#1` is what the first came to), and, where the sign of the
    last decides between two things, which if it is positive and which if negative.
    """
    text, steps, choice = FORMS["lead"].sub("", question), list[str](), ("", "")
    for asked, form in _RULES["sums"]:
        if found := asked.fullmatch(text):
            said = {"b": "", "c": "", "m": "", **found.groupdict("")}
            said["b"] = re.sub(r"(?i)\b(?:she|he|it)\b", said["a"], said["b"])
            how = next(row for row in _E["more"] if said["m"].lower() in " ".join(row[1:]))
            if "{c}" in form:
                choice = said["a"], said["b"]
                choice = choice if said["m"].lower() in how[1] else choice[::-1]
            text = form.format(how=how[0], **said)
            break
    outer, text = ("abs({})", text[4:-1]) if text.startswith("abs(") else ("{}", text)
    facts = FORMS["operator"].split(text)
    if len(facts) > 1 and all(
        re.match(r"\d|(?i:the )", fact) or names(fact) for fact in facts[::2]
    ):
        facts[::2] = [fact if fact[:1].isdigit() else _operand(fact, steps) for fact in facts[::2]]
        return [*steps, outer.format(" ".join(facts))], choice
    _hops(question, steps)
    return steps, ()


def _operand(fact: str, steps: list[str]) -> str:
    return _hops(fact if kind(fact) != "what" else f"how much is {fact}", steps)


def _hops(question: str, steps: list[str]) -> str:
    """Add the innermost questions as steps of their own, at most three, then what is left."""
    for _ in range(3):
        for part, form in _RULES["inner"]:
            inner = part.search(question)
            if inner and not GENERIC.issuperset(concepts(question.replace(inner[0], "", 1))):
                steps.append(form.format(**inner.groupdict("")))
                question = question.replace(inner[0], f"#{len(steps)}")
                break
    steps.append(question)
    return f"#{len(steps)}"
