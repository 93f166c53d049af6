"""A question into steps for tools, by rules and without a model.

It knows a handful of patterns of English and nothing of the world:

- arithmetic, in signs or words, also over facts that must be looked up first;
- facts about facts: `the A of the B of C`, `C's B's A`, `the A that …`, `the A where …`;
- comparisons: `which is older, A or B`, `is A taller than B`, `how much longer is A than B`;
- several questions in one, and one question about `A and B`.

It cannot count, follow conditions or loops, read other languages, or tell a name from a word that
is merely capitalised, nor a person from a thing: so `it` is only ever what somebody is said to have
made, as in `the author of Emma`. What it does not recognise it leaves whole, as one step.
"""

import re
from collections.abc import Callable
from typing import Final

from clew.core.values import Json
from clew.support.errors import ToolError

MAX_CHARACTERS: Final = 1_000
MAX_STEPS: Final = 24
_MAX_HOPS: Final = 6

_WORD: Final = r"[A-Z0-9][\w.&-]*(?:['’](?!s\b)\w+)?"
_QUOTED: Final = r"\"[^\"]+\"|“[^”]+”"
_NAME: Final = rf"(?:{_QUOTED}|{_WORD}(?:\s+(?:(?:of|the|and|de|la|von|van)\s+){{0,2}}{_WORD})*)"
_LONE: Final = rf"(?:{_QUOTED}|{_WORD}(?:\s+{_WORD})*)"
_THING: Final = rf"(?:#\d+|{_NAME})"
_LOWER: Final = r"[a-z][a-z-]*"
_VERBS: Final = (
    r"(?:is|was|are|were|be|been|do|did|does|has|have|had|can|could|will|would|born|died?|dies|"
    r"lived?|lives|beg[ia]n|come|came|from|work|worked|grow|grew|founded|built|made|written|wrote|"
    r"published|located|situated|released|opened|stud(?:y|ied)|join(?:ed)?|marr(?:y|ied)|"
    r"moved?|retired?|graduated?|teach|taught|arrived?)"
)
_CLAUSES: Final = r"(?:when|while|if|because|before|after|it|its|he|she|they)"
_POSSESSIVE: Final = re.compile(rf"({_THING})['’]s((?:\s+{_LOWER}){{1,4}})")
_OF: Final = re.compile(
    rf"the(?:\s+{_LOWER}){{1,3}}\s+of\s+"
    rf"(?:(?:the\s+)?({_THING})|(?:the|an?)((?:\s+{_LOWER}){{1,4}}))"
)
_THAT: Final = re.compile(rf"the(?:\s+{_LOWER}){{1,3}}?\s+(?:that|who|which|where|in which)\s+.+")
_ASKS_LAST: Final = re.compile(
    r"(?:in\s+)?(?:when|where|(?:what|which|how)\s+\w+)\s+(?:was|were|do|does|did)\s"
)
_ENDING: Final = re.compile(rf"(?<=\w)\s+{_VERBS}(?=$|\s+(?:the|its?|his|her|their|an?|in|to)\s)")
_ARTICLE: Final = re.compile(r"\bthe\s")
_LEAD: Final = re.compile(
    r"^(?:please\s+)?(?:(?:what|who|which|how much)\s+(?:is|was|are|were)|calculate|compute|"
    r"work out|evaluate|find|tell me|take|give me)\s+(?!.*\bthan\b)",
    re.IGNORECASE,
)
_SPOKEN: Final = {
    "minus": "-",
    "plus": "+",
    "times": "*",
    "multiplied by": "*",
    "divided by": "/",
    "to the power of": "**",
}
_SIGN: Final = re.compile(
    rf",?\s+({'|'.join(_SPOKEN)}|\*\*|//|[-+*/×÷−%])\s+",
    re.IGNORECASE,
)
_ARITHMETIC: Final = re.compile(
    r"(?=.*[0-9])(?=.*[-+*/×÷−%(])"
    r"(?:[-+*/×÷−%()0-9.,_\s]|\b(?:abs|round|floor|ceil|min|max|sqrt|exp|ln|log10|pi|e)\b)+"
)
_NUMBER: Final = re.compile(r"-?[0-9][0-9,_]*(?:\.[0-9]+)?")
_SHARE: Final = re.compile(r"([0-9.]+)\s*(?:%|per\s?cent)\s+of\s+(.+)", re.IGNORECASE)
_PAIR: Final = re.compile(
    r"(?:the\s+)?(difference|sum|product|average|mean|ratio)\s+(?:between|of)\s+(.+)", re.IGNORECASE
)
_PAIRED: Final = {
    "difference": "abs({} - {})",
    "sum": "{} + {}",
    "product": "{} * {}",
    "average": "({} + {}) / 2",
    "mean": "({} + {}) / 2",
    "ratio": "{} / {}",
}
_BETWEEN: Final = re.compile(
    r"how many (years|days)\s+(?:\w+\s+){0,3}?between\s+(.+)", re.IGNORECASE
)
_IT: Final = re.compile(r"\bits?\b")
_MADE: Final = re.compile(
    rf"(?:({_THING})['’]s|the)\s+(?:{_LOWER}\s+){{0,2}}?"
    r"(?:author|writer|inventor|founder|architect|builder|composer|director)(?:\s+of\s+(.+))?"
)
_AGE: Final = re.compile(r"how old (?:was|is)\s+(.+?)\s+when\s+(.+)", re.IGNORECASE)
_MORE: Final = re.compile(
    r"how (?:much|many \w+)\s+(\w+er)\s+(?:is|was|are|were)\s+(.+?)\s+than\s+(.+)", re.IGNORECASE
)
_EITHER: Final = re.compile(r"(?:which|who|what)\b(.*?)[,:]\s*(.+?),?\s+or\s+(.+)", re.IGNORECASE)
_THAN: Final = re.compile(r"(?:is|was|are|were)\s+(.+?)\s+(\w+er)\s+than\s+(.+)", re.IGNORECASE)
_MEASURES: Final = {
    "older": ("the year {} was born or begun", "below"),
    "younger": ("the year {} was born or begun", "above"),
    "newer": ("the year {} was born or begun", "above"),
    "taller": ("the height of {}", "above"),
    "higher": ("the height of {}", "above"),
    "lower": ("the height of {}", "below"),
    "longer": ("the length of {}", "above"),
    "shorter": ("the length of {}", "below"),
    "larger": ("the size of {}", "above"),
    "bigger": ("the size of {}", "above"),
    "smaller": ("the size of {}", "below"),
    "heavier": ("the weight of {}", "above"),
    "lighter": ("the weight of {}", "below"),
    "deeper": ("the depth of {}", "above"),
    "faster": ("the speed of {}", "above"),
    "slower": ("the speed of {}", "below"),
}
_ORDER: Final = re.compile(r"\b(\w+)\s+(first|earlier|later|last)\b", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"\b(more|fewer|less)\s+(\w+)", re.IGNORECASE)
_AROUND: Final = " ?.!=,;"
_NEXT_QUESTION: Final = re.compile(
    r"(?:[?;]|,?\s+and)\s+(?=(?:in\s+)?(?:who|what|when|where|which|how)\b)", re.IGNORECASE
)
_KINDS: Final = (
    (r"\b(?:year|when)\b", "the year"),
    (r"\bwho\b|\b(?:author|inventor|founder|wife|husband|mother|father)\b", "the name"),
    (
        r"\b(?:how (?:many|much)|number|population|height|length|size|weight|depth|speed)\b",
        "the number and its unit",
    ),
)
_CONTRACTED: Final = re.compile(r"\b(what|who|where|when)['’]s\b", re.IGNORECASE)
_FIRST: Final = re.compile(
    r"^(?:Who|What|When|Where|Which|How|In|Is|Was|Are|Were|Do|Does|Did|The|Calculate|Compute|Find|"
    r"Take|Tell|Give|Please)\b"
)
_BOTH: Final = re.compile(
    rf"((?:when|where|how \w+|in which \w+|in what \w+)\s+)(were|are|did|do|have)\s+"
    rf"({_LONE})\s+and\s+({_LONE})(.*)"
)
_SINGULAR: Final = {"were": "was", "are": "is", "do": "does", "have": "has"}


