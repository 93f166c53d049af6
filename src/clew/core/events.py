"""The vocabulary of the record: frozen, tagged values and their one encoding.

An event says what happened; the entry around it says where and when. Nothing here does anything,
and nothing here knows a run id, a clock or a store.
"""

from functools import cached_property
from typing import Final, Literal, TypeAlias

import msgspec

from clew.core.messages import Finish, Json, RawCall, Reply, Usage, Value, Wire

__all__ = [
    "EFFECTFUL",
    "FINISH",
    "INPUTS",
    "SCHEMA",
    "UNMADE",
    "Action",
    "AgentSpec",
    "AnyEvent",
    "Attempt",
    "Cancel",
    "Changed",
    "Charged",
    "Code",
    "Done",
    "Effect",
    "Entry",
    "Event",
    "Evidence",
    "Fingerprints",
    "Finish",
    "Forked",
    "Grant",
    "Image",
    "Json",
    "Judged",
    "Landing",
    "Note",
    "Observation",
    "Outcome",
    "Rates",
    "RawCall",
    "Reply",
    "Ruling",
    "Spending",
    "Started",
    "Status",
    "Stop",
    "Thought",
    "Trust",
    "Usage",
    "Value",
    "Verdict",
    "Wire",
    "barrier",
    "decode",
    "encode",
]  # fmt: skip

SCHEMA: Final = 4
"""Version of the events' encoding and of what they mean, written with every `Started`.

1: a bound is looked at only when it is used up. 2: model calls are reserved beforehand (`Charged`,
`AgentSpec.rates`). 3: of a long observation a model is shown the beginning and the end; an answer
whose arguments are wrong, or that a guard denies, counts as rejected. A run goes on by the rules it
was begun with.
"""

FINISH: Final = "finish"
"""Name of the tool that ends a run."""

Effect: TypeAlias = Literal["pure", "read", "idempotent", "unsafe"]
Trust: TypeAlias = Literal["trusted", "untrusted"]
Outcome: TypeAlias = Literal["done", "not_done", "unknown"]
Status: TypeAlias = Literal[
    "answered", "declined", "bound", "held", "refused", "failed", "interrupted"
]
"""How a run ended; `declined` is a model's own word that it cannot answer."""
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
]
"""The closed list of what can be wrong with an observation; empty when nothing is."""

UNMADE: Final[frozenset[Code]] = frozenset({
    "unknown_tool", "invalid_arguments", "repeated_same_tool_call_too_many_times", "denied", "cap",
    "interrupted", "sibling_failed",
})  # fmt: skip
"""Codes of calls that were refused before anything was called."""

EFFECTFUL: Final[frozenset[Effect]] = frozenset({"idempotent", "unsafe"})


class Event(
    msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag_field="event", tag=str.lower
):
    """Base of the events; `event` in the encoding is the class name in lower case."""


class Action(Value, frozen=True):
    """One thing the model wants done: a tool's name and its arguments.

    `fault` says why the arguments could not be read; then `args` is empty and nothing is called.
    In the record long arguments lie in the blob `blob`.
    Where they held a secret they are `redacted` here: only the worker that heard them knows them.
    """

    name: str
    args: dict[str, Json] = {}
    fault: str = ""
    blob: str = ""
    redacted: bool = False


class Fingerprints(Value, frozen=True):
    """Fingerprints of the prompt a thought answered, by section (hex digests)."""

    head: str
    tools: str
    params: str
    parts: str
    tail: str = ""


class Evidence(Value, frozen=True):
    """A piece of an observation that an answer may cite as `[doc_id]`.

    `score` lies in [0, 1]; `offset` is where `text` begins in its source, in characters.
    """

    doc_id: str
    text: str
    score: float = 0.0
    source: str = ""
    offset: int = 0


class Image(Value, frozen=True):
    """A picture a tool returned. In the record its bytes lie in the blob `blob`, once per content.

    `media_type` is such as "image/png". Models that see are shown it, others its `text`.
    """

    media_type: str
    data: bytes = b""
    text: str = ""
    blob: str = ""


class Rates(Value, frozen=True):
    """US dollars per million tokens of prompts, replies and what comes from the provider's cache.

    By them a call is estimated before it is made; what it did cost its reply says.
    """

    input: float
    output: float
    cached: float


