"""Type checkers know approval rules: lambdas and functions that fit pass, all others are told."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.type_checkers import CHECKERS, lines_marked_bad

PROGRAM: Final = '''
from clew import RunContext, Tool, tool
from clew.interfaces import Json
from clew.tools import external

def large(args: dict[str, Json]) -> str | None: return "much" if args["amount"] else None
def dear(args: dict[str, Json], ctx: RunContext[int]) -> bool: return bool(ctx.deps)
async def awaited(args: dict[str, Json], ctx: RunContext[int]) -> bool: return ctx.deps > 1
class Rule:
    def __call__(self, args: dict[str, Json]) -> bool: return bool(args)
async def call(args: dict[str, Json], key: str) -> str: return key

tool(approve=True)
tool(approve="it is money")
tool(approve=large)
tool(approve=dear)
tool(approve=awaited)
tool(approve=Rule())
external("pay", "Pay.", approve=lambda args: args["amount"] > 100)
Tool("pay", "Pay.", {}, call, approve=lambda args: args["amount"] > 100)

@tool(approve=lambda args: "much" if args["amount"] > 100 else None)
def pay(amount: int) -> str:
    """Pay."""
    return f"{amount}"

@tool(approve=lambda args, ctx: "much" if args["amount"] > ctx.deps else None)
def buy(amount: int) -> str:
    """Buy."""
    return f"{amount}"

def of_text(args: str) -> bool: return bool(args)
def number(args: dict[str, Json]) -> int: return len(args)
def of_nothing() -> bool: return True
def by_name(args: dict[str, Json], *, ctx: RunContext[int]) -> bool: return ctx.deps > 1
tool(approve=of_text)  # BAD
tool(approve=number)  # BAD
tool(approve=of_nothing)  # BAD
tool(approve=by_name)  # BAD
tool(approve=1.5)  # BAD
tool(approve=lambda: True)  # BAD
tool(approve=lambda args: 1.5)  # BAD
tool(approve=lambda args, ctx, more: True)  # BAD
'''


@pytest.mark.slow
@pytest.mark.parametrize("refused", CHECKERS)
def test_each_wrong_rule_is_told_and_no_other(refused: Any, tmp_path: Path) -> None:
    lines, report = refused(PROGRAM, tmp_path)
    assert lines == lines_marked_bad(PROGRAM), report
