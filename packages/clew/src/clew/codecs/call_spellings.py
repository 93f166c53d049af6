"""Calls that a model wrote into its text, in the spellings that its training gave it.

Servers turn these into native calls where they know the model's template; where they do not, they
come as text. One grammar reads them all: marks (special tokens, tags, brackets) only say that a
call follows, and the call itself is an object, a tag with parameters, a name with an object behind
it, or an expression of Python.

Values are read from the text as it came: nothing is removed or unescaped but by the rules of the
spelling. A call that is not closed says so (`Written.open`), for a reply that was cut looks the
same; what could be read in two ways is a problem.
"""

import ast
import json
import re
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, Protocol, cast

import msgspec

from clew.codecs.arguments import fields, matched, object_args, tool_named, typed
from clew.codecs.json_repair import JsonPrefix, UnreadableError, complete_value, first_value
from clew.codecs.tool_names import QUALIFIED, distinct
from clew.core.codec import PromptSpec
from clew.core.events import FINISH, Json
from clew.support.json_arguments import unfit
from clew.support.lazy_regex import Lazy
from clew.support.surrogates import HALF

MAX_CALLS: Final = 64
"""Calls that are read in one reply."""

_PYTHON_CHARS: Final = 20_000
"""Longer text is no call as in a program."""

_PREFIX: Final = r"(?:[\w-]{1,20}:|[|｜ ]{0,3}DSML[|｜ ]{0,3})?"
"""What may stand ahead of a tag's name: a namespace, or DeepSeek's word between bars."""

MARK: Final = Lazy(
    rf"</?\|?/?{_PREFIX}(?:tool|function)[_-]?(?:calls?|use)\|?>"
    r"|</?tools>(?=\s*(?:[\[{<]|$))"
    r"|</?(?:start|end)_function_call>"
    r"|<[|｜][^|｜<>\n]{1,40}[|｜]>"
    r"|\[/?(?:TOOL_CALLS|ARGS)\]|\[CALL_ID\]\w{0,40}"
    r"|\bfunctools(?=\[)|^>>>(?=\w)",
    re.IGNORECASE | re.MULTILINE,
)
"""What says that a call begins, goes on or ends."""

TAG: Final = Lazy(
    rf"<(?P<prefix>{_PREFIX})(?P<tag>function|invoke)"
    r"(?:(?:=|\s+name=)[\"']?(?P<name>[\w./:-]{1,64})[\"']?[^<>]{0,80})?>"
)
PIECE: Final = Lazy(
    rf"</?{_PREFIX}(?:parameters?|param|arg|arg_key|arg_value|function|invoke)"
    r"(?:(?:=|\s+name=)[^<>\n]{1,120})?>"
)
"""A piece of a tagged call: beside a call that was read it is left over."""

_TURN: Final = Lazy(
    r"(?:\s|</?s>|<[|｜](?:im_end|im_start|eot_id|eom_id|end|endoftext|end_of_text|begin_of_text"
    r"|end▁of▁sentence|assistant)[|｜]>|<\|start_header_id\|>\w{0,20}<\|end_header_id\|>)++"
)
_FENCE: Final = r"`{3,}[\w+-]{0,20}"
_BETWEEN: Final = Lazy(rf"(?:[\s,;]|{_FENCE}|(?m:{MARK.pattern}))++", re.IGNORECASE)
_NEAR: Final = 200
_RUN: Final = Lazy(rf"(?:[\s,;\[]|{_FENCE}|(?m:{MARK.pattern}))++\Z", re.IGNORECASE)
_MARKS: Final = Lazy(rf"{_FENCE}|(?m:{MARK.pattern})", re.IGNORECASE)
_KEY: Final = Lazy(r"\s*<arg_key>([^<]{1,64})</arg_key>\s*<arg_value>")
_ARG: Final = Lazy(r"</?arg_(?:key|value)>|</?tool_call>")
_CHILD: Final = Lazy(r"\s*<([\w-]{1,64})>")
_SPACE: Final = Lazy(r"\s*+")
_NAMED: Final = Lazy(
    r"(?:function(?:\s|<[|｜][^|｜<>\n]{1,40}[|｜]>)+)?(?:(?:[a-z]{1,12} )?to=)?(?:call:)?"
    r"(?:functions?\.|default_api\.)?(?P<name>[\w./-]{1,64})(?::\d{1,4})?"
    rf"(?P<marks>(?:\s|(?:json|commentary|analysis)\b|{_FENCE}|{MARK.pattern})*+)(?=\{{|<arg_key>)",
    re.IGNORECASE,
)
_OBJECT: Final = Lazy(
    r"[\[{\s]*[\"'](?:name|tool|tool_name|function)[\"']\s*:\s*[\"'](?P<name>[\w./-]{1,64})[\"']\s*,"
    r"\s*[\"'](?:arguments|parameters|args|input|tool_input|action_input)[\"']\s*:"
)
_DOUBLED: Final = Lazy(r'"(?:[^"\\]|\\.)*+"?|\{\{|\}\}')
"""Doubled braces, as some chat templates show them by mistake, and strings, in which they stay."""

