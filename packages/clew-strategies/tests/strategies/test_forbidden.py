"""What an agent forbids holds where a strategy calls its tools itself; references carry values."""

from collections.abc import Sequence
from typing import Any

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    ToolError,
    Trajectory,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.guards import Provenance
from clew.interfaces import Guard, Json, StopRule
from clew.toolbox.person import HoldQuestions, ask_person
from clew_strategies import AnswerVerdict, Auto, Reflexion, ReWOO, strategy_agent
from tests.strategies import post
from tests.strategies.post import Post, planned, step
from tests.strategies.test_programs import Rules

ADA, BOB, CYD = (step(f"E{n}", "send", to=to) for n, to in enumerate(("a", "b", "c"), 1))
LOOK = step("E1", "look", name="Ada")


async def ran(agent: Agent, store: MemoryStore) -> tuple[str, str, Trajectory]:
    done = await run(strategy_agent(ReWOO(agent), agent), "Write to all.", store=store, run_id="r")
    return done.status, str(done.answer), await read("r", store=store)


@pytest.mark.parametrize(
    ("guards", "calls", "letters", "told"),
    [
        ([post.deny_letters], [ADA], [], "no letters"),
        ([post.deny_letters], [LOOK, step("E2", "send", to="#E1.email")], [], "no letters"),
        ([post.known_only], [ADA, BOB], [], "unknown name"),
        ([post.known_only], [LOOK], [], "ada@x.org"),
        ([post.one_letter], [ADA, step("E2", "send", to="b", text="#E1")], ["a"], "one letter"),
        ([post.mend_address], [ADA], ["new@y.org"], "sent"),
        ([post.mend_address], [ADA, LOOK | {"id": "E2"}], ["new@y.org"], "ada@x.org"),
        ([post.after_looking], [ADA], [], "look first"),
        (
            [post.after_looking],
            [LOOK, step("E2", "send", to="#E1.email")],
            ["ada@x.org"],
            "E2 (send): sent",
        ),
        ([post.mend_address, post.deny_letters], [ADA], [], "no letters"),
    ],
)
async def test_a_planned_call_is_judged_by_the_agents_guards(
    guards: Sequence[Guard], calls: list[dict[str, Json]], letters: list[str], told: str
) -> None:
    office, store = Post(), MemoryStore()
    agent = office.clerk(planned(*calls), guards=guards)
    status, said, record = await ran(agent, store)
    assert office.letters == letters
    if guards != [post.after_looking] or letters:
        assert (status, told in said) == ("answered", True)
    whole = strategy_agent(ReWOO(agent), agent)
    assert (await replay(whole, "r", store=store)).trajectory.stop == record.stop
    assert office.letters == letters


@pytest.mark.parametrize("allow", [True, False])
@pytest.mark.parametrize("outer", [ReWOO, Auto, lambda a: Reflexion(strategy_agent(ReWOO(a), a))])
async def test_a_held_planned_call_waits_for_a_person(outer: Any, *, allow: bool) -> None:
    office, store = Post(), MemoryStore()
    model = planned(LOOK, step("E2", "send", to="#E1.email"))
    model.by[post.JUDGE] = lambda task: {"passed": True, "why": "fine"}
    agent = office.clerk(model, guards=[post.hold_letters])
    whole = strategy_agent(outer(agent), agent)
    goal = "Write to Ada and Bob, and then also tell me the mayor of Ulm and of Graz."
    held = await run(whole, goal, store=store, run_id="r")
    assert (held.status, office.letters) == ("held", [])
    (waits,) = await pending_approvals(store=store)
    assert waits.tool == "send"
    await rule(waits.id, allow=allow, store=store)
    done = await resume(whole, "r", store=store)
    assert done.status == "answered"
    assert office.letters == (["ada@x.org"] if allow else [])
    assert ("Do not try it in another way" in str(done.answer)) is not allow


