"""Traces of a call in a text that was read as none: a declared tool's name in markup.

A reply that was to call a tool must not become an answer in silence, however its call is written
or where it was cut. So every name of a tool is looked at with the signs around it, a bounded
stretch of them, and prose that only mentions a tool is left alone.
"""

import re
from functools import cached_property
from typing import Final

from clew.codecs.arguments import fields, may_act, tool_named
from clew.codecs.tool_names import distinct, named, readable
from clew.codecs.unread_calls import DATA, EXAMPLE, MEANT, called
from clew.core.codec import PromptSpec
from clew.support.lazy_regex import Lazy

SHORT: Final = 240
"""So many characters ahead of a call announce it; more of them are prose with an example in it."""

_BEFORE: Final = 100
_AFTER: Final = 200
"""So many characters on either side of a name are looked at."""

CODE: Final = Lazy(
    r"(?<!`)(`{3,}+)(?P<word>[\w+-]{0,20})[^`]*+(?:`(?!``)[^`]*+)*+\1|(?<!`)`[^`\n]{1,400}+`"
)
"""A block of code, or code within a line."""

_CALLING: Final = r"(?:tool|func|function|invoke|action|call|param|arg|recipient)"
_KEYWORD: Final = Lazy(
    r"\(\s*(?:\*\*\s*\{|(?:[\w-]{1,64}\s*,\s*){0,8}([\w-]{1,64})\s*(?:=(?!=)|:))"
)
_CUT_CALL: Final = Lazy(r"\([\w\s,-]{0,150}\Z")
_LITERAL: Final = Lazy(r"\(\s*(?:[{\[\"'\d)-]|\w{0,64}\s*$|(?:True|False|None|true|false|null)\b)")
_LINE_START: Final = Lazy(r"(?:^|\n)[ \t>*_`-]{0,12}\Z")
_OPENED: Final = Lazy(r"(?:[\[<{]|\bprint\(|\bawait |\bto=|>>>)\s{0,4}\Z")
_ATTRIBUTE: Final = Lazy(
    rf"<[^<>\n]{{0,60}}{_CALLING}[^<>\n]{{0,60}}?=\s{{0,4}}[\"']?\Z", re.IGNORECASE
)
_INSIDE: Final = Lazy(
    rf"<[/|｜ ]{{0,3}}[\w:|｜▁ -]{{0,40}}?(?:{_CALLING}|python|plugin)[^<>\n]{{0,60}}>\s{{0,40}}"
    r"(?:[\w▁]{1,12}<[|｜]tool▁sep[|｜]>)?\Z",
    re.IGNORECASE,
)
_BRACKETED: Final = Lazy(
    rf"\[/?(?:TOOL_CALLS|AVAILABLE_TOOLS)\]\s{{0,20}}\Z"
    rf"|\[[^\[\]\n]{{0,30}}\b{_CALLING}[\w ]{{0,20}}\s?[:=]\s?[\"'`]?\Z",
    re.IGNORECASE,
)
_ROUTED: Final = Lazy(r"\b(?:to=|call:)\s{0,2}\Z|(?:^|\n)>>>\Z")
_NAME_KEY: Final = Lazy(
    r"[\"']?\b(?:name|tool|tool_?name|function|function_?name|action|recipient_name)[\"']?"
    r"\s{0,4}:\s{0,4}[\"']\Z",
    re.IGNORECASE,
)
_ARGS_KEY: Final = Lazy(
    r"[\"'](?:arguments|parameters|args|params|input|tool_input|action_input|kwargs)[\"']\s*:",
    re.IGNORECASE,
)
_CUT_OBJECT: Final = Lazy(r"[\"']?\s*,?\s*(?:[\"']\w{0,40}[\"']?\s*:?\s*)?\Z")
_OWN_KEY: Final = Lazy(r"\{\s{0,20}[\"']\Z")
_OWN_OBJECT: Final = Lazy(r"[\"']\s*:\s*\{")
_CUT_OWN: Final = Lazy(r"(?:[\"']\s*(?::\s*(?:\{\s*(?:[\"'][\w-]{0,64}[\"']?\s*)?)?)?)?\Z")
_LABEL: Final = Lazy(
    r"(?:^|\n)[\W_]{0,8}(?P<word>action(?: \d{1,3})?|call"
    r"|(?:tool|function)(?:[ _]?(?:call|name|use))?)"
    r"[*_` ]{0,4}[:：=][\s\"'`*\[{(]{0,8}\Z",
    re.IGNORECASE,
)
_LABEL_ENDS: Final = Lazy(r"[\"'`*_)\].\s]{0,8}(?:\Z|\n|[(\[{])")
_INPUT: Final = Lazy(
    r"[\"'`*_)\].\s,]{0,8}\n\s*(?:\{|\W{0,8}(?:(?:action|tool)[ _]?)?"
    r"(?:input|arguments?|args|parameters?|params)\W{0,3}[:=]|\w{0,12}\Z)",
    re.IGNORECASE,
)
_BRACED: Final = Lazy(r"\s{0,4}\{\s*(?:[\"'}]|<|\w{0,64}\s*:|\Z)")
_INDEXED: Final = Lazy(r"\[[^\n]*(?:\][\W]{0,8})?(?:\n|\Z)")
_CLOSERS: Final = Lazy(r"</([\w./-]{1,64})>")
_FENCE_OPEN: Final = Lazy(rf"`{{3,}}(?:{'|'.join(sorted(MEANT))})\b(?:(?!```)[\s\S])*\Z")
_OBJECT_BEHIND: Final = Lazy(r"(?!\()(?:(?!`{3})[^\w?{}=]|=>|`{3,}\w{0,10}){0,24}\{")
_BRACES: Final = Lazy(r"\"(?:[^\"\\]|\\.)*+\"|[{}]", re.DOTALL)
_SET_OFF: Final = Lazy(r"(?:^|\s)[^\w\s\"'(\[{<,]{0,4}\Z")
_PLACEHOLDER: Final = Lazy(r"[:=]\s*[\"']?(?:\.\.\.|<[\w -]{1,40}>)")
_LONGEST: Final = 4_000
"""So many characters of an object behind a name are looked at."""
_CLOSED_TAG: Final = Lazy(r"(?:\s[^<>\n]{0,120})?/>")
_SENTENCE: Final = Lazy(r"(?:^|\n|[.!?…]\s)\s*\Z")
_ENDS_LINE: Final = Lazy(r"\][ \t.]*(?:\n|\Z)")
_PARTED: Final = Lazy(r"\n[ \t]*\n|(?<=[:.!…}])\n|(?<=```)\n|(?<=[:.!…]) (?=[{\[])")
_ANNOUNCING: Final = 4
"""So many paragraphs may announce a call."""
_ANNOUNCED: Final = Lazy(
    r"\bI\b|\b(?:[Ll]et me|[Nn]ow|[Nn]ext|[Cc]alling|[Dd]one|[Ss]ure|[Oo]kay|OK)\b"
)
_TAUGHT: Final = Lazy(
    r"\b(?:how|explain\w*|yourself|would|could|manual\w*|here(?: is| are|'s))\b|(?:^|[.!]\s)to\b",
    re.IGNORECASE,
)

