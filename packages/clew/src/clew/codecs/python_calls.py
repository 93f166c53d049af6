"""Calls as expressions of Python: `NAME(key=value)`, alone or in a list."""

import ast
import re
import warnings
from typing import Final, cast

import msgspec

from clew.codecs.arguments import fields, tool_named
from clew.codecs.json_repair import UnreadableError, complete_value
from clew.codecs.written_calls import ParsedCalls, WrittenCall, as_declared, declared
from clew.core.codec import PromptSpec
from clew.core.values import Json
from clew.support.json_arguments import unfit
from clew.support.lazy_regex import Lazy

_PYTHON_CHARS: Final = 20_000
"""Longer text is no call as in a program."""

_LITERAL: Final = Lazy(
    r"'{3}(?:[^'\\]|\\.|'(?!''))*+'{3}|\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*+\"{3}"
    r"|'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|[()\[\]{}]",
    re.DOTALL,
)
_EXPRESSION: Final = Lazy(r"\[?\s{0,20}(?:print\()?[\w.]{1,80}\(")


def in_python(prompt_spec: PromptSpec, text: str, at: int, *, marked: bool) -> ParsedCalls | None:
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
