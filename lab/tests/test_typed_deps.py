"""Type checkers know the deps: what is right passes in strict mode, and each wrong line is told."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.type_checkers import CHECKERS, lines_marked_bad

PROGRAM: Final = '''
from dataclasses import dataclass
from typing import assert_type
from clew import Agent, Call, Instructions, RunContext, Result, Verdict
from clew import batch, resume, rule, run, start, tool
from clew.deps import RunIdentity
from clew.testing import ScriptedModel

@dataclass
class Db:
    user: str
@dataclass
class Other:
    x: int

@tool
def refund(order: str, ctx: RunContext[Db]) -> str:
    """Refund."""
    assert_type(ctx.deps, Db)
    assert_type(ctx.key, str)
    return ctx.deps.user

@tool
def bad(ctx: RunContext[Db]) -> str:
    """Bad."""
    return ctx.deps.name  # BAD

@tool
def none(ctx: RunContext) -> str:
    """None."""
    assert_type(ctx.deps, None)
    return ctx.key

def guard(call: Call, ctx: RunContext[Db]) -> Verdict | None: return None
def check(answer: str, ctx: RunContext[Db]) -> str | None: return None
def tail(ctx: RunContext[Db]) -> str: return ctx.deps.user
def make(run: RunIdentity) -> Db: return Db(run.labels["user"])
async def make_later(run: RunIdentity) -> Db: return Db(run.labels["user"])

model = ScriptedModel([])
words = Instructions(tail=tail)
a = Agent(model, tools=[refund], guards=[guard], checks=[check], prompt=words, deps=make)
assert_type(a, Agent[str, Db])
b = Agent[str, Db](model, tools=[refund], deps=make_later)
c = Agent(model, tools=[refund])
d = Agent[str, Db](model, tools=[refund])
e = Agent(model, tools=[refund], answer=Other, deps=lambda run: Db(run.owner))
assert_type(e, Agent[Other, Db])

async def main() -> None:
    assert_type(await run(a, "?", deps=Db("x")), Result[str])
    await run(c, "?", deps=Db("x"))
    await run(d, "?", deps=Db("x"))
    await run(a, "?", deps=Other(1))  # BAD
    await run(d, "?", deps=Other(1))  # BAD
    await resume(a, "r", deps=3)  # BAD
    await rule("r", allow=True, agent=a, deps=Other(1))  # BAD
    await batch(a, ["?"], deps=Db("u"))
    await start(a, "?", deps=Other(1))  # BAD
    assert_type(await run(e, "?"), Result[Other])
wrong = Agent(model, deps=3)  # BAD
'''


@pytest.mark.slow
@pytest.mark.parametrize("refused", CHECKERS)
def test_each_wrong_line_is_told_and_no_other(refused: Any, tmp_path: Path) -> None:
    lines, report = refused(PROGRAM, tmp_path)
    assert lines == lines_marked_bad(PROGRAM), report
