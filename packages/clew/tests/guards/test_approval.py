"""`@tool(approve=…)`: which calls of a tool a person approves before they are made."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    MemoryStore,
    Result,
    Tool,
    Trajectory,
    Verdict,
    delegate,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.agent_files import load_agent, make_agent, origin, read_agent_file, spec_of, stand_ins
from clew.core.journal import load
from clew.core.tools import AnyTool
from clew.guards import Provenance
from clew.interfaces import Json
from clew.testing import Move, ScriptedModel, act, acts, say
from clew.tools.fallback import with_fallback
from tests.cli.shell import clew
from tests.core.relay import RELAY

pytestmark = pytest.mark.both_loops

PAID: list[float] = []


def large(args: dict[str, Json]) -> bool:
    """Whether so much needs a person."""
    amount = args["amount"]
    return isinstance(amount, float) and amount > 100


async def why_large(args: dict[str, Json]) -> str | None:
    """The reason, where so much needs a person."""
    return f"{args['amount']} is more than 100" if large(args) else None


def refunds(approve: Any) -> Tool:
    """The tool that pays."""
    PAID.clear()

    @tool(approve=approve)
    async def refund(amount: float) -> str:
        """Refund an amount.

        Args:
            amount: How much.
        """
        PAID.append(amount)
        return f"paid {amount}"

    return refund


def agent(script: Sequence[Move], *tools: AnyTool, **more: Any) -> Agent:
    """An agent that pays as scripted."""
    guards = more.pop("guards", [Provenance("off")])
    return Agent(model=ScriptedModel(script), tools=tools, guards=guards, **more)


async def go_on(one: Agent, held: Result, store: MemoryStore, *, allow: bool = True) -> Result:
    """Rule on all that waits, resume, and see that a replay derives the same record."""
    for each in held.pending_approvals:
        await rule(each.id, allow=allow, store=store)
    result = await resume(one, held.run_id, store=store)
    await replay(one, held.run_id, store=store)
    return result


@pytest.mark.parametrize(
    ("approve", "why"),
    [
        (True, "refund needs approval"),
        ("a refund needs approval", "a refund needs approval"),
        (large, "refund needs approval"),
        (why_large, "150.0 is more than 100"),
        (lambda _: 1 / 0, "refund needs approval: the approval rule of refund"),
        (lambda _: 3, "refund needs approval: the approval rule of refund gave 3 (int)"),
    ],
)
async def test_each_form_of_a_rule_holds_the_call_once(approve: Any, why: str) -> None:
    store, script = MemoryStore(), [act("refund", amount=150.0), say("Paid.")]
    one = agent(script, refunds(approve))
    held = await run(one, "Refund it.", store=store)
    assert held.status == "held"
    assert held.pending_approvals[0].why.startswith(why)
    assert "\n" not in held.pending_approvals[0].why
    assert PAID == []
    assert (await go_on(one, held, store)).answer == "Paid."
    assert PAID == [150.0]


@pytest.mark.parametrize("approve", [large, why_large, lambda _: None, False])
async def test_what_a_rule_lets_pass_is_made_unasked(approve: Any) -> None:
    one = agent([act("refund", amount=50.0), say("Paid.")], refunds(approve))
    assert (await run(one, "Refund it.", store=MemoryStore())).ok
    assert PAID == [50.0]


async def test_wrong_arguments_are_refused_before_a_person_is_asked() -> None:
    script = [act("refund", amount="much"), act("refund", amount=5.0), say("Paid.")]
    store, one = MemoryStore(), agent(script, refunds("say so"))
    held = await run(one, "Refund it.", store=store)
    assert [each.call for each in held.pending_approvals] == ["2.1"]
    assert (await go_on(one, held, store, allow=False)).answer == "Paid."
    assert PAID == []


async def test_a_call_is_asked_about_once_with_all_reasons() -> None:
    """A guard over several tools, the rule of the tool, and where the amount comes from."""

    async def never_much(call: Call, trajectory: Trajectory) -> Verdict | None:
        pays = call.action.name == "refund"
        return Verdict("hold", "it is night", gather=True) if pays else None

    @tool(effect="read")
    async def look() -> float:
        """Look it up."""
        return 150.0

    several: list[list[Any]] = [
        [never_much],
        [never_much, Provenance("strict")],
        [Provenance("strict")],
    ]
    for guards in several:
        store = MemoryStore()
        script = [act("look"), act("refund", amount=150.0), say("Paid.")]
        kept = [each for each in guards if not isinstance(each, Provenance)]
        rest = [each for each in guards if isinstance(each, Provenance)] or [Provenance("off")]
        model = ScriptedModel(script, plan=[])
        pays = Agent(model=model, tools=[look, refunds("it is money")], guards=[*kept, *rest])
        held = await run(pays, "Refund it.", store=store)
        assert held.status == "held", "the rule of the tool asks at once"
        (waiting,) = held.pending_approvals
        reasons = ["it is money", *(["it is night"] if kept else [])]
        reasons += ["amount"] if rest[0].level != "off" else []
        assert all(waiting.why.count(reason) >= 1 for reason in reasons)
        assert waiting.why.count("it is money") == 1
        assert (await go_on(pays, held, store)).answer == "Paid."
        assert PAID == [150.0]
        edited = agent([act("refund", amount=150.0), say("Paid.")], refunds("it is money"))
        PAID.clear()
        held = await run(edited, "Refund it.", store=store, run_id="edited")
        await rule("edited:1.1", allow=True, args={"amount": 20.0}, store=store)
        assert (await resume(edited, "edited", store=store)).ok, "nobody is asked again"
        await replay(edited, "edited", store=store)
        assert PAID == [20.0]


async def test_calls_of_programs_and_of_sub_agents_are_asked_about_too() -> None:
    store, pays = MemoryStore(), refunds("it is money")
    calls = acts(act("refund", amount=1.0), act("refund", amount=2.0))
    clerk = agent([calls, say("Paid.")], pays)
    clerks = delegate(clerk, name="clerk", description="Pays.")
    head = agent([act("clerk", task="pay"), say("Done.")], clerks)
    held = await run(head, "Refund it.", store=store)
    assert [each.call for each in held.pending_approvals] == ["1.1", "1.2"]
    assert (await go_on(head, held, store)).answer == "Done."
    assert sorted(PAID) == [1.0, 2.0]
    relay = act("relay", calls=[{"tool": "refund", "args": {"amount": 3.0}}])
    one = agent([relay, say("Done.")], pays, RELAY)
    held = await run(one, "Refund it.", store=store)
    assert [each.tool for each in held.pending_approvals] == ["refund"]
    assert (await go_on(one, held, store)).answer == "Done."


async def test_a_changed_rule_is_seen_on_resume() -> None:
    store, script = MemoryStore(), [act("refund", amount=150.0), say("Paid.")]
    held = await run(agent(script, refunds(True)), "Refund it.", store=store)
    for other in (False, "because", large):
        with pytest.raises(ConfigError, match=r"parts\.approve"):
            await resume(agent(script, refunds(other)), held.run_id, store=store)


async def test_a_tool_with_a_fallback_has_the_rules_of_both() -> None:
    @tool(approve=large)
    async def send(amount: float) -> str:
        """Send it."""
        return "sent"

    for first, second in ((False, send), (large, send), (True, send)):
        pays = with_fallback(refunds(first), second)
        store, script = MemoryStore(), [act("refund", amount=150.0), say("Paid.")]
        one = agent(script, pays)
        held = await run(one, "Refund it.", store=store)
        assert held.status == "held"
        assert (await go_on(one, held, store)).answer == "Paid."
    few = agent([act("refund", amount=5.0), say("Paid.")], with_fallback(refunds(large), send))
    assert (await run(few, "Refund it.", store=MemoryStore())).ok


async def test_a_second_parameter_without_a_type_is_given_the_context() -> None:
    def dear(args: dict[str, Json], ctx) -> bool:  # type: ignore[no-untyped-def]  # noqa: ANN001 - as people write
        return bool(args["amount"] > ctx.deps)

    @tool
    async def send(amount: float) -> str:
        """Send it."""
        return "sent"

    rules: list[Any] = [lambda args, ctx: args["amount"] > ctx.deps, dear]
    for each in rules:
        for pays in (refunds(each), with_fallback(replace(send, approve=each), refunds(each))):
            for amount, status in ((150.0, "held"), (5.0, "answered")):
                script = [act(pays.name, amount=amount), say("Paid.")]
                one = agent(script, pays, deps=lambda _: 100)
                assert (await run(one, "Refund it.", store=MemoryStore())).status == status


@pytest.mark.parametrize("wrong", ["", " ", 3, ["large"], dict, lambda: True])
def test_what_is_no_rule_is_refused_when_the_agent_is_made(wrong: Any) -> None:
    with pytest.raises(ConfigError, match="approve"):
        agent([say("Hi.")], refunds(wrong))


OWN = """
from clew import tool

