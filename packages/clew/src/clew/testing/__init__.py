"""For your tests: models that play a script or a cassette, and what a run should have done.

The package `clew-testing` has contract tests for your own models, formats, stores and strategies,
and local servers that answer as providers do.
"""

from clew.testing.cassette import Cassette
from clew.testing.models import (
    NATIVE_FAULTS,
    TEXT_FAULTS,
    USAGE,
    Fault,
    FaultyModel,
    Line,
    Move,
    ScriptedModel,
    act,
    acts,
    finish,
    position,
    recorded,
    say,
)
from clew.testing.plans import asks_for_plan, written_plan
from clew.testing.trajectory_checks import ExpectedCall, assert_trajectory, called
from clew.testing.trajectory_text import trajectory_text

__all__ = [
    "NATIVE_FAULTS",
    "TEXT_FAULTS",
    "USAGE",
    "Cassette",
    "ExpectedCall",
    "Fault",
    "FaultyModel",
    "Line",
    "Move",
    "ScriptedModel",
    "act",
    "acts",
    "asks_for_plan",
    "assert_trajectory",
    "called",
    "finish",
    "position",
    "recorded",
    "say",
    "trajectory_text",
    "written_plan",
]
