"""clew: a ReAct runtime for Python whose append-only record is the only state.

A language model thinks, calls tools, reads what they returned, and continues until it can answer.
Every event is written to the record, and everything else is read from it.

`import clew` loads nothing: a name is loaded when it is first used (PEP 562). Type checkers read
`__init__.pyi`.
"""

# Names are loaded when used, where pyright looks for them.
# pyright: reportUnsupportedDunderAll=false

import logging
from importlib import import_module
from typing import Any, Final

__version__ = "0.1.0"

logging.getLogger("clew").addHandler(logging.NullHandler())  # what is shown is up to the program

_NAMES: Final = {
    "clew.agent.api": (
        "OpenRun Stream StreamSync Token batch batch_sync fork fork_sync open_fork open_run "
        "prompt_of prompt_of_sync read read_sync replay replay_sync result_of result_of_sync "
        "resume resume_sync run run_sync stream stream_sync"
    ),
    "clew.agent.approvals": (
        "cancel cancel_sync pending_approvals pending_approvals_sync rule rule_sync"
    ),
    "clew.core.codec": "Example",
    "clew.agent.compare": "Difference diff",
    "clew.context": (
        "PROMPT VARIANTS Compaction Context Instructions Review Rewinds Variant demonstrations"
    ),
    "clew.agent.critic": "Critic",
    "clew.context.history": "ContextRow context_history",
    "clew.agent.rendered_prompt": "RenderedPrompt",
    "clew.agent.agent": "Agent",
    "clew.support.errors": (
        "ClewError ConfigError FencedError ModelError PartError ReplayError RunExistsError "
        "RunNotFoundError StoreBusyError StoreDamagedError StoreError StoreNewerError "
        "StoreUnreachableError ToolError"
    ),
    "clew.core.events": "Entry Evidence Image Observation Usage Verdict",
    "clew.core.interfaces": "Left Retry Tool",
    "clew.core.pending": "PendingApproval",
    "clew.core.replay": "Replayed",
    "clew.core.trajectory": "Call Step Trajectory",
    "clew.guards": "NoProgress",
    "clew.guards.limits": "RESEARCH Limits",
    "clew.agent.reply_parser": "with_parser",
    "clew.agent.result": "Result",
    "clew.agent.rewinding": "rewind rewind_sync",
    "clew.stores": "MemoryStore SqliteStore open_store",
    "clew.agent.subagents": "delegate",
    "clew.support.run_ids": "new_run_id",
    "clew.tools": "Key tool",
    "clew.workers.queue": "follow follow_sync submit submit_sync",
}
"""The public names of each module."""

_HOMES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}

# Constants, then classes, then functions.
__all__ = sorted(_HOMES, key=lambda name: (not name.isupper(), name[0].islower(), name))  # noqa: PLE0605 - made from the one table


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=None)
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