@pytest.mark.parametrize(
    ("limits", "most"),
    [
        (Limits(tool_calls=2), 2),
        (Limits(tool_calls=1), 1),
        (Limits(calls_per_tool={"send": 1}), 1),
        (Limits(tool_calls=2, calls_per_step=1), 2),
        (Limits(calls_per_step=1), 3),
    ],
)
async def test_limits_on_calls_count_planned_calls(limits: Limits, most: int) -> None:
    office, store = Post(), MemoryStore()
    _, _, record = await ran(office.clerk(planned(ADA, BOB, CYD), limits=limits), store)
    assert len(office.letters) == most
    sent = [[call for call in each.calls if call.changed] for each in record]
    assert max(map(len, sent)) <= limits.calls_per_step


@pytest.mark.parametrize("bounds", [[post.enough]])
async def test_a_bound_of_ones_own_ends_the_plan(bounds: Sequence[StopRule]) -> None:
    office, store = Post(), MemoryStore()
    calls = [ADA, step("E2", "send", to="b", text="#E1")]
    status, _, record = await ran(office.clerk(planned(*calls), bounds=bounds), store)
    assert (status, office.letters) == ("bound", ["a"])
    assert record.stop is not None
    assert record.stop.reason.startswith("letters")


async def test_a_planned_question_waits_for_its_answer() -> None:
    model = planned(step("E1", "ask_person", question="Which city?"))
    agent = Agent(
        model, [ask_person()], prompt=f"{post.CLERK}.", guards=[HoldQuestions(), Provenance("off")]
    )
    store, whole = MemoryStore(), strategy_agent(ReWOO(agent), agent)
    assert (await run(whole, "Go.", store=store, run_id="r")).status == "held"
    (waits,) = await pending_approvals(store=store)
    args: Json = {"question": "Which city?", "answer": "Ulm"}
    await rule(f"r:{waits.call}", allow=True, args=args, store=store)
    done = await resume(whole, "r", store=store)
    assert (done.status, "Ulm" in str(done.answer)) == ("answered", True)


@pytest.mark.parametrize("guard", [post.hold_letters, post.deny_letters])
async def test_an_evaluators_tool_is_judged_by_its_own_name(guard: Guard) -> None:
    seen: list[str] = []

    @tool(effect="unsafe")
    def send(task: str, answer: str) -> AnswerVerdict:
        """Send the answer to a judge.

        Args:
            task: The task.
            answer: The answer.
        """
        seen.append(answer)
        return AnswerVerdict(passed=True, why=task)

    model = Rules({post.CLERK: lambda task: "42", post.REFLECT: lambda task: "no"})
    agent = Agent(model, prompt=f"{post.CLERK}.", guards=[guard])
    whole = strategy_agent(Reflexion(agent, evaluator=send, trials=1), agent)
    store = MemoryStore()
    done = await run(whole, "How many?", store=store, run_id="r")
    assert seen == []
    if guard is post.deny_letters:
        assert "The one trial did not pass" in str(done.answer)
        return
    (waits,) = await pending_approvals(store=store)
    assert (done.status, waits.tool) == ("held", "send")
    await rule(f"r:{waits.call}", allow=True, store=store)
    assert (await resume(whole, "r", store=store)).answer == "42"
    assert seen == ["42"]


@pytest.mark.parametrize(("effect", "most"), [("read", 3), ("unsafe", 2)])
async def test_an_evaluator_is_counted_where_it_has_effects(effect: Any, most: int) -> None:
    seen: list[str] = []

    @tool(effect=effect)
    def check(task: str, answer: str) -> AnswerVerdict:
        """Check it.

        Args:
            task: The task.
            answer: The answer.
        """
        seen.append(answer)
        return AnswerVerdict(passed=False, why=task)

    model = Rules({post.CLERK: lambda task: "42", post.REFLECT: lambda task: "no"})
    limits, off = Limits(tool_calls=2), [Provenance("off")]
    agent = Agent(model, prompt=f"{post.CLERK}.", limits=limits, guards=off)
    await run(strategy_agent(Reflexion(agent, evaluator=check, trials=3), agent), "How many?")
    assert len(seen) == most


