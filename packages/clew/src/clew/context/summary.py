"""A model's summary of what a compaction leaves out of its prompt.

It is asked with the prompt that is to be made shorter, and one message more: head, tools and steps
are the bytes that were sent before, so the provider's cache holds them. The settings stay too:
some providers forget what they cached where the choice of tools changes. A reply that calls a tool
is no summary.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from clew.context.compaction import asks_model
from clew.context.draft import CHARACTERS
from clew.context.view import view_of
from clew.core.agent import Agent
from clew.core.errors import TooLongError
from clew.core.events import AnyEvent, Compacted, Rewound
from clew.core.interfaces import Part, Prompt
from clew.core.trajectory import Trajectory
from clew.models.completion import complete
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
    agent: Agent, so_far: Trajectory, less: Compacted | Rewound | None
) -> Sequence[AnyEvent]:
    """What to record before the next prompt: what it leaves out, or what a critic says of the run.

    Raises `ModelError` where the agent's model is asked and fails, `PartError` where a critic does.
    """
    if less is not None:
        return [await summarised(agent, so_far, less)]
    return await agent.context.review(so_far, agent.limits.reply_seconds, agent.limits.grace)


async def summarised(
    agent: Agent, so_far: Trajectory, less: Compacted | Rewound
) -> Compacted | Rewound:
    """What is to be left out, with a model's summary of it where one is wanted.

    Where the model gives none, or one that is longer than what it is of, there is none. Raises
    `ModelError` where the model fails.
    """
    if not isinstance(less, Compacted) or not asks_model(less, so_far):
        return less
    model, limits = agent.resolved_model, agent.limits
    try:
        prompt = _prompt(agent, so_far)
        reply = await complete(model, prompt, None, limits.reply_seconds, limits.grace)
    except TooLongError:  # nothing is lost: what is left out is shorter without
        return less
    text = one_line(reply.text)[:SUMMARY_CHARS]
    if reply.calls or not 0 < len(text) < _characters_left_out(so_far, less):
        return msgspec.structs.replace(less, usage=reply.usage)
    tokens = less.tokens + (len(text) - len(less.summary)) // CHARACTERS
    return msgspec.structs.replace(less, summary=text, usage=reply.usage, tokens=tokens)


def _prompt(agent: Agent, so_far: Trajectory) -> Prompt:
    """The prompt as it was, and what is asked of it."""
    params = agent.resolved_model.info.params
    view = view_of(so_far, agent.resolved_codec, agent.brief, params, agent.seed)
    prompt, _ = view.prompt(so_far, (), "auto")
    tail = (Part("user", ASKED),)
    return msgspec.structs.replace(prompt, tail=tail, stop=(), reply_schema=None, grammar="")


def _characters_left_out(so_far: Trajectory, less: Compacted) -> int:
    """The characters of the steps that are left out."""
    steps = so_far.steps[: less.upto]
    thoughts = sum(len(step.thought.reply.text) for step in steps if step.thought is not None)
    seen = (call.observation for step in steps for call in step.calls)
    return thoughts + sum(len(one.text) for one in seen if one is not None)
