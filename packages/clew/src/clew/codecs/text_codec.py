"""What formats have in common that are written as text: nothing of a prompt is native."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from clew.codecs import prompt_texts
from clew.codecs.text_answer import as_calls
from clew.core.codec import Parsed, PromptSpec
from clew.core.events import Reply
from clew.core.interfaces import Calls, Parameters, Part
from clew.core.steps import Step


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
