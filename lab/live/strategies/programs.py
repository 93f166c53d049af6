"""QuixBugs: a small function with one bug each, to be answered mended; tests judge.

CLEW_QUIXBUGS is a copy of https://github.com/jkoppel/QuixBugs (MIT). Its programs are no part of
clew. Of a function's test cases the first ones are shown to the agent, by its tool `run_tests`; an
answer is right if all pass.
"""

import ast
import json
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from clew import ConfigError, tool
from clew.core.judging import Check
from clew.core.tools import Tool
from clew.core.trajectory import Trajectory
from clew_code.sandbox import Sandbox, SandboxLimits
from clew_evals import Case
from clew_strategies import AnswerVerdict

VARIABLE: Final = "CLEW_QUIXBUGS"
LONGEST: Final = 520
"""Characters of a function at most: its repair must fit a reply."""
VISIBLE: Final = 3
"""So many test cases the agent may run."""
SECONDS: Final = 10
SLOW: Final = ("knapsack", "levenshtein")
"""Left out, as by QuixBugs' own tests: the right programs take minutes over some cases."""

_ASK: Final = (
    "This Python function has one bug, in one line.\n\n{code}\n\nWhat it should do:\n{about}\n\n"
    "Find the bug, and mend that line. Answer with the whole mended function and nothing else, "
    "from `def {name}(` to its end."
)
_FENCED: Final = re.compile(r"```(?:python)?\n(.*?)(?:```|$)", re.DOTALL)
_BARE: Final = re.compile(
    r"^((?:(?:import \w|from \w+ import ).*\n\s*)*"
    r"def \w+\(.*(?:\n(?:[ \t].*|def \w+\(.*|(?=\n|$)))*)",
    re.MULTILINE,
)
_RUN: Final = """
import json, sys
code, name, cases = json.load(open("given.json"))
space = {"__name__": "program"}
try:
    exec(compile(code, "program.py", "exec"), space)
    found = space[name]
except (SyntaxError, KeyError) as error:
    said = error if isinstance(error, SyntaxError) else "it is not defined"
    print(f"this is not {name} in Python ({said}): give the whole function and nothing else")
    sys.exit(1)
for given, wanted in cases:
    try:
        came = found(*given)
        if hasattr(came, "__next__"):
            came = list(came)
        came = json.loads(json.dumps(came))
    except Exception as error:
        came = f"{type(error).__name__}: {error}"
        print(f"{name}({', '.join(map(repr, given))}) raised {came}"[:300])
        sys.exit(1)
    same = abs(came - wanted) <= given[-1] if name == "sqrt" else came == wanted
    if not same:
        print(f"{name}({', '.join(map(repr, given))}) gave {came!r}, and should {wanted!r}"[:300])
        sys.exit(1)
"""


@dataclass(frozen=True)
class Program:
    """A function with a bug, what it should do, and its test cases."""

    name: str
    code: str
    about: str
    cases: tuple[Any, ...]

    def case(self) -> Case:
        """The repair as a case; its gold is not looked at, since tests judge."""
        question = _ASK.format(code=self.code, about=self.about, name=self.name)
        return Case(f"quixbugs-{self.name}", question, True, category="quixbugs")


def programs() -> dict[str, Program]:
    """Those short enough that have test cases as JSON. Raises `ConfigError` without a copy."""
    return _programs(Path(os.environ.get(VARIABLE, "quixbugs")))


@cache
def _programs(root: Path) -> dict[str, Program]:
    fields: dict[str, Program] = {}
    for path in sorted((root / "json_testcases").glob("*.json")):
        text = (root / "python_programs" / f"{path.stem}.py").read_text("utf-8")
        code, about = _parts(text)
        if len(code) > LONGEST or path.stem in SLOW:
            continue
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
        cases = tuple(_case(json.loads(line)) for line in lines)
        fields[f"quixbugs-{path.stem}"] = Program(path.stem, code, about, cases)
    if not fields:
        message = f"no QuixBugs at {root}: set {VARIABLE} to a copy of jkoppel/QuixBugs"
        raise ConfigError(message)
    return fields


def _case(read: list[Any]) -> tuple[list[Any], Any]:
    arguments, wanted = read
    return (arguments if isinstance(arguments, list) else [arguments]), wanted


def _parts(text: str) -> tuple[str, str]:
    """The function, and what its docstring below it says without alternatives of the code."""
    tree = ast.parse(text)
    lines = text.splitlines()
    last = max(
        node.end_lineno or 0
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom)
    )
    texts = [
        node.value.value
        for node in tree.body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    return "\n".join(lines[:last]).strip(), re.sub(r"\n\s*\n+", "\n", str(texts[0])).strip()


async def failing(program: Program, answer: str, limit: int | None = None) -> str:
    """Why an answer does not pass the first `limit` test cases, or all; "" where it does."""
    text = json.dumps([_code(answer), program.name, program.cases[:limit]])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "given.json").write_text(text, "utf-8")
        box = Sandbox(root=folder, writable=False, limits=SandboxLimits(cpu=SECONDS))
        ended = await box.run([sys.executable, "-c", _RUN], seconds=2 * SECONDS, limit=10_000)
    if ended.code == 0:
        return ""
    output_lines = (ended.stdout or ended.stderr).strip().splitlines()
    return (output_lines[-1] if output_lines else f"it did not end within {SECONDS} seconds")[:300]


def _code(answer: str) -> str:
    """The code of an answer: out of a fence, or from its first `def` or import on; else all."""
    matches = _FENCED.search(answer) or _BARE.search(answer)
    return matches[1] if matches else answer


def _unchanged(program: Program, code: str) -> bool:
    """Whether code says the same as the function with its bug."""
    try:
        return ast.dump(ast.parse(_code(code))) == ast.dump(ast.parse(program.code))
    except (SyntaxError, ValueError):  # a null character is no error of syntax to Python 3.11
        return False


def function_check(program: Program) -> Check:
    """The check of an answer that it is the function at all; no test is run."""

    def is_function(answer: Any, _: Trajectory) -> str | None:
        try:
            tree = ast.parse(_code(str(answer)))
        except (SyntaxError, ValueError):
            tree = ast.Module(body=[], type_ignores=[])
        named = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        if program.name in named:
            return None
        start = f"def {program.name}("
        return f"this is not {program.name} in Python: answer with all of it, from `{start}` on"

    return is_function


def tests_tool(program: Program) -> Tool:
    """The tool that runs the test cases that are shown."""

    @tool(effect="pure")
    async def run_tests(code: str) -> str:
        """Run some tests of the function.

        Args:
            code: The whole function.
        """
        why = await failing(program, code, VISIBLE)
        if why and _unchanged(program, code):
            why += "; this is the function as it was given: change the line with the bug"
        return why or "all of these tests passed"

    return run_tests


def tests_judge(program: Program) -> Tool:
    """The same tests as the evaluator of `Reflexion`."""

    @tool(effect="pure")
    async def evaluate(task: str, answer: str) -> AnswerVerdict:
        """Run some tests of the function.

        Args:
            task: What was asked.
            answer: The whole function.
        """
        del task
        why = await failing(program, answer, VISIBLE)
        return AnswerVerdict(not why, why or "all of these tests passed")

    return evaluate
