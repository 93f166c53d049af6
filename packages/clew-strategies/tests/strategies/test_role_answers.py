"""A role's agent answers with what its strategy reads, or the strategy is not made."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
import pytest

from clew import Agent, ConfigError, run
from clew.testing import ScriptedModel, finish, say
from clew_strategies import (
    AnswerVerdict,
    Auto,
    CallPlan,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    RoutedAgent,
    Routing,
    Score,
    StepPlan,
    Subtasks,
    TreeSearch,
    strategy_agent,
)

A: Agent = Agent(model=ScriptedModel([say("an answer")]))

ROLES: dict[str, tuple[Callable[[Agent[Any]], Any], str, set[type]]] = {
    "reflexion": (lambda it: Reflexion(A, evaluator=it), "evaluator", {AnswerVerdict}),
    "optimizer": (lambda it: EvaluatorOptimizer(A, evaluator=it), "evaluator", {AnswerVerdict}),
    "rewoo": (lambda it: ReWOO(A, planner=it), "planner", {CallPlan}),
    "plan": (lambda it: PlanAndSolve(A, planner=it), "planner", {StepPlan}),
    "orchestrator": (lambda it: Orchestrator(A, divider=it), "divider", {Subtasks}),
    "tree": (lambda it: TreeSearch(A, scorer=it), "scorer", {Score, AnswerVerdict}),
    "auto": (lambda it: Auto(A, chooser=it), "chooser", {RoutedAgent}),
    "auto evaluator": (lambda it: Auto(A, evaluator=it), "evaluator", {AnswerVerdict}),
    "routing": (lambda it: Routing({"a": A}, {"a": "all"}, it), "chooser", {RoutedAgent}),
}
"""How a strategy is made with an agent for a role, the role, and the types that it reads."""


class Nested(msgspec.Struct):
    judgement: AnswerVerdict


class Untold(msgspec.Struct):
    passed: bool
    why: str = "none"


class Numbered(TypedDict):
    passed: int
    why: str


class Perhaps(TypedDict):
    passed: bool
    why: NotRequired[str]


class Steps(msgspec.Struct):
    steps: list[int]


KINDS: dict[str, Any] = {
    "text": str,
    "int": int,
    "bool": bool,
    "float": float,
    "list": list[str],
    "dict": dict,
    "dict of text": dict[str, str],
    "Any": Any,
    "None": None,
    "literal": Literal["a", "b"],
    "union": str | int,
    "optional": AnswerVerdict | None,
    "one of two": AnswerVerdict | list[str],
    "list of them": list[AnswerVerdict],
    **{
        each.__name__: each
        for each in (AnswerVerdict, CallPlan, StepPlan, Subtasks, Score, RoutedAgent)
    },
    **{each.__name__: each for each in (Nested, Untold, Numbered, Perhaps, Steps)},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("role", ROLES)
def test_another_type_than_the_role_reads_is_refused_when_the_strategy_is_made(
    role: str, kind: str
) -> None:
    make, name, wanted = ROLES[role]
    given = KINDS[kind]
    strategy = make(A.replace(answer=given))
    if given in wanted:
        strategy_agent(strategy, A)
        return
    with pytest.raises(ConfigError) as refused:
        strategy_agent(strategy, A)
    told = str(refused.value)
    assert f": the {name} answers with " in told
    assert all(each.__name__ in told.partition("give it answer=")[2] for each in wanted)
    assert "\n" not in told


def test_the_line_names_the_role_and_both_types() -> None:
    told = []
    for kind in (int, dict[str, Any], Untold, str):
        with pytest.raises(ConfigError) as refused:
            strategy_agent(TreeSearch(A, scorer=A.replace(answer=kind)), A)
        told.append(str(refused.value))
    assert told == [
        f"tree_search: the scorer answers with {kind}: give it answer=Score or AnswerVerdict, "
        "which is what its role wants"
        for kind in ("int", "dict[str, typing.Any]", "Untold", "text")
    ]


class Wider(msgspec.Struct):
    """As `AnswerVerdict`, and more."""

    passed: bool
    why: str
    more: int = 0


class Dict(TypedDict):
    passed: bool
    why: str


@dataclass
class Data:
    why: Annotated[str, msgspec.Meta(min_length=1)]
    passed: Literal[True, False]


class Named(msgspec.Struct):
    """As `RoutedAgent`, with the names that there are."""

    name: Literal["a"]
    why: Literal["because"] | Annotated[str, msgspec.Meta(max_length=80)]


class Weighed(msgspec.Struct):
    """As `Score`, in whole numbers."""

    score: int
    why: str


class Left(msgspec.Struct, tag="left"):
    passed: bool
    why: str


class Right(msgspec.Struct, tag="right"):
    why: str
    passed: bool


@pytest.mark.parametrize("kind", [AnswerVerdict, Wider, Dict, Data, Left | Right])
@pytest.mark.parametrize("role", ["reflexion", "optimizer", "tree", "auto evaluator"])
def test_a_type_of_ones_own_with_the_same_fields_will_do(role: str, kind: Any) -> None:
    strategy_agent(ROLES[role][0](A.replace(answer=kind)), A)


@pytest.mark.parametrize(("role", "kind"), [("routing", Named), ("auto", Named), ("tree", Weighed)])
def test_a_narrower_type_will_do(role: str, kind: Any) -> None:
    strategy_agent(ROLES[role][0](A.replace(answer=kind)), A)


async def test_what_is_not_refused_is_read() -> None:
    said = {"passed": True, "why": "good", "more": 2}
    judge = Agent(model=ScriptedModel([finish(said)]), answer=Wider)
    whole = strategy_agent(Reflexion(A, evaluator=judge), A)
    assert (await run(whole, "?")).answer == "an answer"


TO_A, TO_B = {"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}


def referring(schema: Any) -> Any:
    """A type whose answers have a schema with a definition `a`, which is this."""

    class Answer:
        """As pydantic's models are asked for theirs."""

        @classmethod
        def model_json_schema(cls, **_: object) -> dict[str, Any]:
            """Give the schema."""
            return {**TO_A, "$defs": {"a": schema, "b": TO_A}}

        @classmethod
        def model_validate_json(cls, body: bytes, *, strict: bool) -> Any:
            """Take any answer."""
            del body, strict
            return cls()

    return Answer


