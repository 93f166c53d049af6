"""Whether the agents of a strategy's roles answer with what the strategy reads."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from clew.core.agent import Agent, is_agent
from clew.core.errors import ConfigError
from clew.core.events import Json
from clew.strategies.interface import Strategy
from clew.support.schema_parts import keywords, target
from clew.tools.types import schema_of

_NAMES: Final[Mapping[type, str]] = {
    str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null",
}  # fmt: skip


def check_answers(strategy: Strategy) -> None:
    """Raise `ConfigError` for an agent whose answers its role cannot read.

    A role reads the type of its default, and those that the strategy names beside it. Another type
    will do that has the same fields, and more.
    """
    defaults: Mapping[str, Agent] = getattr(strategy, "defaults", {})
    others: Mapping[str, Sequence[type]] = getattr(strategy, "other_answers", {})
    for name, usual in defaults.items():
        given = getattr(strategy, name, None)
        if not is_agent(given) or usual.brief.answers_text:
            continue
        wanted: list[Any] = [usual.answer, *others.get(name, ())]
        has = given.brief.answer
        if any(_fits(has, has, each, each) for each in map(_schema, wanted)):
            continue
        message = (
            f"{strategy.name}: the {name} answers with {_called(given)}: give it "
            f"answer={' or '.join(each.__name__ for each in wanted)}, which is what its role wants"
        )
        raise ConfigError(message, field=name)


def _schema(kind: Any) -> Json:
    return schema_of(kind, "a role's answer")


def _called(agent: Agent[Any]) -> str:
    """The type of an agent's answers, as its author wrote it."""
    kind: Any = agent.answer
    if agent.brief.answers_text:
        return "text"
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _fits(has: Json, root: Json, wants: Json, top: Json) -> bool:
    """Whether each value of one schema is of the types and fields of the other.

    Each is within the schema that its references are looked up in. Bounds and patterns do not
    count: whoever writes a type of their own knows what the values are.
    """
    given, wanted = _resolved(has, root), _resolved(wants, top)
    if options := _options(given):
        return all(_fits(each, root, wanted, top) for each in options)
    if options := _options(wanted):
        return any(_fits(given, root, each, top) for each in options)
    types = _types(wanted)
    if not types:
        return True
    if not _types(given) or not _types(given) <= types:
        return False
    return _fields_fit(given, root, wanted, top) and (
        "items" not in wanted or _fits(given.get("items"), root, wanted["items"], top)
    )


def _fields_fit(given: dict[str, Json], root: Json, wanted: dict[str, Json], top: Json) -> bool:
    fields, needed = keywords(given.get("properties")), _strings(wanted.get("required"))
    return needed <= _strings(given.get("required")) and all(
        name not in fields or _fits(fields[name], root, each, top)
        for name, each in keywords(wanted.get("properties")).items()
    )


def _resolved(schema: Json, root: Json) -> dict[str, Json]:
    """The keywords of a schema, or of the one that it refers to."""
    found = keywords(schema)
    while "$ref" in found:
        found = keywords(target(found["$ref"], root))
    return found


def _options(schema: dict[str, Json]) -> Sequence[Json]:
    return cast("Sequence[Json]", schema.get("anyOf") or schema.get("oneOf") or ())


def _types(schema: dict[str, Json]) -> set[str]:
    """The types of JSON that a schema allows; empty if it allows all."""
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    named = schema.get("type")
    if named is None and values is not None:
        return {_NAMES.get(type(each), "object") for each in cast("Iterable[object]", values)}
    types = {named} if isinstance(named, str) else _strings(named)
    return types | {"integer"} if "number" in types else types


def _strings(value: Json) -> set[str]:
    return {str(each) for each in cast("Iterable[Json]", value or ())}