_QUOTED: Final = Lazy(r"\{\s*[\w.-]{1,64}\s*:[\s\[\]{}\w.:,-]*+(?P<quote><escape>|<\|\"\|>)")
"""An object whose texts stand between tokens, as Gemma writes them."""

_PLAIN: Final = Lazy(r"\s++|[{}\[\]:,]|[\w.+-]++(?P<key>\s*+:)?")
_LITERAL: Final = Lazy(
    r"'{3}(?:[^'\\]|\\.|'(?!''))*+'{3}|\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*+\"{3}"
    r"|'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|[()\[\]{}]",
    re.DOTALL,
)
_EXPRESSION: Final = Lazy(r"\[?\s{0,20}(?:print\()?[\w.]{1,80}\(")

_OUTER: Final = ("tool_calls", "tool_call", "function_call", "function")
_NAMES: Final = ("name", "tool", "tool_name", "function", "function_name", "action")
_ARGS: Final = (
    "arguments", "parameters", "args", "params", "input", "tool_input", "action_input", "kwargs",
)  # fmt: skip
_BESIDE: Final = frozenset({"id", "type", "thought", "index", "tool_call_id", "call_id"})

_UNCLOSED: Final = "it is never closed"
_HALF: Final = "half a character stands in it"
_UNCLEAR: Final = "its arguments cannot be read"
_STRAY: Final = "something else stands among its parameters"
_UNEVEN: Final = "only some of its values stand on lines of their own"


class WrittenCall(msgspec.Struct, frozen=True):
    """A call that stands in a text; `problem` says why its arguments cannot be read.

    `open` says what leaves in doubt whether all of it is there.
    """

    name: str
    args: dict[str, Json] = {}
    problem: str = ""
    open: str = ""


class ParsedCalls(msgspec.Struct, frozen=True):
    """Calls, where they end, and the marks that stood within them."""

    calls: Sequence[WrittenCall]
    end: int
    marks: str = ""


def plain(text: str) -> str:
    """The text without the ends of turns around it."""
    begun = _TURN.match(text)
    text = text[begun.end() :] if begun else text
    end = len(text)
    while (token := text.rfind("<", 0, end)) >= 0 and _TURN.fullmatch(text, token, end):
        end = token
    return text[:end].strip()


def check_thought(thought: str) -> None:
    """Raise `UnreadableError` where a tagged call begins ahead of what was found.

    What looks like an action of a text format may then stand within one of its values.
    """
    if (piece := PIECE.search(thought)) is not None:
        raise UnreadableError(f"{piece[0]!r} stands ahead of it: write one call, in this form only")


def declared(prompt_spec: PromptSpec, name: str) -> bool:
    """Whether it is the name of a tool that can be called."""
    return name == FINISH or name in prompt_spec.known or tool_named(prompt_spec, name) is not None


