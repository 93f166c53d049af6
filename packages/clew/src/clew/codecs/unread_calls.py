"""A stretch of text that is nothing but a call, in whatever spelling.

No list of spellings is ever whole. So a call is known by what it is made of and not by its signs:
the name of a tool, names and values of its parameters, words that call or that name such parts
(`tool`, `arguments`; in any language what stands as the label of one), and nothing else. One word
that is none of these makes the stretch prose or data, which is an answer.
"""

import re
from typing import Final

import msgspec

from clew.codecs.arguments import fields, may_act, required, text_field, tool_named, types
from clew.codecs.tool_names import WORD, Named, is_compound
from clew.core.codec import PromptSpec
from clew.support.lazy_regex import Lazy

MEANT: Final = frozenset({"tool_call", "tool_calls", "tool_code", "function_call", "tool_use"})
"""Words behind a fence that say that it holds a call."""

DATA: Final = (
    frozenset({"", "json", "jsonc", "json5", "xml", "html", "text", "txt", "yaml", "yml", "toml"})
    | {"tool", "tools", "call", "action", "function"}
    | MEANT
)
"""Words behind a fence whose block may be a call; another word is a programming language."""

EXAMPLE: Final = Lazy(
    r"\b(?:examples?|instance|syntax|formats?|schema|such as|like this|looks? like"
    r"|you (?:can|could|would|should|may))\b|e\.g\.",
    re.IGNORECASE,
)
"""Words that say that what follows is an example."""

_CALLING: Final = frozenset({
    *("name", "tool", "tool_name", "toolname", "function", "function_name", "func", "fn"),
    *("action", "call", "calls", "calling", "invoke", "invokes", "invoking", "execute", "executes"),
    *("executing", "run", "running", "command", "cmd", "operation", "op", "method", "recipient"),
    *("recipient_name", "tool_call", "tool_calls", "function_call", "tool_use", "using", "use"),
})  # fmt: skip
"""Words that say that what stands beside them is called."""

_LINKS: Final = frozenset({"i", "ll", "will", "now", "the", "with", "and", "a", "am", "its"})
"""Words that only link the parts of a call."""