def plan(question: str, search: str = "docs", sums: str = "calc") -> dict[str, Json]:
    """Steps to answer a question: `{"steps": [{"do", "tool", "hint"}], "note"}`.

    `do` is what to give the tool (a query, or an expression), where `#1` stands for the result of
    the first step. Facts are looked up with the tool `search` and expressions worked out with
    `sums`: `tool` is empty where there is none of that name. Raises `ToolError` for a question that
    is empty, has over 1,000 characters or takes over 24 steps.
    """
    text = " ".join(question.split()).strip(_AROUND)
    if not text:
        raise ToolError("the question is empty: give the whole question")
    if len(question) > MAX_CHARACTERS:
        raise ToolError(
            f"the question has {len(question):,} characters, at most {MAX_CHARACTERS:,} are "
            "read: give its essence"
        )
    steps = _Steps(search, sums)
    for part in _NEXT_QUESTION.split(_CONTRACTED.sub(r"\1 is", text)):
        _answer(_FIRST.sub(lambda first: first.group().lower(), part.strip(_AROUND)), steps)
    return {"steps": steps.taken, "note": steps.note()}


class _Steps:
    """The steps so far. Each is made once and gives the reference to its result."""

    def __init__(self, search: str, sums: str) -> None:
        self._search, self._sums = search, sums
        self.unnamed = False  # whether nobody can say what an "it" stands for
        self.taken: list[dict[str, Json]] = []

    def look_up(self, what: str) -> str:
        return self._add(what, self._search, f"search for it and keep only {_wanted(what)}")

    def work_out(self, expression: str, hint: str = "put the numbers found in place of #") -> str:
        return self._add(expression, self._sums, hint if "#" in expression else "no search needed")

    def note(self) -> str:
        hint = "; put the name in the place of “it”" if self.unnamed else ""
        if any(not step["tool"] for step in self.taken):
            tools = (
                "for a step without a tool there is none: do it yourself, or say that you cannot"
            )
            return tools + hint
        if len(self.taken) < 2:
            return f"no plan needed{hint}"
        order = "do the steps in order; #1 stands for the result of step 1; plan anew if one fails"
        return order + hint

    def _add(self, do: str, tool: str, hint: str) -> str:
        for number, step in enumerate(self.taken, start=1):
            if step["do"] == do:
                return f"#{number}"
        if len(self.taken) == MAX_STEPS:
            raise ToolError(f"that takes over {MAX_STEPS} steps: ask about less at once")
        self.taken.append({"do": do, "tool": tool, "hint": hint})
        return f"#{len(self.taken)}"


