"""Whether the agents of a strategy's roles answer with what the strategy reads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from clew import Agent, ConfigError
from clew.agent.agent import is_agent
from clew.interfaces import Json
from clew.support.schema_parts import keywords, target
from clew.tools.types import schema_of
from clew_strategies.interface import Strategy

_NAMES: Final[Mapping[type, str]] = {
    str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null",
}  # fmt: skip


def check_answers(strategy: Strategy) -> None:
    """Raise `ConfigError` for an agent whose answers its role cannot read.

    A role reads the type of its default, and those that the strategy names beside it. Another type
    will do that has the same fields, and more.
    """
    defaults: Mapping[str, Agent[Any]] = getattr(strategy, "defaults", {})
    others: Mapping[str, Sequence[type]] = getattr(strategy, "other_answers", {})
    for name, usual in defaults.items():
        types = getattr(strategy, name, None)
        if not is_agent(types) or usual.engine.prompt_spec.answers_text:
            continue
        wanted: list[Any] = [usual.answer, *others.get(name, ())]
        has = types.engine.prompt_spec.answer
        if any(_Fit(has, each).all_fit(has, each) for each in map(_schema, wanted)):
            continue
        message = (
            f"{strategy.name}: the {name} answers with {_called(types)}: give it "
            f"answer={' or '.join(each.__name__ for each in wanted)}, which is what its role wants"
        )
        raise ConfigError(message, field=name)


def _schema(kind: Any) -> Json:
    return schema_of(kind, "a role's answer")


def _called(agent: Agent[Any]) -> str:
    """The type of an agent's answers, as its author wrote it."""
    kind: Any = agent.answer
    if agent.engine.prompt_spec.answers_text:
        return "text"
    return kind.__name__ if isinstance(kind, type) else str(kind)


@dataclass(frozen=True)
class _Fit:
    """Whether values of one schema are of the types and fields of another.

    Bounds and patterns do not count: whoever writes a type of their own knows what the values are.
    """

    root: Json
    """The schema that references of the one are looked up in, and `top` that of the other."""
    top: Json
    known: dict[tuple[int, int], bool] = field(default_factory=dict[tuple[int, int], bool])
    """Pairs that were looked at. One that is being looked at may fit: a type may hold itself."""

    def all_fit(self, has: Json, wants: Json) -> bool:
        """Whether each value of the one schema is one of the other."""
        wanted = _forms(wants, self.top)
        return all(
            any(self._fits(actual, each) for each in wanted) for actual in _forms(has, self.root)
        )

    def _fits(self, actual: dict[str, Json], wanted: dict[str, Json]) -> bool:
        pair = id(actual), id(wanted)
        if pair not in self.known:
            self.known[pair] = True
            self.known[pair] = self._look(actual, wanted)
        return self.known[pair]

    def _look(self, actual: dict[str, Json], wanted: dict[str, Json]) -> bool:
        types = _types(wanted)
        if not types:
            return True
        if not _types(actual) or not _types(actual) <= types:
            return False
        items = wanted.get("items", True)
        return self._fields_fit(actual, wanted) and (
            items is True or self.all_fit(actual.get("items"), items)
        )

    def _fields_fit(self, actual: dict[str, Json], wanted: dict[str, Json]) -> bool:
        fields, needed = keywords(actual.get("properties")), _strings(wanted.get("required"))
        return needed <= _strings(actual.get("required")) and all(
            name not in fields or self.all_fit(fields[name], each)
            for name, each in keywords(wanted.get("properties")).items()
        )


def _forms(schema: Json, root: Json) -> Sequence[dict[str, Json]]:
    """The alternatives that a schema comes to; one that only leads back to itself says nothing."""
    forms, open_ = list[dict[str, Json]](), [keywords(schema)]
    seen = set[int]()
    while open_:
        form = open_.pop()
        if id(form) in seen:
            continue
        seen.add(id(form))
        if "$ref" in form:
            open_.append(keywords(target(form["$ref"], root)))
        elif options := _options(form):
            open_ += [keywords(each) for each in options]
        else:
            forms.append(form)
    return forms or [{}]


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
