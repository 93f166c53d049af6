"""Annotations that are texts, and types of deps that Python cannot hold a value against."""

from __future__ import annotations

from typing import Any, NewType, Protocol, TypedDict

import pytest

from clew import Agent, ConfigError, MemoryStore, RunContext, run, tool
from clew.testing import ScriptedModel, act, finish

UserId = NewType("UserId", str)


class Named(Protocol):
    """Whatever has a name."""

    name: str


class Row(TypedDict):
    """A row of a table."""

    name: str


class Ada:
    """Somebody."""

    name = "ada"


seen: list[object] = []


@tool(effect="read")
def by_id(ctx: RunContext[UserId]) -> str:
    """Look up."""
    seen.append(ctx.deps)
    return "x"


@tool(effect="read")
def by_name(ctx: RunContext[Named]) -> str:
    """Look up."""
    seen.append(ctx.deps)
    return "x"


@tool(effect="read")
def by_row(ctx: RunContext[Row | None]) -> str:
    """Look up."""
    seen.append(ctx.deps)
    return "x"


@tool(effect="read")
def by_fields(ctx: RunContext[Row]) -> str:
    """Look up."""
    seen.append(ctx.deps)
    return "x"


@pytest.mark.parametrize(
    ("one", "deps"),
    [(by_id, "u17"), (by_name, Ada()), (by_row, None), (by_fields, {"name": "ada"})],
    ids=["new type", "protocol", "optional", "typed dict"],
)
async def test_deps_of_any_type_reach_a_tool_of_this_file(one: Any, deps: Any) -> None:
    seen.clear()
    agent = Agent[str, Any](ScriptedModel([act(one.name), finish("ok")]), [one])
    result = await run(agent, "?", deps=deps, store=MemoryStore())
    assert (result.answer, seen) == ("ok", [deps])


async def test_a_part_that_is_an_object_is_asked_with_the_context() -> None:
    class Check:
        def __repr__(self) -> str:
            return "Check"

        async def __call__(self, answer: str, ctx: RunContext[Any]) -> str | None:
            seen.append((answer, ctx.deps))
            return None

    seen.clear()
    agent = Agent[str, Any](ScriptedModel([finish("ok")]), checks=[Check()])
    await run(agent, "?", deps=3, store=MemoryStore())
    assert seen == [("ok", 3)]


def test_a_type_that_only_a_function_around_it_knows_is_refused_in_a_line() -> None:
    class Hidden:
        """A type of a function."""

    def check(answer: str, ctx: RunContext[Hidden]) -> str | None:
        raise AssertionError(answer, ctx)

    with pytest.raises(ConfigError, match="names of the module") as refused:
        Agent[str, Any](ScriptedModel([]), checks=[check])
    assert "\n" not in str(refused.value)


async def test_a_check_of_other_unknown_names_is_asked_as_ever() -> None:
    class Hidden(str):
        """A type of a function."""

        __slots__ = ()

    def check(answer: Hidden, record: Any) -> str | None:
        seen.append(answer)
        return None

    seen.clear()
    checks: list[Any] = [check]
    await run(Agent(ScriptedModel([finish("ok")]), checks=checks), "?", store=MemoryStore())
    assert seen == ["ok"]
