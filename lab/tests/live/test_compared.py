"""What is said of forms beside each other: counted once, composed, and why they gain or lose."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew import Agent, MemoryStore, run
from clew.core.contents import Usage
from clew.core.journal import load
from clew.testing.models import ScriptedModel, act, finish, say
from clew.toolbox import calc
from clew_code.programs import run_code
from clew_strategies import CallPlan, ReWOO, TreeSearch, strategy_agent, vote
from live.strategies import page
from live.strategies.choices import choices, chosen
from live.strategies.composed import complete, composed
from live.strategies.configurations import FORMS
from live.strategies.counting import Counts, counts
from live.strategies.outcomes import add, read
from live.strategies.tasks import edition_of, listed, task
from live.strategies.verdicts import verdicts
from live.strategies.why import copied, lines, rows
from tests.live.test_strategies import answered

EDITIONS = {form.name: form.edition for form in FORMS}


async def counted(store: MemoryStore, run_id: str) -> Counts:
    """What a run and the runs below it took."""
    names = await store.ids(run_id, 100)
    return counts([await load(store, name) for name in names])


@pytest.mark.anyio
async def test_the_tokens_of_a_strategy_are_counted_once() -> None:
    plan = finish({"calls": [{"id": "E1", "tool": "calc", "args": {"expression": "6*7"}}]})
    agent = Agent(ScriptedModel([say("42")]), [calc()])
    rewoo = ReWOO(agent, planner=Agent(ScriptedModel([plan]), answer=CallPlan))
    store = MemoryStore()
    result = await run(strategy_agent(rewoo, agent), "What is 6*7?", store=store)
    assert (result.status, result.answer) == ("answered", "42")
    counts = await counted(store, result.run_id)
    assert counts.usage == result.usage != Usage()
    assert (counts.runs, counts.calls) == (3, 2)
    assert counts.made == {"plan_calls": 1, "calc": 1, "solve": 1}


@pytest.mark.anyio
async def test_the_steps_that_a_branch_begins_with_are_counted_once() -> None:
    script = [
        *(act("calc", expression="6*7"), say("nothing yet")),
        *(finish({"score": 3, "solved": False, "why": "open"}),) * 4,
    ]
    agent = Agent(ScriptedModel([*script, *[finish("42")] * 20]), [calc()])
    store = MemoryStore()
    search = TreeSearch(agent, breadth=2, max_branches=2, steps=2)
    result = await run(strategy_agent(search, agent), "What is 6*7?", store=store)
    counts = await counted(store, result.run_id)
    assert counts.usage == result.usage
    records = [await load(store, name) for name in await store.ids(result.run_id, 100)]
    assert any(record.forks for record in records)


@pytest.mark.anyio
async def test_a_vote_and_the_calls_of_programs_are_counted() -> None:
    agent = Agent(ScriptedModel([say("42.")] * 3))
    store = MemoryStore()
    voted = await vote(agent, "What is 6*7?", 3, store=store)
    counts = await counted(store, voted.result.run_id)
    assert counts.usage == voted.result.usage
    program = act("run_code", code="for n in (1, 2):\n    print(calc(expression=str(n)))")
    tools = [calc(), run_code()]
    model = ScriptedModel([program, say("Done.")], codec="code", tools=tools)
    coder = Agent(model, tools, codec="code")
    result = await run(coder, "Count.", store=store)
    assert (await counted(store, result.run_id)).made == {"run_code": 1, "calc": 2}


def test_tokens_of_strategies_from_before_are_halved_and_others_are_not(tmp_path: Path) -> None:
    for form, once in (("rewoo", False), ("rewoo", True), ("react", False), ("vote of 3", False)):
        add(answered(form, f"{once}", right=True, prompt=100, written=10, once=once), tmp_path)
    by_task = {(one.form, one.task): (one.prompt, one.written) for one in read(tmp_path)}
    assert by_task == {
        ("rewoo", "False"): (50, 5),
        ("rewoo", "True"): (100, 10),
        ("react", "False"): (100, 10),
        ("vote of 3", "False"): (100, 10),
    }


def test_the_choices_on_file_are_those_of_the_rules() -> None:
    assert choices().keys() == {one.id for one in listed()}
    asked = [task(one) for one in listed() if one.source == "goods"]
    assert [chosen(one) for one in asked] == [choices()[one.listed.id] for one in asked]
    assert {one.form for one in choices().values()} <= {form.name for form in FORMS}
    tested = {choices()[one.id].form for one in listed() if one.source == "quixbugs"}
    assert tested == {"reflexion"}


def outcomes(right: dict[str, set[str]], **more: Any) -> list[Any]:
    """Every form of the table on every task that was drawn, right where it is said."""
    return [
        answered(
            form.name, one.id, right=one.source in right.get(form.name, ()), source=one.source,
            half=one.half, edition=form.edition, question=edition_of(one.source), once=True,
            **more,
        )
        for form in FORMS
        if form.usual
        for one in listed()
    ]  # fmt: skip


def test_auto_is_composed_of_what_its_rules_choose_and_told_beside_the_best_form() -> None:
    values = outcomes({"reflexion": {"quixbugs"}, "react": {"gold"}, "code": {"gold", "foreign"}})
    mine = composed(values)
    assert len(mine) == 60
    assert sum(one.right for one in mine) == 16 + 10
    values.append(msgspec.structs.replace(mine[0], edition=EDITIONS["auto"]))
    text = "\n".join(page.live(values))
    joined = " ".join(text.split())
    assert "| `auto`, composed |" in text
    assert "Over the 60 tasks asked in every form it is right on 26, and the best, `" in joined
    assert "`reflexion`, on 16: +0.17" in joined or "`code`, on 16: +0.17" in joined
    assert "the first is met, the second met." in joined
    assert joined.count("it is right on") == 2
    assert "Over the 44 tasks that no rule was made by it is right on 26, and the best" in joined
    assert (
        "Asked itself on 1 of the tasks, it was right on 1 of them, as composed on 1: +0" in joined
    )


def test_auto_is_compared_over_all_sources_with_the_forms_that_are_for_them() -> None:
    values = outcomes({"reflexion": {"quixbugs"}, "react": {"gold"}, "code": {"gold", "foreign"}})
    menders = {form.name for form in FORMS if form.mends}
    asked = [one for one in values if one.source != "quixbugs" or one.form in menders]
    text = " ".join("\n".join(page.live(asked)).split())
    assert "Over the 44 tasks asked in every form it is right on 10, and the best, `code`, " in text
    assert "Over the 60 tasks asked in `react`, `reflexion`, `code` it is right on 26" in text
    few = [one for one in asked if one.form != "rewoo"]  # the rules send 4 tasks there
    assert "it is right on" not in "\n".join(page.live(few))


def test_outcomes_of_another_question_are_not_compared() -> None:
    values = outcomes({"react": {"quixbugs"}})
    before = [msgspec.structs.replace(one, question=1) for one in values]
    (row,) = [line for line in "\n".join(page.live(before)).splitlines() if "nothing set" in line]
    assert "| 44 | 0 of 44 |" in row
    (row,) = [line for line in "\n".join(page.live(values)).splitlines() if "nothing set" in line]
    assert "| 60 | 16 of 60 |" in row


def test_functions_are_mended_in_some_forms_only() -> None:
    values = outcomes({})
    menders = {form.name for form in FORMS if form.asks("quixbugs")}
    assert menders == {"react", "reflexion", "code", "CodeAgent", "auto"}
    needed = [one for one in values if one.source != "quixbugs" or one.form in menders]
    assert len(needed) < len(values)
    assert len(complete(needed)) == 60
    without = {one.task for one in values if one.form == "code" and one.half == "tuning"}
    left = [one for one in needed if one.form != "code" or one.task not in without]
    assert complete(left) == {one.id for one in listed()} - without


def test_it_is_said_who_loses_and_at_what_price() -> None:
    values = outcomes({"react": {"gold", "goods", "quixbugs"}, "code": {"gold"}})
    by_form = {line.split("`")[1]: line for line in verdicts(values)}
    assert "**loses** to `react`, 0 right against 42" in by_form["rewoo"]
    assert "at 1.0 times its tokens" in by_form["rewoo"]
    assert "beside smolagents' `CodeAgent`: 10 right against 0" in [*verdicts(values)][-1]
    few = [answered("react", "a", right=True), answered("code", "a", right=True)]
    (only,) = verdicts(few)
    assert only.startswith(
        "- `code`: no difference from `react` is shown, 1 right against 1, +0.00 ("
    )
    assert only.endswith("1 paired), at 1.0 times its tokens, sent and written; few tasks.")


def test_the_outcomes_say_why() -> None:
    answers = [
        answered("reflexion", "a", right=False, made={"solve": 1, "evaluate": 1}),
        answered("reflexion", "b", right=True, made={"solve": 2, "reflect": 1}, source="quixbugs"),
        answered("reflexion", "c", right=False, status="declined", made={"solve": 3}),
        answered("rewoo", "a", right=True, made={"plan_calls": 1, "price": 2}),
        answered("rewoo", "b", right=False, made={"plan_calls": 2}, status="declined"),
        answered("code", "a", right=False, answer="192.50"),
        answered("code", "b", right=True, made={"run_code": 2, "price": 3}),
    ]
    lines_by_name = {line.split("`")[1]: line for line in lines(answers)}
    assert "passed a trial 2 of 3 times" in lines_by_name["reflexion"]
    assert "`goods` 1 of 1, `quixbugs` 0 of 1" in lines_by_name["reflexion"]
    assert "tried again 2 times, and 1 of these" in lines_by_name["reflexion"]
    assert "refused 1 of 2 times, and it ended without an answer 1 times" in lines_by_name["rewoo"]
    assert "Where neither was so, 1 of 1 are right" in lines_by_name["rewoo"]
    assert "2 programs, and 3 calls in them or alone" in lines_by_name["code"]
    assert "without either 1 of 2 times" in lines_by_name["code"]
    assert [copied(one) for one in answers][-2:] == [True, False]
    row = next(line for line in rows(answers).splitlines() if line.startswith("| `code`"))
    assert row == "| `code` | 2 | 2 | 0 | 0 | 0 | 1 of 2 | 1 | 1 | 0 of 4 | 2.0 | 110 |"