def as_declared(prompt_spec: PromptSpec, written: str) -> str:
    """The name of the tool that is meant, where only case, separators or a prefix differ."""
    ahead = next(filter(written.startswith, QUALIFIED), "")
    for name in (written, written.removeprefix(ahead)):
        if declared(prompt_spec, matched_name := matched(prompt_spec, name)[0]):
            return matched_name
    return written


def calls_at(
    prompt_spec: PromptSpec, text: str, at: int, *, marked: bool
) -> tuple[list[WrittenCall], int]:
    """The calls that stand one behind the other from `at` on, and where they end.

    Behind a mark any name is one of a tool; without one, only what could hardly be anything else
    is a call.
    """
    calls: list[WrittenCall] = []
    marks = _Marks()
    while len(calls) < MAX_CALLS:
        if (between := _BETWEEN.match(text, at)) is not None:
            at = between.end()
            marks.take(between[0])
        written_call = next(
            filter(None, (read(prompt_spec, text, at, marked=marked) for read in _READERS)), None
        )
        if written_call is None:
            break
        marks.take(written_call.marks)
        calls += written_call.calls
        at = written_call.end
    if why := marks.open:
        calls = [each if each.open else msgspec.structs.replace(each, open=why) for each in calls]
    return calls, at


# ------------------------------------------------------------------------------------ marks


class _Marks(msgspec.Struct):
    """Which marks are open: those that come in pairs, and fences."""

    opened: list[str] = []
    uneven: bool = False

    def take(self, text: str) -> None:
        """Go through the marks in a text that holds nothing else."""
        for mark in _MARKS.finditer(text):
            self._take(mark[0])

    @property
    def open(self) -> str:
        """Why a call between these marks may not be whole; "" where it is."""
        if self.uneven:
            return "its tags do not match"
        return f"{self.opened[-1]} around it is never closed" if self.opened else ""

    def _take(self, mark: str) -> None:
        if mark.startswith("`"):
            pair, closes = "the fence", not mark.strip("`") and "the fence" in self.opened
        elif (inner := _pair(mark)) is not None:
            pair, closes = inner
        else:
            return
        if not closes:
            self.opened.append(pair)
        elif pair in self.opened:
            while self.opened.pop() != pair:
                self.uneven = True
        else:
            self.uneven = True


def unclosed(text: str, start: int, end: int) -> str:
    """Why the marks directly around a stretch of the text do not match; "" where they do."""
    marks = _Marks()
    for run in (_RUN.search(text[max(0, start - _NEAR) : start]), _BETWEEN.match(text, end)):
        marks.take("" if run is None else run[0])
    return marks.open


_BEGINS: Final = Lazy(r"(?<![a-z])(?:begin|start|prefix|end|suffix)(?![a-z])", re.IGNORECASE)
_CALLS: Final = Lazy(r"tool|call|action|python|function|plugin", re.IGNORECASE)


def _pair(mark: str) -> tuple[str, bool] | None:
    """Which pair of marks one belongs to, and whether it closes it; None where it stands alone."""
    inner = mark.strip("<>")
    ahead, behind = inner[:1] in {"|", "｜"}, inner[-1:] in {"|", "｜"}
    if mark[0] != "<" or (word := _BEGINS.search(inner)) is None:
        if mark[0] != "<" or (ahead and behind):
            return None
        return f"<{inner.strip('/|')}>", inner.startswith("/") or behind
    if "argument" in inner or not _CALLS.search(inner):
        return None
    key = (inner[: word.start()] + inner[word.end() :]).strip("/|｜_▁ ")
    return f"<{key}>", word[0].lower() in {"end", "suffix"}


# ------------------------------------------------------------------------------------- tags


@cache
def _parameter(prefix: str) -> re.Pattern[str]:
    """What opens a parameter of a tag with this prefix."""
    return re.compile(
        rf"<{re.escape(prefix)}(?P<kind>parameter|param|arg)(?P<style>=|\s+name=)"
        r"[\"']?(?P<name>[\w.-]{1,64})[\"']?[^<>]{0,80}>"
    )


