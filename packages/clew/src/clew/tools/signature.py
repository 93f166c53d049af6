"""A typed function as a tool sees it: the schema of its parameters, its words, its result."""

import dataclasses
import importlib
import inspect
import types
import typing
from collections.abc import Callable
from itertools import chain
from typing import Annotated, Any, Final, Union

import msgspec

from clew.core.attachments import has_attachments
from clew.core.call_context import CALL
from clew.core.contents import Audio, File, Image, Observation
from clew.core.tools import Parameters
from clew.core.values import Json, encode
from clew.core.verdicts import Verdict
from clew.deps.parameters import ContextParameter, deps_kind
from clew.deps.run_context import RunContext, call_context
from clew.support.error_text import described
from clew.support.errors import ConfigError
from clew.support.instance_defaults import has_class_defaults, has_defaults, set_defaults
from clew.support.json_values import plain
from clew.support.short_text import one_line
from clew.tools.named_tuples import by_name, named_tuples
from clew.tools.pydantic_types import adapted, is_named_tuple, mentioned, refuse_default
from clew.tools.types import from_json, schema_of, schemas, with_description

_MAX_DEFAULT_CHARS: Final = 200
"""How much of the arguments of an earlier attempt a person is shown."""

_ABSENT: Final = object()
_VARIADIC: Final = (
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
    inspect.Parameter.POSITIONAL_ONLY,
)
_ATTACHMENTS: Final = (Image, Audio, File)
_BESIDE_RESULT: Final = (Observation, Verdict, *_ATTACHMENTS)
"""What a function may return beside its result."""
_SAYS_NOTHING: Final = (
    Any,
    object,
    str,
    None,
    type(None),
    Observation,
    Verdict,
    *_ATTACHMENTS,
    inspect.Signature.empty,
)


class Signature(msgspec.Struct, frozen=True):
    """What can be read from a function.

    `fields` has the type a model's arguments are converted to, `context` the name of the parameter
    that gets the `RunContext`, and `deps` the type of deps that it wants (None: any, or none).
    `result` is the schema of the return annotation where it says anything, and `tuples` its type
    where named tuples are in it; `attaches` are the kinds of attachments in it. `defaults` says
    whether the types have dataclasses with such, and `fills` whether the result may have some whose
    `__init__` leaves such on their class.
    """

    name: str
    description: str
    parameters: Parameters
    result: Parameters | None
    tuples: Any
    attaches: tuple[type, ...]
    fields: type[msgspec.Struct]
    context: str
    deps: Any
    defaults: bool
    fills: bool

    def arguments(
        self, args: dict[str, Json], key: str, context: RunContext[Any] | None = None
    ) -> dict[str, Any]:
        """Keyword arguments for the function, in its own types; defaults are left to it.

        Without a `context` it is that of the call with this key, which is being made.
        Raises `ValueError` with one line where a value does not fit its type, whatever that raises.
        Numbers are as strict as in Python: 5.0 is no int, though JSON Schema takes it for an
        integer.
        """
        try:
            converted = from_json(self.fields, args)
        except ValueError:
            raise
        except Exception as error:  # a type's own code may look up, divide or import
            raise ValueError(described(error)) from error
        if self.defaults:
            set_defaults(converted)
        values = {name: getattr(converted, name) for name in self.fields.__struct_fields__}
        known = {name: value for name, value in values.items() if value is not _ABSENT}
        if self.context:
            known[self.context] = context or call_context(key, self.deps)
        return known