def _wanted(what: str) -> str:
    kinds = (kind for pattern, kind in _KINDS if re.search(pattern, what, re.IGNORECASE))
    return next(kinds, "what is asked")


def _answer(question: str, steps: _Steps) -> None:
    """Add the steps of one question: the first pattern that fits is taken."""
    patterns: tuple[Callable[[str, _Steps], bool], ...] = (_between, _age, _compared, _shared)
    if any(pattern(question, steps) for pattern in patterns):
        return
    expression = _expression(_LEAD.sub("", question), steps)
    if expression is not None:
        steps.work_out(expression)
    else:
        steps.look_up(_hops(question, steps))


def _expression(text: str, steps: _Steps) -> str | None:
    """The text as an expression over numbers and references, or None if it is no arithmetic."""
    if _ARITHMETIC.fullmatch(text):
        return text
    if share := _SHARE.fullmatch(text):
        return f"{share[1]}/100 * {_operand(share[2], steps)}"
    if (pair := _PAIR.fullmatch(text)) and (sides := _sides(pair[2])):
        return _PAIRED[pair[1].lower()].format(*(_operand(side, steps) for side in sides))
    pieces = _SIGN.split(text)
    if len(pieces) == 1 or not all(piece.strip(" ,") for piece in pieces):
        return None
    spelled = [
        _SPOKEN.get(piece.lower(), piece) if index % 2 else _operand(piece, steps)
        for index, piece in enumerate(pieces)
    ]
    return " ".join(spelled)


def _operand(text: str, steps: _Steps, year: str = "") -> str:
    """A number as it is; anything else as the reference to what was looked up."""
    text = _LEAD.sub("", text.strip(" ,"))
    if _NUMBER.fullmatch(text):
        return text
    if (inner := _expression(text, steps)) is not None:
        return f"({inner})"
    rest = _hops(text, steps)
    dated = rest if not year or re.search(r"\byear\b", rest) else f"{year} {rest}"
    return dated if re.fullmatch(r"#\d+", dated) else steps.look_up(dated)


def _sides(text: str) -> tuple[str, str] | None:
    """The two things joined by `and` (or `to`, of a ratio), best where a new phrase begins."""
    for joint in (r",?\s+(?:and|to)\s+(?=the\s|#|\d)", r"\s+(?:and|to)\s+"):
        parts = re.split(joint, text, maxsplit=1)
        if len(parts) == 2:
            return parts[0], parts[1]
    return None


def _between(question: str, steps: _Steps) -> bool:
    match = _BETWEEN.fullmatch(question)
    sides = _sides(match[2]) if match else None
    if match is None or sides is None:
        return False
    unit = "the year of" if match[1].lower() == "years" else "the date of"
    first, second = (_operand(side, steps, unit) for side in sides)
    steps.work_out(f"abs({first} - {second})")
    return True


