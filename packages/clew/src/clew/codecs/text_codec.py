"""What formats have in common that are written as text: nothing of a prompt is native.

A package that adds such a format, by an entry point, makes it of the names listed here and of
`clew.codecs.prompt_texts`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from clew.codecs import prompt_texts
from clew.codecs.arguments import (
    example,
    fields,
    may_act,
    required,
    tool_named,
    typed,
    types,
    visible_tools,
)
from clew.codecs.call_marks import check_thought
from clew.codecs.call_traces import trace
from clew.codecs.calls import TRAILING, balanced
from clew.codecs.gbnf import Grammar, either, literal
from clew.codecs.json_repair import UnreadableError, complete_value, first_value
from clew.codecs.stop_filter import INVENTED, stream_filter
from clew.codecs.stream_end import StreamEnd
from clew.codecs.text_answer import as_calls
from clew.codecs.thinking import aloud
from clew.codecs.written_values import ReadPiece, ValuePiece, ValueReader
from clew.core.codec import Parsed, PromptSpec
from clew.core.contents import Reply
from clew.core.prompts import Calls, Part
from clew.core.steps import Step
from clew.core.tools import Parameters
from clew.support.surrogates import HALF


class TextCodec(ABC):
    """A format of text: its steps are told in its own layout, its replies are no JSON."""

    native = False
    """The prompt describes the tools."""

    calls_in = staticmethod(as_calls)

    @abstractmethod
    def layout(self) -> prompt_texts.Syntax:
        """How a step is written."""

    @abstractmethod
    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """What a reply says."""

    def render(self, prompt_spec: PromptSpec, step: Step) -> tuple[Part, ...]:
        """The step in canonical form, or as the model wrote it."""
        parts = prompt_texts.render(self.layout(), prompt_spec, step)
        return prompt_texts.as_written(prompt_spec, step, parts, self.parse, usual=False)

    def tail(self, prompt_spec: PromptSpec, notes: Sequence[str], step: int) -> tuple[Part, ...]:
        """One part with the reminders."""
        return prompt_texts.tail(notes, step)

    def reply_schema(self, prompt_spec: PromptSpec, calls: Calls) -> Parameters | None:
        """None: the replies are not JSON."""
        return None


__all__ = [
    "HALF",
    "INVENTED",
    "TRAILING",
    "Grammar",
    "ReadPiece",
    "StreamEnd",
    "TextCodec",
    "UnreadableError",
    "ValuePiece",
    "ValueReader",
    "aloud",
    "balanced",
    "check_thought",
    "complete_value",
    "either",
    "example",
    "fields",
    "first_value",
    "literal",
    "may_act",
    "required",
    "stream_filter",
    "tool_named",
    "trace",
    "typed",
    "types",
    "visible_tools",
]
