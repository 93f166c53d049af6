"""The interface of a format: how actions are written for a model, and read in its reply.

Nothing here is to be inherited: a codec is whatever has the methods of `Codec`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol, TypeAlias, runtime_checkable

import msgspec

from clew.core.actions import Action
from clew.core.contents import Reply
from clew.core.models import OnText
from clew.core.prompts import Calls, Part
from clew.core.tools import Parameters, ToolSpec
from clew.core.trajectory import Step
from clew.support.structural import Structural


class Example(msgspec.Struct, frozen=True):
    """A worked example for the head of the prompt: a goal and its steps; the last step finishes."""

    goal: str
    steps: tuple[Step, ...]


Shape: TypeAlias = Callable[[str], str]
"""How a model sees an observation: text to text. Pure, because a replay applies it again."""


VISIBLE_CHARS: Final = 100_000
"""Of a longer observation a model is shown the beginning and the end; the record has all of it."""


@dataclass(frozen=True)
class PromptSpec:
    """What a codec may know about the agent: the same for a whole run.

    `tools` are those shown from the start, in order, without `finish`; `more` are those that may be
    shown later; `known` are all names that may be called, including hidden ones. `answer` is the
    JSON Schema of the answer ({"type": "string"} for text). `thought` says whether the model is
    asked to think aloud. The view applies `shape`, `repeat_question` and `withhold`, and shows at
    most `visible_chars` characters of an observation, with a handle to read on; None: most of it,
    without.

    `raw_replies` says whether an earlier reply is shown as the model wrote it, where that reads as
    the same; None leaves it to the format. `strict_landing` asks for nothing in the last thought
    that is in no observation.
    """

    prompt: str
    tools: tuple[ToolSpec, ...]
    finish: ToolSpec
    answer: Parameters
    known: frozenset[str] = frozenset()
    thought: bool = True
    examples: tuple[Example, ...] = ()
    shape: Shape | None = None
    more: tuple[ToolSpec, ...] = ()
    repeat_question: bool = False
    strict_landing: bool = False
    raw_replies: bool | None = None
    withhold: bool = False
    visible_chars: int | None = None

    @cached_property
    def later(self) -> Mapping[str, ToolSpec]:
        """`more` by name."""
        return {tool.name: tool for tool in self.more}

    @property
    def answers_text(self) -> bool:
        """Whether the answer is a plain string."""
        return self.answer.get("type") == "string"


class Parsed(msgspec.Struct, frozen=True, gc=False):
    """A parsed reply: the fields of a `Thought` that come from its text."""

    text: str = ""
    actions: tuple[Action, ...] = ()
    answer: str | None = None
    fault: str = ""
    repairs: tuple[str, ...] = ()


class Codec(Protocol):
    """How actions are written and parsed. Pure: no I/O, no state; `parse` never raises."""

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
        """Whether tools and calls use the provider's own fields."""
        ...

    def head(self, prompt_spec: PromptSpec, goal: str) -> tuple[Part, ...]:
        """The first parts of every prompt of a run: instructions, tools, examples, the goal."""
        ...

    def render(self, prompt_spec: PromptSpec, step: Step) -> tuple[Part, ...]:
        """One closed step as immutable parts: thought, calls, one result per call, remarks."""
        ...

    def tail(self, prompt_spec: PromptSpec, notes: Sequence[str], step: int) -> tuple[Part, ...]:
        """The reminders before thought number `step`."""
        ...

    def reply_schema(self, prompt_spec: PromptSpec, calls: Calls) -> Parameters | None:
        """The JSON Schema that the text of the next reply must meet, or None."""
        ...

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """Parse a reply. Accepts any text, in linear time."""
        ...

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """A filter for a reply's stream: shows what counts, and detects an invented tail."""
        ...


@runtime_checkable
class Constrains(Protocol, metaclass=Structural):
    """A format that can say in a grammar all that a reply may be."""

    def grammar(self, prompt_spec: PromptSpec, calls: Calls, tokens: int | None) -> str:
        """The grammar of the next reply, in GBNF (`clew.codecs.gbnf`).

        The reply has at most so many `tokens`, as the parameters of the model say (None: they do
        not), of which a thought must leave enough for the call. Nothing else is ended by the
        grammar: half a text would count like a whole one.
        """
        ...


@runtime_checkable
class Describes(Protocol, metaclass=Structural):
    """A text format that can describe further tools during a run."""

    def describe(self, prompt_spec: PromptSpec, tools: Sequence[ToolSpec]) -> tuple[Part, ...]:
        """Tools that can be called from here on, as immutable parts."""
        ...


@runtime_checkable
class FindsCalls(Protocol, metaclass=Structural):
    """A format that knows a call by its looks: a text that is one ends no run."""

    def calls_in(self, prompt_spec: PromptSpec, text: str, /) -> Parsed | None:
        """An answer read again, as the calls that it is or as a fault; None where it is neither."""
        ...
