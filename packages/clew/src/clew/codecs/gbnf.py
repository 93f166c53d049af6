"""Grammars in GBNF, the notation of llama.cpp: all that a reply may be, to the letter.

A model that is held to one cannot write anything else, whatever its weights are. Nesting and
thoughts have a bound. What a call or an answer says has none but that of its schema: it would end
in the middle of a word, and nobody would know. Where it is too long for the reply, the reply is cut
off, and counts for nothing.

Notation: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
"""

from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, Final, cast

from clew.codecs.schema_references import resolved
from clew.core.tools import Parameters
from clew.core.values import encode
from clew.support.errors import ConfigError

_TOKENS: Final = 1_024
_CHARS: Final = 2.5
"""Characters that a token has at least, in the mean of a reply: prose in English has some four,
numbers and most other scripts have fewer."""

_THOUGHT: Final = 400
"""A thought has at most so many characters, however long the reply may be."""

_REPEATED: Final = 1_000
"""llama.cpp counts no further than a few thousand; wider bounds are left to validation."""

DEPTH: Final = 8
"""How deep a schema that refers to itself may nest."""

FREE_DEPTH: Final = 3
"""How deep a value may nest of which nothing is said."""

_RANGE: Final = 64
"""Whole numbers between bounds no wider than this are written out."""

_SPACES: Final = r"\u0085\u00A0\u1680\u2000-\u200F\u2028\u2029\u202F\u205F\u3000\uFEFF"
"""Spaces beyond ASCII: a text of nothing else would be none."""

_CHAR: Final = r'[^"\\\x00-\x1F\x7F] | "\\" ["\\nt]'
"""A character of a JSON string; escapes are those that a text needs."""


class UnboundedError(Exception):
    """A schema that refers to itself has no way to end."""


