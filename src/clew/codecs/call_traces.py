"""Traces of a call in a text that was read as none: a declared tool's name in markup.

A reply that was to call a tool must not become an answer in silence, however its call is written
or where it was cut. So every name of a tool is looked at with the signs around it, a bounded
stretch of them, and prose that only mentions a tool is left alone.
"""

import re
from functools import cached_property
from typing import Final

from clew.codecs.arguments import fields, tool_named, visible_tools
from clew.codecs.interface import PromptSpec
from clew.support.lazy_regex import Lazy

SHORT: Final = 240
"""So many characters ahead of a call announce it; more of them are prose with an example in it."""

MEANT: Final = frozenset({"tool_call", "tool_calls", "tool_code", "function_call", "tool_use"})
"""Words behind a fence that say that it holds a call."""

_BEFORE: Final = 100
_AFTER: Final = 200
"""So many characters on either side of a name are looked at."""

CODE: Final = Lazy(
    r"(?<!`)(`{3,}+)(?P<word>[\w+-]{0,20})[^`]*+(?:`(?!``)[^`]*+)*+\1|(?<!`)`[^`\n]{1,400}+`"
)
"""A block of code, or code within a line."""

_EXAMPLE: Final = Lazy(
    r"\b(?:examples?|instance|syntax|formats?|schema|such as|like this|looks? like"
    r"|you (?:can|could|would|should|may))\b|e\.g\.",
    re.IGNORECASE,
)
_DATA: Final = (
    frozenset({"", "json", "jsonc", "json5", "xml", "html", "text", "txt", "yaml"}) | MEANT
)
"""Words behind a fence whose block may be a call; another word is a programming language."""

_WORD: Final = Lazy(r"\w[\w./-]{0,127}")
_QUALIFIED: Final = ("functions.", "function.", "default_api.", "tools.")

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


def is_example(before: str) -> bool:
    """Whether the words ahead of a call are prose, of which it is an example."""
    return len(before) > SHORT or _EXAMPLE.search(before) is not None


def without_code(text: str) -> str:
    """The text, as long as it was, with blanks for the code in it that is only talked about."""
    return CODE.sub(lambda code: _blank(text, code), text)


def trace(brief: PromptSpec, text: str) -> str:
    """The tool whose call seems to stand in the text; "" where none does."""
    seen = _Text(brief, without_code(text))
    for word in _WORD.finditer(seen.text):
        name = word[0].rstrip("./-")
        ahead = next(filter(name.startswith, _QUALIFIED), "")
        own = name.removeprefix(ahead)
        known = seen.names.get(own.lower())
        if known is not None and seen.calls(known, word.start(), word.start() + len(name)):
            return known
    return ""


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
            (word in _DATA or not before.strip()) and not is_example(before.strip())
        )
    return code[0] if keep else " " * len(code[0])


class _Text:
    """A text in which calls are looked for."""

    def __init__(self, brief: PromptSpec, text: str) -> None:
        self.brief = brief
        self.text = text
        known = {*brief.known, *(tool.name for tool in visible_tools(brief)), *brief.later}
        self.names = {name.lower(): name for name in known}

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
        )

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
        inside = after.lstrip("> \n\t/")[:1] in {"<", "{"}
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
        tool = tool_named(self.brief, name)
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
        return frozenset(found[1].lower() for found in _CLOSERS.finditer(self.text))