def large(args):
    return args["amount"] > 100

@tool
def refund(amount: float) -> str:
    '''Refund an amount.'''
    return f"paid {amount}"
"""


FILE = 'model = "offline"\nprovenance = "off"\ntools = ["own_rules:refund"]\n'


@pytest.mark.parametrize("said", ['"it is money"', "true", '"own_rules:large"'])
async def test_an_agent_file_says_it_of_any_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_rules.py").write_text(OWN)
    file = tmp_path / "agent.toml"
    file.write_text(f"{FILE}[approve]\nrefund = {said}\n")
    written, store = read_agent_file(file), MemoryStore()
    make = partial(make_agent, model=ScriptedModel([act("refund", amount=150.0), say("Paid.")]))
    one = make(written)
    held = await run(one, "Pay.", store=store, origin=origin(written))
    assert held.status == "held"
    assert (await go_on(one, held, store)).answer == "Paid."
    listed = clew("tools", "list", "--agent", str(file))
    assert "approval" in listed.out
    record = await load(store, held.run_id)
    spec, prompt = spec_of(record), await store.blob(record.started.spec.prompt_blob)
    assert spec is not None
    double, apart = stand_ins(spec, record, prompt, make)
    await replay(double, held.run_id, store=store, stand_ins=apart)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("refnd = true", "did you mean refund"),
        ('refund = ""', "an empty reason"),
        ('refund = "own_rules:larger"', "did you mean own_rules:large"),
        ("refund = 3", "agent.toml"),
    ],
)
def test_what_a_file_says_wrongly_is_told_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_rules.py").write_text(OWN)
    file = tmp_path / "agent.toml"
    file.write_text(f"{FILE}[approve]\n{said}\n")
    with pytest.raises(ConfigError, match=told):
        load_agent(file)


def test_taken_away_tools_take_their_rules_along(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    file.write_text(f"{FILE}[approve]\nrefund = true\n")
    assert read_agent_file(file).replace({"tools": ["calc"]}).approve == {}
