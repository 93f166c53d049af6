"""`finish`, the tool that ends a run, and the types its answer may have."""

from typing import Any

from clew.core.events import FINISH, Json
from clew.core.interfaces import Parameters, Tool
from clew.tools.pydantic_types import adapted
from clew.tools.schema import problems
from clew.tools.types import from_json, schema_of


def finish_tool(answer: Parameters) -> Tool:
    """The tool that ends a run, with one required argument of the answer's schema."""
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
    return Tool(
        name=FINISH,
        description="Give the final answer; this ends the work.",
        parameters=parameters,
        call=_answer,
        effect="pure",
        trust="trusted",
    )


async def _answer(args: dict[str, Json], _key: str) -> Json:
    return args["answer"]


def answer_schema(kind: Any) -> Parameters:
    """The schema of an answer's type. Raises `ConfigError` for a type that has none."""
    if kind is str:  # as a rule
        return {"type": "string"}
    return schema_of(kind, "the answer's type")


def decode_answer(kind: Any, value: Json) -> Any:
    """A JSON value as an answer of the type. Raises `ValueError` with a line that teaches."""
    if kind is str and isinstance(value, str):
        return value  # the usual case, at the end of every run: no schema to make for it
    if wrong := problems(answer_schema(kind), value, "field"):
        raise ValueError("; ".join(wrong))
    return from_json(adapted(kind, "the answer's type"), value)