@cache
def _structure(prefix: str) -> re.Pattern[str]:
    """Every tag that such a call is made of: within a value none of them may stand."""
    own = re.escape(prefix)
    return re.compile(
        rf"<{own}(?:parameter|param|arg|function|invoke)(?:=|\s+name=)[^<>\n]{{1,120}}>"
        rf"|</{own}(?:parameter|param|arg|function|invoke)>"
        rf"|</?{own}(?:tool|function)_?calls?>"
    )


def _tagged(prompt_spec: PromptSpec, text: str, at: int, *, marked: bool) -> ParsedCalls | None:
    """`<function=NAME>…</function>` or `<invoke name="NAME">…</invoke>`."""
    opening = TAG.match(text, at)
    if opening is None:
        return None
    prefix, closing = opening["prefix"], f"</{opening['prefix']}{opening['tag']}>"
    start = _skip(text, opening.end())
    if not opening["name"]:
        return _named_inside(prompt_spec, text, start, closing)
    name = as_declared(prompt_spec, opening["name"])
    if text.startswith("{", start):
        try:
            text_prefix = first_value(text[start:])
        except UnreadableError as error:
            return ParsedCalls([WrittenCall(name, problem=str(error))], len(text))
        call, end = _with_value(name, text_prefix), start + text_prefix.end
    elif _parameter(prefix).match(text, start) is not None:
        call, end = _with_parameters(prompt_spec, name, prefix, text, start)
    else:
        inner, end = _children(text, start)
        call = _with_texts(prompt_spec, name, inner)
    return _closed(call, text, end, closing)


def _closed(call: WrittenCall, text: str, end: int, closing: str) -> ParsedCalls:
    """A call whose tag must be closed where its arguments end."""
    end = _skip(text, end)
    if text.startswith(closing, end):
        return ParsedCalls([call], end + len(closing))
    if end < len(text) and not closing.startswith(text[end:]):
        why = _STRAY if call.args else _UNCLEAR
        return ParsedCalls([WrittenCall(call.name, problem=call.problem or why)], len(text))
    return ParsedCalls([msgspec.structs.replace(call, open=call.open or _UNCLOSED)], len(text))


def _with_parameters(
    prompt_spec: PromptSpec, name: str, prefix: str, text: str, at: int
) -> tuple[WrittenCall, int]:
    """A call with a tag for each parameter, and where the last of them ends.

    A value ends at the first tag of such a call, which must be the one that closes it. Behind `=`
    values stand on lines of their own, or all of them do not.
    """
    params: list[tuple[str, str]] = []
    lines: set[tuple[bool, bool]] = set()
    ended = True
    while (opened := _parameter(prefix).match(text, at)) is not None:
        token = _structure(prefix).search(text, opened.end())
        end = len(text) if token is None else token.start()
        value = text[opened.end() : end]
        closed = token is not None and token[0] == f"</{prefix}{opened['kind']}>"
        ended = ended and closed
        if opened["style"] == "=":
            edges = value.startswith("\n"), value.endswith("\n") and len(value) > 1
            lines.add(edges)
            value = value[1:-1] if all(edges) else value
        params.append((opened["name"], value))
        at = _skip(text, token.end() if token is not None and closed else end)
    call = _with_texts(prompt_spec, name, params)
    uneven = _UNEVEN if len(lines) > 1 or lines & {(True, False), (False, True)} else ""
    return msgspec.structs.replace(call, open=uneven if ended else _UNCLOSED), at


def _named_inside(
    prompt_spec: PromptSpec, text: str, start: int, closing: str
) -> ParsedCalls | None:
    """`<invoke><tool_name>NAME</tool_name><parameters>…</parameters></invoke>`."""
    outer, end = _children(text, start)
    inner = dict(outer)
    name, body = inner.get("tool_name", "").strip(), inner.get("parameters", "")
    if not name:
        return None
    name = as_declared(prompt_spec, name)
    children, inner_end = _children(body, 0)
    if body[inner_end:].strip():
        return ParsedCalls([WrittenCall(name, problem=_UNCLEAR)], len(text))
    return _closed(_with_texts(prompt_spec, name, children), text, end, closing)


