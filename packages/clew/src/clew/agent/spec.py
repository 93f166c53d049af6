"""What a record says of the agent that wrote it, for a replay and for whoever resumes the run."""

from typing import Final

import msgspec

from clew.agent.composition import Composition
from clew.agent.validate import tool_grants
from clew.context import CONTEXT, PROMPT, described
from clew.context.prompt_spec import SWITCHES, brief_document
from clew.context.view import digest
from clew.core.codec import PromptSpec
from clew.core.events import AgentSpec, Json, ToolSetting
from clew.guards import AlreadyDone
from clew.guards.caps import WholeCaps
from clew.guards.limits import Limits
from clew.support.parts import differing, name_of, names_of, stable_name
from clew.tools.schema import schema_hash

_UNNAMED: Final = (AlreadyDone, WholeCaps)
"""Guards that follow from other parts of an agent: its spec does not name them."""


def agent_spec(parts: Composition) -> AgentSpec:
    """What the record must contain for a replay, and its fingerprint."""
    agent = parts.agent
    shown = [described(tool, parts.variant) for tool in agent.tools]
    tools = {t.name: ToolSetting(t.version, t.effect, schema_hash(t)) for t in shown}
    guards = names_of(parts.guards)
    named: dict[str, Json] = {
        "answer": parts.prompt_spec.answer,
        "tries": agent.tries,
        "fallback": agent.fallback,
        "limits": repr(agent.limits),
        "bounds": [stable_name(bound) for bound in parts.usual_bounds],
        "guards": [name for name, guard in guards if not isinstance(guard, _UNNAMED)],
        "checks": [stable_name(check) for check in agent.checks],
        "examples": len(parts.prompt_spec.examples),
        "thought": parts.prompt_spec.thought,
        "landing": agent.limits.landing,
        "unknown": agent.limits.unknown,
        **_optional_parts(parts),
    }
    model, spec = parts.model.info, parts.prompt_spec
    fields = (model.name, parts.codec.name, spec.prompt, dict(model.params), tools, named)
    document = brief_document(spec, name_of(spec.shape) or "")
    return AgentSpec(digest(*fields), *fields, document, rates=model.rates, priced=model.priced)


def _optional_parts(parts: Composition) -> dict[str, Json]:
    """Parts that are named in the record only where they are not as usual."""
    agent = parts.agent
    context, brief, said = agent.context, parts.prompt_spec, parts.instructions
    long = differing(context, CONTEXT, ("compaction", "rewinds"))
    named = {
        "retrieval": name_of(context.retrieval),
        "granted": msgspec.to_builtins(tool_grants(agent.tools)) or None,
        **differing(agent.limits, Limits, ("depth", "argument_bytes", "observation_bytes")),
        "screens": [name for name, _ in parts.named_screens] or None,
        "variant": None if parts.variant is None else parts.variant.name,
        **differing(brief, PromptSpec, SWITCHES),
        "shape": name_of(brief.shape),
        "tail": name_of(said.tail),
        **differing(said, PROMPT, ("tell_left",)),
        **{name: name_of(part) for name, part in long.items()},
    }
    return {name: part for name, part in named.items() if part is not None}
