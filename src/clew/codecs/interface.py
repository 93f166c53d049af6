"""The door of a format: how actions are written for a model, and read in its reply.

Nothing here is to be inherited: a codec is whatever has the methods of `Codec`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from clew.core.events import Action, Reply
from clew.core.interfaces import Calls, OnText, Parameters, Part, Tool
from clew.core.trajectory import Step


class Example(msgspec.Struct, frozen=True):
    """A worked example for the head of the prompt: a goal and its steps; the last step finishes."""

    goal: str
    steps: tuple[Step, ...]


Shape: TypeAlias = Callable[[str], str]
"""How a model is shown an observation: text to text. Pure, for it is done again in a replay."""


@dataclass(frozen=True)
class PromptSpec:
    """What a codec may know of the agent: the same for a whole run.

    `tools` are those shown from the start, in order, without `finish`, and `more` those that may be
    shown later; `known` are all names that may be called, hidden ones included. `answer` is the
    JSON Schema of the answer ({"type": "string"} for text). `thought` says whether the model is
    asked to think aloud. The view applies `shape`.
    """

    prompt: str
    tools: tuple[Tool, ...]
    finish: Tool
    answer: Parameters
    known: frozenset[str] = frozenset()
    thought: bool = True
    examples: tuple[Example, ...] = ()
    shape: Shape | None = None
    more: tuple[Tool, ...] = ()

    @cached_property
    def later(self) -> Mapping[str, Tool]:
        """`more` by name."""
        return {tool.name: tool for tool in self.more}

    @property
    def answers_text(self) -> bool:
        """Whether the answer is a plain string."""
        return self.answer.get("type") == "string"


class Parsed(msgspec.Struct, frozen=True, gc=False):
    """A reply as a codec read it: the fields of a `Thought`, without its circumstances."""

    text: str = ""
    actions: tuple[Action, ...] = ()
    answer: str | None = None
    fault: str = ""
    repairs: tuple[str, ...] = ()


class Codec(Protocol):
    """How actions are written and read. Pure: no I/O, no state; `parse` never raises."""

    @property
    def name(self) -> str:
        """`name/version`, written in the record; a new version may render differently."""
        ...

    @property
    def stop(self) -> tuple[str, ...]:
        """Sequences at which a server should end the reply."""
        ...

    @property
    def native(self) -> bool:
        """Whether tools and calls travel in the provider's own fields."""
        ...

    def head(self, brief: PromptSpec, goal: str) -> tuple[Part, ...]:
        """What comes first in every prompt of a run: instructions, tools, examples, the goal."""
        ...

    def render(self, brief: PromptSpec, step: Step) -> tuple[Part, ...]:
        """One closed step as immutable parts: thought, calls, one result per call, asides."""
        ...

    def tail(self, brief: PromptSpec, notes: Sequence[str], step: int) -> tuple[Part, ...]:
        """What is said anew before thought number `step`: what is left, reminders."""
        ...

    def reply_schema(self, brief: PromptSpec, calls: Calls) -> Parameters | None:
        """The JSON Schema that the text of the next reply must meet; None where it is free."""
        ...

    def parse(self, brief: PromptSpec, reply: Reply) -> Parsed:
        """Read a reply; total and linear in its length."""
        ...

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """A filter for a reply's stream: shows what counts, says when an invented tail begins."""
        ...


@runtime_checkable
class Describes(Protocol):
    """A text format that can describe further tools in the midst of a run."""

    def describe(self, brief: PromptSpec, tools: Sequence[Tool]) -> tuple[Part, ...]:
        """Tools that can be called from here on, as immutable parts."""
        ...
