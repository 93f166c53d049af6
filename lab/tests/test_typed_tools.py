"""A tool has the types of its function: its calls are checked, also where it is one of several."""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.type_checkers import CHECKERS, lines_marked_bad

PROGRAM: Final = '''
from typing import assert_type
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from clew import Agent, Call, RunContext, Tool, Trajectory, Verdict, delegate, tool
from clew.deps import ContextCheck, ContextGuard
from clew.interfaces import AgentTool, Check, Guard
from clew.tools import FunctionTool
from clew.testing import ScriptedModel

@tool(effect="pure")
def total(numbers: list[int], start: int = 0) -> int:
    """Sum."""
    return sum(numbers, start)

@tool
async def fetch(page: str, ctx: RunContext[None]) -> bytes:
    """Fetch."""
    return page.encode()

def plain(x: int) -> int:
    """Plain."""
    return x

class Doubler:
    """Double."""
    def __call__(self, x: int) -> int:
        """Double."""
        return 2 * x

doubled = tool(Doubler())
assert_type(total([1]), int)
assert_type(total([1], start=2), int)
assert_type(doubled(2), int)
total("wrong", 3)  # BAD
total([1], begin=2)  # BAD
total()  # BAD
doubled("x")  # BAD
words: str = total([1])  # BAD
tool(3)  # BAD
tools = [total, fetch, doubled]
agent = Agent(ScriptedModel([]), tools)
agent2 = Agent(ScriptedModel([]), [total, fetch, plain])
listed: list[Tool] = [total, fetch]
def any_of(it: FunctionTool) -> FunctionTool:
    if it.hidden:
        it(1, 2)
    return it
any_of(total)
any_of(fetch)
chosen = total if listed else fetch
assert chosen.name
async def main(ctx: RunContext[None]) -> None:
    assert_type(await fetch("x", ctx), bytes)
    await fetch(1, ctx)  # BAD
class Box:
    @tool(effect="read")
    @staticmethod
    def inside(x: int) -> str:
        """In."""
        return str(x)
assert_type(Box.inside(1), str)
made: Callable[[list[int]], int] = total
wrong: Callable[[str], int] = total  # BAD
async def by_record(call: Call, trajectory: Trajectory) -> Verdict | None: return None
def by_context(call: Call, ctx: RunContext[int]) -> Verdict | None: return None
@dataclass(frozen=True)
class Only:
    name: str
    def __call__(self, call: Call, ctx: RunContext[int]) -> Verdict | None: return None
def positive(answer: int, trajectory: Trajectory) -> str | None: return None
def known(answer: int, ctx: RunContext[int]) -> str | None: return None
def short(answer: str, ctx: RunContext[int]) -> str | None: return None
GUARDS: Sequence[Guard | ContextGuard] = [by_record, by_context, Only("pay")]
CHECKS: Sequence[Check[int] | ContextCheck[int]] = [positive, known]
lead = delegate(agent2, name="ask", description="Asks.")
TOOLS: list[Tool | AgentTool] = [total, fetch, lead]
whole = Agent(ScriptedModel([], answer=int), TOOLS, answer=int, guards=GUARDS, checks=CHECKS)
assert_type(whole, Agent[int])
ScriptedModel([], answer=int | str)
ScriptedModel([], answer=list[int])
ScriptedModel([], answer=3)  # BAD
BAD_GUARDS: Sequence[Guard | ContextGuard] = [positive]  # BAD
BAD_CHECKS: Sequence[Check[int] | ContextCheck[int]] = [short]  # BAD
'''


@pytest.mark.slow
@pytest.mark.parametrize("refused", CHECKERS)
def test_each_wrong_line_is_told_and_no_other(refused: Any, tmp_path: Path) -> None:
    lines, report = refused(PROGRAM, tmp_path)
    assert lines == lines_marked_bad(PROGRAM), report


def test_it_runs_up_to_its_wrong_lines() -> None:
    program = "\n".join(line for line in PROGRAM.splitlines() if not line.endswith("# BAD"))
    names: dict[str, Any] = {}
    exec(compile(program, "program", "exec"), names)
    assert names["total"]([1], start=2) == 3
    assert names["doubled"](2) == 4