class AgentSpec(Value, frozen=True):
    """What an agent was made of when a run began, so that a replay can say what changed.

    `tools` maps each tool's name to "version effect schema-hash"; `parts` names every further part
    (codec, limits, bounds, guards, checks) by its own words. `brief` is what its prompts are made
    of; in a record it lies in the blob `brief_blob`, and no comparison of settings looks at it, nor
    at the `rates` of the model, where they are known.
    """

    fingerprint: str
    model: str
    codec: str
    prompt: str
    params: dict[str, Json] = {}
    tools: dict[str, str] = {}
    parts: dict[str, Json] = {}
    brief: Json = None
    brief_blob: str = ""
    rates: Rates | None = None


class Grant(Value, frozen=True):
    """What a sub-run may take of its parent's budget; `depth` is how far it may hand on itself.

    `cost` in US dollars, None where no price is known; `seconds` of work.
    """

    steps: int
    tool_calls: int
    tokens: int
    seconds: float
    cost: float | None = None
    depth: int = 0


class Spending(Value, frozen=True):
    """What a sub-run took, with all that it had handed on: the rest of its grant comes back."""

    steps: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()


class Started(Event, frozen=True):
    """The first entry of every record.

    `origin` is whatever the one who started the run needs to make the same agent again; nothing in
    the core reads it. `parent` is the call key (`run_id:step.index`) a sub-run serves, `grant` what
    it may take, and `trust` that of its goal: untrusted, where a model wrote it after reading what
    is. A run that stands in a `queue` is worked on by whoever serves that.
    """

    goal: str
    setting: AgentSpec
    schema: int = 1  # what a record that names none was written with
    seed: int = 0
    parent: str = ""
    origin: dict[str, Json] = {}
    queue: str = ""
    grant: Grant | None = None
    trust: Trust = "trusted"


class Changed(Event, frozen=True):
    """A person let the run go on with another setting; `what` names the differences.

    `origin` takes the place of that in `Started`.
    """

    setting: AgentSpec
    what: tuple[str, ...] = ()
    origin: dict[str, Json] = {}


class Done(Value, frozen=True):
    """An effect that was had in the run a fork was cut from, after the cut: it stays done.

    `key` is the call's own (`run_id:step.index`), `hash` identifies its arguments, `text` is the
    call as one line for people and models.
    """

    key: str
    tool: str
    hash: str
    text: str
    outcome: Outcome = "done"


class Forked(Event, frozen=True):
    """The first entry that a fork has of its own: all before it is shared with the run `parent`.

    `parent` is the run that made the last shared entry, and `step` the last step that was kept.
    `what` names what was changed, `setting` and `origin` are from here on those of the fork, and
    `done` are the effects that the cut took out of sight. The `again` entries that follow complete
    the step: they were found in the record, or given with the fork, and are no work of its own.
    """

    parent: str
    step: int
    setting: AgentSpec
    what: tuple[str, ...] = ()
    done: tuple[Done, ...] = ()
    again: int = 0
    origin: dict[str, Json] = {}


class Thought(Event, frozen=True):
    """A model's reply, raw and as the codec read it.

    `answer` is the text of a reply that answers without calling finish; `fault` says why the reply
    could not be read; `repairs` name what the codec had to mend. Actions are numbered from 1 by
    their place here. `reminders` were said anew at the end of its prompt; the tools `shown` were
    shown in it for the first time.
    """

    reply: Reply
    prints: Fingerprints
    text: str = ""
    actions: tuple[Action, ...] = ()
    answer: str | None = None
    fault: str = ""
    repairs: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


class Verdict(Value, frozen=True):
    """A guard's word on one action.

    `hint` lets the call run and adds a line to its observation; `amend` lets it run with `args`;
    `deny` refuses it; `hold` waits for a person's ruling.
    """

    kind: Literal["hint", "amend", "deny", "hold"]
    reason: str
    args: dict[str, Json] | None = None
    code: Code = "denied"
    redacted: bool = False  # as the arguments of an action


class Judged(Event, frozen=True):
    """A verdict other than a plain yes, on the call `call` (`step.index`)."""

    call: str
    verdict: Verdict
    by: str = ""