def read(function: Callable[..., Any], *, text_result: bool = False) -> Signature:
    """Read a function. Raises `ConfigError` naming what it lacks.

    With `text_result` a return annotation of text is a schema too: nobody converts what others
    give.
    """
    name = getattr(function, "__name__", "")
    if not inspect.isroutine(function):
        message = (
            f"{function!r} is no function: give a def, an async def, a partial or a callable object"
        )
        raise ConfigError(message)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        message = f"function {name} yields: return one value, for example a list"
        raise ConfigError(message)
    hints = _hints(function, name)
    doc = importlib.import_module("docstring_parser").parse(inspect.getdoc(function) or "")
    words = {one.arg_name: one_line(one.description or "") for one in doc.params}
    kinds: dict[str, Any] = {}
    context = ContextParameter("", None)
    parameters = inspect.signature(function).parameters
    for parameter in parameters.values():
        kind = _kind(parameter, hints, name)
        if (known := deps_kind(kind)) is not None:
            context = _context(context, parameter, known.kind, name)
        else:
            where = f"function {name}, {parameter.name}"
            refuse_default(parameter.default, where)
            kinds[parameter.name] = with_description(
                adapted(kind, where), words.get(parameter.name, "")
            )
    defaults, seen = {one: parameters[one].default for one in kinds}, set[int]()
    returns = hints.get("return", inspect.Signature.empty)
    result, tuples = _result(returns, name, text_result=text_result)
    return Signature(
        name=name,
        description="\n\n".join(filter(None, (doc.short_description, doc.long_description))),
        parameters=_parameters(kinds, defaults, f"function {name}"),
        result=result,
        tuples=tuples,
        attaches=attached_kinds(returns),
        fields=_fields(name, kinds, defaults),
        context=context.name,
        deps=context.kind,
        defaults=any(
            map(has_defaults, chain.from_iterable(mentioned(it, seen) for it in kinds.values()))
        ),
        fills=any(map(has_class_defaults, mentioned(returns, set[int]()))),
    )


def returned(name: str, value: Any, tuples: Any = None, *, fills: bool = False) -> Any:
    """What a function returned, as text, JSON, or the `Observation` or `Verdict` it made.

    `tuples` is the type of its result if there are named tuples in it: those are objects in JSON.
    With `fills`, fields that dataclasses in it have only of their class are set first. What JSON
    cannot carry becomes an observation that says so; the call is done all the same.
    """
    if isinstance(value, Observation | Verdict) or has_attachments(value):
        return value
    if fills:
        set_defaults(value)
    try:
        as_json = plain(value)
    except ValueError as error:
        return Observation(
            content=f"ERROR: bad_output: {name} returned what JSON cannot carry: {error}",
            ok=False,
            code="bad_output",
            detail=f"{type(value).__module__}.{type(value).__qualname__}",
        )
    return as_json if tuples is None else by_name(tuples, as_json)


def arguments_refused(name: str, error: ValueError) -> Observation:
    """What is told of arguments that met the schema and not the function's types: no call."""
    return Observation(
        content=f"ERROR: invalid_arguments: {name}: {error}",
        ok=False,
        code="invalid_arguments",
        outcome="not_done",
    )


def asked_again(refused: Observation, key: str) -> Observation | Verdict:
    """What becomes of a call with arguments that its function refused; `key` is the call's.

    If a person gave them, the call waits for other ones. If the model did, it is told.
    """
    context = CALL.get()
    call = None if context is None else context.record.call(key.rpartition(":")[2])
    if call is None or call.ruling is None or call.ruling.args is None:
        return refused
    reason = f"the arguments of the last ruling do not fit, and nothing was called: {refused.words}"
    if call.doubts:
        before = dict.fromkeys(
            encode(args).decode()[:_MAX_DEFAULT_CHARS] for args, _ in call.doubts
        )
        reason = (
            f"{reason}. Before that it was begun, and may have happened, with {', '.join(before)}"
        )
    return Verdict("hold", reason, code=refused.code)


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        message = (
            f"function {name}: {error}; its annotations must be names of the module, "
            "not of a function around it"
        )
        raise ConfigError(message) from error