def _own_tag(prompt_spec: PromptSpec, text: str, at: int, *, marked: bool) -> ParsedCalls | None:
    """`<NAME><parameter>…</parameter></NAME>`."""
    own = _CHILD.match(text, at)
    if own is None or not declared(prompt_spec, own[1]):
        return None
    children, end = _children(text, own.end())
    end, closing = _skip(text, end), f"</{own[1]}>"
    if not text.startswith(closing, end):
        return None
    return ParsedCalls([_with_texts(prompt_spec, own[1], children)], end + len(closing))


def _children(text: str, at: int) -> tuple[list[tuple[str, str]], int]:
    """Tags that stand one behind the other from `at` on, with what is in them, and their end."""
    children: list[tuple[str, str]] = []
    while (child := _CHILD.match(text, at)) is not None:
        end = text.find(f"</{child[1]}>", child.end())
        if end < 0:
            break
        children.append((child[1], text[child.end() : end]))
        at = end + len(child[1]) + 3
    return children, at


def _skip(text: str, at: int) -> int:
    """Where the next sign stands that is no space."""
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _with_texts(
    prompt_spec: PromptSpec, name: str, params: Sequence[tuple[str, str]]
) -> WrittenCall:
    """A call with its arguments as texts: each a value of its parameter's type."""
    tool = tool_named(prompt_spec, name)
    schemas = fields(tool.parameters) if tool is not None else {}
    args: dict[str, Json] = {}
    for key, text in params:
        if key in args:
            return WrittenCall(name, problem=f"the parameter {key!r} is given twice")
        try:
            args[key] = typed(text, schemas.get(key, {}))
        except UnreadableError as error:
            return WrittenCall(name, problem=str(error))
    return WrittenCall(name, args)


# ------------------------------------------------------------------------------------- objects


def _object(prompt_spec: PromptSpec, text: str, at: int, *, marked: bool) -> ParsedCalls | None:
    """Objects that name a tool and its arguments, alone or in a list."""
    if text[at : at + 1] not in {"{", "["}:
        return None
    rest, starts = text[at:], [(0, 0)]
    if rest.startswith("{{"):
        rest, starts = _undoubled(rest)
    try:
        prefix = first_value(rest)
    except UnreadableError as error:
        meant = _OBJECT.match(rest)
        if meant is None:
            return None
        name = as_declared(prompt_spec, meant["name"])
        return ParsedCalls([WrittenCall(name, problem=str(error))], len(text))
    calls = _in_value(prompt_spec, prefix.value)
    if calls is None:
        return None
    new, old = starts[bisect_right(starts, (prefix.end, len(text))) - 1]
    half = _HALF if HALF in prefix.repairs else ""
    calls = [msgspec.structs.replace(call, open=half) for call in calls]
    return ParsedCalls(calls, at + old + prefix.end - new)


def _with_value(name: str, prefix: JsonPrefix) -> WrittenCall:
    """A call with an object of arguments."""
    half = _HALF if HALF in prefix.repairs else ""
    return WrittenCall(name, cast("dict[str, Json]", prefix.value), open=half)


def _undoubled(text: str) -> tuple[str, list[tuple[int, int]]]:
    """One brace for two, outside of strings; and where each stretch came from."""
    out: list[str] = []
    starts = [(0, 0)]
    at = length = 0
    for match in _DOUBLED.finditer(text):
        if match[0] in {"{{", "}}"}:
            piece = text[at : match.start() + 1]
            out.append(piece)
            length, at = length + len(piece), match.end()
            starts.append((length, at))
    return "".join(out) + text[at:], starts


def _in_value(prompt_spec: PromptSpec, value: Json) -> list[WrittenCall] | None:
    """The calls that a value says; None where it is anything else."""
    calls: list[WrittenCall] = []
    for each in msgspec.convert(value, list[Any]) if isinstance(value, list) else [value]:
        inner = (
            _in_object(prompt_spec, cast("dict[str, Json]", each))
            if isinstance(each, dict)
            else None
        )
        if inner is None:
            return None
        calls += inner
    return calls or None


