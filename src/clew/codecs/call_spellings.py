"""Calls that a model wrote into its text, in the spellings that its training gave it.

Servers turn these into native calls where they know the model's template; where they do not, they
come as text. One grammar reads them all: marks (special tokens, tags, brackets) only say that a
call follows, and the call itself is an object, a tag with parameters, a name with an object behind
it, or an expression of Python.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any, Final, Protocol, TypeAlias, cast

import msgspec

from clew.codecs.arguments import fields, object_args, tool_named, typed
from clew.codecs.interface import PromptSpec
from clew.codecs.mend import UnreadableError, first_value, whole_value
from clew.core.events import FINISH, Json
from clew.support.lazy_regex import Lazy

MOST: Final = 64
"""Calls that are read in one reply."""

_PYTHON_CHARS: Final = 20_000
"""Longer text is no call as in a program."""

MARK: Final = Lazy(
    r"</?\|?/?(?:[\w-]{1,20}:)?(?:tool|function)[_-]?(?:calls?|use)\|?>"
    r"|</?tools>(?=\s*(?:[\[{<]|$))"
    r"|</?(?:start|end)_function_call>"
    r"|<[|｜][^|｜<>\n]{1,40}[|｜]>"
    r"|\[/?(?:TOOL_CALLS|ARGS)\]|\[CALL_ID\]\w{0,40}"
    r"|\bfunctools(?=\[)|^>>>(?=\w)",
    re.IGNORECASE | re.MULTILINE,
)
"""What says that a call begins, goes on or ends."""

TAG: Final = Lazy(
    r"<(?P<tag>(?:[\w-]{1,20}:)?(?:function|invoke))"
    r"(?:(?:=|\s+name=)[\"']?(?P<name>[\w./:-]{1,64})[\"']?[^<>]{0,80})?>"
)
_TURN: Final = Lazy(
    r"(?:\s|</?s>|<[|｜](?:im_end|im_start|eot_id|eom_id|end|endoftext|end_of_text|begin_of_text"
    r"|end▁of▁sentence|assistant)[|｜]>|<\|start_header_id\|>\w{0,20}<\|end_header_id\|>)++"
)
_BETWEEN: Final = Lazy(rf"(?:[\s,;]|`{{3,}}[\w+-]{{0,20}}|(?m:{MARK.pattern}))++", re.IGNORECASE)
_PARAMETER: Final = Lazy(
    r"<(?:[\w-]{1,20}:)?(?:parameter|param|arg)(?:=|\s+name=)[\"']?([\w.-]{1,64})[\"']?[^<>]{0,80}>"
)
_KEY: Final = Lazy(r"<arg_key>([^<]{1,64})</arg_key>\s*<arg_value>")
_CHILD: Final = Lazy(r"\s*<([\w-]{1,64})>")
_NAMED: Final = Lazy(
    r"(?:function(?:\s|<[|｜][^|｜<>\n]{1,40}[|｜]>)+)?(?:(?:[a-z]{1,12} )?to=)?(?:call:)?"
    r"(?:functions?\.|default_api\.)?(?P<name>[\w./-]{1,64})(?::\d{1,4})?"
    rf"(?:\s|json\b|`{{3,}}\w{{0,20}}|{MARK.pattern})*+(?=\{{|<arg_key>)",
    re.IGNORECASE,
)
_OBJECT: Final = Lazy(
    r"[\[{\s]*[\"'](?:name|tool|tool_name|function)[\"']\s*:\s*[\"'](?P<name>[\w./-]{1,64})[\"']\s*,"
    r"\s*[\"'](?:arguments|parameters|args|input|tool_input|action_input)[\"']\s*:"
)
_DOUBLED: Final = Lazy(r'"(?:[^"\\]|\\.)*+"?|\{\{|\}\}')
"""Doubled braces, as some chat templates show them by mistake, and strings, in which they stay."""

_OUTER: Final = ("tool_calls", "tool_call", "function_call", "function")
_NAMES: Final = ("name", "tool", "tool_name", "function", "function_name", "action")
_ARGS: Final = (
    "arguments", "parameters", "args", "params", "input", "tool_input", "action_input", "kwargs",
)  # fmt: skip
_BESIDE: Final = frozenset({"id", "type", "thought", "index", "tool_call_id", "call_id"})


class Written(msgspec.Struct, frozen=True):
    """A call that stands in a text; `problem` says why its arguments cannot be read."""

    name: str
    args: dict[str, Json] = {}
    problem: str = ""


Reading: TypeAlias = tuple[list[Written], int]
"""Calls, and where they end."""


def plain(text: str) -> str:
    """The text without the ends of turns around it, and with quotes where tokens stand for them."""
    text = text.replace("｜DSML｜", "").replace("<escape>", '"').replace('<|"|>', '"')
    begun = _TURN.match(text)
    text = text[begun.end() :] if begun else text
    end = len(text)
    while (token := text.rfind("<", 0, end)) >= 0 and _TURN.fullmatch(text, token, end):
        end = token
    return text[:end].strip()


def declared(brief: PromptSpec, name: str) -> bool:
    """Whether it is the name of a tool that can be called."""
    return name == FINISH or name in brief.known or tool_named(brief, name) is not None


def calls_at(brief: PromptSpec, text: str, at: int, *, marked: bool) -> Reading:
    """The calls that stand one behind the other from `at` on, and where they end.

    Behind a mark any name is one of a tool; without one, only what could hardly be anything else
    is a call.
    """
    calls: list[Written] = []
    while len(calls) < MOST:
        if (between := _BETWEEN.match(text, at)) is not None:
            at = between.end()
        found = next(
            filter(None, (read(brief, text, at, marked=marked) for read in _READERS)), None
        )
        if found is None:
            break
        calls += found[0]
        at = found[1]
    return calls, at


# ------------------------------------------------------------------------------------- tags


def _tagged(brief: PromptSpec, text: str, at: int, *, marked: bool) -> Reading | None:
    """`<function=NAME>…</function>`, `<invoke name="NAME">…</invoke>`, or `<NAME>…</NAME>`."""
    opening = TAG.match(text, at)
    own = None if opening else _CHILD.match(text, at)
    if opening is None and (own is None or not declared(brief, own[1])):
        return None
    tag = opening["tag"] if opening else own[1] if own else ""
    start = opening.end() if opening else own.end() if own else at
    closing = f"</{tag}>"
    end = text.find(closing, start)
    if own is not None and end < 0:
        return None
    body = text[start:] if end < 0 else text[start:end]
    after = len(text) if end < 0 else end + len(closing)
    name = opening["name"] if opening else tag
    if not name:
        inner = dict(_children(body) or ())
        name, body = inner.get("tool_name", "").strip(), inner.get("parameters", "")
    if own is not None and _children(body) is None:
        return None
    return ([_with_body(brief, name, body)], after) if name else None


def _with_body(brief: PromptSpec, name: str, body: str) -> Written:
    """A call of `name` with what stands in its tag."""
    body = body.strip()
    if body.startswith("{"):
        return _with_text(brief, name, body)
    pieces = _PARAMETER.split(body)
    if len(pieces) > 1:
        values = [re.split(r"</(?:[\w-]{1,20}:)?(?:parameter|param|arg)>", each)[0]
                  for each in pieces[2::2]]  # fmt: skip
        return _with_texts(brief, name, zip(pieces[1::2], values, strict=True))
    children = _children(body)
    if children is None:
        return Written(name, problem="its arguments cannot be read")
    return _with_texts(brief, name, children)


def _children(body: str) -> list[tuple[str, str]] | None:
    """Tags that stand one behind the other, with what is in them; None where others stand there."""
    found: list[tuple[str, str]] = []
    at = 0
    while (child := _CHILD.match(body, at)) is not None:
        end = body.find(f"</{child[1]}>", child.end())
        if end < 0:
            return None
        found.append((child[1], body[child.end() : end]))
        at = end + len(child[1]) + 3
    return None if body[at:].strip() else found


def _with_texts(brief: PromptSpec, name: str, given: Any) -> Written:
    """A call with its arguments as texts: each a value of its parameter's type."""
    tool = tool_named(brief, name)
    schemas = fields(tool.parameters) if tool is not None else {}
    args: dict[str, Json] = {}
    for key, text in given:
        if key in args:
            return Written(name, problem=f"the parameter {key!r} is given twice")
        value = text.removeprefix("\n").removesuffix("\n")
        try:
            args[key] = typed(value, schemas.get(key, {}))
        except UnreadableError as error:
            return Written(name, problem=str(error))
    return Written(name, args)


