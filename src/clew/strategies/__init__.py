"""Strategies: use several runs for one task."""

from clew.strategies.decision import Ballot, Choice, Count, Decision, How, certain, decide
from clew.strategies.normalise import normalise
from clew.strategies.verifier import Verifier, Verify, verifying
from clew.strategies.vote import Vote, agent_of, vote, vote_status, vote_status_sync, vote_sync

__all__ = [
    "Ballot",
    "Choice",
    "Count",
    "Decision",
    "How",
    "Verifier",
    "Verify",
    "Vote",
    "agent_of",
    "certain",
    "decide",
    "normalise",
    "verifying",
    "vote",
    "vote_status",
    "vote_status_sync",
    "vote_sync",
]