_PRESENTED: Final = Lazy(
    r"\b(?:here(?: is| are|['’]s| comes)|(?:this|that|below|the following) is|these are)\s+"
    r"(?:(?:the|my|next|first|second|other|actual|correct|corrected|right|required|needed|necessary"
    r"|proper|new|tool|function|api)[ -]|[`\"'*]*NAME[`\"'*]*\s){0,4}"
    r"(?:calls?|invocations?|actions?|tool use)(?: (?:of|to|for) [`\"'*]*NAME[`\"'*]*)?"
    r"(?: (?:that )?i(?: will|['’]ll| am|['’]m| want to| need to)? (?:now )?mak(?:e|ing)(?: now)?)?"
    r"(?: now)?\s*[:.!…]*\s*\Z",
    re.IGNORECASE,
)
"""Words that say of what follows that it is the call; `NAME` stands for the name of its tool."""


def is_example(before: str) -> bool:
    """Whether the words ahead of a call are prose, of which it is an example."""
    return len(before) > SHORT or EXAMPLE.search(before) is not None


def without_code(text: str) -> str:
    """The text, as long as it was, with blanks for the code in it that is only talked about."""
    return CODE.sub(lambda code: _blank(text, code), text)


def trace(prompt_spec: PromptSpec, text: str) -> str:
    """The tool whose call seems to stand in the text; "" where none does."""
    text = readable(text)
    seen = _Text(prompt_spec, without_code(text))
    for start, (name, end) in seen.named.words.items():
        if seen.calls(name, start, end):
            return name
    return seen.without_traces(text)


