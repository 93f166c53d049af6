"""What an agent forbids, where a strategy calls its tools itself.

A strategy's record holds two kinds of calls: runs of its roles, and calls of tools. A run is judged
within its own record. A call of a tool is judged here as in a plain run of the agent whose tool it
is: by that agent's guards, and by its limits on calls.
"""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, Literal, TypeGuard

from clew import Agent, Call, Tool, Trajectory, Verdict
from clew.context.branches import branch_steps
from clew.core.done import described_effect
from clew.core.received import is_certain, repetitions
from clew.deps import ContextGuard, guard_with_context
from clew.guards import Provenance
from clew.guards.caps import counted
from clew.interfaces import EFFECTFUL, FINISH, AgentTool, Guard, StopRule, ToolSpec
from clew.support.parts import stable_name
from clew_strategies.branches import Branches
from clew_strategies.roles import Reader, Role

_LEVELS: Final[tuple[Literal["strict", "standard", "off"], ...]] = ("strict", "standard", "off")


@dataclass(frozen=True)
class OwnCalls:
    """A guard of an agent that is asked only about calls of these tools."""

    guard: Guard | ContextGuard
    names: frozenset[str]

    def __call__(
        self, call: Call, trajectory: Trajectory
    ) -> Verdict | Awaitable[Verdict | None] | None:
        """What the guard says of a call of a tool; nothing about a run of a role."""
        if call.action.name not in self.names:
            return None
        return guard_with_context(self.guard)(call, trajectory)

    def __repr__(self) -> str:
        """Its name in the record is that of the guard."""
        return stable_name(self.guard)


@dataclass(frozen=True)
class OwnCaps:
    """A guard: an agent's limits on its calls, where runs of roles do not count as calls."""

    total: int
    per_step: int
    names: frozenset[str]

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Deny with code "cap"; calls of this step that were let through count as made."""
        if call.action.name not in self.names or counted(trajectory, call):
            return None
        before = [
            each
            for each in trajectory.step.all_calls
            if each.action.name in self.names and each.position < call.position
        ]
        waiting = sum(each.observation is None and not each.attempts for each in before)
        made = sum(trajectory.spent.calls[name] for name in self.names)
        if made + waiting >= self.total:
            text = f"all {self.total} tool calls are used: answer with what is known"
            return Verdict("deny", text, code="cap")
        let_through = sum(each.observation is None or each.observation.made for each in before)
        if let_through >= self.per_step:
            text = f"only {self.per_step} call(s) a step: make this one in the next step"
            return Verdict("deny", text, code="cap")
        return None


@dataclass(frozen=True)
class OwnRepetitions:
    """A guard: holds a call of a tool that was made before a person last spoke, or rewound.

    Whoever planned it saw no more of the earlier one than what it was told. A run of a role that
    repeats an effect is held in the same way (`clew_strategies.earlier`).
    """

    names: frozenset[str]
    tools: Mapping[str, ToolSpec] = field(repr=False, compare=False)

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Hold the call for a person, who knows whether it is to happen twice."""
        if call.action.name not in self.names:
            return None
        tool = self.tools.get(call.action.name)
        in_view = {step.number for step in branch_steps(trajectory)}
        gone = (each for each in trajectory.effects if each.step not in in_view)
        effects = [described_effect(trajectory, each) for each in gone]
        for done, _ in repetitions(trajectory, call, tool, effects):
            was = "was" if is_certain(trajectory, call, tool, done) else "may be"
            key = done.key.rpartition(":")[2]
            reason = f"this {was} done already, in {key}: allow it if it is to happen twice"
            return Verdict("hold", reason)
        return None


def tool_names(roles: Mapping[str, Role]) -> dict[str, str]:
    """By each role that is a tool: the name of its calls in the record.

    That is the tool's own name, which guards and limits know it by; the role's, if another role or
    another tool has that name.
    """
    tools = {role: tool for role, tool in roles.items() if isinstance(tool, Tool | AgentTool)}
    named = [tool.name for tool in tools.values()]
    return {
        role: role
        if named.count(tool.name) > 1 or (tool.name in roles and roles[tool.name] is not tool)
        else tool.name
        for role, tool in tools.items()
    }


