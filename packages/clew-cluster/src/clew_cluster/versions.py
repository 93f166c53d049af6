"""Which workers can take each other's runs: those with the same agents have the same version."""

import hashlib
from collections.abc import Iterable
from typing import Any

from clew import Agent
from clew.workers import Agents
from clew.workers.agents import KnownAgents


def version_of(agents: Iterable[Agent[Any]], *, recorded: bool = False) -> str:
    """The version of a worker with these agents: the same for all workers with the same agents.

    `recorded` says that it also builds agents from records.
    """
    prints = sorted(agent.spec.fingerprint for agent in agents)
    digest = hashlib.blake2b(" ".join(prints).encode(), digest_size=6).hexdigest()
    return "+".join(([digest] if prints else []) + (["any"] if recorded else [])) or "none"


def version_of_worker(agents: Agents, *, only: bool) -> str:
    """The version of a worker that finds its agents so; `only` is that of its configuration."""
    configured = agents.configured.values() if isinstance(agents, KnownAgents) else ()
    return version_of(configured, recorded=not only)
