"""A model's summary of what a compaction leaves out of its prompt.

It is asked with the prompt that is to be made shorter, and one message more: head, tools and steps
are the bytes that were sent before, so the provider's cache holds them. The settings stay too:
some providers forget what they cached where the choice of tools changes. A reply that calls a tool
is no summary.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec

from clew.context.compaction import asks_model
from clew.context.draft import CHARACTERS
from clew.core.contents import Reply
from clew.core.engine import Render
from clew.core.events import AnyEvent, Compacted, Rewound
from clew.core.models import OnText
from clew.core.prompts import Part, Prompt
from clew.core.trajectory import Trajectory
from clew.support.errors import TooLongError
from clew.support.short_text import one_line

SUMMARY_CHARS: Final = 4_000
"""The most that is kept of a summary."""

ASKED: Final = (
    "Most of the steps above are about to be left out of this conversation, to keep it short. "
    "Write what is needed of them to go on: what was found, with names, numbers and where it "
    "stands; what was tried in vain; what is still to be done. Keep what an earlier summary says "
    "and still holds. Take 200 words at most. Reply with this text only, and call no tool."
)


async def left_out(
    render: Render,
    ask: Callable[[Prompt, OnText | None], Awaitable[Reply]],
    review: Callable[[Trajectory], Awaitable[Sequence[AnyEvent]]],
    trajectory: Trajectory,
    less: Compacted | Rewound | None,
) -> Sequence[AnyEvent]:
    """What to record before the next prompt: what it leaves out, or what a critic says of the run.

    `ask` asks the agent's model and `review` its critic. Raises `ModelError` where the model fails,
    `PartError` where the critic does.
    """
    if less is None:
        return await review(trajectory)
    if not isinstance(less, Compacted) or not asks_model(less, trajectory):
        return [less]
    return [await summarised(render, ask, trajectory, less)]


async def summarised(
    render: Render,
    ask: Callable[[Prompt, OnText | None], Awaitable[Reply]],
    trajectory: Trajectory,
    less: Compacted,
) -> Compacted:
    """What is to be left out, with a model's summary of it.

    Where the model gives none, or one that is longer than what it is of, there is none. Raises
    `ModelError` where the model fails.
    """
    try:
        reply = await ask(_prompt(render, trajectory), None)
    except TooLongError:  # nothing is lost: what is left out is shorter without
        return less
    text = one_line(reply.text)[:SUMMARY_CHARS]
    if reply.calls or not 0 < len(text) < _characters_left_out(trajectory, less):
        return msgspec.structs.replace(less, usage=reply.usage)
    tokens = less.tokens + (len(text) - len(less.summary)) // CHARACTERS
    return msgspec.structs.replace(less, summary=text, usage=reply.usage, tokens=tokens)


def _prompt(render: Render, trajectory: Trajectory) -> Prompt:
    """The prompt as it was, and what is asked of it."""
    prompt, _ = render(trajectory, (), "auto")
    tail = (Part("user", ASKED),)
    return msgspec.structs.replace(prompt, tail=tail, stop=(), reply_schema=None, grammar="")


def _characters_left_out(trajectory: Trajectory, less: Compacted) -> int:
    """The characters of the steps that are left out."""
    steps = trajectory.steps[: less.upto]
    thoughts = sum(len(step.thought.reply.text) for step in steps if step.thought is not None)
    seen = (call.observation for step in steps for call in step.calls)
    return thoughts + sum(len(one.text) for one in seen if one is not None)
