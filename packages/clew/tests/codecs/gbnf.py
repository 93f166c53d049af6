"""Grammars in GBNF: replies drawn at random, as weights that know nothing would write them; and
whether a reply is one that the grammar allows.
"""

import random
import re
from collections.abc import Callable
from typing import Final

Draw = Callable[[random.Random], str]

TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<class>\[(?:[^\]\\]|\\.)*\])"""
    r"""|(?P<times>\{\d+,\d+\})|(?P<name>\w+)|(?P<sign>[()|?*]))"""
)
ESCAPE: Final = re.compile(r"\\(?:x([0-9A-F]{2})|u([0-9A-F]{4})|(.))")

MANY: Final = 12
"""What has no bound is drawn so often at most."""

LETTERS: Final = (
    *map(chr, range(0x20, 0x7F)), "\n", "é", "ß", "中", "🙂", "А", "\u00a0", "\u2028", "\ufeff",
)  # fmt: skip
"""What a class is drawn from: all signs of ASCII that print, a line's end, and some of others."""


def sampler(grammar: str) -> Draw:
    """A function that draws a reply. `_Reader` raises `ValueError` for what is no GBNF of ours."""
    rules: dict[str, Draw] = {}
    for line in grammar.splitlines():
        name, _, body = line.partition(" ::= ")
        rules[name] = _Reader(body, rules).whole()
    return rules["root"]


def pattern(grammar: str) -> re.Pattern[str]:
    """What matches the replies of a grammar, whose rules do not refer to themselves."""
    rules: dict[str, str] = {}
    for line in grammar.splitlines():
        name, _, body = line.partition(" ::= ")
        rules[name] = body

    def read(token: re.Match[str]) -> str:
        match token.lastgroup:
            case "text":
                return f"(?:{re.escape(_unescaped(token['text'][1:-1]))})"
            case "name":
                return f"(?:{TOKEN.sub(read, rules[token['name']])})"
            case _:
                return token[0].strip().replace("(", "(?:")

    return re.compile(TOKEN.sub(read, rules["root"]))


class _Reader:
    """Reads the body of a rule."""

    def __init__(self, body: str, rules: dict[str, Draw]) -> None:
        self._rules = rules
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(body):
            found = TOKEN.match(body, at)
            if found is None:
                raise ValueError(body[at:])
            self._tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            at = found.end()

    def whole(self) -> Draw:
        """All of it."""
        drawn = self._choice()
        if self._tokens:
            raise ValueError(self._tokens)
        return drawn

    def _choice(self) -> Draw:
        choices = [self._sequence()]
        while self._tokens and self._tokens[0] == ("sign", "|"):
            self._tokens.pop(0)
            choices.append(self._sequence())
        return lambda source: source.choice(choices)(source)

    def _sequence(self) -> Draw:
        items: list[Draw] = []
        while self._tokens and self._tokens[0] not in {("sign", "|"), ("sign", ")")}:
            items.append(self._repeated(self._item()))
        return lambda source: "".join(item(source) for item in items)

    def _item(self) -> Draw:
        kind, text = self._tokens.pop(0)
        if kind == "text":
            said = _unescaped(text[1:-1])
            return lambda _: said
        if kind == "class":
            letters = _letters(text[1:-1])
            return lambda source: source.choice(letters)
        if kind == "name":
            return lambda source: self._rules[text](source)  # noqa: PLW0108 - it may come later
        inner = self._choice()
        if (kind, text) != ("sign", "(") or self._tokens.pop(0) != ("sign", ")"):
            raise ValueError(text)
        return inner

    def _repeated(self, item: Draw) -> Draw:
        if not self._tokens:
            return item
        kind, text = self._tokens[0]
        if kind == "times":
            least, most = map(int, text[1:-1].split(","))
        elif (kind, text) == ("sign", "?"):
            least, most = 0, 1
        elif (kind, text) == ("sign", "*"):
            least, most = 0, MANY
        else:
            return item
        self._tokens.pop(0)

        def drawn(source: random.Random) -> str:
            longest = most if source.random() < 0.1 else min(most, least + 20)
            return "".join(item(source) for _ in range(source.randint(least, longest)))

        return drawn


def _unescaped(text: str) -> str:
    names = {"n": "\n", "t": "\t", "r": "\r"}
    return ESCAPE.sub(
        lambda found: (
            chr(int(code, 16)) if (code := found[1] or found[2]) else names.get(found[3], found[3])
        ),
        text,
    )


def _letters(inside: str) -> list[str]:
    never = inside.startswith("^")
    one = r"(?:\\x[0-9A-F]{2}|\\u[0-9A-F]{4}|\\.|[^\\])"
    spans = re.findall(rf"({one})(?:-({one}))?", inside.removeprefix("^"))
    bounds = [(_unescaped(first), _unescaped(last or first)) for first, last in spans]
    return [
        letter
        for letter in LETTERS
        if any(first <= letter <= last for first, last in bounds) is not never
    ]
