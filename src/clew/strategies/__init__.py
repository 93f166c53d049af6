"""Strategies: ways to use runs to answer a task."""

from clew.strategies.decision import Ballot, Choice, Count, Decision, How, certain, decide
from clew.strategies.normalise import form
from clew.strategies.verifier import Verifier, Verify, verifying
from clew.strategies.vote import Vote, behind, standing, standing_sync, vote, vote_sync

__all__ = [
    "Ballot",
    "Choice",
    "Count",
    "Decision",
    "How",
    "Verifier",
    "Verify",
    "Vote",
    "behind",
    "certain",
    "decide",
    "form",
    "standing",
    "standing_sync",
    "verifying",
    "vote",
    "vote_sync",
]
