"""Room for the runs of a strategy: how many steps and calls the whole may take."""

from dataclasses import replace
from typing import Final

from clew.guards.limits import Limits

SHORT: Final = 5
"""Steps of a run that plans, judges or answers from results: at most four, and its request."""


def room(limits: Limits, runs: int, short: int = 0) -> Limits:
    """The limits of a run of the agent, with room for so many, and for `short` ones beside them.

    Tokens, money and time stay as they are: they are the budget of the whole.
    """
    steps = runs * (limits.steps + 1) + short * SHORT + 1
    calls = runs * (limits.tool_calls + 1) + short
    return replace(limits, steps=steps, tool_calls=calls)