# ------------------------------------------------------------------------------------- objects


def _object(brief: PromptSpec, text: str, at: int, *, marked: bool) -> Reading | None:
    """Objects that name a tool and its arguments, alone or in a list."""
    if text[at : at + 1] not in {"{", "["}:
        return None
    rest = text[at:]
    if rest.startswith("{{"):
        rest = _DOUBLED.sub(_single, rest)
    try:
        found = first_value(rest)
    except UnreadableError as error:
        meant = _OBJECT.match(rest)
        return None if meant is None else ([Written(meant["name"], problem=str(error))], len(text))
    calls = _in_value(brief, found.value)
    end = at + found.end if rest == text[at:] else len(text)
    return None if calls is None else (calls, end)


def _single(found: re.Match[str]) -> str:
    """One brace for two; a string as it is."""
    return found[0][:1] if found[0] in {"{{", "}}"} else found[0]


def _in_value(brief: PromptSpec, value: Json) -> list[Written] | None:
    """The calls that a value says; None where it is anything else."""
    found: list[Written] = []
    for each in msgspec.convert(value, list[Any]) if isinstance(value, list) else [value]:
        inner = _in_object(brief, cast("dict[str, Json]", each)) if isinstance(each, dict) else None
        if inner is None:
            return None
        found += inner
    return found or None


