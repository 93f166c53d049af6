"""The names that the record fixes, and the closed lists of what may stand in it."""

from typing import Final, Literal, TypeAlias

FINISH: Final = "finish"
"""Name of the tool that ends a run."""

OUTCOME: Final = "outcome"
"""The argument of `finish` in which a model says what came of its task."""

RUN_CODE: Final = "run_code"
"""Name of the tool that runs a program: the other tools are functions in it."""

ACTING: Final = "*"
"""The cap on all calls with an effect, whatever their tools."""

Finish: TypeAlias = Literal["stop", "calls", "declined", "length", "filter", "refusal", "cut"]
"""How a reply ended: complete (`stop`, `calls`; `declined` says that the model cannot answer, and
its text may show what was found), or cut by a limit, a filter, a refusal, a lost connection."""

TOO_LONG: Final = "too_long"
"""`Reply.ending` of a reply that clew cut off, since it was longer than any may be."""

Effect: TypeAlias = Literal["pure", "read", "idempotent", "unsafe"]

Trust: TypeAlias = Literal["trusted", "untrusted"]

Outcome: TypeAlias = Literal["done", "not_done", "unknown"]

AnswerOutcome: TypeAlias = Literal["answered", "done", "not_done", "not_found"]
"""What a model says came of its task (`finish`): it is answered; what was asked is changed, or is
not; it was looked for in vain."""

Status: TypeAlias = Literal[
    "answered", "declined", "bound", "held", "refused", "failed", "interrupted"
]
"""How a run ended; `declined` means that the model said it cannot answer."""

ChargeKind: TypeAlias = Literal["lost_reply", "left", "failed", "time_up", "critic", "screen"]
"""What is charged: a reply that a worker may have asked for, and died; nothing, since the worker
left between two steps; what the worker may have asked for in vain, when the model or the store
failed it; a call that was cut because the run's time was up; what a critic took, or a screen."""

Code: TypeAlias = Literal[
    "",
    "unknown_tool",
    "invalid_arguments",
    "repeated_same_tool_call_too_many_times",
    "timeout",
    "tool_error",
    "crashed",
    "bad_output",
    "denied",
    "cap",
    "unknown",
    "rejected",
    "interrupted",
    "sibling_failed",
    "same_call",
    "not_kept",
    "declined",
    "waits",
    "contradicted",
]
"""The closed list of what can be wrong with an observation; empty if nothing is."""

_MARK: Final = "ERROR: "

UNMADE: Final[frozenset[Code]] = frozenset({
    "unknown_tool", "invalid_arguments", "repeated_same_tool_call_too_many_times", "denied", "cap",
    "interrupted", "sibling_failed", "same_call", "not_kept", "waits",
})  # fmt: skip
"""Codes of calls that were refused, or put off, before anything was called."""

EFFECTFUL: Final[frozenset[Effect]] = frozenset({"idempotent", "unsafe"})


def error_text(code: Code, text: str) -> str:
    """What a model reads of a call that has no result."""
    return f"{_MARK}{code}: {text}" if code else f"{_MARK}{text}"


def error_words(code: Code, text: str) -> str:
    """The text without the mark that `error_text` put before it."""
    return text.removeprefix(_MARK).removeprefix(f"{code}: ")


BoundCode: TypeAlias = Literal[
    "faults", "steps", "tool_calls", "tokens", "seconds", "cost",
    "grant_steps", "grant_tool_calls", "grant_tokens", "grant_seconds", "grant_cost",
    "no_progress", "refusals", "own",
]  # fmt: skip
"""What ends a run: one of its limits, of the grant of a sub-run, or a bound of the agent's own."""

StopCode: TypeAlias = BoundCode | Literal["", "set_aside"]
"""Why a run stopped, where its status does not say all."""