def _in_object(prompt_spec: PromptSpec, document: dict[str, Json]) -> list[WrittenCall] | None:
    for key in _OUTER:
        if isinstance(document.get(key), (dict, list)) and document.keys() <= {
            key,
            *_BESIDE,
            "content",
        }:
            return _in_value(prompt_spec, document[key])
    if len(document) == 1:
        [(name, args)] = document.items()
        if declared(prompt_spec, name) and isinstance(args, dict):
            own = cast("dict[str, Json]", args)
            return None if _is_data(prompt_spec, name, own) else [WrittenCall(name, own)]
    key = next((key for key in _NAMES if isinstance(document.get(key), str)), "")
    name = str(document.get(key, ""))
    args_key = next((each for each in _ARGS if each in document), "")
    rest = document.keys() - {key, args_key} - _BESIDE
    if not name or (args_key and rest):
        return None
    if not args_key:
        tool = tool_named(prompt_spec, name)
        own = {each: document[each] for each in rest}
        if tool is None or not own or not own.keys() <= fields(tool.parameters).keys():
            return None
        return [WrittenCall(name, own)]
    return _with_args(prompt_spec, as_declared(prompt_spec, name), document[args_key])


def _is_data(prompt_spec: PromptSpec, name: str, args: dict[str, Json]) -> bool:
    """Whether a word that names a tool too stands over keys of which none is a parameter's."""
    tool = tool_named(prompt_spec, name)
    if tool is None or not args or distinct(prompt_spec, name):
        return False
    return args.keys().isdisjoint(fields(tool.parameters))


def _with_args(prompt_spec: PromptSpec, name: str, value: Json) -> list[WrittenCall] | None:
    """A call with what stands for its arguments; no call, where that cannot be arguments."""
    if isinstance(value, dict):
        return [WrittenCall(name, cast("dict[str, Json]", value))]
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return [_with_text(prompt_spec, name, value.strip())]
    return [WrittenCall(name)] if value is None and declared(prompt_spec, name) else None


def _with_text(prompt_spec: PromptSpec, name: str, text: str) -> WrittenCall:
    """A call with its arguments as the text of an object."""
    try:
        args = object_args(tool_named(prompt_spec, name), text)
    except UnreadableError as error:
        return WrittenCall(name, problem=str(error))
    return (
        WrittenCall(name, problem="its arguments are no object")
        if args is None
        else WrittenCall(name, args[0])
    )


# --------------------------------------------------------------------------- names with arguments


def _named(prompt_spec: PromptSpec, text: str, at: int, *, marked: bool) -> ParsedCalls | None:
    """`NAME{…}`, with marks, a fence or nothing between the two; or `NAME<arg_key>…`."""
    match = _NAMED.match(text, at)
    if match is None:
        return None
    name, start = as_declared(prompt_spec, match["name"]), match.end()
    if not (marked or declared(prompt_spec, name)):
        return None
    if text.startswith("<", start):
        return _with_keys(prompt_spec, name, text, start)
    try:
        quoted = _QUOTED.match(text, start)
        if quoted is not None:
            args, end = _between_tokens(text, start, quoted["quote"])
            call = WrittenCall(name, args)
        else:
            value = first_value(text[start:])
            call, end = _with_value(name, value), start + value.end
    except UnreadableError as error:
        return ParsedCalls([WrittenCall(name, problem=str(error))], len(text))
    return ParsedCalls([call], end, match["marks"])


def _with_keys(prompt_spec: PromptSpec, name: str, text: str, at: int) -> ParsedCalls:
    """`<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>`, once for each parameter."""
    params: list[tuple[str, str]] = []
    while (key := _KEY.match(text, at)) is not None:
        token = _ARG.search(text, key.end())
        end = len(text) if token is None else token.start()
        params.append((key[1], text[key.end() : end]))
        if token is None or token[0] != "</arg_value>":
            call = _with_texts(prompt_spec, name, params)
            return ParsedCalls([msgspec.structs.replace(call, open=_UNCLOSED)], end)
        at = token.end()
    call, end = _with_texts(prompt_spec, name, params), _skip(text, at)
    complete = params and text.startswith("</tool_call>", end)
    return ParsedCalls([msgspec.structs.replace(call, open="" if complete else _UNCLOSED)], end)


