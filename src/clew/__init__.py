"""clew: a ReAct runtime for Python whose append-only record is the only state.

A language model thinks, calls tools, reads what they returned, and continues until it can answer.
Every event is written to the record, and everything else is read from it.
"""

from clew.api import (
    OpenRun,
    Stream,
    StreamSync,
    Token,
    batch,
    batch_sync,
    fork,
    fork_sync,
    open_fork,
    open_run,
    prompt_of,
    prompt_of_sync,
    read,
    read_sync,
    replay,
    replay_sync,
    result_of,
    result_of_sync,
    resume,
    resume_sync,
    run,
    run_sync,
    stream,
    stream_sync,
)
from clew.approvals import (
    cancel,
    cancel_sync,
    pending_approvals,
    pending_approvals_sync,
    rule,
    rule_sync,
)
from clew.codecs.interface import Example
from clew.compare import Difference, diff
from clew.context import (
    PROMPT,
    VARIANTS,
    Compaction,
    Context,
    Instructions,
    Review,
    Rewinds,
    Variant,
    demonstrations,
)
from clew.context.critic import Critic
from clew.context.history import ContextRow, context_history
from clew.context.rendered_prompt import RenderedPrompt
from clew.core.agent import Agent
from clew.core.errors import (
    ClewError,
    ConfigError,
    FencedError,
    ModelError,
    PartError,
    ReplayError,
    RunExistsError,
    RunNotFoundError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreNewerError,
    StoreUnreachableError,
    ToolError,
)
from clew.core.events import Entry, Evidence, Image, Observation, Usage, Verdict
from clew.core.interfaces import Left, Retry, Tool
from clew.core.pending import PendingApproval
from clew.core.replay import Replayed
from clew.core.trajectory import Call, Step, Trajectory
from clew.guards import NoProgress
from clew.guards.limits import RESEARCH, Limits
from clew.reply_parser import with_parser
from clew.result import Result
from clew.rewinding import rewind, rewind_sync
from clew.stores import MemoryStore, SqliteStore, open_store
from clew.subagents import delegate
from clew.support.run_ids import new_run_id
from clew.tools import Key, tool
from clew.workers.queue import follow, follow_sync, submit, submit_sync

__version__ = "0.1.0"

__all__ = [
    "PROMPT",
    "RESEARCH",
    "VARIANTS",
    "Agent",
    "Call",
    "ClewError",
    "Compaction",
    "ConfigError",
    "Context",
    "ContextRow",
    "Critic",
    "Difference",
    "Entry",
    "Evidence",
    "Example",
    "FencedError",
    "Image",
    "Instructions",
    "Key",
    "Left",
    "Limits",
    "MemoryStore",
    "ModelError",
    "NoProgress",
    "Observation",
    "OpenRun",
    "PartError",
    "PendingApproval",
    "RenderedPrompt",
    "ReplayError",
    "Replayed",
    "Result",
    "Retry",
    "Review",
    "Rewinds",
    "RunExistsError",
    "RunNotFoundError",
    "SqliteStore",
    "Step",
    "StoreBusyError",
    "StoreDamagedError",
    "StoreError",
    "StoreNewerError",
    "StoreUnreachableError",
    "Stream",
    "StreamSync",
    "Token",
    "Tool",
    "ToolError",
    "Trajectory",
    "Usage",
    "Variant",
    "Verdict",
    "batch",
    "batch_sync",
    "cancel",
    "cancel_sync",
    "context_history",
    "delegate",
    "demonstrations",
    "diff",
    "follow",
    "follow_sync",
    "fork",
    "fork_sync",
    "new_run_id",
    "open_fork",
    "open_run",
    "open_store",
    "pending_approvals",
    "pending_approvals_sync",
    "prompt_of",
    "prompt_of_sync",
    "read",
    "read_sync",
    "replay",
    "replay_sync",
    "result_of",
    "result_of_sync",
    "resume",
    "resume_sync",
    "rewind",
    "rewind_sync",
    "rule",
    "rule_sync",
    "run",
    "run_sync",
    "stream",
    "stream_sync",
    "submit",
    "submit_sync",
    "tool",
    "with_parser",
]
