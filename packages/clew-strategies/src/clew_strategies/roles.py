"""The roles of a strategy: agents, tools, agents that read other runs, and branching agents."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import msgspec

from clew import Agent, Observation, Tool, Verdict, delegate
from clew.agent.runner import has_begun
from clew.agent.subagents import TASK, Delegation
from clew.core.tools import AnyTool
from clew.interfaces import AgentTool, Json, Parameters, SubRun
from clew_strategies.branches import Branches, branching, load_sub_run
from clew_strategies.earlier import done_before
from clew_strategies.transcript import transcript


@dataclass(frozen=True, slots=True)
class Reader:
    """An agent that is shown another run's transcript after its task."""

    agent: Agent[Any]


Role: TypeAlias = Agent[Any] | Reader | Branches | AnyTool
"""What a strategy may use."""

WEIGHT: Final = "weight"
"""The argument that sets a run's share of the budget among runs made at once."""

_RUNS: Final[Parameters] = {
    **TASK,
    "properties": {**TASK["properties"], WEIGHT: {"type": "number", "exclusiveMinimum": 0}},
}
_READS: Final[Parameters] = {
    **TASK,
    "properties": {**TASK["properties"], "of": {"type": "string"}},
    "required": ["task", "of"],
}


def is_role(part: object) -> bool:
    """Whether a strategy may use it."""
    return isinstance(part, Agent | Reader | Branches | Tool | AgentTool)


def tool_of(name: str, role: Role, caps: Mapping[str, int]) -> AnyTool:
    """The role as a tool of the strategy's own record; its runs are held to the caps together."""
    made = _tool_of(name, role)
    return replace(made, caps=caps) if isinstance(made, AgentTool) else made


def _tool_of(name: str, role: Role) -> AnyTool:
    if isinstance(role, AgentTool) and isinstance(role.run, Delegation):
        told = msgspec.structs.replace(role.run, earlier=done_before)
        return replace(role, name=name, run=told)
    if isinstance(role, Tool | AgentTool):
        return replace(role, name=name)
    if isinstance(role, Branches):
        return branching(name, role)
    if isinstance(role, Reader):
        made = delegate(
            role.agent,
            name=name,
            description=f"A run of {name}, which is shown the run of the call `of`.",
            parameters=_READS,
            goal=_task,
        )
        return replace(made, run=_ReadingRun(role.agent))
    made = delegate(
        role,
        name=name,
        description=f"A run of {name}.",
        parameters=_RUNS,
        goal=_task,
    )
    return replace(
        made, weight=WEIGHT, run=Delegation(role, _task, earlier=done_before, attached=True)
    )


def _task(args: dict[str, Json]) -> str:
    return str(args["task"])


def answers_text(role: Role) -> bool:
    """Whether its answers are text, even where they look like JSON."""
    agent = role.agent if isinstance(role, Reader) else role
    return isinstance(agent, Agent) and agent.engine.prompt_spec.answers_text


@dataclass(frozen=True, slots=True)
class _ReadingRun:
    """Starts a sub-run whose goal contains the transcript of another sub-run."""

    agent: Agent[Any]

    async def __call__(self, sub: SubRun) -> Observation | Verdict:
        """The sub-run's result, or the verdict that holds it."""
        task = ""
        if not await has_begun(sub.store, sub.run_id):
            task = await self._task(sub)
        return await Delegation(self.agent, lambda _: task, earlier=done_before, attached=True)(sub)

    async def _task(self, sub: SubRun) -> str:
        return f"{sub.args['task']}\n\n{transcript(await load_sub_run(sub))}"