def only_call(prompt_spec: PromptSpec, text: str) -> str:
    """The tool of which the text, or what it announces, is nothing but a call; "" for any other."""
    text = readable(text)
    return _Text(prompt_spec, without_code(text)).without_traces(text)


def _blank(text: str, code: re.Match[str]) -> str:
    """Blanks for code that is an example, or a word within a line; the code itself for a call."""
    before = text[max(0, code.start() - 2 * SHORT) : code.start()]
    if code["word"] is None:
        line = before.rpartition("\n")[2].strip(" \t>*_-")
        behind = text[code.end() : code.end() + _BEFORE].partition("\n")[0].strip(" \t.")
        announced = line.endswith(":") or _LABEL.search(f"{line} ") is not None
        keep = not behind and (not line or (announced and not is_example(line)))
    else:
        word = code["word"].lower()
        keep = word in MEANT or (
            (word in DATA or not before.strip()) and not is_example(before.strip())
        )
    return code[0] if keep else " " * len(code[0])


class _Text:
    """A text in which calls are looked for."""

    def __init__(self, prompt_spec: PromptSpec, text: str) -> None:
        self.prompt_spec = prompt_spec
        self.text = text
        self.named = named(prompt_spec, text)

    def without_traces(self, text: str) -> str:
        """The tool of which all of the text, code too, is a call, or what it announces is one."""
        name, _ = called(self.prompt_spec, named(self.prompt_spec, text), 0, len(text))
        if name:
            return name
        parts = [each.start() for each in _PARTED.finditer(self.text)]
        for start in (0, *(part for part in parts[:_ANNOUNCING] if part <= SHORT)):
            name, end = called(self.prompt_spec, self.named, start, len(self.text))
            if not name and (part := max((part for part in parts if part <= end), default=0)):
                name, end = called(self.prompt_spec, self.named, start, part)
            if name and self._announces(name, text[:start].strip(), text[end:].strip()):
                return name
        return ""

    def _announces(self, name: str, ahead: str, behind: str) -> bool:
        """Whether what stands beside a call says that it is made, and not how one is made."""
        words = f"{ahead}\n{behind}".strip()
        if len(words) > SHORT or is_example(words):
            return False
        presented = _PRESENTED.search(ahead.replace(name, "NAME"))
        if presented is not None and (not behind or _ANNOUNCED.search(behind) is not None):
            return _TAUGHT.search(f"{ahead[: presented.start()]}\n{behind}") is None
        told = _TAUGHT.search(words) is not None
        return not told and (
            may_act(self.prompt_spec, name) or _ANNOUNCED.search(words) is not None
        )

    def calls(self, name: str, start: int, end: int) -> bool:
        """Whether the name that stands there is that of a call."""
        before = self.text[max(0, start - _BEFORE) : start]
        after = self.text[end : end + _AFTER]
        return (
            self._called(name, before, after)
            or self._tagged(name, before, after)
            or self._in_object(name, before, after)
            or self._labelled(before, after)
            or _ROUTED.search(before) is not None
            or _BRACKETED.search(before) is not None
            or _FENCE_OPEN.search(before) is not None
            or self._touched(start, end)
            or self._alone(name, before, after)
        )

    def _touched(self, start: int, end: int) -> bool:
        """`NAME: {"key": …}`: a name, signs, and an object of its own parameters."""
        opened = _OBJECT_BEHIND.match(self.text, end)
        line = self.text[max(0, start - SHORT) : start].rpartition("\n")[2]
        if opened is None or _SET_OFF.search(line) is None or is_example(line):
            return False
        depth = 0
        at = len(self.text)
        for brace in _BRACES.finditer(self.text, opened.end() - 1):
            depth += (brace[0] == "{") - (brace[0] == "}")
            if not depth or brace.end() > start + _LONGEST:
                at = brace.end()
                break
        if at > start + _LONGEST:
            return False
        name, _ = called(self.prompt_spec, self.named, start, at)
        return bool(name) and _PLACEHOLDER.search(self.text[start:at]) is None

    def _alone(self, name: str, before: str, after: str) -> bool:
        """`<NAME/>`, and `[NAME]` on its line or behind a sentence."""
        if not distinct(self.prompt_spec, name):
            return False
        if before.endswith("<") and not before[:-1].endswith(">"):
            return _CLOSED_TAG.match(after) is not None
        behind = _SENTENCE.search(before[:-1]) is not None
        return before.endswith("[") and behind and _ENDS_LINE.match(after) is not None

    def _called(self, name: str, before: str, after: str) -> bool:
        """`NAME(key=…)`, `[NAME(`, `NAME{…}` or `NAME[…]`."""
        begins = _LINE_START.search(before) is not None
        opened = _OPENED.search(before) is not None
        if after.startswith("("):
            keyword = _KEYWORD.match(after)
            if keyword is not None and (keyword[1] is None or keyword[1] in self._fields(name)):
                return True
            if _CUT_CALL.match(after) is not None:
                return True
            return (begins or opened) and _LITERAL.match(after) is not None
        if not after:
            return opened
        if begins and after.startswith("["):
            return _INDEXED.match(after) is not None
        return _BRACED.match(after) is not None and (begins or opened or after.startswith("{"))

    def _tagged(self, name: str, before: str, after: str) -> bool:
        """`<function=NAME`, `<invoke name="NAME"`, `<tool_name>NAME`, or `<NAME>…`."""
        if _ATTRIBUTE.search(before) is not None or _INSIDE.search(before) is not None:
            return True
        if not before.endswith("<") or after[:1] not in {">", " ", "/", "\n"}:
            return False
        begins = _LINE_START.search(before[:-1]) is not None
        inside = after[:1] != "/" and after.lstrip("> \n\t")[:1] in {"<", "{"}
        return begins or inside or name.lower() in self._closers

    def _in_object(self, name: str, before: str, after: str) -> bool:
        """`"name": "NAME"` beside arguments, or cut; or `{"NAME": {…}}`."""
        own = self._own_keys(name)
        if _NAME_KEY.search(before) is not None:
            return bool(_CUT_OBJECT.match(after) and len(after) < _AFTER) or self._has_args or own
        if _OWN_KEY.search(before) is None:
            return False
        return (own and _OWN_OBJECT.match(after) is not None) or _CUT_OWN.match(after) is not None

    def _labelled(self, before: str, after: str) -> bool:
        """`Action: NAME`, alone on its line or with arguments behind it."""
        label = _LABEL.search(before)
        if label is None:
            return False
        if _INPUT.match(after) is not None:
            return True
        ends = _LABEL_ENDS.match(after)
        if ends is None or label["word"].lower().startswith("action"):
            return ends is not None
        return ends[0][-1:] in {"(", "[", "{"} or not (after.strip() or before[: label.start()])

    def _fields(self, name: str) -> frozenset[str]:
        tool = tool_named(self.prompt_spec, name)
        return frozenset() if tool is None else frozenset(fields(tool.parameters))

    def _own_keys(self, name: str) -> bool:
        return not self._keys.isdisjoint(self._fields(name))

    @cached_property
    def _keys(self) -> frozenset[str]:
        """All words that stand as keys of objects."""
        return frozenset(re.findall(r"[\"']([\w-]{1,64})[\"']\s*:", self.text))

    @cached_property
    def _has_args(self) -> bool:
        return _ARGS_KEY.search(self.text) is not None

    @cached_property
    def _closers(self) -> frozenset[str]:
        return frozenset(match[1].lower() for match in _CLOSERS.finditer(self.text))
