"""The interfaces for writing parts of your own: a model, format, store, guard or scorer.

A model, codec or store is any object with the methods of its protocol; a bound, guard or check is a
function. You inherit from nothing. The module also has the values that they take and return, the
events of a record, and their encoding. `clew` itself has what every program needs.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from clew.codecs.interface import Codec, Describes, Parsed, PromptSpec, Shape
from clew.concurrency.resources import close_resource, hold_open, resources
from clew.core.events import (
    EFFECTFUL,
    FINISH,
    Action,
    AgentSpec,
    AnyEvent,
    Attempt,
    Cancel,
    Changed,
    Charged,
    Code,
    Compacted,
    Effect,
    Forked,
    Grant,
    Json,
    Judged,
    Landing,
    Note,
    Rates,
    RawCall,
    Reply,
    Rewound,
    Ruling,
    Started,
    Status,
    Stop,
    Suspended,
    Text,
    Thought,
    ToolSetting,
    Trust,
    Wire,
    decode,
    encode,
)
from clew.core.interfaces import (
    CALL,
    AgentTool,
    AnyTool,
    Append,
    Base,
    Bound,
    CallContext,
    Calls,
    Check,
    Finder,
    Guard,
    Line,
    Listener,
    Model,
    ModelInfo,
    OnText,
    Parameters,
    Part,
    Progress,
    Prompt,
    RunInfo,
    Screen,
    Store,
    SubRun,
    Tail,
    ToolSpec,
)
from clew.core.trajectory import Trajectory
from clew.stores.interface import Deletes, Locks, Notifies, Recovers
from clew.support.structural import Structural

__all__ = [
    "CALL",
    "EFFECTFUL",
    "FINISH",
    "Action",
    "AgentSpec",
    "AgentTool",
    "AnyEvent",
    "AnyTool",
    "Append",
    "Attempt",
    "Audits",
    "Base",
    "Bound",
    "CallContext",
    "Calls",
    "Cancel",
    "Changed",
    "Charged",
    "Check",
    "Code",
    "Codec",
    "Compacted",
    "Deletes",
    "Describes",
    "Effect",
    "Entailment",
    "Entails",
    "Finder",
    "Forked",
    "Grant",
    "Guard",
    "Json",
    "Judged",
    "Landing",
    "Line",
    "Listener",
    "Locks",
    "Model",
    "ModelInfo",
    "Note",
    "Notifies",
    "OnText",
    "Parameters",
    "Parsed",
    "Part",
    "Progress",
    "Prompt",
    "PromptSpec",
    "Rates",
    "RawCall",
    "Recovers",
    "Reply",
    "Rewound",
    "Ruling",
    "RunInfo",
    "Scorer",
    "Screen",
    "Shape",
    "Started",
    "Status",
    "Stop",
    "Store",
    "SubRun",
    "Suspended",
    "Tail",
    "Text",
    "Thought",
    "ToolSetting",
    "ToolSpec",
    "Trust",
    "Wire",
    "close_resource",
    "decode",
    "encode",
    "hold_open",
    "resources",
]

Entailment: TypeAlias = Literal["entails", "contradicts", "neither"]
Entails: TypeAlias = Callable[[str, Sequence[str]], Awaitable[Entailment]]
"""Whether passages mean what a claim says: a model of your own, beside the audit."""


@runtime_checkable
class Audits(Protocol, metaclass=Structural):
    """A check that can also report its findings in detail, for `Result.audit`."""

    def audit(self, answer: Any, so_far: Trajectory) -> Any:
        """The findings on an answer, such as a `clew.evidence.Audit`."""
        ...


Scorer: TypeAlias = Callable[[Trajectory], Awaitable[float]]
"""Rates a run in [0, 1]."""