def _kind(parameter: inspect.Parameter, hints: dict[str, Any], name: str) -> Any:
    """The type of a parameter."""
    where = f"function {name}, parameter {parameter.name}"
    if parameter.kind in _VARIADIC:
        message = f"{where}: * and ** parameters have no name for a model to use"
        raise ConfigError(message)
    if parameter.name not in hints:
        message = f"{where}: annotate it with a type, for example {parameter.name}: str"
        raise ConfigError(message)
    kind = hints[parameter.name]
    if any(deps_kind(part) is not None for part in typing.get_args(kind)) and not deps_kind(kind):
        message = f"{where}: annotate it as RunContext alone: every call has one"
        raise ConfigError(message)
    return kind


def _context(
    before: ContextParameter, parameter: inspect.Parameter, kind: Any, name: str
) -> ContextParameter:
    """The parameter that gets the context. Raises `ConfigError` for a second one."""
    if before.name:
        message = f"function {name}: {before.name} and {parameter.name} are both a RunContext"
        raise ConfigError(f"{message}: keep one")
    return ContextParameter(parameter.name, kind)


def _parameters(kinds: dict[str, Any], defaults: dict[str, Any], where: str) -> Parameters:
    named, definitions = schemas(kinds, where)
    for name, schema in named.items():
        if defaults[name] is inspect.Parameter.empty:
            continue
        try:
            schema["default"] = by_name(kinds[name], plain(defaults[name]))
        except ValueError:
            continue  # a sentinel: the function knows what it means, a model need not
    required = [name for name in named if defaults[name] is inspect.Parameter.empty]
    parameters: Parameters = {"type": "object", "properties": named}
    if required:
        parameters["required"] = required
    parameters["additionalProperties"] = False
    return parameters | ({"$defs": definitions} if definitions else {})


def _fields(name: str, kinds: dict[str, Any], defaults: dict[str, Any]) -> type[msgspec.Struct]:
    absent = msgspec.field(default_factory=lambda: _ABSENT)
    fields = [
        (one, kind) if defaults[one] is inspect.Parameter.empty else (one, kind, absent)
        for one, kind in kinds.items()
    ]
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


def _result(kind: Any, name: str, *, text_result: bool) -> tuple[Parameters | None, Any]:
    """The schema of a return annotation, without what a function may return beside its result, and
    that type where named tuples are in it.
    """
    if typing.get_origin(kind) in (types.UnionType, Union):
        parts = [part for part in typing.get_args(kind) if part not in _BESIDE_RESULT]
        kind = Union[tuple(parts)] if parts else None  # noqa: UP007 - of as many types as there are
    bare = typing.get_args(kind)[0] if typing.get_origin(kind) is Annotated else kind
    says_nothing = bare in _SAYS_NOTHING and not (text_result and bare is str)
    if says_nothing or attached_kinds(bare):  # its schema would be that of the bytes
        return None, None
    kind = adapted(kind, where := f"function {name}, return type")
    schema = schema_of(kind, where, "serialization")
    return schema, kind if "$defs" in schema and any(named_tuples([kind])) else None


def attached_kinds(kind: Any) -> tuple[type, ...]:
    """Which kinds of attachments values of the type may have in them."""
    return tuple(each for each in _ATTACHMENTS if _mentions(kind, each))


def _mentions(kind: Any, wanted: type, seen: frozenset[Any] = frozenset()) -> bool:
    if kind is wanted:
        return True
    bare: Any = kind
    if isinstance(kind, type) and bare not in seen:
        seen |= {bare}
        if any(_mentions(each, wanted, seen) for each in _fields_of(bare)):
            return True
    return any(_mentions(each, wanted, seen) for each in typing.get_args(kind))


def _fields_of(kind: Any) -> list[Any]:
    """The types of the fields of a class."""
    known = is_named_tuple(kind) or issubclass(kind, msgspec.Struct)
    known = known or dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)
    if not (known or hasattr(kind, "model_fields")):
        return []
    try:
        return list(typing.get_type_hints(kind).values())
    except (NameError, TypeError):  # told where its schema is made
        return []
