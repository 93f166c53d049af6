"""Which agent goes on with a run: the one of its record, or one that takes over from that.

An agent is changed while its runs wait: a prompt is reworded, a tool is added. Whoever says
`accept_change` lets them go on with the agent as it is now.
"""

from collections.abc import Iterable
from typing import Any

from clew.agent.agent import Agent
from clew.agent.compare import as_begun
from clew.core.redaction import redact
from clew.core.spec_changes import changes, changes_to_accept
from clew.core.specs import AgentSpec
from clew.core.trajectory import Trajectory
from clew.support.errors import ConfigError


def agent_of_run(
    record: Trajectory, agents: Iterable[Agent[Any]], *, accept_change: bool = False
) -> Agent[Any] | None:
    """The agent of a record, as that has it; with `accept_change` also the nearest to it.

    The nearest has a tool of the record's agent or, where one of them has none, its prompt: runs of
    others are left alone.
    """
    spec = record.spec or record.started.spec
    nearest: tuple[int, Agent[Any]] | None = None
    for each in agents:
        agent = as_begun(each, record)
        different = changes_to_accept(spec, redact(agent.spec))
        if not different:
            return agent
        near = nearest is None or len(different) < nearest[0]
        if accept_change and near and _takes_over(agent.spec, spec):
            nearest = len(different), agent
    return None if nearest is None else nearest[1]


def check_told_apart(agents: Iterable[Agent[Any]]) -> None:
    """Raise `ConfigError` for two that a record cannot tell apart and whose deps differ.

    The first would go on with runs of the second, and act with its own deps.
    """
    first = dict[str, Agent[Any]]()
    for agent in agents:
        same = first.setdefault(agent.spec.fingerprint, agent)
        if same.deps != agent.deps:
            message = (
                "two agents have other deps and are otherwise the same, so a record cannot tell "
                "whose run it is: give one another prompt, or work on its runs in another process "
                "with another queue"
            )
            raise ConfigError(message, field="agents")


def check_agent(agent: Agent[Any], record: Trajectory, *, accept_change: bool) -> tuple[str, ...]:
    """The differences between agent and record. Raises `ConfigError` for forbidden ones."""
    old, new = record.spec or record.started.spec, redact(agent.spec)
    different = changes_to_accept(old, new)
    if different and not accept_change:
        message = (
            f"the agent differs from the record's in {', '.join(different)}: accept the change "
            "(--accept-change, accept_change=True)"
        )
        raise ConfigError(message)
    return changes(old, new) if different else ()


def differs(agent: Agent[Any], record: Trajectory, *, accept_change: bool) -> bool:
    """Whether the agent is another than the record's, by what a person would have to accept.

    Raises `ConfigError`, as `check_agent` does, for one that nobody accepted.
    """
    return bool(check_agent(as_begun(agent, record), record, accept_change=accept_change))


def _takes_over(new: AgentSpec, old: AgentSpec) -> bool:
    if new.tools and old.tools:  # a prompt may be the usual one, which many agents have
        return not new.tools.keys().isdisjoint(old.tools)
    return new.prompt == old.prompt
