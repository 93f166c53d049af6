"""The limits of a whole strategy: enough steps and calls for all the runs it may make."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from clew import Limits
from clew.core.codes import ACTING

SHORT_RUN: Final = 5
"""Steps of a run that plans, judges or answers from results: at most four, and its request."""


def scaled_limits(limits: Limits, runs: int, short: int = 0) -> Limits:
    """Steps and calls for `runs` runs of the agent, and `short` runs that plan or judge.

    Tokens, cost and time stay as they are: they are the budget of the whole strategy. So are calls
    with an effect, and calls of a tool that has a number of its own (`shared_caps`).
    """
    steps = runs * (limits.steps + 1) + short * SHORT_RUN + 1
    calls = runs * (limits.tool_calls + 1) + short
    return replace(limits, steps=steps, tool_calls=calls)


def shared_caps(limits: Limits) -> Mapping[str, int]:
    """What all runs of a strategy may call together: a person who says how often means in all.

    Only look-ups may be made again in each run: without them there is nothing to answer from.
    """
    return {**limits.calls_per_tool, ACTING: limits.tool_calls}
