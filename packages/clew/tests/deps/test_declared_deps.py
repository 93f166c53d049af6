"""A factory of deps that says it makes what a part does not take: told when the agent is made."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypedDict

import pytest

from clew import Agent, Call, ConfigError, RunContext, Verdict, delegate, tool
from clew.deps import RunIdentity
from clew.testing import ScriptedModel


@dataclass
class Bank:
    """What the tools take."""

    user: str


class Savings(Bank):
    """A bank too."""


class Shop(NamedTuple):
    """Something else."""

    user: str


class HasUser(Protocol):
    """Whatever has a user."""

    @property
    def user(self) -> str: ...


class Row(TypedDict):
    """A bank as a table has it."""

    user: str


@tool(effect="read")
def balance(ctx: RunContext[Bank]) -> str:
    """Look."""
    return ctx.deps.user


@tool(effect="read")
def anyone(ctx: RunContext[HasUser]) -> str:
    """Look."""
    return ctx.deps.user


@tool(effect="read")
def maybe(ctx: RunContext[Bank | None]) -> str:
    """Look."""
    return str(ctx.deps)


async def guard(call: Call, ctx: RunContext[Bank]) -> Verdict | None:
    """Judge nothing."""


def shop(run: RunIdentity) -> Shop:
    """Make a shop."""
    return Shop(run.owner)


async def shop_later(run: RunIdentity) -> Shop:
    """Make a shop."""
    return shop(run)


def awaited(run: RunIdentity) -> Awaitable[Shop]:
    """Make a shop."""
    return shop_later(run)


def coroutine(run: RunIdentity) -> Coroutine[Any, Any, Shop]:
    """Make a shop."""
    return shop_later(run)


class Maker:
    """Makes shops."""

    def __call__(self, run: RunIdentity) -> Shop:
        """Make one."""
        return shop(run)


def with_more(more: int, run: RunIdentity) -> Shop:
    """Make a shop."""
    return Shop(f"{run.owner}{more}")


def either(run: RunIdentity) -> Shop | int:
    """Make a shop, or a number."""
    return shop(run)


def nothing(run: RunIdentity) -> None:
    """Make nothing."""


WRONG: list[Any] = [
    shop, shop_later, awaited, coroutine, Maker(), partial(with_more, 1), either, nothing, Shop,
]  # fmt: skip


@pytest.mark.parametrize("make", WRONG, ids=range(len(WRONG)))
def test_it_is_told_in_one_line_when_the_agent_is_made(make: Callable[..., Any]) -> None:
    helper = delegate(Agent(ScriptedModel([]), [balance]), name="helper", description="Helps.")
    every: list[dict[str, Any]] = [{"tools": [balance]}, {"guards": [guard]}, {"tools": [helper]}]
    for parts in every:
        with pytest.raises(ConfigError) as told:
            Agent(ScriptedModel([]), deps=make, **parts)
        line = str(told.value)
        assert "takes RunContext[Bank], and the agent's deps are said to make" in line
        assert "\n" not in line


def bank(run: RunIdentity) -> Bank:
    """Make a bank."""
    return Bank(run.owner)


def savings(run: RunIdentity) -> Savings:
    """Make one of a kind."""
    return Savings(run.owner)


def above(run: RunIdentity) -> object:
    """Make what nobody knows."""
    return bank(run)


def some(run: RunIdentity) -> Any:
    """Make what nobody knows."""
    return bank(run)


def bank_or_shop(run: RunIdentity) -> Bank | Shop:
    """Make one of both."""
    return bank(run)


def row(run: RunIdentity) -> Row:
    """Make a row."""
    return {"user": run.owner}


RIGHT: list[Any] = [
    bank, savings, above, some, bank_or_shop, lambda run: run.owner or None, Savings, row,
    partial(bank),
]  # fmt: skip


@pytest.mark.parametrize("make", RIGHT, ids=range(len(RIGHT)))
def test_what_may_be_right_is_taken(make: Callable[..., Any]) -> None:
    made = Agent(ScriptedModel([]), [balance, anyone, maybe], deps=make)
    assert made.deps is make
    assert Agent(ScriptedModel([]), [anyone, maybe], deps=shop).deps is shop


def test_names_of_a_function_around_it_say_nothing() -> None:
    class Inner:
        """Known here alone."""

    def make(run: "RunIdentity") -> "Inner":
        return Inner()

    assert Agent(ScriptedModel([]), [balance], deps=make).deps is make
