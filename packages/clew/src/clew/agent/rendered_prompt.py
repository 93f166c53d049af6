"""The prompt of any thought, made again from the record alone and compared with what was sent."""

from dataclasses import replace
from typing import Final

import msgspec

from clew.agent.agent import A_co, Agent
from clew.codecs import by_name
from clew.codecs.prompt_texts import asks_outcome
from clew.context.prompt_spec import recorded_prompt_spec
from clew.context.variants import SHAPES
from clew.context.view import View
from clew.context.visible import attachments_of_goal, goal_of
from clew.core.codec import Codec, PromptSpec, Shape
from clew.core.events import Thought
from clew.core.prompts import Calls, Prompt
from clew.core.specs import AgentSpec
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.support.errors import ConfigError, StoreError

SECTIONS: Final = {
    "head": "the head",
    "tools": "the tools",
    "params": "the parameters",
    "parts": "the steps",
    "tail": "the tail",
}


class RenderedPrompt(msgspec.Struct, frozen=True):
    """The prompt that thought number `step` answered, rebuilt as far as possible.

    `differs` lists the sections ("head", "tools", "params", "parts", "tail") whose fingerprint
    differs from the one recorded with the thought. If it is empty, the prompt is exactly what was
    sent. `reason` explains a difference as far as known.
    """

    run_id: str
    step: int
    spec: AgentSpec
    prompt: Prompt
    differs: tuple[str, ...] = ()
    reason: str = ""

    @property
    def verdict(self) -> str:
        """One line for people: whether this is what was sent."""
        if not self.differs:
            return "exactly what was sent: every section has its recorded fingerprint"
        sections = ", ".join(SECTIONS[name] for name in self.differs)
        why = f" ({self.reason})" if self.reason else ""
        return f"NOT exactly what was sent: {sections} cannot be made again here{why}"


async def render_prompt(
    record: Trajectory,
    store: Store,
    step: int | None = None,
    *,
    codec: Codec | None = None,
    shape: Shape | None = None,
) -> RenderedPrompt:
    """The prompt of thought number `step` (the last one by default).

    `codec` and `shape` are those of the agent, where they do not ship with clew. Raises
    `ConfigError` where there is no such thought or the record does not say how it was rendered.
    """
    number, trajectory, thought = _before(record, step)
    spec = trajectory.spec or trajectory.started.spec
    if not spec.prompt_blob:
        message = (
            f"run {record.run_id} was written by a clew that did not keep what prompts are made "
            "of: only its instructions are there (clew show --json, spec.prompt)"
        )
        raise ConfigError(message)
    prompt_spec, name = recorded_prompt_spec(await store.blob(spec.prompt_blob))
    prompt_spec = replace(prompt_spec, shape=shape or SHAPES.get(name))
    renders = codec or _codec(spec.codec, record.run_id)
    attached = attachments_of_goal(trajectory)
    view = View(renders, prompt_spec, goal_of(trajectory), spec.params, attachments=attached)
    calls: Calls = "auto" if trajectory.landing is None else "none"
    prompt, prints = view.prompt(trajectory, thought.reminders, calls, thought.visible_tools)
    differs = tuple(
        section
        for section in SECTIONS
        if getattr(prints, section) != getattr(thought.prints, section)
    )
    reason = _reason(spec, renders, prompt_spec, name) if differs else ""
    return RenderedPrompt(record.run_id, number, spec, prompt, differs, reason)


async def as_asked(agent: Agent[A_co], record: Trajectory, store: Store) -> Agent[A_co]:
    """The agent without `Instructions.outcome`, where the record's prompts do not ask for that."""
    spec = record.spec or record.started.spec
    if not spec.prompt_blob or not asks_outcome(agent.engine.prompt_spec):
        return agent
    try:
        prompt_spec, _ = recorded_prompt_spec(await store.blob(spec.prompt_blob))
    except StoreError:  # it is lost: then the prompts are held against their hashes
        return agent
    if asks_outcome(prompt_spec):
        return agent
    return agent.replace(prompt=agent.parts.instructions.replace(outcome=False))


def _before(record: Trajectory, step: int | None) -> tuple[int, Trajectory, Thought]:
    """The number of a thought, the run as it was ahead of it, and the thought."""
    events = [entry.event for entry in record.entries]
    thoughts = [(at, event) for at, event in enumerate(events) if isinstance(event, Thought)]
    number = len(thoughts) if step is None else step
    if not 1 <= number <= len(thoughts):
        has = f"its thoughts are 1 to {len(thoughts)}" if thoughts else "it has not thought yet"
        message = f"run {record.run_id} has no thought {1 if step is None else step}: {has}"
        raise ConfigError(message)
    at, thought = thoughts[number - 1]
    return number, Trajectory(record.run_id, record.entries[:at]), thought


def _codec(recorded: str, run_id: str) -> Codec:
    """The codec by the name in the record, in the version that is here."""
    try:
        return by_name(recorded.partition("/")[0])
    except ConfigError as error:
        if error.install:
            raise
        message = (
            f"run {run_id} was rendered by the codec {recorded!r}, which does not ship with clew: "
            "from Python, give it to prompt_of(…, codec=…)"
        )
        raise ConfigError(message) from error


def _reason(spec: AgentSpec, codec: Codec, prompt_spec: PromptSpec, shape: str) -> str:
    """What is known of why a prompt is not what was sent."""
    if codec.name != spec.codec:
        return f"it was rendered by {spec.codec}, here it is by {codec.name}"
    if shape and prompt_spec.shape is None:
        return (
            f"observations were shown as {shape} shapes them, which does not ship with clew: from "
            "Python, give it to prompt_of(…, shape=…)"
        )
    return ""
