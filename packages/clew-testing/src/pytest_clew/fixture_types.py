"""The types of the fixtures, for the annotations of tests: what each may be called with."""

from typing import Any, Protocol

from clew import Agent, Question
from clew.interfaces import Model
from clew.testing import Line, ScriptedModel
from pytest_clew.runs import A, RecordedRun

__all__ = ["ClewCassette", "ClewModel", "ClewRun"]


class ClewModel(Protocol):
    """The fixture `clew_model`; options are the fields of `ScriptedModel`."""

    def __call__(self, *lines: Line, **options: Any) -> ScriptedModel:
        """A model that says these lines; the test fails where one is not played."""
        ...


class ClewRun(Protocol):
    """The fixture `clew_run`; options are those of `clew.run`."""

    def __call__(self, agent: Agent[A, Any], question: Question, **options: Any) -> RecordedRun[A]:
        """Run the agent to its end in the store of the test."""
        ...


class ClewCassette(Protocol):
    """The fixture `clew_cassette`; options are those of `clew.models.resolve`."""

    def __call__(self, model: str | Model, **options: Any) -> Model:
        """The model of this name, or this model, recorded or played."""
        ...
