"""Strategies: use several runs for one task."""

from clew.strategies.branches import Branch, Branches
from clew.strategies.chaining import Chaining
from clew.strategies.choice import GOOD_FOR, REACT, Auto, Chosen, choose
from clew.strategies.default_roles import Judgement
from clew.strategies.evaluator_optimizer import EvaluatorOptimizer
from clew.strategies.interface import NoAnswerError, Request, RoleResult, Runs, Strategy
from clew.strategies.orchestrator import Orchestrator, Parts, SubTask
from clew.strategies.plan_and_solve import Plan, PlanAndSolve
from clew.strategies.policy import strategy_agent
from clew.strategies.reflexion import Reflexion
from clew.strategies.rewoo import Calls, Planned, ReWOO
from clew.strategies.roles import Reader, Role
from clew.strategies.routing import Route, Routing
from clew.strategies.tree_search import Score, TreeSearch
from clew.strategies.voting.decision import Ballot, Choice, Count, Decision, How, certain, decide
from clew.strategies.voting.normalise import normalise
from clew.strategies.voting.verifier import Verifier, Verify, verifying
from clew.strategies.voting.vote import (
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
