"""Who stands in for a planned call that gave nothing knows the call; the solver knows the doubt."""

import pytest

from clew import Agent, MemoryStore, ToolError, Verdict, read, replay, resume, rule, run, tool
from clew.core.trajectory import Call, Trajectory
from clew.guards import Provenance
from clew.interfaces import Json
from clew.testing.models import ScriptedModel, finish, say
from clew_strategies import ReWOO, strategy_agent
from clew_strategies.rewoo import CallPlan

SECRET = "p4ss-w0rd-of-the-till"


def ask(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Ask a person about each payment."""
    return Verdict("hold", "May it be paid?") if call.action.name == "pay" else None


async def told(
    end: Exception, *, why: str = "", needed: bool = False, edit: dict[str, Json] | None = None,
    item: str = "desk",
) -> tuple[str, str, list[str]]:  # fmt: skip
    """The finder's task, the solver's, and the reasons, where a payment ends so."""

    @tool(effect="unsafe")
    def pay(item: str, amount: int) -> int:
        """Pay for an item."""
        raise end

    @tool(effect="pure")
    def file(receipt: str) -> str:
        """File a receipt."""
        return "filed"

    args: dict[str, Json] = {"item": item, "amount": 100}
    calls: list[Json] = [{"id": "E1", "tool": "pay", "args": args, "why": why}]
    if needed:
        calls.append({"id": "E2", "tool": "file", "args": {"receipt": "#E1"}, "why": ""})
    found = finish({"value": 7, "why": "the till says so"}) if needed else say("the till says so")
    works = Agent(
        ScriptedModel([found, say("done")]),
        [pay, file],
        guards=[*([ask] if edit else []), Provenance("off")],
    )
    planner = Agent(ScriptedModel([finish({"calls": calls})]), answer=CallPlan)
    agent = strategy_agent(ReWOO(works, planner=planner), works)
    store = MemoryStore()
    await run(agent, "Buy a desk for Ada.", store=store, run_id="r")
    if edit:
        await rule("r:2.1", allow=True, args=edit, store=store)
        await resume(agent, "r", store=store)
    record = await read("r", store=store)
    assert record.stop is not None
    assert record.stop.status == "answered"
    await replay(agent, "r", store=store)
    tasks = {call.action.name: str(call.args["task"]) for call in record.calls if call.child}
    finder = tasks["find_value" if needed else "find_another_way"]
    thoughts = [step.thought.text for step in record if step.thought is not None]
    return finder, tasks["solve"], thoughts


@pytest.mark.parametrize("needed", [False, True])
@pytest.mark.parametrize("end", [ToolError("no money"), OSError("the line broke")])
async def test_the_finder_knows_the_call_and_the_task(end: Exception, *, needed: bool) -> None:
    finder, _, _ = await told(end, needed=needed)
    assert 'pay({"item":"desk","amount":100}) was ' in finder
    assert "Buy a desk for Ada." in finder
    assert "for this: pay." not in finder
    assert "Find out: pay." not in finder


async def test_what_the_plan_says_of_a_call_is_what_is_to_be_found() -> None:
    finder, _, _ = await told(ToolError("no money"), why="the receipt's number")
    assert "Find out: the receipt's number. " in finder


async def test_the_arguments_are_those_that_a_person_gave() -> None:
    edit: dict[str, Json] = {"item": "stool", "amount": 10}
    finder, _, _ = await told(ToolError("no money"), edit=edit)
    assert 'pay({"item":"stool","amount":10}) was tried' in finder


async def test_a_secret_among_the_arguments_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILL_PASSWORD", SECRET)
    finder, solver, _ = await told(ToolError("no money"), item=SECRET)
    assert "pay({" in finder
    assert SECRET not in finder + solver


async def test_long_arguments_are_told_by_their_ends() -> None:
    finder, _, _ = await told(ToolError("no money"), item="x" * 20_000)
    assert 'pay({"item":"xxx' in finder
    assert '"amount":100}) was tried' in finder
    assert len(finder) < 5_000


@pytest.mark.parametrize("needed", [False, True])
async def test_the_solver_is_told_of_a_doubt_whatever_was_found(*, needed: bool) -> None:
    _, solver, thoughts = await told(OSError("the line broke"), needed=needed)
    assert "may or may not have happened" in solver
    assert 'E1 (pay): pay({"item":"desk","amount":100}) may or may not' in solver
    assert ("7" if needed else "the till says so") in solver
    assert ("E2 (file): filed" in solver) is needed
    assert not any("E1 failed" in each for each in thoughts)
    assert any("E1 may have happened." in each for each in thoughts)


async def test_the_solver_is_told_of_no_doubt_where_nothing_was_done() -> None:
    _, solver, thoughts = await told(ToolError("no money"))
    assert "E1 (pay): the till says so" in solver
    assert "may" not in solver
    assert any("E1 failed." in each for each in thoughts)