def own_guards(
    like: Agent[Any], agents: Sequence[Agent[Any]], roles: Mapping[str, Role]
) -> tuple[Guard, ...]:
    """The guards of a strategy's record: of `like` and of the roles' agents, about their tools.

    `like` judges all tools, also those that no agent has, such as an evaluator; of these its limits
    count what has an effect, since how often the others judge is for the strategy to say. Where its
    own tools are called, it judges the answer too: no run of the agent has had that judged.
    """
    names = tool_names(roles)
    called = frozenset(names.values())
    owned = any(roles[role] in like.tools for role in names)
    judged = called | {FINISH} if owned else called
    guards = [OwnCalls(guard, judged) for guard in like.guards if not _is_origins(guard)]
    counted = frozenset(
        name for role, name in names.items() if roles[role] in like.tools or _acts(roles[role])
    )
    caps = [OwnCaps(like.limits.tool_calls, like.limits.calls_per_step, counted)]
    for agent in agents:
        theirs = frozenset(name for role, name in names.items() if roles[role] in agent.tools)
        if not theirs:
            continue
        known = {id(each.guard) for each in guards}
        guards += [
            OwnCalls(guard, theirs)
            for guard in agent.guards
            if id(guard) not in known and not _is_origins(guard)
        ]
        if (agent.limits.tool_calls, agent.limits.calls_per_step) != (
            like.limits.tool_calls,
            like.limits.calls_per_step,
        ):
            caps.append(OwnCaps(agent.limits.tool_calls, agent.limits.calls_per_step, theirs))
    acting = {name: tool for role, name in names.items() if _acts(tool := roles[role])}
    twice = [OwnRepetitions(frozenset(acting), acting)] if acting else []
    usual: tuple[Guard, ...] = (*_origins([like, *agents], roles), *guards)
    return (*usual, *twice, *dict.fromkeys(caps)) if called else usual


def _origins(agents: Sequence[Agent[Any]], roles: Mapping[str, Role]) -> list[Provenance]:
    """The guard that asks where arguments come from: as strict as that of any agent that acts."""
    levels = {it.parts.provenance.level for it in agents if it.parts.acts}
    levels = levels or {agents[0].parts.provenance.level}  # an evaluator may act, which none has
    exempt = frozenset(
        name
        for role, name in tool_names(roles).items()
        for agent in agents
        if roles[role] in agent.tools and name in agent.parts.provenance.exempt
    )
    known = (Provenance(level, exempt) for level in _LEVELS if level in levels)
    return [*known][:1]


def _is_origins(guard: Guard | ContextGuard) -> bool:
    return isinstance(guard, Provenance)


def _acts(role: Role) -> TypeGuard[Tool | AgentTool]:
    return isinstance(role, Tool | AgentTool) and role.effect in EFFECTFUL


def own_bounds(
    like: Agent[Any], agents: Iterable[Agent[Any]], roles: Mapping[str, Role]
) -> tuple[StopRule, ...]:
    """The bounds of a strategy's record: those of `like`, and of agents whose tools it calls."""
    names = tool_names(roles)
    bounds = [*like.bounds]
    for agent in agents:
        if any(roles[role] in agent.tools for role in names):
            bounds += [one for one in agent.bounds if not any(one is each for each in bounds)]
    return tuple(bounds)


def taken_by(agents: Sequence[Agent[Any]]) -> frozenset[str]:
    """The kinds of attachments that the models of all agents take."""
    kinds = [frozenset(each.engine.model.info.takes) for each in agents]
    return reduce(frozenset[str].__and__, kinds) if kinds else frozenset()


def role_agents(roles: Mapping[str, Role]) -> list[Agent[Any]]:
    """The agents of the roles."""
    agents = [
        role.agent if isinstance(role, Reader | Branches) else role for role in roles.values()
    ]
    return [each for each in agents if isinstance(each, Agent)]
