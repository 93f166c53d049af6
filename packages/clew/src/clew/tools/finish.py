"""`finish`, the tool that ends a run, and the types its answer may have."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import is_dataclass
from typing import Any, Final, cast, get_args

from msgspec.json import decode as decode_json

from clew.core.codes import EFFECTFUL, FINISH, OUTCOME, Effect
from clew.core.tools import Parameters, Tool
from clew.core.values import Json, encode
from clew.support.default_fields import with_defaults
from clew.support.errors import ConfigError
from clew.support.instance_defaults import set_defaults
from clew.support.json_values import plain
from clew.support.parts import short_repr
from clew.support.read_back import changed_part
from clew.tools.named_tuples import by_name
from clew.tools.own_fields import without_own_fields
from clew.tools.pydantic_types import adapted
from clew.tools.schema import problems
from clew.tools.types import from_json, schema_of

_WHERE: Final = "Give it where something was to be changed or looked for: "
_MEANS: Final = {
    "done": "done (what was asked is changed)",
    "not_done": "not_done",
    "not_found": "not_found (it was looked for in vain)",
}

_VALUES: Final = (bool, int, float, str, bytes, Mapping, list, set)
"""What is easily given in the place of a type."""

EVERY_EFFECT: Final[frozenset[Effect]] = frozenset(get_args(Effect))
"""The effects of an agent whose every outcome is understood."""


def finish_tool(answer: Parameters, effects: Collection[Effect] = ()) -> Tool:
    """The tool that ends a run, with one required argument of the answer's schema.

    Of an agent whose tools have some of these `effects`, the model may say what came of the task:
    whether it is done where it can act, that nothing was found where it can look.
    """
    schema = dict(answer)
    definitions = schema.pop("$defs", None)
    parameters: Parameters = {
        "type": "object",
        "properties": {"answer": schema},
        "required": ["answer"],
        "additionalProperties": False,
    }
    if definitions is not None:
        parameters["$defs"] = definitions  # references start at the outermost schema
    acts, reads = not EFFECTFUL.isdisjoint(effects), "read" in effects
    if acts or reads:
        outcomes = [*(["done", "not_done"] if acts else []), *(["not_found"] if reads else [])]
        means = _WHERE + ", ".join([_MEANS[name] for name in outcomes])
        parameters["properties"] = {
            "answer": schema,
            OUTCOME: {"type": "string", "enum": ["answered", *outcomes], "description": means},
        }
    return Tool(
        name=FINISH,
        description="Give the final answer; this ends the work.",
        parameters=parameters,
        call=_answer,
        effect="pure",
        trust="trusted",
    )


def finish_problems(validate: Callable[[Json], list[str]], args: Json) -> list[str]:
    """What is wrong with arguments of finish: one that found nothing need give no typed answer."""
    named = cast("dict[str, Json]", args) if isinstance(args, dict) else {}
    return [] if named.get(OUTCOME) == "not_found" else validate(args)


async def _answer(args: dict[str, Json], _key: str) -> Json:
    return args["answer"]


def answer_schema(kind: Any) -> Parameters:
    """The schema of an answer's type. Raises `ConfigError` for a type that has none."""
    if kind is str:  # as a rule
        return {"type": "string"}
    if _is_value(kind):
        message = f"answer is {short_repr(kind)} ({type(kind).__name__}): give a type"
        raise ConfigError(message, field="answer")
    return schema_of(kind, "the answer's type")


def _is_value(kind: object) -> bool:
    """Whether a value stands in the place of a type."""
    return isinstance(kind, _VALUES) or (is_dataclass(kind) and not isinstance(kind, type))


def encode_answer(kind: Any, value: Any) -> Json:
    """An answer of the type as the record has it.

    Raises `ValueError` for what is none, or would be read back as another value.
    """
    set_defaults(value)
    typed, as_json = adapted(kind, "the answer's type"), plain(value)
    encoded: Json = decode_json(encode(without_own_fields(typed, by_name(typed, as_json))))
    decoded = decode_answer(kind, encoded)
    if type(decoded) is not type(value) and decoded != value:  # it is only its JSON
        wanted = kind.__name__ if isinstance(kind, type) else repr(kind)
        message = f"a {type(value).__name__} is not accepted in place of {wanted}"
        raise ValueError(message)
    if (changed := changed_part(value, decoded)) is not None:
        was, now = (type(each).__name__ for each in changed)
        message = f"in it a value of type {was} is read back as {now}: the type must say what it is"
        raise ValueError(message)
    if encoded != as_json and plain(decoded) != as_json:
        message = "in it a field that its class sets itself (init=False) has another value"
        raise ValueError(message)
    return encoded


def decode_answer(kind: Any, value: Json) -> Any:
    """A JSON value as an answer of the type. Raises `ValueError` with a line that teaches."""
    if kind is str and isinstance(value, str):
        return value  # the usual case, at the end of every run: no schema to make for it
    if wrong := problems(answer_schema(kind), value, "field"):
        raise ValueError("; ".join(wrong))
    answer = from_json(adapted(kind, "the answer's type"), value)
    set_defaults(answer)
    return answer


def completed_answer(kind: Any, recorded: Json) -> Json:
    """A recorded answer with the fields that its type has by default."""
    typed = adapted(kind, "the answer's type")
    named = by_name(typed, plain(decode_answer(kind, recorded)))
    return with_defaults(recorded, without_own_fields(typed, named))
