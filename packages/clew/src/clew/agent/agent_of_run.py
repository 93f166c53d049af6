"""Which agent goes on with a run: the one of its record, or one that takes over from that.

An agent is changed while its runs wait: a prompt is reworded, a tool is added. With
`Agent(changes="continue")` the application says that they go on with the agent as it is now.
"""

from collections.abc import Iterable
from typing import Any

from clew.agent.agent import Agent
from clew.agent.compare import as_begun
from clew.core.events import AgentSpec
from clew.core.redaction import redact
from clew.core.spec_changes import changes_to_accept
from clew.core.trajectory import Trajectory


def agent_of_run(record: Trajectory, agents: Iterable[Agent[Any]]) -> Agent[Any] | None:
    """The agent of a record, as that has it; without it the nearest that continues changed runs.

    Such a one has a tool of the record's agent, or its prompt: others' runs are left alone.
    """
    spec = record.spec or record.started.spec
    nearest: tuple[int, Agent[Any]] | None = None
    for each in agents:
        agent = as_begun(each, record)
        different = changes_to_accept(spec, redact(agent.spec))
        if not different:
            return agent
        near = nearest is None or len(different) < nearest[0]
        if near and each.changes == "continue" and _takes_over(agent.spec, spec):
            nearest = len(different), agent
    return None if nearest is None else nearest[1]


def _takes_over(new: AgentSpec, old: AgentSpec) -> bool:
    return new.prompt == old.prompt or not new.tools.keys().isdisjoint(old.tools)
