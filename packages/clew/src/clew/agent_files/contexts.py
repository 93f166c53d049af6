"""What an agent file says of what a model sees: of many tools, and of a long run."""

from collections.abc import Iterable
from typing import Any

import msgspec

from clew.agent.critic import Critic
from clew.agent_files.connection import model_beside
from clew.agent_files.imports import imported_function
from clew.agent_files.spec import Spec, part
from clew.context import Compaction, Context, Rewinds
from clew.core.tools import AnyTool
from clew.support.errors import ConfigError
from clew.tools.retrieval import Embed, Retrieval


def context_of(spec: Spec, tools: Iterable[AnyTool]) -> Context:
    """What a model sees of the tools, and of a long run."""
    context = Context(retrieval=_retrieval(spec, tools), rewinds=_rewinds(spec))
    if (table := spec.compaction) is None:
        return context
    with part("compaction"):
        return context.replace(compaction=Compaction(**msgspec.structs.asdict(table)))


def _rewinds(spec: Spec) -> Rewinds | None:
    """When a run takes a wrong branch out of its view by itself."""
    if (table := spec.rewinds) is None:
        return None
    settings = msgspec.structs.asdict(table)
    with part("rewinds", "critic"):
        settings["critic"] = Critic(model_beside(spec, table.critic)) if table.critic else None
    with part("rewinds"):
        return Rewinds(**settings)


def _retrieval(spec: Spec, tools: Iterable[AnyTool]) -> Retrieval | None:
    """How the tools are found that a model is shown, where they are not all shown."""
    if (table := spec.retrieval) is None:
        return None
    with part("retrieval", "always"):
        if strange := sorted({*table.always} - {tool.name for tool in tools}):
            message = f"the agent has no tool {strange[0]!r}: add it to tools, or leave it out"
            raise ConfigError(message)
    embed: Embed | str | None = table.embed or None
    if ":" in table.embed:
        with part("retrieval", "embed"):
            embed = imported_function(table.embed, "embedding", spec.folder)
    settings: dict[str, Any] = {"k": table.k, "max_tools": table.max_tools, "embed": embed}
    settings["per_server"] = table.per_server
    for name, value in settings.items():
        with part("retrieval", name):
            Retrieval(**{name: value})
    return Retrieval(always=table.always, **settings)
