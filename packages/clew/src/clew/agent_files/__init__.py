"""Agent files: describe an agent in a TOML file.

The command line and records use the same values.
"""

from clew.agent.foreign import ForeignRunError, family, trust
from clew.agent_files.build import (
    DOCS,
    Loaded,
    load_agent,
    make_agent,
    make_library,
    make_model,
    make_tools,
    tool_names,
    with_model,
)
from clew.agent_files.provenance import is_foreign, spec_of
from clew.agent_files.read import explained, read_agent_file
from clew.agent_files.replay_doubles import stand_ins
from clew.agent_files.spec import ORIGIN, SCREENS, AgentPartError, Spec, origin
from clew.agent_files.template import TEMPLATE
from clew.agent_files.untrusted import ForeignOriginError, outside_parts, refuse_foreign
from clew.agent_files.worker_agents import agent_named

__all__ = [
    "DOCS",
    "ORIGIN",
    "SCREENS",
    "TEMPLATE",
    "AgentPartError",
    "ForeignOriginError",
    "ForeignRunError",
    "Loaded",
    "Spec",
    "agent_named",
    "explained",
    "family",
    "is_foreign",
    "load_agent",
    "make_agent",
    "make_library",
    "make_model",
    "make_tools",
    "origin",
    "outside_parts",
    "read_agent_file",
    "refuse_foreign",
    "spec_of",
    "stand_ins",
    "tool_names",
    "trust",
    "with_model",
]
