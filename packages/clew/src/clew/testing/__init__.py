"""For your tests: models that play a script, with or without mistakes.

The package `clew-testing` has contract tests for your own models, formats, stores and strategies,
and local servers that answer as providers do.
"""

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

__all__ = [
    "NATIVE_FAULTS",
    "TEXT_FAULTS",
    "USAGE",
    "Fault",
    "FaultyModel",
    "Line",
    "Move",
    "ScriptedModel",
    "act",
    "acts",
    "asks_for_plan",
    "finish",
    "position",
    "recorded",
    "say",
    "written_plan",
]