def _in_object(brief: PromptSpec, said: dict[str, Json]) -> list[Written] | None:
    for key in _OUTER:
        if isinstance(said.get(key), (dict, list)) and said.keys() <= {key, *_BESIDE, "content"}:
            return _in_value(brief, said[key])
    if len(said) == 1:
        [(name, args)] = said.items()
        if declared(brief, name) and isinstance(args, dict):
            return [Written(name, cast("dict[str, Json]", args))]
    key = next((key for key in _NAMES if isinstance(said.get(key), str)), "")
    name = str(said.get(key, ""))
    given = next((each for each in _ARGS if each in said), "")
    rest = said.keys() - {key, given} - _BESIDE
    if not name or (given and rest):
        return None
    if not given:
        tool = tool_named(brief, name)
        own = {each: said[each] for each in rest}
        if tool is None or not own or not own.keys() <= fields(tool.parameters).keys():
            return None
        return [Written(name, own)]
    return _with_value(brief, name, said[given])


def _with_value(brief: PromptSpec, name: str, value: Json) -> list[Written] | None:
    """A call with what stands for its arguments; no call, where that cannot be arguments."""
    if isinstance(value, dict):
        return [Written(name, cast("dict[str, Json]", value))]
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return [_with_text(brief, name, value.strip())]
    return [Written(name)] if value is None and declared(brief, name) else None


def _with_text(brief: PromptSpec, name: str, text: str) -> Written:
    """A call with its arguments as the text of an object."""
    try:
        given = object_args(tool_named(brief, name), text)
    except UnreadableError as error:
        return Written(name, problem=str(error))
    return (
        Written(name, problem="its arguments are no object")
        if given is None
        else Written(name, given[0])
    )


# --------------------------------------------------------------------------- names with arguments


def _named(brief: PromptSpec, text: str, at: int, *, marked: bool) -> Reading | None:
    """`NAME{…}`, with marks, a fence or nothing between the two; or `NAME<arg_key>…`."""
    found = _NAMED.match(text, at)
    if found is None or not (marked or declared(brief, found["name"])):
        return None
    name = found["name"]
    if text.startswith("<", found.end()):
        pieces = _KEY.split(text[found.end() :])
        values = [each.partition("</arg_value>") for each in pieces[2::2]]
        rest = values[-1][2] if values else ""
        given = zip(pieces[1::2], (value for value, _, _ in values), strict=True)
        return [_with_texts(brief, name, given)], len(text) - len(rest)
    try:
        value = first_value(text[found.end() :])
    except UnreadableError as error:
        return [Written(name, problem=str(error))], len(text)
    return [Written(name, value.value)], found.end() + value.end


# -------------------------------------------------------------------------------------- Python


def _python(brief: PromptSpec, text: str, at: int, *, marked: bool) -> Reading | None:
    """`NAME(key=value)`, `[NAME(…), NAME(…)]` or `print(default_api.NAME(…))`, on one line each."""
    if not re.match(r"\[?\s*(?:print\()?[\w.]{1,80}\(", text[at : at + 120]):
        return None
    mark = MARK.search(text, at)
    end = mark.start() if mark else len(text)
    code = text[at:end].strip().rstrip("`").strip()
    if len(code) > _PYTHON_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Python thinks of the model's escapes
            body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: list[Written] = []
    for call in _python_calls(body):
        if (read := _python_call(brief, call)) is None:
            return None
        if not (marked or declared(brief, read.name)):
            return None
        found.append(read)
    return (found, end) if found else None


def _python_calls(body: list[ast.stmt]) -> Iterator[ast.expr]:
    for line in body:
        value = line.value if isinstance(line, ast.Expr) else ast.Constant(None)
        if isinstance(value, ast.Call) and ast.unparse(value.func) == "print" and value.args:
            value = value.args[0]
        yield from value.elts if isinstance(value, ast.List) else [value]


def _python_call(brief: PromptSpec, call: ast.expr) -> Written | None:
    """A call with literals as its arguments; those without a name go by the order declared."""
    if not isinstance(call, ast.Call):
        return None
    name = ast.unparse(call.func).removeprefix("default_api.").removeprefix("functions.")
    tool = tool_named(brief, name)
    order = list(fields(tool.parameters)) if tool is not None else []
    if len(call.args) > len(order):
        return Written(name, problem="its arguments have no names") if order else None
    given = [
        *zip(order, call.args, strict=False),
        *((it.arg or "", it.value) for it in call.keywords),
    ]
    try:
        args = {key: ast.literal_eval(value) for key, value in given}
        return Written(name, cast("dict[str, Json]", whole_value(_json(args))))
    except (ValueError, UnreadableError, RecursionError):
        return Written(name, problem="its arguments are no plain values")


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except TypeError as error:
        raise ValueError(str(error)) from error


class _Reader(Protocol):
    def __call__(
        self, brief: PromptSpec, text: str, at: int, *, marked: bool
    ) -> Reading | None: ...


_READERS: Final[tuple[_Reader, ...]] = (_tagged, _object, _named, _python)
