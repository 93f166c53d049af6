from clew import sync as sync
from clew.agent.agent import (
    Agent,
)
from clew.agent.api import (
    batch,
    fork,
    prompt_of,
    read,
    replay,
    result_of,
    resume,
    run,
    run_sync,
)
from clew.agent.approvals import (
    cancel,
    pending_approvals,
    rule,
)
from clew.agent.compare import (
    Difference,
    diff,
)
from clew.agent.critic import (
    Critic,
)
from clew.agent.harmful_requests import (
    HarmfulRequests,
)
from clew.agent.labels import (
    RunSummary,
    list_runs,
)
from clew.agent.open_run import (
    OpenRun,
    open_fork,
    open_run,
)
from clew.agent.question import (
    Question,
)
from clew.agent.rendered_prompt import (
    RenderedPrompt,
)
from clew.agent.reply_parser import (
    with_parser,
)
from clew.agent.result import (
    Answered,
    Bound,
    Declined,
    Failed,
    Held,
    Interrupted,
    Refused,
    Result,
)
from clew.agent.rewinding import (
    rewind,
)
from clew.agent.settling import answer, settle
from clew.agent.streaming.items import (
    Calling,
    CallProgress,
    Dropped,
    Idle,
    Nested,
    Partial,
    PartialCall,
    Retrying,
    Token,
    Withdrawn,
)
from clew.agent.streaming.serving import (
    serving,
)
from clew.agent.streaming.start import (
    start,
    stream,
)
from clew.agent.streaming.stream import (
    Stream,
    follow,
)
from clew.agent.subagents import (
    delegate,
)
from clew.context import (
    Compaction,
    Context,
    Instructions,
    Rewinds,
)
from clew.core.contents import Audio, Evidence, File, Image, Observation, Usage
from clew.core.entries import Entry
from clew.core.pending import (
    PendingApproval,
)
from clew.core.replay import (
    Replayed,
)
from clew.core.tools import Retry, Tool
from clew.core.trajectory import (
    Call,
    Step,
    Trajectory,
)
from clew.core.verdicts import Verdict
from clew.deps.run_context import (
    RunContext,
)
from clew.guards import (
    NoProgress,
)
from clew.guards.limits import (
    Limits,
)
from clew.stores import open_store
from clew.stores.memory import MemoryStore
from clew.stores.sqlite.store import SqliteStore
from clew.support.errors import (
    AlreadyRuledError,
    ClewError,
    ConfigError,
    ModelError,
    NotAnsweredError,
    NotHeldError,
    PartError,
    ReplayError,
    StaleApprovalError,
    StoreError,
    ToolError,
)
from clew.support.model_settings import (
    ModelSettings,
)
from clew.tools import (
    tool,
)
from clew.workers.queue import (
    submit,
)

__version__: str

__all__ = [
    "Agent",
    "AlreadyRuledError",
    "Answered",
    "Audio",
    "Bound",
    "Call",
    "CallProgress",
    "Calling",
    "ClewError",
    "Compaction",
    "ConfigError",
    "Context",
    "Critic",
    "Declined",
    "Difference",
    "Dropped",
    "Entry",
    "Evidence",
    "Failed",
    "File",
    "HarmfulRequests",
    "Held",
    "Idle",
    "Image",
    "Instructions",
    "Interrupted",
    "Limits",
    "MemoryStore",
    "ModelError",
    "ModelSettings",
    "Nested",
    "NoProgress",
    "NotAnsweredError",
    "NotHeldError",
    "Observation",
    "OpenRun",
    "PartError",
    "Partial",
    "PartialCall",
    "PendingApproval",
    "Question",
    "Refused",
    "RenderedPrompt",
    "ReplayError",
    "Replayed",
    "Result",
    "Retry",
    "Retrying",
    "Rewinds",
    "RunContext",
    "RunSummary",
    "SqliteStore",
    "StaleApprovalError",
    "Step",
    "StoreError",
    "Stream",
    "Token",
    "Tool",
    "ToolError",
    "Trajectory",
    "Usage",
    "Verdict",
    "Withdrawn",
    "answer",
    "batch",
    "cancel",
    "delegate",
    "diff",
    "follow",
    "fork",
    "list_runs",
    "open_fork",
    "open_run",
    "open_store",
    "pending_approvals",
    "prompt_of",
    "read",
    "replay",
    "result_of",
    "resume",
    "rewind",
    "rule",
    "run",
    "run_sync",
    "serving",
    "settle",
    "start",
    "stream",
    "submit",
    "sync",
    "tool",
    "with_parser",
]