_QUOTES: Final = "\"'`*“”„‘’«»"
_SIGNS: Final = Lazy(r"(?:(?!`{3})[^\w?&])++")
_FENCE: Final = Lazy(r"`{3,}+([\w+-]{0,20})")
_NUMBER: Final = Lazy(r"(?<=\w )\d{1,3}(?=\W)|(?m:^)\d{1,2}(?=[.)]\s)")
_SEPARATED: Final = Lazy(
    rf"[{_QUOTES}\\]{{0,4}}[ \t]*+(?P<sign>=>|->|[:=>])[ \t]*+(?:\n\s*+(?=[\"'{{\[]))?"
)
_SPACED: Final = Lazy(rf"[ \t]+(?=[{_QUOTES}]|-?\d)")
_BLANK: Final = Lazy(r"[ \t]+")
_QUOTED: Final = Lazy(
    r"\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|'(?:[^'\\]|\\.)*+(?:'|\Z)|`[^`]*+(?:`|\Z)|“[^”]*+(?:”|\Z)"
    r"|„[^“”]*+(?:[“”]|\Z)|‘[^’]*+(?:’|\Z)|«[^»]*+(?:»|\Z)",
    re.DOTALL,
)
_BLOCK: Final = Lazy(r"[|>][+-]?[ \t]*\n(?:[ \t]++[^\n]*+(?:\n|\Z)|\n)*+")
_ITEMS: Final = Lazy(r"[ \t]*(?:\n[ \t]*- [^\n]*)+")
_BRACKETS: Final = Lazy(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|[\[\]{}]", re.DOTALL)
_TO_TAG: Final = Lazy(r"[^<]*+</[\w.-]+")
_NEAR: Final = 40
_LINE_START: Final = Lazy(r"(?:^|\n)[^\w\n]*\Z")
_LINE: Final = Lazy(r"[^\n]*+")
_MEMBER: Final = Lazy(r"[^\n,;{}\[\]()<>|]*+")
_ONE: Final = Lazy(r"[^\s,;{}\[\]()<>|]++")
_LITERAL: Final = Lazy(r"-?\d[\w.]*|(?:true|false|null)\b")
_ARGS: Final = Lazy(
    r"(?:(?:action|tool|function|call)[ _]?)?"
    r"(?P<word>arguments?|args|parameters?|params|inputs?|kwargs)\b",
    re.IGNORECASE,
)
_BESIDE: Final = Lazy(r"(?:id|type|index|thought|thinking|reason|reasoning|why)\b", re.IGNORECASE)
_LABEL: Final = Lazy(rf"[^\W\d][\w ]{{0,40}}[{_QUOTES}]{{0,3}}[ \t]*[:=]\s*[{_QUOTES}]{{0,3}}")
_FIRST: Final = Lazy(rf"\{{\s*[{_QUOTES}]?([\w.-]{{1,64}})[{_QUOTES}]?\s*[:=]")


def called(prompt_spec: PromptSpec, name_match: Named, start: int, end: int) -> tuple[str, int]:
    """The tool of which a stretch is nothing but a call, and how far its parts reach.

    The tool is "" where something else stands in the stretch, or its parts make no call.
    """
    if not name_match.all:
        return "", start
    stretch = _Stretch(prompt_spec, name_match, end)
    reached = stretch.accounted(start)
    return (stretch.tool if reached == end and stretch.meant else ""), reached


class _Bracket(msgspec.Struct):
    """An open bracket: whether a tool is named ahead of it and in it, how much is given in it."""

    sign: str
    behind: bool = False
    named: bool = False
    values: int = 0


class _Stretch:
    """What a stretch is made of, read from its beginning to its end."""

    def __init__(self, prompt_spec: PromptSpec, name_match: Named, end: int) -> None:
        self.prompt_spec = prompt_spec
        self.text = name_match.text
        self.names = name_match.all
        self.end = end
        self.tool = ""
        self._schemas = name_match.schemas
        self._named = 0
        self._values = 0
        self._distinct = False
        self._assigned = False  # `NAME = {…}`, of a name that may be a variable
        self._calling = False  # a word such as `tool` or `call`
        self._labelled = False  # the name stands behind another word: `topic: weather`
        self._beside = False  # a thought, an id or the like
        self._tight = False  # `key=value` or `--key value`
        self._headed = False  # `NAME:`
        self._framed = False  # the name stands in brackets that could open a call
        self._own = False  # parameters in brackets of their own, without the name
        self._empty = False  # `{}` behind the name
        self._sole = False  # `{NAME: value}`
        self._open: list[_Bracket] = []

    @property
    def meant(self) -> bool:
        """Whether the parts make a call, and not a word of data or a heading."""
        if self._assigned or (self._values and self._sole):
            return False
        if self._values:
            loose = not self._labelled and (self._tight or self._headed)
            return self._distinct or self._calling or self._own or loose
        tool = tool_named(self.prompt_spec, self.tool)
        needs_no_args = tool is not None and not required(tool.parameters)
        shaped = self._framed or self._empty or self._sole
        return (
            self._named == 1 and shaped and not self._beside and (needs_no_args or self._distinct)
        )

    def accounted(self, at: int) -> int:
        """How far every word from here on is a part of a call."""
        steps = (self._signs, self._fence, self._entry, self._name, self._args, self._other)
        while at < self.end:
            reached = next(filter(None, (step(at) for step in steps)), 0)
            if not reached:
                return at
            at = reached
        for bracket in self._open:
            self._own = self._own or (bracket.values > 0 and not bracket.named)
        return self.end

    def _signs(self, at: int) -> int:
        signs = _SIGNS.match(self.text, at, self.end)
        if signs is None:
            return 0
        for sign in signs[0]:
            if sign in "{[(":
                self._open.append(_Bracket(sign, behind=self._named > 0))
            elif sign in "}])" and self._open:
                bracket = self._open.pop()
                self._own = self._own or (bracket.values > 0 and not bracket.named)
                empty = not bracket.values and not bracket.named and sign == "}"
                self._empty = self._empty or (empty and bracket.behind)
        return signs.end()

    def _fence(self, at: int) -> int:
        fence = _FENCE.match(self.text, at, self.end)
        return fence.end() if fence is not None and fence[1].lower() in DATA else 0

    def _entry(self, at: int) -> int:
        """A parameter and its value."""
        word = WORD.match(self.text, at, self.end)
        if word is None or word[0] not in self._schemas or (at in self.names and not self._named):
            return 0
        separated = _SEPARATED.match(self.text, word.end(), self.end)
        dashed = self.text[at - 1 : at] == "-"
        begun = separated or (_BLANK if dashed else _SPACED).match(self.text, word.end(), self.end)
        if begun is None:
            return 0
        sign = "" if separated is None else separated["sign"]
        ended = self._value(begun.end(), at, sign, types(self._schemas[word[0]]))
        if ended:
            self._give()
            self._tight = self._tight or dashed or sign == "="
        return ended

    def _give(self) -> None:
        self._values += 1
        if self._open:
            self._open[-1].values += 1

    def _value(self, at: int, key: int, sign: str, kinds: frozenset[str]) -> int:
        """Where a value ends that begins here; 0 where none does."""
        if (
            quoted := _QUOTED.match(self.text, at, self.end)
            or _BLOCK.match(self.text, at, self.end)
        ) is not None:
            return quoted.end()
        items = _ITEMS.match(self.text, at, self.end) if "array" in kinds else None
        if items is not None:
            return items.end()
        first = self.text[at : at + 1]
        if first in {"{", "["}:
            fits = not kinds or ("object" if first == "{" else "array") in kinds
            return self._balanced(at) if fits else 0
        if sign == ">":
            match = _TO_TAG.match(self.text, at, self.end)
        elif self._open:
            match = _MEMBER.match(self.text, at, self.end)
        else:
            alone = _LINE_START.search(self.text[max(0, key - _NEAR) : key]) is not None
            match = (_LINE if alone else _ONE).match(self.text, at, self.end)
        return (
            0 if match is None or (not match[0].strip() and match.end() < self.end) else match.end()
        )

    def _balanced(self, at: int) -> int:
        """Where the bracket that opens here is closed."""
        depth = 0
        for bracket in _BRACKETS.finditer(self.text, at):
            depth += (bracket[0] in "{[") - (bracket[0] in "}]")
            if not depth:
                return min(bracket.end(), self.end)
        return self.end

    def _name(self, at: int) -> int:
        """The name of a tool."""
        if at not in self.names:
            return 0
        self.tool, end = self.names[at]
        self._named += 1
        compound, written = is_compound(self.tool), self.text[at:end] == self.tool
        self._distinct = compound or (written and may_act(self.prompt_spec, self.tool))
        before, after = self.text[max(0, at - 1) : at], self.text[end : end + 8].lstrip("/ ")
        around = before + after[:1]
        self._framed = self._framed or around in {"[]", "<>"} or (compound and around == "{}")
        if self._open:
            self._open[-1].named = True
            self._framed = self._framed or (self._calling and self._open[-1].sign == "{")
        separated = _SEPARATED.match(self.text, end, self.end)
        if separated is not None:
            self._headed = True
            self._assigned = separated["sign"] == "=" and not (compound or self._open)
            return self._only(separated.end()) or end
        return end

    def _only(self, at: int) -> int:
        """The value in `{NAME: value}`, for the one parameter that it can be for."""
        tool = tool_named(self.prompt_spec, self.tool)
        key = None if tool is None else text_field(tool.parameters)
        if tool is None or key is None or not self._open or not self._distinct:
            return 0
        quoted = _QUOTED.match(self.text, at, self.end)
        match = (
            quoted or _LITERAL.match(self.text, at, self.end) or _ONE.match(self.text, at, self.end)
        )
        if match is None:
            return 0
        kinds = types(fields(tool.parameters).get(key, {}))
        number = quoted is None and _LITERAL.fullmatch(match[0]) is not None
        self._sole = not kinds or ("string" in kinds) != number
        return match.end()

    def _args(self, at: int) -> int:
        """A word for the arguments, with their value where that is no object."""
        match = _ARGS.match(self.text, at, self.end)
        if match is None:
            return 0
        separated = _SEPARATED.match(self.text, match.end(), self.end)
        plural = match["word"].lower().startswith("param")
        if (
            separated is None
            or plural
            or self.text[separated.end() : separated.end() + 1] in "{[\n"
        ):
            return match.end()
        ended = self._value(separated.end(), at, separated["sign"], frozenset({"string"}))
        if ended:
            self._give()
        return ended or match.end()

    def _other(self, at: int) -> int:
        """A word that calls or links, a number of a step, or the label of a part."""
        word = WORD.match(self.text, at, self.end)
        number = _NUMBER.match(self.text, at, self.end)
        if word is None or number is not None:
            return 0 if number is None else number.end()
        if all(piece in _CALLING or _ARGS.fullmatch(piece) for piece in word[0].lower().split(".")):
            self._calling = True
            return word.end()
        if word[0].lower() in _LINKS:
            return word.end()
        return self._aside(at) or self._label(at)

    def _aside(self, at: int) -> int:
        """A thought, an id or a type, with its value."""
        match = _BESIDE.match(self.text, at, self.end)
        separated = None if match is None else _SEPARATED.match(self.text, match.end(), self.end)
        if separated is None:
            return 0
        value = _QUOTED.match(self.text, separated.end(), self.end) or _LITERAL.match(
            self.text, separated.end(), self.end
        )
        if value is None:
            return 0
        self._beside = True
        return value.end()

    def _label(self, at: int) -> int:
        """A label in any language: behind it stands the name of a tool, or its arguments."""
        match = _LABEL.match(self.text, at, self.end)
        if match is None or EXAMPLE.search(match[0]) is not None:
            return 0
        if match.end() in self.names:
            self._labelled = True
            return match.end()
        first = _FIRST.match(self.text, match.end(), self.end)
        own = first is not None and (first[1] in self._schemas or first.start(1) in self.names)
        return match.end() if own else 0
