"""The agents that are served."""

import msgspec

from clew_serve.agents import ServedAgent
from clew_serve.endpoints import Inquiry


class AgentInfo(msgspec.Struct):
    """An agent by name: its model, and its tools with what they do to the world."""

    name: str
    model: str
    tools: dict[str, str]
    begins: bool
    """Whether runs can be begun here with it."""


class AgentList(msgspec.Struct):
    """The agents that are served, by name."""

    agents: list[AgentInfo]


async def get(inquiry: Inquiry) -> AgentList:
    """The agents that are served."""
    begins = not inquiry.service.config.read_only
    return AgentList([_info(each, begins=begins) for each in inquiry.service.agents.values()])


def _info(served: ServedAgent, *, begins: bool) -> AgentInfo:
    tools = {tool.name: str(tool.effect) for tool in served.agent.tools if not tool.hidden}
    return AgentInfo(served.name, served.agent.spec.model, tools, begins)
