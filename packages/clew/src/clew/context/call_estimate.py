"""What the next model call is expected to take, read off the record: so that it can be reserved.

Its prompt is the last one that a reply counted, and what came since. All of it follows from the
record and from values of the agent, so that nothing is written for it and a replay comes to the
same.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from clew.context.visible import VisibleResults, attached_tokens, attachments_of_goal
from clew.core.codec import Shape
from clew.core.contents import Attachment, Reply, Usage
from clew.core.events import Compacted, Note, Rewound, Thought
from clew.core.prompts import Prompt
from clew.core.trajectory import Step, Trajectory
from clew.core.values import Json, encode

ANSWER: Final = 1_000
"""Tokens a reply is expected to take where none has taken more and no parameter says how many."""

CHARACTERS: Final = 4
"""Characters that are counted as one token."""


class _PromptSize(NamedTuple):
    """Of a prompt: the usage of the reply whose prompt was counted last, and characters since.

    Where no prompt was counted, they are all that came after the first one without its question.
    """

    counted: Usage = Usage()
    characters: int = 0


class _Sizes:
    """The size of a run's next prompt, from what it was a step before: each step is measured once.

    Kept with the trajectory (`Trajectory.folds`).
    """

    def __init__(self, shape: Shape | None, seen: VisibleResults) -> None:
        self.shape, self.seen = shape, seen
        self._entries = 0
        self._steps = 0
        self._before = _PromptSize()
        """Up to the current step, which may still grow."""
        self._now = _PromptSize()

    def next_prompt(self, trajectory: Trajectory) -> _PromptSize:
        """Measure what is new in the record."""
        if self._entries != (entries := len(trajectory.entries)):
            is_next = self._entries and self._steps == len(trajectory.steps) - 1
            if is_next and isinstance(trajectory.entries[self._entries].event, Thought):
                self._before = self._now  # the step that it ends has not grown since
                self._steps += 1
            while self._steps < len(trajectory.steps):
                self._before = self._after(trajectory, self._before)
                self._steps += 1
            self._now = self._after(trajectory, self._before)
            self._entries = entries
        return self._now

    def _after(self, trajectory: Trajectory, size: _PromptSize) -> _PromptSize:
        """The size after the step that follows."""
        if not self._steps:
            asked = len(trajectory.visible_goal)
            if trajectory.has_attachments:
                asked += _characters(attachments_of_goal(trajectory))
            return _PromptSize(characters=asked + self._added(trajectory.before))
        step = trajectory.steps[self._steps - 1]
        for notice in reversed(step.notices):
            if isinstance(notice, Compacted):  # what it left was estimated then
                return _PromptSize(Usage(notice.tokens))
            if isinstance(notice, Rewound):
                return _PromptSize(_prompt_of(trajectory, notice.to + 1))
        added = self._added(step)
        reply = Reply() if step.thought is None else step.thought.reply
        if reply.prompt_tokens:
            return _PromptSize(_counted(reply), added)
        kept = len(reply.text) + sum(len(c.name) + len(c.arguments or "") for c in reply.calls)
        return _PromptSize(size.counted, size.characters + kept + added)

    def _added(self, step: Step) -> int:
        """The characters that a step adds to the prompt behind its thought."""
        added = 0
        for notice in step.notices:
            if isinstance(notice, Note):
                added += len(notice.text) + _characters(notice.attachments)
        for call in (*step.calls, *step.gathered):
            if (seen := call.observation) is None:
                continue
            added += len(self.seen.text(call.key, seen))
            if seen.attachments:
                added += _characters(self.seen.attachments(call.key, seen))
        return added


def _characters(attachments: Iterable[Attachment]) -> int:
    """What attachments count as."""
    return attached_tokens(attachments) * CHARACTERS


def _counted(reply: Reply) -> Usage:
    """The usage of a reply; of a prompt that its server cut off, the whole prompt."""
    if reply.undercounted is None:
        return reply.usage
    return msgspec.structs.replace(reply.usage, input=reply.prompt_tokens)


def _prompt_of(trajectory: Trajectory, number: int) -> Usage:
    """What the prompt of a thought took, without its reply; nothing where nobody counted."""
    thought = trajectory.steps[number - 1].thought if number <= len(trajectory.steps) else None
    return Usage() if thought is None else Usage(thought.reply.prompt_tokens)


class CallEstimate(msgspec.Struct, frozen=True):
    """What is known beforehand of an agent's model calls.

    `opening` are the tokens its first prompt takes without the question, `answer` those that a
    reply may take (None: nobody says). `shape` is what the view does to observations, of which it
    shows at most `visible_chars` characters.
    """

    opening: int = 0
    answer: int | None = None
    shape: Shape | None = None
    visible_chars: int | None = None

    def next_call(
        self, trajectory: Trajectory, answer: int | None = None, *, later: bool = False
    ) -> Usage:
        """What the next call is expected to take, or the one after it (`later`).

        Where the last prompt was read from a cache or written to it, the next is expected to find
        it there. A reply is expected to be no shorter than the last one, if no `answer` is given.
        """
        sizes = trajectory.folds.get("sizes")
        if not isinstance(sizes, _Sizes) or sizes.shape is not self.shape:
            seen = VisibleResults(self.shape, self.visible_chars if trajectory.entries else None)
            sizes = trajectory.folds["sizes"] = _Sizes(self.shape, seen)
        last, characters = sizes.next_prompt(trajectory)
        usual = max(ANSWER, last.output)
        usual = usual if self.answer is None else min(usual, self.answer)
        opening = last.input + max(0, last.output - last.reasoning) if last.input else self.opening
        cached = last.input if last.cached or last.written else 0
        prompt = opening + characters // CHARACTERS + (usual if later else 0)
        answer = usual if answer is None else answer
        cost = last.cost or 0.0
        if trajectory.spec is not None and (rates := trajectory.spec.rates) is not None:
            fresh = (prompt - cached) * rates.input
            cost = (fresh + cached * rates.cached + answer * rates.output) / 1_000_000
        return Usage(prompt, answer, cached, cost=cost, estimated=True)


def opening(first: Prompt) -> int:
    """The tokens of a run's first prompt."""
    characters = sum(len(part.text) for part in first.head)
    for tool in first.tools:
        characters += len(tool.name) + len(tool.description) + len(encode(tool.parameters))
    return characters // CHARACTERS


def max_answer_tokens(params: Mapping[str, Json]) -> int | None:
    """How many tokens a reply may take by the model's settings, if they say so."""
    limit: Any = params.get("max_tokens")
    return limit if type(limit) is int and limit > 0 else None