class Grammar:
    """Rules by name, made as they are asked for; `text` is the whole with its root."""

    def __init__(self, tokens: int | None = None) -> None:
        """For replies of so many tokens (None: 1,024).

        A thought has at most a third of the reply's characters, so that what it is for has room.
        """
        self.thought_chars = max(1, min(_THOUGHT, int((tokens or _TOKENS) * _CHARS) // 3))
        self._rules: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._numbers = count(1)

    def text(self, root: str) -> str:
        """The grammar whose replies are those of the expression `root`."""
        rules = [f"{name} ::= {body}" for name, body in self._rules.items()]
        return "\n".join([f"root ::= {root}", *rules, ""])

    def rule(self, body: str) -> str:
        """The name of the rule of that body."""
        if body not in self._names:
            self._names[body] = name = f"r{next(self._numbers)}"
            self._rules[name] = body
        return self._names[body]

    def prose(self, max_chars: int, *, without: str = "") -> str:
        """One to `max_chars` characters on a line, none of `without`, no space at the beginning."""
        return f"{self.first_char(without)} {self._char(without)}{{0,{max_chars - 1}}}"

    def answer(self) -> str:
        """A text as the answer: a line and what is indented below it, or a block of code.

        So no line of it begins another part of the reply.
        """
        char = self._char()
        below = self.rule(rf'"\n" "\n"? [ \t] {char}*')
        return f"({self.first_char()} {char}* {below}* | {self.block()})"

    def block(self) -> str:
        """A block of code between fences."""
        return rf'"```" [a-z]{{0,12}} "\n" {self.code()} "\n```"'

    def code(self) -> str:
        """Lines of a program, without a backtick, so that none of them ends its block."""
        char = self.rule(r"[^\x00-\x08\x0A-\x1F\x60\x7F]")
        return rf'{char} ({char} | "\n")*'

    def _char(self, without: str = "") -> str:
        return self.rule(rf"[^\x00-\x1F\x7F{_never(without)}]")

    def first_char(self, without: str = "") -> str:
        """A character that a text may begin with: no space, none of `without`."""
        return self.rule(rf"[^\x00-\x20\x7F{_SPACES}{_never(without)}]")

    def value(self, schema: Parameters) -> str:
        """JSON that meets a schema, in its shortest form.

        Patterns of strings and wide ranges of numbers are left to validation, and so is that an
        object with free keys has each once. Raises `ConfigError` where no value is finite.
        """
        try:
            return _SchemaRules(self, schema).value(schema, DEPTH)
        except UnboundedError as error:
            message = f"no reply can meet the schema {encode(schema).decode()}: it never ends"
            raise ConfigError(message) from error


def _never(chars: str) -> str:
    return "".join(f"\\x{ord(char):02X}" for char in chars)


def literal(text: str) -> str:
    """Exactly this text."""
    return '"' + "".join(map(_escaped, text)) + '"'


def either(choices: Iterable[str]) -> str:
    """One of these."""
    alternatives = list(dict.fromkeys(choices))
    return alternatives[0] if len(alternatives) == 1 else f"({' | '.join(alternatives)})"


def _escaped(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if char >= " " and char != "\x7f" else f"\\x{ord(char):02X}"


class _SchemaRules:
    """A schema as rules, with the definitions of its outermost schema."""

    def __init__(self, grammar: Grammar, root: Parameters) -> None:
        self._grammar = grammar
        self._root = root

    def value(self, schema: Any, depth: int) -> str:
        """The expression of a value that meets the schema. Raises `UnboundedError`."""
        if depth < 0:
            raise UnboundedError
        if not isinstance(schema, dict):  # true: anything
            return self._anything(min(depth, FREE_DEPTH))
        known = cast("Mapping[str, Any]", schema)
        if "$ref" in known:
            return self.value(resolved(self._root, known), depth - 1)
        if "const" in known or "enum" in known:
            values = [known["const"]] if "const" in known else known["enum"]
            return either(literal(encode(value).decode()) for value in values)
        for key in ("anyOf", "oneOf"):
            if key in known:
                return self._one_of(known[key], depth)
        if "allOf" in known and len(known["allOf"]) == 1:
            return self.value(known["allOf"][0], depth)
        kind: Any = known.get("type")
        if isinstance(kind, list):
            kinds = cast("list[str]", kind)
            return self._one_of([{**known, "type": one} for one in kinds], depth)
        return self._of_kind(kind, known, depth)

    def _of_kind(self, kind: object, schema: Mapping[str, Any], depth: int) -> str:
        match kind:
            case "boolean" | "null":
                return '("true" | "false")' if kind == "boolean" else '"null"'
            case "string":
                return rf'"\"" {_repeated(self._grammar.rule(_CHAR), schema, "Length")} "\""'
            case "integer":
                return self._integer(schema)
            case "number":
                return f'{self._integer({**schema, "wide": True})} ("." [0-9]{{1,15}})?'
            case "array":
                return self._array(schema, depth)
            case "object":
                return self._object(schema, depth)
            case _ if "properties" in schema:
                return self._object(schema, depth)
            case _:
                return self._anything(min(depth, FREE_DEPTH))

    def _one_of(self, schemas: Iterable[Any], depth: int) -> str:
        alternatives: list[str] = []
        for schema in schemas:
            try:
                alternatives.append(self._grammar.rule(self.value(schema, depth)))
            except UnboundedError:
                continue
        if not alternatives:
            raise UnboundedError
        return either(alternatives)

    def _integer(self, schema: Mapping[str, Any]) -> str:
        minimum: Any = schema.get("minimum")
        maximum: Any = schema.get("maximum")
        bounded = isinstance(minimum, int) and isinstance(maximum, int) and "wide" not in schema
        if bounded and 0 <= (spread := maximum - minimum) < _RANGE:
            return either(literal(str(minimum + one)) for one in range(spread + 1))
        if isinstance(minimum, int | float) and minimum >= 1:
            return self._grammar.rule("[1-9] [0-9]{0,14}")
        sign = "" if isinstance(minimum, int | float) and minimum >= 0 else '"-"? '
        return sign + self._grammar.rule('"0" | [1-9] [0-9]{0,14}')

    def _array(self, schema: Mapping[str, Any], depth: int) -> str:
        minimum = int(schema.get("minItems", 0))
        if schema.get("maxItems") == 0:
            return '"[]"'
        try:
            item = self._grammar.rule(self.value(schema.get("items", True), depth - 1))
        except UnboundedError:
            if minimum:
                raise
            return '"[]"'
        more = _repeated(f'("," {item})', schema, "Items", less=1)
        return f'"[" {item} {more} "]"' if minimum else f'"[" ({item} {more})? "]"'

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        properties: Mapping[str, Any] = schema.get("properties") or {}
        if not properties and schema.get("additionalProperties", True) is not False:
            return self._free_object(schema.get("additionalProperties", True), depth)
        needed = set(schema.get("required", ()))
        pairs: list[tuple[str, bool]] = []
        for name, each in properties.items():
            try:
                inner = self._grammar.rule(self.value(each, depth - 1))
            except UnboundedError:
                if name in needed:
                    raise
                continue
            pairs.append((f"{literal(encode(name).decode() + ':')} {inner}", name in needed))
        return f'"{{" {self._pairs(pairs)}'

    def _pairs(self, pairs: list[tuple[str, bool]]) -> str:
        """What follows the opening brace: each pair in its place, a comma between two."""
        first, later = '"}"', '"}"'  # the rest behind no pair so far, and behind one
        for pair, needed in reversed(pairs):
            rest = self._grammar.rule(later)
            following = f"{pair} {rest}"
            skipped_first, skipped_later = first, later
            first, later = following, f'"," {following}'
            if not needed:
                first = either([self._grammar.rule(first), self._grammar.rule(skipped_first)])
                later = either([self._grammar.rule(later), self._grammar.rule(skipped_later)])
        return first

    def _free_object(self, values: Any, depth: int) -> str:
        try:
            value = self._grammar.rule(self.value(values, depth - 1))
        except UnboundedError:
            return '"{}"'
        char = self._grammar.rule(_CHAR)
        pair = self._grammar.rule(rf'"\"" {char} {char}* "\":" {value}')
        return f'"{{" ({pair} ("," {pair})*)? "}}"'

    def _anything(self, depth: int) -> str:
        kinds: list[Parameters] = [
            {"type": kind} for kind in ("string", "number", "boolean", "null")
        ]
        if depth > 0:
            kinds += [{"type": "array"}, {"type": "object"}]
        return self._one_of(kinds, depth)


def _repeated(item: str, schema: Mapping[str, Any], unit: str, less: int = 0) -> str:
    """As many as `minLength` and `maxLength` (or `minItems` and `maxItems`) say, `less` one."""
    minimum = max(0, min(int(schema.get(f"min{unit}", 0)) - less, _REPEATED))
    maximum = int(schema.get(f"max{unit}", _REPEATED + 1)) - less
    if maximum > _REPEATED:
        return f"{item}{{{minimum},{minimum}}} {item}*" if minimum else f"{item}*"
    return f"{item}{{{minimum},{max(minimum, maximum)}}}"