class Ruling(Event, frozen=True):
    """A person's word on a held or unknown call.

    `args` replaces the arguments. On a call in doubt, `allow` means: make it again. `hash` says
    what was ruled on (`Call.question`): for other arguments, or once the call was begun, the word
    does not hold; "" is for any.
    """

    call: str
    allow: bool
    args: dict[str, Json] | None = None
    why: str = ""
    by: str = ""
    hash: str = ""
    redacted: bool = False  # as the arguments of an action


class Attempt(Event, frozen=True):
    """A call is about to be made: durable before an effect, and before every retry.

    `hash` identifies the arguments, `timeout` is in seconds from this entry's time, `number` counts
    from 1 and `after` says why the attempt before it failed. A call that is made in a run of its
    own names that run (`child`) and what it may take (`grant`, in the place of a timeout).
    """

    call: str
    tool: str
    hash: str
    timeout: float
    number: int = 1
    after: str = ""
    child: str = ""
    grant: Grant | None = None


class Observation(Event, frozen=True, gc=True, dict=True):  # it keeps its text
    """What came of one call: the only one it will ever have.

    `content` is text or JSON; when it is too large for a line of the record it lies in the blob
    `blob` and is put back on reading. `outcome` says what is known of the effect. `detail` is for
    people (a traceback). A tool may return one itself, without `call`, to say all of this. `spent`
    is what a sub-run took for it.
    """

    call: str = ""
    content: Json = ""
    ok: bool = True
    code: Code = ""
    outcome: Outcome = "done"
    effect: Effect = "read"
    trust: Trust = "untrusted"
    evidence: tuple[Evidence, ...] = ()
    detail: str = ""
    blob: str = ""
    images: tuple[Image, ...] = ()
    spent: Spending | None = None

    @property
    def made(self) -> bool:
        """Whether the tool was really called."""
        return self.code not in UNMADE

    @property
    def text(self) -> str:
        """The content as a model reads it: text as it is, anything else as compact JSON."""
        return self.content if isinstance(self.content, str) else self._json

    @cached_property
    def _json(self) -> str:
        return encode(self.content).decode()


class Note(Event, frozen=True):
    """A word from outside the loop: a person's, a failed check's, or a late result's."""

    text: str
    source: Literal["person", "check", "late"] = "person"


class Charged(Event, frozen=True):
    """What a model call may have cost whose reply nobody saw: an estimate, which bounds count."""

    usage: Usage
    why: str = ""


class Cancel(Event, frozen=True):
    """A person wants the run to stop after closing what is pending."""

    why: str = ""


class Landing(Event, frozen=True):
    """A bound tripped: one last thought, without calls, is due."""

    bound: str
    detail: str = ""


class Stop(Event, frozen=True):
    """The last word, with its reason; only a ruling, a person's word or a raised bound follows.

    `fallback` marks an answer that was declared beforehand instead of found.
    """

    status: Status
    reason: str = ""
    answer: Json = None
    fallback: bool = False


AnyEvent: TypeAlias = (
    Started | Changed | Forked | Thought | Judged | Ruling | Attempt | Observation | Note | Charged
    | Cancel | Landing | Stop
)  # fmt: skip

INPUTS: Final = (Changed, Charged, Ruling, Note, Cancel)
"""Events that come from outside the loop and are fed, not derived, in a replay."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A line of the record: its place (from 1), time (Unix milliseconds), epoch and event.

    `hash` chains it to the entry before.
    """

    seq: int
    at: int
    epoch: int
    event: AnyEvent
    hash: bytes = b""


_encoder = msgspec.json.Encoder()
_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)


def barrier(event: AnyEvent) -> bool:
    """Whether the event must be safe on the disk, with all before it, before anything follows."""
    if isinstance(event, Observation):
        return event.effect in EFFECTFUL
    return isinstance(event, (Attempt, Ruling, Stop))


def encode(value: object) -> bytes:
    """Encode an event, or any JSON value, as compact JSON."""
    return _encoder.encode(value)


def decode(body: bytes) -> AnyEvent:
    """Decode one event. Raises `msgspec.DecodeError` or `msgspec.ValidationError`."""
    return _decoder.decode(body)