@pytest.mark.parametrize(
    "calls",
    [
        [step("E1", "look", name="Bob"), step("E2", "send", to="#E1")],
        [step("E1", "look", name="Bob"), step("E2", "send", to="#E1.email")],
        [step("E1", "look", name="Bob"), step("E2", "send", to="a", text="It says: #E1")],
        [LOOK, step("E2", "send", to="#E1.mail")],
        [LOOK, step("E2", "send", to="#E1.email.host")],
        [LOOK, step("E2", "send", to="#E1.phone")],
        [LOOK, step("E2", "send", to="#E1.note")],
        [LOOK, step("E2", "send", to="#E1.tags[7]")],
        [LOOK, step("E2", "send", to="#E1[0].email")],
        [LOOK, step("E2", "send", to='#E1["fax"]')],
        [LOOK, step("E2", "look", name="#E1.nick"), step("E3", "send", to="#E2.email")],
        [LOOK, step("E2", "send", to="a", text="Dear #E1.first_name, hello")],
        [step("E1", "look", name="Bob"), step("E2", "send", to="a", text="#E1 and #E1")],
        [LOOK | {"id": "one"}, step("E2", "send", to="#one.email")],
    ],
)
async def test_a_call_whose_reference_has_no_value_is_not_made(
    calls: list[dict[str, Json]],
) -> None:
    office = Post()
    await ran(office.clerk(planned(*calls)), MemoryStore())
    assert office.letters == []


@pytest.mark.parametrize(
    ("to", "letter"),
    [
        ("#E1.email", "ada@x.org"),
        ("#E1.tags[1]", "b"),
        ("#E1['email']", "ada@x.org"),
        ('#E1["tags"][0]', "a"),
        ("<#E1.email>", "<ada@x.org>"),
        ("#E1E1E1", "#E1E1E1"),
    ],
)
async def test_a_reference_carries_its_value(to: str, letter: str) -> None:
    office = Post()
    await ran(office.clerk(planned(LOOK, step("E2", "send", to=to))), MemoryStore())
    assert office.letters == [letter]


@pytest.mark.parametrize(
    ("found", "letters"),
    [
        ({"value": "bob@x.org", "why": "the list"}, ["bob@x.org"]),
        ({"value": None, "why": "nobody knows"}, []),
        ({"value": " ", "why": "nobody knows"}, []),
        ("I do not know", []),
    ],
)
async def test_what_a_run_found_instead_is_a_value_or_nothing(
    found: Json, letters: list[str]
) -> None:
    office = Post()
    calls = [step("E1", "look", name="Bob"), step("E2", "send", to="#E1")]
    await ran(office.clerk(planned(*calls, clerk=lambda task: found)), MemoryStore())
    assert office.letters == letters


async def test_a_call_whose_outcome_is_unknown_is_told_as_that_and_not_as_failed() -> None:
    tasks: list[str] = []

    def clerk(task: str) -> Json:
        tasks.append(task)
        return "looked"

    office = Post(fails=RuntimeError("the line broke"))
    store = MemoryStore()
    _, _, record = await ran(office.clerk(planned(ADA, clerk=clerk)), store)
    assert [call.child for call in record.calls if "is not known" in str(call.args)] == ["r-3.1"]
    assert "(it may or may not have happened)" in tasks[0]
    office, tasks = Post(fails=ToolError("closed")), []
    await ran(office.clerk(planned(ADA, clerk=clerk)), MemoryStore())
    assert ['send({"to":"a"}) was tried and failed' in task for task in tasks] == [True]


async def test_text_that_is_no_readable_json_is_passed_on_as_it_is() -> None:
    office, store = Post(people={"Ada": "[" * 3_000}), MemoryStore()
    status, _, _ = await ran(
        office.clerk(planned(LOOK, step("E2", "send", to="x", text="#E1"))), store
    )
    assert (status, office.letters) == ("answered", [f"x: {'[' * 3_000}"])