REASON = {"passed": {"type": "boolean"}, "why": {"type": "string"}}
RIGHT = {"type": "object", "properties": REASON, "required": ["passed", "why"]}


@pytest.mark.parametrize(
    ("schema", "fits"),
    [
        (TO_A, False),
        (TO_B, False),
        ({"anyOf": [TO_A, TO_B]}, False),
        ({"anyOf": [{"oneOf": [TO_B, TO_A]}]}, False),
        ({"anyOf": [TO_A, RIGHT]}, True),
        ({"anyOf": [TO_A, {"type": "string"}]}, False),
        ({**RIGHT, "properties": {**REASON, "more": TO_A}}, True),
        ({**RIGHT, "properties": {**REASON, "why": TO_B}}, False),
        ({"type": "array", "items": TO_A}, False),
    ],
)
def test_a_type_that_refers_to_itself_is_looked_through(schema: Any, fits: bool) -> None:
    strategy = Reflexion(A, evaluator=A.replace(answer=referring(schema)))
    if fits:
        strategy_agent(strategy, A)
        return
    with pytest.raises(ConfigError, match="the evaluator answers with Answer"):
        strategy_agent(strategy, A)


class Tree(msgspec.Struct):
    name: str
    below: list["Tree"]


class Other(msgspec.Struct):
    """As `Tree`."""

    below: list["Other"]
    name: str
    more: int = 0


class Shallow(msgspec.Struct):
    name: str
    below: list[str]


class Deep(msgspec.Struct):
    name: str
    below: list[Shallow]


@pytest.mark.parametrize(
    ("kind", "fits"), [(Tree, True), (Other, True), (Shallow, False), (Deep, False)]
)
def test_a_role_may_read_a_type_that_holds_itself(kind: Any, fits: bool) -> None:
    class Reads(Reflexion):
        @property
        def defaults(self) -> dict[str, Agent[Any]]:
            return {**super().defaults, "evaluator": A.replace(answer=Tree)}

    strategy = Reads(A, evaluator=A.replace(answer=kind))
    if fits:
        strategy_agent(strategy, A)
        return
    with pytest.raises(ConfigError, match=f"answers with {kind.__name__}: give it answer=Tree"):
        strategy_agent(strategy, A)