def _age(question: str, steps: _Steps) -> bool:
    match = _AGE.fullmatch(question)
    made = _MADE.search(match[1]) if match else None
    thing = (made[1] or made[2]) if made else None
    if match is None:
        return False
    if _IT.search(match[2]) and not thing:
        steps.unnamed = True
        steps.look_up(question)
        return True
    who = _hops(match[1], steps, complete=False)
    born = steps.look_up(f"the year {who} was born")
    event = _IT.sub(lambda it: f"{thing}’s" if it[0] == "its" else str(thing), match[2])
    event = re.sub(r"\b(?:he|she|they)\b", lambda _: who, event)
    then = steps.look_up(f"the year {_hops(event, steps, complete=False)}")
    steps.work_out(f"{then} - {born}", "in years; one less if the birthday came later that year")
    return True


def _compared(question: str, steps: _Steps) -> bool:
    if match := _MORE.fullmatch(question):
        by, one, two = match[1], match[2], match[3]
    elif match := _THAN.fullmatch(question):
        by, one, two = match[2], match[1], match[3]
    elif match := _EITHER.fullmatch(question):
        by, one, two = match[1], match[2], match[3]
    else:
        return False
    measured = _measure(by)
    if measured is None:
        return False
    measure, side = measured
    first, second = (
        steps.look_up(measure.format(_hops(thing, steps, complete=False))) for thing in (one, two)
    )
    if match.re is _MORE:
        steps.work_out(f"abs({first} - {second})")
        return True
    other = "above" if side == "below" else "below"
    steps.work_out(f"{first} - {second}", f"{side} zero: {one}; {other} zero: {two}; zero: neither")
    return True


def _measure(by: str) -> tuple[str, str] | None:
    """What to look up of each thing, and on which side of zero the difference favours the first."""
    for word in re.findall(r"\w+", by.lower()):
        if word in _MEASURES:
            return _MEASURES[word]
    if order := _ORDER.search(by):
        verb = order[1].lower()
        side = "below" if order[2].lower() in {"first", "earlier"} else "above"
        dated = verb in {"is", "was", "came", "comes"}
        return ("the year of {}" if dated else f"the year {{}} was {verb}"), side
    if amount := _AMOUNT.search(by):
        side = "above" if amount[1].lower() == "more" else "below"
        return f"how many {amount[2]} {{}} has", side
    return None


def _shared(question: str, steps: _Steps) -> bool:
    match = _BOTH.fullmatch(question)
    if match is None:
        return False
    verb = _SINGULAR.get(match[2].lower(), match[2])
    for name in (match[3], match[4]):
        steps.look_up(f"{match[1]}{verb} {name}{match[5]}")
    return True


def _hops(phrase: str, steps: _Steps, *, complete: bool = True) -> str:
    """Look up the facts inside a phrase, the innermost first, and put references in their place.

    With `complete`, the phrase itself (without `what is`) is left for the caller to look up.
    """
    for _ in range(_MAX_HOPS):
        bare = _LEAD.sub("", phrase)
        innermost = _innermost(phrase)
        if innermost is None or (complete and innermost == bare):
            return bare if innermost else phrase
        phrase = phrase.replace(innermost, steps.look_up(innermost), 1)
    return phrase


def _innermost(phrase: str) -> str | None:
    """The last fact about a thing that stands in the phrase in full."""
    for article in reversed([match.start() for match in _ARTICLE.finditer(phrase)]):
        if match := _OF.match(phrase, article):
            start = match.start(2)
            return match.group() if start < 0 else phrase[article:start] + _noun(match[2])
        if match := _THAT.match(phrase, article):
            return _clause(match.group(), phrase)
    for match in _POSSESSIVE.finditer(phrase):
        if relation := _noun(match[2]):
            return match.group().removesuffix(match[2]) + relation
    return None


def _noun(words: str) -> str:
    """What stands before the first verb, or before what begins another clause."""
    kept = re.split(rf"\s+(?:{_VERBS}|{_CLAUSES})\b", words, maxsplit=1)[0]
    return kept.rstrip()


def _clause(clause: str, phrase: str) -> str:
    """A relative clause without the verb of the question around it: `where was … born`."""
    if not _ASKS_LAST.match(phrase):
        return clause
    ends = [match.start() for match in _ENDING.finditer(clause)]
    return clause[: ends[-1]] if ends else clause
