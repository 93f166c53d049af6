"""From an agent's parts to the engine that the loop runs, and to its spec in the record."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from clew.agent.approval_rules import Approvals, as_recorded
from clew.agent.composition import Composition
from clew.agent.declared_answer import encoded_fallback
from clew.agent.planning import planned
from clew.agent.reading import read_reply
from clew.agent.tool_finder import matching_names
from clew.agent.validate import tool_grants
from clew.agent.work_done import contradiction
from clew.context import PROMPT
from clew.context.prompt_spec import SWITCHES, prompt_document
from clew.context.rewind import way_back
from clew.context.settings import CONTEXT
from clew.context.summary import left_out
from clew.context.variants import described
from clew.context.view import digest, next_prompt
from clew.context.visible import leaves_out
from clew.core.codec import PromptSpec
from clew.core.engine import Advice, Engine
from clew.core.events import Compacted, Rewound
from clew.core.moves import no_review
from clew.core.specs import AgentSpec, ToolSetting
from clew.core.tools import AgentTool, Tool
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.deps.parts import check_with_context
from clew.guards import AlreadyDone
from clew.guards.caps import WholeCaps
from clew.guards.limits import Limits
from clew.guards.provenance import BoundProvenance
from clew.models.completion import complete
from clew.support.parts import differing, name_of, stable_name
from clew.tools.advice import right_form, unknown_tool
from clew.tools.schema import schema_hash

_UNNAMED: Final = (AlreadyDone, WholeCaps, BoundProvenance, Approvals)
"""Guards that follow from other parts of an agent: its spec does not name them."""


def compile_engine(parts: Composition, decode: Callable[[Json], Any]) -> Engine:
    """The engine of an agent; `decode` converts an answer to the agent's type."""
    agent, model, codec, spec = parts.agent, parts.model, parts.codec, parts.prompt_spec
    limits, rewinds = agent.limits, agent.context.rewinds
    completing = partial(complete, model, seconds=limits.reply_seconds, grace=limits.grace)
    seed = agent.settings.seed or 0
    render = partial(next_prompt, codec, spec, model.info.params, seed)
    acts = next((it for it in parts.guards if isinstance(it, BoundProvenance)), None)
    recorded = agent_spec(parts)
    return Engine(
        spec=recorded,
        model=model,
        codec=codec,
        prompt_spec=spec,
        tools=parts.tools,
        validators=parts.validators,
        result_validators=parts.result_validators,
        effectful=parts.effectful,
        delegates=any(isinstance(tool, AgentTool) for tool in parts.tools.values()),
        seed=seed,
        bounds=parts.bounds,
        budget=parts.budget,
        guards=parts.named_guards,
        screens=parts.named_screens,
        checks=[check_with_context(check) for check in agent.checks],
        decode=decode,
        contradiction=partial(contradiction, parts.own_tools),
        tries=agent.tries,
        fallback=recorded.parts["fallback"],
        patience=parts.patience,
        unknown=limits.unknown,
        argument_bytes=limits.argument_bytes,
        observation_bytes=limits.observation_bytes,
        caps_left=parts.strategy_caps.left,
        handed=_nothing_handed if acts is None else acts.handed_down,
        wants_plan=None if acts is None else acts.wants_plan,
        plan=partial(planned, completing, parts),
        render=render,
        complete=completing,
        read=partial(read_reply, model, codec, spec, limits, text_only=agent.answer is str),
        advice=Advice(partial(unknown_tool, spec), right_form),
        reminders=parts.instructions.reminders,
        find_tools=_finding(parts),
        read_on=tuple(tool.name for tool in parts.recalls),
        leaves_out=partial(leaves_out, shape=spec.shape, visible_chars=parts.visible_chars),
        omission=_omission(parts),
        shorten=_shortening(parts),
        wants_review=no_review if rewinds is None else rewinds.asks,
        leave_out=partial(left_out, render, completing, _reviewing(parts)),
    )


