"""From an agent's parts to the engine that the loop runs."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from clew.agent.composition import Composition
from clew.agent.reading import read_reply
from clew.agent.spec import agent_spec
from clew.context.rewind import way_back
from clew.context.summary import left_out
from clew.context.view import next_prompt
from clew.context.visible import leaves_out
from clew.core.engine import Advice, Engine
from clew.core.events import Compacted, Json, Rewound
from clew.core.trajectory import Trajectory
from clew.models.completion import complete
from clew.tools.advice import right_form, unknown_tool
from clew.tools.retrieval.finder import found_names


def compile_engine(parts: Composition, decode: Callable[[Json], Any]) -> Engine:
    """The engine of an agent; `decode` converts an answer to the agent's type."""
    agent, model, codec, spec = parts.agent, parts.model, parts.codec, parts.prompt_spec
    limits, rewinds = agent.limits, agent.context.rewinds
    completing = partial(complete, model, seconds=limits.reply_seconds, grace=limits.grace)
    render = partial(next_prompt, codec, spec, model.info.params, agent.seed)
    return Engine(
        spec=agent_spec(parts),
        model=model,
        codec=codec,
        prompt_spec=spec,
        tools=parts.tools,
        validators=parts.validators,
        result_validators=parts.result_validators,
        effectful=parts.effectful,
        seed=agent.seed,
        bounds=parts.bounds,
        budget=parts.budget,
        guards=parts.named_guards,
        screens=parts.named_screens,
        checks=tuple(agent.checks),
        decode=decode,
        tries=agent.tries,
        fallback=agent.fallback,
        patience=parts.patience,
        unknown=limits.unknown,
        argument_bytes=limits.argument_bytes,
        observation_bytes=limits.observation_bytes,
        caps_left=parts.whole_caps.left,
        render=render,
        complete=completing,
        read=partial(read_reply, model, codec, spec, text_only=agent.answer is str),
        advice=Advice(partial(unknown_tool, spec), right_form),
        reminders=parts.instructions.reminders,
        find_tools=_finding(parts),
        read_on=tuple(tool.name for tool in parts.recalls),
        leaves_out=partial(leaves_out, shape=spec.shape, shown=parts.shown),
        omission=_omission(parts),
        shorten=_shortening(parts),
        wants_review=_never if rewinds is None else rewinds.asks,
        leave_out=partial(left_out, render, completing, _reviewing(parts)),
    )


def _never(_: Trajectory) -> bool:
    return False


def _finding(parts: Composition) -> Callable[[Trajectory], Awaitable[Sequence[str]]] | None:
    """What finds the tools that the next thought is to see."""
    finder = parts.agent.context.retrieval
    if finder is None:
        return None
    return partial(found_names, finder, parts.prompt_spec, patience=parts.patience)


def _omission(parts: Composition) -> Callable[[Trajectory], Compacted | Rewound | None]:
    """What takes a wrong branch out of the view, or what the window would not hold."""
    tools, rewinds, tries = parts.tools, parts.agent.context.rewinds, parts.agent.tries
    compacting, estimate = parts.compacting, parts.budget.estimate
    compacts = compacting if parts.window is not None else None

    def omission(trajectory: Trajectory) -> Compacted | Rewound | None:
        back = way_back(trajectory, tools, rewinds, tries)
        if back is not None or compacts is None:
            return back
        return compacts.due(trajectory, estimate.next_call(trajectory))

    return omission


def _shortening(parts: Composition) -> Callable[[Trajectory], Compacted | None]:
    """What shortens a prompt that the provider found too long."""
    compacting, budget = parts.compacting, parts.budget

    def shorten(trajectory: Trajectory) -> Compacted | None:
        if compacting is None:
            return None
        return compacting.forced(trajectory, budget.expected(trajectory).input)

    return shorten


def _reviewing(parts: Composition) -> Callable[[Trajectory], Awaitable[Sequence[Any]]]:
    """What asks the critic."""
    limits = parts.agent.limits
    return partial(parts.agent.context.review, seconds=limits.reply_seconds, grace=limits.grace)
