"""The interfaces for writing parts of your own: a model, format, store, guard or scorer.

A model, codec or store is any object with the methods of its protocol; a bound, guard or check is a
function. You inherit from nothing. The module also has the values that they take and return, the
events of a record, and their encoding. `clew` itself has what every program needs.
"""

from clew.core.actions import Action, UnknownCall
from clew.core.bounds import Left, StopRule
from clew.core.call_context import CALL, CallContext
from clew.core.codec import Codec, Describes, Parsed, PromptSpec
from clew.core.codes import EFFECTFUL, FINISH, OUTCOME, AnswerOutcome, Effect, Finish, Trust
from clew.core.contents import Grant, RawCall, Reply, Text, Wire
from clew.core.entries import decode
from clew.core.events import (
    AnyEvent,
    Attempt,
    Cancel,
    Changed,
    Charged,
    Compacted,
    Forked,
    Judged,
    Landing,
    Note,
    Rewound,
    Ruling,
    Settled,
    Started,
    Stop,
    Suspended,
    Thought,
    Woken,
)
from clew.core.judging import Check, Guard, Screen, Screened
from clew.core.listeners import Listener, Progress
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Calls, Part, Prompt
from clew.core.specs import AgentSpec, Rates
from clew.core.stores import Append, Base, Line, RunInfo, Store
from clew.core.tools import AgentTool, Finder, Parameters, SubRun, ToolSpec
from clew.core.values import Json, encode

__all__ = [
    "CALL",
    "EFFECTFUL",
    "FINISH",
    "OUTCOME",
    "Action",
    "AgentSpec",
    "AgentTool",
    "AnswerOutcome",
    "AnyEvent",
    "Append",
    "Attempt",
    "Base",
    "CallContext",
    "Calls",
    "Cancel",
    "Changed",
    "Charged",
    "Check",
    "Codec",
    "Compacted",
    "Describes",
    "Effect",
    "Finder",
    "Finish",
    "Forked",
    "Grant",
    "Guard",
    "Json",
    "Judged",
    "Landing",
    "Left",
    "Line",
    "Listener",
    "Model",
    "ModelInfo",
    "Note",
    "OnText",
    "Parameters",
    "Parsed",
    "Part",
    "Progress",
    "Prompt",
    "PromptSpec",
    "Rates",
    "RawCall",
    "Reply",
    "Rewound",
    "Ruling",
    "RunInfo",
    "Screen",
    "Screened",
    "Settled",
    "Started",
    "Stop",
    "StopRule",
    "Store",
    "SubRun",
    "Suspended",
    "Text",
    "Thought",
    "ToolSpec",
    "Trust",
    "UnknownCall",
    "Wire",
    "Woken",
    "decode",
    "encode",
]
