"""Tools as functions of Python: their names, how they are shown, a lone call as it is written."""

import ast
import keyword
import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import msgspec

from clew.codecs.text_codec import fields, required
from clew.core.codes import RUN_CODE
from clew.interfaces import FINISH, Action, Json, PromptSpec, ToolSpec
from clew.support.json_arguments import unfit
from clew.support.short_text import one_line
from clew_code.codec.python_types import Types

FINAL: Final = frozenset({FINISH, "final_answer"})
"""What models call the function that gives the answer."""

LONGEST: Final = 20_000
"""Characters of a text that may be a lone call."""

_NO_IDENTIFIER: Final = re.compile(r"\W")
_JSON_CALL: Final = re.compile(r"\s*([A-Za-z_]\w*)\(\*\*(\{.*\})\)\s*", re.DOTALL)


def function_name(name: str) -> str:
    """The name of a tool or a parameter in a program, where it may be none of Python's."""
    name = _NO_IDENTIFIER.sub("_", name)
    if keyword.iskeyword(name):
        return f"{name}_"
    return name if name.isidentifier() else f"_{name}"


def functions(tools: Iterable[ToolSpec]) -> dict[str, ToolSpec]:
    """The tools that a program may call, by their names in it; of two alike, the first shown one.

    Hidden tools are among them: nobody describes those, but a call of one is answered.
    """
    named: dict[str, ToolSpec] = {}
    for tool in sorted(tools, key=lambda one: one.hidden):
        if tool.name not in {RUN_CODE, FINISH}:
            named.setdefault(function_name(tool.name), tool)
    return named


def parameter_names(tool: ToolSpec) -> dict[str, str]:
    """The names of the tool's parameters in a program, in their order there, and in its schema.

    Those that a call must give come first. A name that no parameter of Python may have (`b-c`,
    `class`) is changed (`b_c`, `class_`), unless another parameter has the changed name.
    """
    known, needed = fields(tool.parameters), required(tool.parameters)
    names: dict[str, str] = {}
    for field in sorted(known, key=lambda one: one not in needed):
        changed = function_name(field)
        names[field if changed in known or changed in names else changed] = field
    return names


# ------------------------------------------------------------------------------------- a lone call


def lone_call(prompt_spec: PromptSpec, code: str) -> Action | None:
    """The call that a text is, and nothing besides, with arguments that are written out.

    None where it is another program: with `run_code`, also where it calls what is no tool.
    """
    if len(code) > LONGEST:
        return None
    if (json := _JSON_CALL.fullmatch(code)) is not None:
        try:
            return _action(
                prompt_spec, json[1], [], msgspec.json.decode(json[2], type=dict[str, Any])
            )
        except (msgspec.MsgspecError, RecursionError):  # as a rule it is a dict of Python
            pass
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a model writes there is nobody to warn
            call = ast.parse(code.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        literals = [ast.literal_eval(arg) for arg in call.args]
        named = _keywords(call.keywords)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return _action(prompt_spec, call.func.id, literals, named)


def is_program(code: str) -> bool:
    """Whether a text is Python that is whole, and not empty."""
    if not code.strip() or len(code) > LONGEST:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a model writes there is nobody to warn
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _keywords(keywords: list[ast.keyword]) -> dict[str, Json]:
    """The named arguments. Raises `ValueError` for what is not written out."""
    named: dict[str, Json] = {}
    for one in keywords:
        value = ast.literal_eval(one.value)
        new: dict[str, Json] = {one.arg: value} if one.arg is not None else dict(value)
        if new.keys() & named.keys():
            raise ValueError(one.arg)
        named |= new
    return named


def runs_code(prompt_spec: PromptSpec) -> bool:
    """Whether the agent has the tool that runs programs."""
    return any(one.name == RUN_CODE for one in (*prompt_spec.tools, *prompt_spec.more))


def _action(
    prompt_spec: PromptSpec, name: str, literals: list[Any], named: dict[str, Json]
) -> Action | None:
    tools = functions((*prompt_spec.tools, *prompt_spec.later.values()))
    hidden = {function_name(one): one for one in prompt_spec.known}
    tool = tools.get(name, prompt_spec.finish if name in FINAL else None)
    if tool is None and name not in hidden and runs_code(prompt_spec):
        return None
    tool_name = hidden.get(name, name) if tool is None else tool.name
    names = {} if tool is None else parameter_names(tool)
    if len(literals) > len(names):
        return None
    args: dict[str, Json] = dict(zip(names.values(), literals, strict=False))
    count, named = len(named), {names.get(one, one): value for one, value in named.items()}
    if len(named) < count or args.keys() & named.keys() or not _is_json({**args, **named}):
        return None
    return Action(tool_name, {**args, **named})


def _is_json(value: Any) -> bool:
    """Whether a value that was written out is one of JSON, and no tuple, set or bytes.

    Half a character, which an escape can write, is no text.
    """
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value).items()
        return all(isinstance(name, str) and _is_json([name, inner]) for name, inner in pairs)
    if isinstance(value, list):
        return all(map(_is_json, cast("list[object]", value)))
    if isinstance(value, float):
        return value - value == 0  # neither infinite nor none at all
    return value is None or (isinstance(value, bool | int | str) and not unfit(value))


def written(action: Action, tool: ToolSpec | None = None) -> str:
    """A call as a program writes it, with the names that the parameters of its tool have there."""
    names = {} if tool is None else {old: new for new, old in parameter_names(tool).items()}
    values = {names.get(name, name): value for name, value in action.args.items()}
    if not all(name.isidentifier() and not keyword.iskeyword(name) for name in values):
        return f"{function_name(action.name)}(**{values!r})"
    args = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return f"{function_name(action.name)}({args})"


# ------------------------------------------------------------------------------ as they are shown


def signature(tool: ToolSpec) -> str:
    """A tool as the head of a function, and what its description says, as comments.

    A model reads there which fields a returned dict has, where the tool declares its result.
    """
    known, needed = fields(tool.parameters), required(tool.parameters)
    names, types = parameter_names(tool), Types(tool.parameters)
    heads = [
        _parameter(name, types.name(known[field]), known[field], required=field in needed)
        for name, field in names.items()
    ]
    result = Types(tool.result or {})
    gives = "" if tool.result is None else f" -> {result.name(tool.result)}"
    head = f"def {function_name(tool.name)}({', '.join(heads)}){gives}:"
    about = [
        (name, one_line(str(known[field].get("description", "")))) for name, field in names.items()
    ]
    about.append(("returns", result.shape(tool.result or {})))
    lines = [head, f"    # {one_line(tool.description)}"]
    lines += [f"    # {field}: {text}" for field, text in about if text]
    lines += [
        f"    # for example: {written(Action(tool.name, args), tool)}" for args in tool.examples
    ]
    return "\n".join(lines)


def _parameter(name: str, kind: str, schema: Mapping[str, Json], *, required: bool) -> str:
    return f"{name}: {kind}" + ("" if required else f" = {schema.get('default')!r}")