def _nothing_handed(_: Trajectory, calls: Sequence[Call]) -> Sequence[None]:
    """Nothing below it acts."""
    return [None for _ in calls]


def _finding(parts: Composition) -> Callable[[Trajectory], Awaitable[Sequence[str]]] | None:
    """What finds the tools that the next thought is to see."""
    finder = parts.agent.context.retrieval
    if finder is None:
        return None
    return partial(matching_names, finder, parts.prompt_spec, patience=parts.patience)


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
        return compacting.forced(trajectory, budget.standing(trajectory).expected.input)

    return shorten


def _reviewing(parts: Composition) -> Callable[[Trajectory], Awaitable[Sequence[Any]]]:
    """What asks the critic."""
    limits = parts.agent.limits
    return partial(parts.agent.context.review, seconds=limits.reply_seconds, grace=limits.grace)


def agent_spec(parts: Composition) -> AgentSpec:
    """What the record must contain for a replay, and its fingerprint."""
    agent, fallback = parts.agent, parts.agent.fallback
    visible = described(parts.own_tools, parts.variant)
    tools = {  # whoever trusts the results of a tool vouches for its description too
        it.name: ToolSetting(
            it.version, it.effect, schema_hash(it), it.labels.foreign and it.trust != "trusted"
        )
        for it in visible
    }
    named: dict[str, Json] = {
        "answer": parts.prompt_spec.answer,
        "tries": agent.tries,
        "fallback": None if fallback is None else encoded_fallback(agent.answer, fallback),
        "limits": repr(agent.limits),
        "bounds": [stable_name(bound) for bound in parts.bounds],
        "guards": [one.name for one in parts.named_guards if not isinstance(one.ask, _UNNAMED)],
        "checks": [stable_name(check) for check in agent.checks],
        "examples": len(parts.prompt_spec.examples),
        "thought": parts.prompt_spec.thought,
        "landing": agent.limits.landing,
        "unknown": agent.limits.unknown,
        **_optional_parts(parts),
    }
    model, spec = parts.model.info, parts.prompt_spec
    fields = (model.name, parts.codec.name, spec.prompt, dict(model.params), tools, named)
    document = prompt_document(spec, name_of(spec.shape) or "")
    return AgentSpec(
        digest(*fields), *fields, document, rates=model.rates, priced=model.priced, wait=model.wait
    )


def _approved(approvals: Approvals) -> Json:
    """Which calls a person approves, by the names of tools."""
    return {name: as_recorded(rule) for name, rule in approvals.rules.items()}


def _optional_parts(parts: Composition) -> dict[str, Json]:
    """Parts that are named in the record only where they are not as usual."""
    agent = parts.agent
    context, prompt_spec, instructions = agent.context, parts.prompt_spec, parts.instructions
    long = differing(context, CONTEXT, ("compaction", "rewinds"))
    acts = next((it for it in parts.guards if isinstance(it, BoundProvenance)), None)
    asks = next((it for it in parts.guards if isinstance(it, Approvals)), None)
    performed = ((it.name, it.external) for it in parts.own_tools if isinstance(it, Tool))
    named = {
        "provenance": None if acts is None else acts.as_recorded,
        "approve": None if asks is None else _approved(asks),
        "external": {
            name: {"timeout": external.timeout, "fallback": external.fallback}
            for name, external in performed
            if external is not None
        }
        or None,
        "retrieval": name_of(context.retrieval),
        "granted": msgspec.to_builtins(tool_grants(parts.own_tools)) or None,
        **differing(agent.limits, Limits, ("depth", "argument_bytes", "observation_bytes")),
        "screens": [name for name, _ in parts.named_screens] or None,
        "variant": None if parts.variant is None else parts.variant.name,
        **differing(prompt_spec, PromptSpec, SWITCHES),
        "shape": name_of(prompt_spec.shape),
        "tail": name_of(instructions.tail),
        **differing(instructions, PROMPT, ("tell_left",)),
        **{name: name_of(part) for name, part in long.items()},
    }
    return {name: part for name, part in named.items() if part is not None}
