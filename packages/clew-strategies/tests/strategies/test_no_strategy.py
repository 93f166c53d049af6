"""What is no strategy, or has no agent where one is wanted, is refused in one line."""

from collections.abc import Callable
from typing import Any

import pytest

import clew_strategies as strategies
from clew import Agent, ConfigError
from clew.testing.models import ScriptedModel, say

S: Any = strategies  # given what its types forbid
A: Any = Agent(model=ScriptedModel([say("ok")]))
WRONG: list[tuple[Callable[..., Any], str]] = [
    (lambda of: of(S.Chaining([A, A]), A), 'of type list: give each by its name, as {"first": …}'),
    (lambda of: of(S.Chaining((A,)), A), "agents is of type tuple: give each by its name"),
    (lambda of: of(S.Chaining(A), A), "agents is of type Agent: give each by its name"),
    (lambda of: of(S.Chaining({"a": "gpt"}), A), "a is 'gpt' (str): give an agent or a tool"),
    (lambda of: of(S.Chaining({}), A), "a chain needs agents"),
    (lambda of: of(S.Routing([A], ["x"]), A), "routing: agents is of type list: give each"),
    (lambda of: of(S.Routing({"a": A}, ["x"]), A), "routing: purposes is of type list"),
    (lambda of: of(A, S.ReWOO(A)), "strategy is <Agent scripted"),
    (lambda of: of("rewoo", A), "strategy is 'rewoo' (str): give a strategy, such as ReWOO(agent)"),
    (lambda of: of(S.ReWOO, A), "give a strategy, such as ReWOO(agent)"),
    (lambda of: of(None, A), "strategy is None"),
    (lambda of: of(S.ReWOO("gpt"), A), "agent is 'gpt' (str): give an Agent"),
    (lambda of: of(S.Reflexion([A]), A), "give an Agent"),
    (lambda of: of(S.TreeSearch(None), A), "agent is None (NoneType): give an Agent"),
    (lambda of: of(S.PlanAndSolve(A), None), "like is None (NoneType): give an Agent"),
    (lambda of: of(S.Orchestrator(A), [A]), "like is [<Agent scripted"),
    (lambda of: of(S.ReWOO(A), A, limits=5), "limits is 5 (int): give Limits(…) or None"),
    (lambda of: of(S.ReWOO(A, planner="p"), A), "is 'p' (str): give an agent"),
    (lambda of: of(S.ReWOO(A, planner=A), A), "rewoo: the planner answers with text: give it ans"),
    (lambda of: of(S.PlanAndSolve(A, planner=A), A), "the planner answers with text: give it"),
    (lambda of: of(S.Orchestrator(A, divider=A), A), "the divider answers with text"),
    (lambda of: of(S.Reflexion(A, evaluator=A), A), "the evaluator answers with text"),
    (lambda of: of(S.EvaluatorOptimizer(A, evaluator=A), A), "the evaluator answers with text"),
    (lambda of: of(S.TreeSearch(A, scorer=A), A), "the scorer answers with text: give it answer="),
]  # fmt: skip


@pytest.mark.parametrize(("make", "why"), WRONG, ids=range(len(WRONG)))
def test_is_refused(make: Callable[..., Any], why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        make(S.strategy_agent)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)
