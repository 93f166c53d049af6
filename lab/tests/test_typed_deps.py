"""Type checkers know the deps: what is right passes in strict mode, and each wrong line is told."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
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
WRONG: Final = {
    number for number, line in enumerate(PROGRAM.splitlines(), start=1) if line.endswith("# BAD")
}


@pytest.mark.slow
def test_mypy_tells_each_wrong_line_and_no_other(tmp_path: Path) -> None:
    (file := tmp_path / "typed.py").write_text(PROGRAM, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [*command, "--config-file", str(ROOT / "pyproject.toml"), str(file)],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    told = re.findall(r"typed\.py:(\d+): error", done.stdout)
    assert {int(number) for number in told} == WRONG, done.stdout + done.stderr


@pytest.mark.slow
def test_pyright_tells_each_wrong_line_and_no_other(tmp_path: Path) -> None:
    (file := tmp_path / "typed.py").write_text(PROGRAM, "utf-8")
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable,
         "-p", str(tmp_path)],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    told = [
        each for each in json.loads(done.stdout)["generalDiagnostics"] if each["file"] == str(file)
    ]
    lines = {each["range"]["start"]["line"] + 1 for each in told if each["severity"] == "error"}
    assert lines == WRONG, told
