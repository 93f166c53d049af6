"""A script of which every line must be played."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from clew.interfaces import Prompt, Reply
from clew.testing import Line, Move, ScriptedModel


@dataclass
class Script:
    """The lines of a scripted model, and which of them were played."""

    lines: Sequence[Line]
    played: set[int] = field(default_factory=set[int])

    def model(self, **options: Any) -> ScriptedModel:
        """The model; its plan is what its moves call, unless the options have one."""
        script = [partial(self._play, number) for number in range(len(self.lines))]
        options.setdefault("plan", [line for line in self.lines if isinstance(line, Move)])
        return ScriptedModel(script, **options)

    def _play(self, number: int, prompt: Prompt) -> Move | Reply | str:
        self.played.add(number)
        line = self.lines[number]
        return line(prompt) if callable(line) else line

    def check(self) -> None:
        """Raise `AssertionError` where a line was not played."""
        left = [number for number in range(len(self.lines)) if number not in self.played]
        if left:
            line = self.lines[left[0]]
            message = (
                f"line {left[0] + 1} of {len(self.lines)} of the script was not played: {line!r}"
            )
            raise AssertionError(message)
