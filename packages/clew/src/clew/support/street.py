"""The other packages of clew, and what each adds: whoever asks for that and lacks it is told.

A package that is not named here adds what it likes by entry points all the same.
"""

from collections.abc import Mapping, Sequence
from typing import Final

PACKAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "clew-acp": {"clew.commands": "acp"},
    "clew-cluster": {"clew.stores": "postgres postgresql", "clew.workers": "dbos ray temporal"},
    "clew-code": {
        "clew.codecs": "code",
        "clew.doctor": "sandbox",
        "clew.examples": "run_code",
        "clew.programs": "tool",
        "clew.tools": "run_code",
        "clew.workspace": "tools",
    },
    "clew-evals": {"clew.commands": "eval"},
    "clew-local": {"clew.models": "local"},
    "clew-mcp": {"clew.commands": "mcp tools.classify", "clew.mcp": "server tools"},
    "clew-serve": {"clew.commands": "serve view", "clew.exports": "html"},
    "clew-strategies": {
        "clew.strategies": "strategy_agent auto evaluator_optimizer orchestrator plan_and_solve"
        " reflexion rewoo tree_search",
        "clew.votes": "agent_of verifying vote vote_status",
    },
    "clew-testing": {},
    "clew-web": {
        "clew.guards": "lookup",
        "clew.tools": "baidu_search brave_search fetch_page lookup search searxng_search"
        " serper_search tavily_search web_search wiki_search",
    },
}
"""The names of each package, by group of entry points."""

EXTRAS: Final[Mapping[tuple[str, str], str]] = {
    ("clew.stores", "postgres"): "postgres",
    ("clew.stores", "postgresql"): "postgres",
    ("clew.workers", "dbos"): "dbos",
    ("clew.workers", "ray"): "ray",
    ("clew.workers", "temporal"): "temporal",
}
"""The extra of its package that a name of a group needs, of those that need one."""

REQUIRED: Final[Mapping[str, Sequence[str]]] = {"clew-evals": ("clew-strategies",)}
"""What a package requires of the others, beside clew."""


SHIPPED: Final = frozenset({"clew", *(name.replace("-", "_") for name in PACKAGES)})
"""What clew's packages are imported as."""


def is_shipped(kind: type) -> bool:
    """Whether clew or another of its packages has this class: whatever else is a user's own."""
    return kind.__module__.partition(".")[0] in SHIPPED


def names_of(group: str) -> list[str]:
    """The names that all these packages add to a group, installed or not."""
    return [name for adds in PACKAGES.values() for name in adds.get(group, "").split()]


def package_of(group: str, name: str) -> str:
    """The package of clew that adds this name; "" where none does."""
    packages = (
        package for package, adds in PACKAGES.items() if name in adds.get(group, "").split()
    )
    return next(packages, "")
