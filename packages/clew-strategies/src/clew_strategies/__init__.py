"""Strategies: use several runs for one task."""

from clew_strategies.branches import Branch, Branches
from clew_strategies.chaining import Chaining
from clew_strategies.choice import GOOD_FOR, REACT, Auto, Chosen, choose
from clew_strategies.default_roles import Judgement
from clew_strategies.evaluator_optimizer import EvaluatorOptimizer
from clew_strategies.interface import NoAnswerError, Request, RoleResult, Runs, Strategy
from clew_strategies.orchestrator import Orchestrator, Parts, SubTask
from clew_strategies.plan_and_solve import Plan, PlanAndSolve
from clew_strategies.policy import strategy_agent
from clew_strategies.reflexion import Reflexion
from clew_strategies.rewoo import Calls, Planned, ReWOO
from clew_strategies.roles import Reader, Role
from clew_strategies.routing import Route, Routing
from clew_strategies.tree_search import Score, TreeSearch
from clew_strategies.voting.decision import Ballot, Choice, Count, Decision, How, certain, decide
from clew_strategies.voting.normalise import normalise
from clew_strategies.voting.verifier import Verifier, Verify, verifying
from clew_strategies.voting.vote import (
    Vote,
    agent_of,
    vote,
    vote_status,
    vote_status_sync,
    vote_sync,
)

__all__ = [
    "GOOD_FOR",
    "REACT",
    "Auto",
    "Ballot",
    "Branch",
    "Branches",
    "Calls",
    "Chaining",
    "Choice",
    "Chosen",
    "Count",
    "Decision",
    "EvaluatorOptimizer",
    "How",
    "Judgement",
    "NoAnswerError",
    "Orchestrator",
    "Parts",
    "Plan",
    "PlanAndSolve",
    "Planned",
    "ReWOO",
    "Reader",
    "Reflexion",
    "Request",
    "Role",
    "RoleResult",
    "Route",
    "Routing",
    "Runs",
    "Score",
    "Strategy",
    "SubTask",
    "TreeSearch",
    "Verifier",
    "Verify",
    "Vote",
    "agent_of",
    "certain",
    "choose",
    "decide",
    "normalise",
    "strategy_agent",
    "verifying",
    "vote",
    "vote_status",
    "vote_status_sync",
    "vote_sync",
]