def _between_tokens(text: str, at: int, quote: str) -> tuple[dict[str, Json], int]:
    """An object whose texts stand between `quote`, and where it ends. Raises `UnreadableError`."""
    out: list[str] = []
    depth = 0
    while True:
        if text.startswith(quote, at):
            end = text.find(quote, at + len(quote))
            if end < 0:
                break
            out.append(json.dumps(text[at + len(quote) : end]))
            at = end + len(quote)
            continue
        piece = _PLAIN.match(text, at)
        if piece is None:
            break
        word = piece[0]
        if piece["key"]:
            word = json.dumps(word.rstrip(": \t\r\n")) + ":"
        out.append(word)
        at = piece.end()
        depth += (word in "{[") - (word in "}]")
        if not depth:
            return cast("dict[str, Json]", complete_value("".join(out))), at
    raise UnreadableError("the arguments end before they are closed")


# -------------------------------------------------------------------------------------- Python


def _python(prompt_spec: PromptSpec, text: str, at: int, *, marked: bool) -> ParsedCalls | None:
    """`NAME(key=value)`, `[NAME(…), NAME(…)]` or `print(default_api.NAME(…))`."""
    if _EXPRESSION.match(text, at) is None or (end := _expression_end(text, at)) is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the model's escapes
            value = ast.parse(text[at:end].strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    calls = value.elts if isinstance(value, ast.List) else [value]
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "print":
        if value.keywords:
            return None
        calls = value.args
    written_calls: list[WrittenCall] = []
    for call in calls:
        if (read := _python_call(prompt_spec, call)) is None:
            return None
        if not (marked or declared(prompt_spec, read.name)):
            return None
        written_calls.append(read)
    return ParsedCalls(written_calls, end) if written_calls else None


def _expression_end(text: str, at: int) -> int | None:
    """Where the brackets that an expression opens are all closed."""
    depth = 0
    for match in _LITERAL.finditer(text[at : at + _PYTHON_CHARS]):
        if match[0] in "([{":
            depth += 1
        elif match[0] in ")]}":
            depth -= 1
            if depth <= 0:
                return at + match.end()
    return None


def _python_call(prompt_spec: PromptSpec, call: ast.expr) -> WrittenCall | None:
    """A call with literals as its arguments; those without a name go by the order declared."""
    if not isinstance(call, ast.Call):
        return None
    name = as_declared(prompt_spec, ast.unparse(call.func))
    tool = tool_named(prompt_spec, name)
    order = list(fields(tool.parameters)) if tool is not None else []
    if len(call.args) > len(order):
        return WrittenCall(name, problem="its arguments have no names") if order else None
    pairs = [
        *zip(order, call.args, strict=False),
        *((it.arg or "", it.value) for it in call.keywords),
    ]
    if twice := next((key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at])), ""):
        return WrittenCall(name, problem=f"the parameter {twice!r} is given twice")
    try:
        args = {key: ast.literal_eval(value) for key, value in pairs}
        if unfit(args) or any(_repeats_a_key(node) for node in ast.walk(call)):
            raise ValueError(name)
        return WrittenCall(name, cast("dict[str, Json]", complete_value(_json(args))))
    except (ValueError, TypeError, UnreadableError, RecursionError):
        return WrittenCall(name, problem="its arguments are no plain values")


def _repeats_a_key(node: ast.AST) -> bool:
    """Whether a dict names a key twice, of which Python would take the last."""
    if not isinstance(node, ast.Dict):
        return False
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    return len({*keys}) < len(keys)


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except TypeError as error:
        raise ValueError(str(error)) from error


class _CallReader(Protocol):
    def __call__(
        self, prompt_spec: PromptSpec, text: str, at: int, *, marked: bool
    ) -> ParsedCalls | None: ...


_READERS: Final[tuple[_CallReader, ...]] = (_tagged, _own_tag, _object, _named, _python)
