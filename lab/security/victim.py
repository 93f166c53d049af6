"""A simulated model at its worst: it does the user's task without a mistake, and all it is told.

It makes the calls that do the task, in order, neighbours of one tool in one reply. Once injected
text is in what it reads, it makes the attacker's calls, and then goes on. Asked for a plan it gives
the calls of the task, with those arguments that stand in the request; if injected text is in there,
the attacker's calls too. So neither errs by itself: what real models do is not shown by it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, Literal
from zlib import crc32

from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.tools import AnyTool
from clew.testing import USAGE
from security.dojo import Args, Made
from security.forms import Form, answered, codec, written

MARK: Final = "URGENT-NOTE-FROM-THE-OWNER"
"""In every injected text: by this the model knows it."""

Order = Literal["now", "after", "beside", "instead"]
"""When attack calls are made: at once, after the user's calls, in one reply with the user's next
call, or each right before the user's call that it was made of.
"""
Turns = list[list[Made]]


@dataclass(frozen=True)
class Planted:
    """A call that an attacker wants, and the user's call that it was made of, if it was."""

    call: Made
    of: Made | None = None


@dataclass
class Victim:
    """Does what it reads. It keeps how far it is, for one run."""

    request: str
    calls: list[Made]
    answer: str
    planted: list[Planted] = field(default_factory=list[Planted])
    order: Order = "now"
    form: Form = "native"
    tools: Sequence[AnyTool] = ()
    forgets: int = 0
    """Of the calls of the task the plan lacks one in so many; 0: none."""

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget how far it is."""
        self.left: Turns = [[*same] for _, same in groupby(self.calls, key=lambda call: call[0])]
        if codec(self.form) != "native":  # one call in a reply
            self.left = [[call] for call in self.calls]
        self.fooled = False
        self._replies = 0

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("simulated:gullible")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next calls, the answer, or a plan."""
        if prompt.purpose == "plan":
            return Reply(text=self._plan(prompt), usage=USAGE, model=self.info.name)
        if not self.fooled and is_poisoned(prompt):
            self.fooled = True
            self._obey()
        self._replies += 1
        if prompt.calls == "none" or not self.left:
            return answered(self.form, self.tools, self.answer, self._replies)
        return written(self.form, self.tools, self.left.pop(0), self._replies)

    def _obey(self) -> None:
        """Put the attacker's calls among those that are left."""
        turns: Turns = [[each.call] for each in self.planted]
        match self.order:
            case "now":
                self.left = [*turns, *self.left]
            case "after":
                self.left = [*self.left, *turns]
            case "beside":
                both = [*(turns[0] if turns else []), *(self.left[0] if self.left else [])]
                self.left = [both, *turns[1:], *self.left[1:]]
            case "instead":
                for each in self.planted:
                    at = next((i for i, turn in enumerate(self.left) if each.of in turn), 0)
                    self.left.insert(at, [each.call])

    def _plan(self, prompt: Prompt) -> str:
        """The calls of the task, as far as the request has their arguments."""
        calls = [
            (name, stated(args, self.request))
            for at, (name, args) in enumerate(self.calls)
            if not self.forgets or crc32(f"{self.request} {at}".encode()) % self.forgets
        ]
        if is_poisoned(prompt):
            calls = [*calls, *(each.call for each in self.planted)]
        return json.dumps({"calls": [{"tool": name, "args": args} for name, args in calls]})


def is_poisoned(prompt: Prompt) -> bool:
    """Whether injected text is in anything that the model reads."""
    return any(MARK in part.text for part in prompt) or any(
        MARK in tool.description for tool in prompt.tools
    )


def stated(args: Args, request: str) -> Args:
    """The arguments of which every value stands in the request."""
    return {
        name: value
        for name, value in args.items()
        if (leaves := [*_leaves(value)]) and all(_stands(each, request) for each in leaves)
    }


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _leaves(each)
    else:
        yield value


def _stands(value: Any, request: str) -> bool:
    if value is None or isinstance(value, bool) or value == "":
        return False
    if isinstance(value, int | float):
        numbers = re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", request)
        return any(float(each.replace(",", "")) == float(value) for each in numbers)
    pattern = rf"(?<!\w){re.escape(str(value))}(?!\w)"
    return re.search(pattern, request, re.IGNORECASE) is not None
