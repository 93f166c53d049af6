"""Code as action beside calls of tools, on the tasks of M3ToolEval: `python -m benchmarks.code`.

CLEW_CODE_ACT names a checkout of xingyaoww/code-act, which has the tasks. Every solution is a run
of clew; its model is a script of ours, so the figures say how many steps a task takes one way and
the other, and nothing of what a model would think of. `--overhead` measures what a call from code
costs instead, and needs no checkout.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio

from benchmarks.code import overhead
from benchmarks.code.m3tooleval import Task, tasks, tools
from benchmarks.code.solution import Solution
from benchmarks.code.solutions import solution
from clew import Agent, Limits, MemoryStore, Tool, read, run
from clew.guards import Provenance
from clew.testing.models import Move, ScriptedModel, act, acts, say
from clew_code.programs import run_code

LIMIT: Final = 0.7
"""Of the steps of calls, that programs may take."""


@dataclass
class Steps:
    """Steps of one way to solve a task, and whether its answer was right."""

    number: int
    right: bool


async def _result(tool: Tool, args: dict[str, Any]) -> Any:
    """What a tool gives, without a run: what the script of calls goes on with."""
    value: Any = tool.call(args, "")
    return await value if hasattr(value, "__await__") else value


async def by_calls(task: Task, solved: Solution, *, wide: bool) -> Steps:
    """Calls of tools: one in a step, or those at once that do not need each other."""
    known = {one.name: one for one in tools(task.functions())}
    script: list[Move] = []
    plan = solved.calls(wide)
    answer: Any = None
    try:
        batch = next(plan)
        while True:
            moves = [act(one.name, **one.args) for one in batch]
            script += [acts(*moves)] if wide else moves
            batch = plan.send([await _result(known[one.name], dict(one.args)) for one in batch])
    except StopIteration as end:
        answer = end.value
    number = await _ran(task, script, [])
    return Steps(number, task.accepts(answer))


async def by_code(task: Task, solved: Solution) -> Steps:
    """Programs, each a step."""
    seen: list[str] = []
    number = await _ran(
        task, [act("run_code", code=one) for one in solved.programs], [run_code()], seen
    )
    return Steps(number, task.accepts(solved.answer(seen[-1])))


async def _ran(
    task: Task, script: Sequence[Move], more: Sequence[Tool], seen: list[str] | None = None
) -> int:
    """The steps of a run with this script; every call of it must succeed."""
    model = ScriptedModel([*script, say("done")])
    store = MemoryStore()
    agent = Agent(
        model=model,
        tools=[*tools(task.functions()), *more],
        limits=Limits(steps=60, tool_calls=400, calls_per_step=400),
        guards=[Provenance("off")],
    )
    result = await run(agent, task.asked, store=store)
    record = await read(result.run_id, store=store)
    for step in record.steps:
        for call in step.calls:
            if call.observation is None or not call.observation.ok:
                raise RuntimeError(f"{task.name}: {call.observation}")
            if seen is not None and call.action.name == "run_code":
                seen.append(call.observation.text)
    return result.steps


async def compare() -> int:
    """Solve every task three ways, and print the table."""
    sums: dict[str, list[int]] = {}
    wrong = list[str]()
    for task in tasks():
        name = task.name.partition("/")[2]
        solved = solution(task.family, name, task.asked, task.right)
        ways = [
            await by_calls(task, solved, wide=False),
            await by_calls(task, solved, wide=True),
            await by_code(task, solved),
        ]
        wrong += [task.name for way in ways if not way.right]
        row = sums.setdefault(task.family, [0, 0, 0, 0])
        for index, number in enumerate([1, *(way.number for way in ways)]):
            row[index] += number
    sums["all"] = [sum(column) for column in zip(*sums.values(), strict=True)]
    heads = ("tasks", "", "one call a step", "calls at once", "programs", "of one", "of at once")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for family, (number, one, wide, code) in sums.items():
        print(f"| {family} | {number} | {one} | {wide} | {code} | {code / one:.2f} |"
              f" {code / wide:.2f} |")  # fmt: skip
    print(f"\n{sums['all'][0]} tasks, solved by scripts: {len(wrong)} answers were wrong {wrong}")
    _, one, wide, code = sums["all"]
    good = not wrong and code <= LIMIT * one and code <= LIMIT * wide
    print(f"steps of programs at most {LIMIT} of those of calls: {'yes' if good else 'NO'}")
    return 0 if good else 1


def main() -> int:
    """Compare, or measure."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.code", description=__doc__)
    options.add_argument("--overhead", action="store_true", help="what a call from code costs")
    args = options.parse_args()
    return anyio.run(overhead.measure if args.overhead else compare)


if __name__ == "__main__":
    raise SystemExit(main())
