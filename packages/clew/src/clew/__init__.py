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
    "clew.agent.agent": "Agent",
    "clew.agent.api": ("batch fork prompt_of read replay result_of resume run run_sync"),
    "clew.agent.approvals": "cancel pending_approvals rule",
    "clew.agent.compare": "Difference diff",
    "clew.agent.critic": "Critic",
    "clew.agent.harmful_requests": "HarmfulRequests",
    "clew.agent.labels": "RunSummary list_runs",
    "clew.agent.open_run": "OpenRun open_fork open_run",
    "clew.agent.question": "Question",
    "clew.agent.rendered_prompt": "RenderedPrompt",
    "clew.agent.reply_parser": "with_parser",
    "clew.agent.result": ("Answered Bound Declined Failed Held Interrupted Refused Result"),
    "clew.agent.rewinding": "rewind",
    "clew.agent.streaming.items": (
        "Calling CallProgress Dropped Idle Nested Partial PartialCall Retrying Token Withdrawn"
    ),
    "clew.agent.streaming.serving": "serving",
    "clew.agent.streaming.start": "start stream",
    "clew.agent.streaming.stream": "Stream follow",
    "clew.agent.settling": "answer settle",
    "clew.agent.subagents": "delegate",
    "clew.context": "Compaction Context Instructions Rewinds",
    "clew.core.contents": "Audio Evidence File Image Observation Usage",
    "clew.core.entries": "Entry",
    "clew.core.pending": "PendingApproval",
    "clew.core.replay": "Replayed",
    "clew.core.tools": "Retry Tool",
    "clew.core.trajectory": "Call Step Trajectory",
    "clew.core.verdicts": "Verdict",
    "clew.deps.run_context": "RunContext",
    "clew.guards": "NoProgress",
    "clew.guards.limits": "Limits",
    "clew.stores": "open_store",
    "clew.stores.memory": "MemoryStore",
    "clew.stores.sqlite.store": "SqliteStore",
    "clew.support.model_settings": "ModelSettings",
    "clew.support.errors": (
        "AlreadyRuledError ClewError ConfigError ModelError NotAnsweredError NotHeldError "
        "PartError ReplayError StaleApprovalError StoreError ToolError"
    ),
    "clew.tools": "tool",
    "clew.workers.queue": "submit",
}
"""The public names of each module."""

_HOMES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}

# Constants, then classes, then functions.
__all__ = sorted([*_HOMES, "sync"], key=lambda name: (not name.isupper(), name[0].islower(), name))  # noqa: PLE0605 - made from the one table


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name == "sync":
        return import_module("clew.sync")
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=None)
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
