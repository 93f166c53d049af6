"""A simulated model that follows a wrong observation as long as it stands in its prompt.

It goes from place to place as results say. At one place what it sees is wrong, and leads off the
trail; the villagers (`ask`) know better. It takes back what it saw only where it doubts: it was
told that something is wrong, and a share of its steps, `stick`, it holds to what stands in view
all the same. So what each arm gives follows from what it believes, and says nothing of any real
model.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import msgspec

import clew
from benchmarks.context.long_runs import messages, shared, tokens
from benchmarks.rewinds.arms import Task, Total
from clew import Agent, Context, Limits, Tool, Trajectory, Usage
from clew.context import Review
from clew.core.contents import Reply
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.guards import Provenance
from clew.testing.models import Move, ScriptedModel, act, finish

LENGTH: Final = 6
TASKS: Final = 60
"""Places of the trail, and tasks for each row."""

_GOES: Final = re.compile(r"From (\w+) the trail goes on to (\w+)\.")
_ENDS: Final = re.compile(r"At (\w+) the trail ends: on the stone stands (\w+)\.")
_NAMED: Final = re.compile(r'look\({"location":"(\w+)"}\)')
_DOUBT: Final = ("rejected", "not accepted", "wrong branch", "Learned in", "nothing new", "same")


def chance(*seed: object) -> float:
    """A number from 0 to 1 that follows from the seed."""
    digest = hashlib.blake2b(repr(seed).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


@dataclass(frozen=True)
class Trail:
    """The trail of one task: wrong at the place number `at`, and then so many steps off it.

    The wrong way ends at a stone with another word, or leads on to where it is.
    """

    seed: int
    off: int

    @property
    def at(self) -> int:
        return 1 + self.seed % (LENGTH - 2)

    @property
    def circles(self) -> bool:
        return self.seed % 2 == 1

    def page_name(self, number: int) -> str:
        return f"P{self.seed}x{number}"

    def look(self, location: str) -> str:
        """What is seen at a place."""
        wrong = [self.page_name(self.at), *(f"W{self.seed}x{number}" for number in range(self.off))]
        if location not in wrong:
            return self.ask(location)
        if location != wrong[-1]:
            return f"From {location} the trail goes on to {wrong[wrong.index(location) + 1]}."
        if self.circles:
            return f"From {location} the trail goes on to {location}."
        return f"At {location} the trail ends: on the stone stands Wrong{self.seed}."

    def ask(self, location: str) -> str:
        """What is so."""
        for number in range(LENGTH - 1):
            if location == self.page_name(number):
                return f"From {location} the trail goes on to {self.page_name(number + 1)}."
        if location == self.page_name(LENGTH - 1):
            return f"At {location} the trail ends: on the stone stands Right{self.seed}."
        return f"There is no trail in {location}."


@dataclass
class Believer:
    """The simulated model; tokens are four bytes, and cached where any prompt began alike."""

    trail: Trail
    stick: float
    sent: list[list[bytes]] = field(default_factory=list[list[bytes]])

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("simulated:believer")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """What it does next, by what stands in the prompt."""
        now = messages(prompt)
        highest = max((shared(before, now) for before in self.sent), default=0)
        self.sent.append(now)
        writer = ScriptedModel([], tools=())
        turns = sum(part.role == "assistant" for part in prompt.parts)
        reply = writer.written(self._move(prompt, turns), len(self.sent))
        usage = Usage(tokens(now), len(reply.text) // 4 + 20, cached=tokens(now[:highest]))
        return msgspec.structs.replace(reply, usage=usage)

    def _move(self, prompt: Prompt, turns: int) -> Move:
        results = [part.text for part in prompt.parts if part.role == "tool"]
        seen = [text for text in results if _GOES.search(text) or _ENDS.search(text)]
        texts = [part.text for part in prompt if part.role in {"user", "tool"}]
        doubts = any(word in text for text in texts for word in _DOUBT)
        wrong = self._wrong(seen)
        if doubts and wrong and chance(self.trail, "doubt", turns, len(texts)) >= self.stick:
            return act("ask", location=wrong[0])
        if not seen:
            return act("look", location=self.trail.page_name(0))
        if (end := _ENDS.search(seen[-1])) is not None:
            return finish(end[2])
        going = _GOES.search(seen[-1])
        assert going is not None
        named = {page for text in texts for page in _NAMED.findall(text)}
        tool = "ask" if doubts and not wrong and going[2] in named else "look"
        return act(tool, location=going[2])

    def _wrong(self, seen: list[str]) -> list[str]:
        """The places of which something wrong is believed: the last that was seen of one counts."""
        last: dict[str, str] = {}
        for text in seen:
            matches = _GOES.search(text) or _ENDS.search(text)
            assert matches is not None
            last[matches[1]] = matches[0]
        return [page for page, text in last.items() if text not in self.trail.ask(page)]


@dataclass(frozen=True)
class Knower:
    """A simulated critic: in this share of its reviews it finds the first wrong step."""

    trail: Trail
    finds: float

    def __call__(self, trajectory: Trajectory) -> Review:
        """Names the call that was wrong; a review takes the tokens of what it reads."""
        text = 0
        for step in trajectory.steps:
            for call in step.calls:
                observed = "" if call.observation is None else call.observation.text
                text += len(observed)
                location = str(call.args.get("location"))
                off = call.action.name == "look" and self.trail.ask(location) != observed
                hidden = step.number in trajectory.omitted.hidden
                if off and not hidden and chance(self, len(trajectory.steps)) < self.finds:
                    lesson = f'What look({{"location":"{location}"}}) gave is wrong: ask there.'
                    return Review(True, step.number - 1, lesson, Usage(text // 4 + 100, 30))
        return Review(False, usage=Usage(text // 4 + 100, 10))


def tasks(off: int) -> Iterator[tuple[Trail, Task]]:
    """The tasks of a row."""
    for seed in range(TASKS):
        trail = Trail(seed, off)
        yield trail, _task(trail)


def _task(trail: Trail) -> Task:
    def agent(model: Model, steps: int, context: Context) -> Agent:
        return Agent(
            model, _tools(trail), checks=[Stone(trail.seed)], tries=steps, context=context,
            bounds=[Total(steps)], limits=Limits(steps=200, tool_calls=200, landing=False),
            guards=[Provenance("off")],
        )  # fmt: skip

    question = f"What stands on the stone at the end of the trail from {trail.page_name(0)}?"
    return Task(str(trail.seed), question, agent, lambda answer: answer == f"Right{trail.seed}")


@dataclass(frozen=True)
class Stone:
    """A check: the word on the stone."""

    seed: int

    def __call__(self, answer: object, trajectory: Trajectory) -> str | None:
        """What is wrong with the answer."""
        return None if answer == f"Right{self.seed}" else "that stands on another stone"


def _tools(trail: Trail) -> list[Tool]:
    @clew.tool(effect="read")
    def look(location: str) -> str:
        """Look where the trail goes from a place."""
        return trail.look(location)

    @clew.tool(effect="read")
    def ask(location: str) -> str:
        """Ask the people of a place where the trail goes."""
        return trail.ask(location)

    return [look, ask]
