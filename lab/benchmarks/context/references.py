"""What a later action refers to: text of earlier results, and whether it can still be read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from clew import Trajectory
from clew.core.trajectory import Step
from clew.tools.recall import recall

MINIMUM: Final = 6
"""The fewest characters of a text that counts."""

_WORDS: Final = re.compile(r"[\w./@:#$+-]{%d,}" % MINIMUM)  # noqa: UP031 - braces of its own
_EDGES: Final = "./:+-"
"""Identifiers, paths, numbers: what stands between blanks, quotes, brackets and commas."""


@dataclass(frozen=True)
class Reference:
    """A text in an action's arguments that an earlier result had, at step `step`."""

    step: int
    text: str


def texts(value: Any) -> Iterator[str]:
    """All texts within JSON arguments."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def words(text: str) -> list[str]:
    """The identifiers, paths and numbers of a text, each once."""
    texts = (word.strip(_EDGES) for word in _WORDS.findall(text))
    return list(dict.fromkeys(word for word in texts if len(word) >= MINIMUM))


@dataclass
class Conversation:
    """A whole record, and what its actions refer to; it does not hang on a policy."""

    record: Trajectory
    _recalled: dict[Reference, bool] = field(default_factory=dict[Reference, bool])

    @cached_property
    def references(self) -> Sequence[Reference]:
        """The texts of arguments that occurred in an earlier result, and in nothing a person said.

        What the question or a person's words hold is never left out, and does not count.
        """
        seen, always = list[str](), [self.record.visible_goal]
        listed = list[Reference]()
        for step in self.record.steps:
            known, always_text = "\n".join(seen), "\n".join(always)
            for call in step.calls:
                for text in texts(call.action.args):
                    listed += [
                        Reference(step.number, word)
                        for word in words(text)
                        if word in known and word not in always_text
                    ]
            seen += [text for _, text in _results(step)]
            always += [notice.text for notice in step.notices if hasattr(notice, "text")]
        return list(dict.fromkeys(listed))

    def recalls(self, one: Reference) -> bool:
        """Whether `recall` gives the text, asked for by it, at the step that needs it."""
        if one not in self._recalled:
            _, *pieces = recall(self._before(one.step), one.text).text.split('read_more("')
            self._recalled[one] = any(one.text in piece for piece in pieces)
        return self._recalled[one]

    def readable(self, one: Reference, prompt: str) -> bool:
        """Whether the prompt names the handle of a result that has the text."""
        return any(
            f'read_more("{key}"' in prompt or f'read_more(\\"{key}\\"' in prompt
            for step in self.record.steps[: one.step - 1]
            for key, text in _results(step)
            if one.text in text
        )

    def _before(self, number: int) -> Trajectory:
        """The record as it was before a step's thought."""
        thoughts = 0
        for index, entry in enumerate(self.record.entries):
            thoughts += type(entry.event).__name__ == "Thought"
            if thoughts == number:
                return Trajectory(self.record.run_id, self.record.entries[:index])
        return self.record


def _results(step: Step) -> Iterator[tuple[str, str]]:
    for call in step.calls:
        if call.observation is not None:
            yield call.key, call.observation.text
